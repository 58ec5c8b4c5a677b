//! Random state and parameters, and maps between velocities and position rates.

use tarragon_framework::primitives::{Gain, VectorLogSink};
use tarragon_framework::random::{RandomDistribution, RandomGenerator};
use tarragon_framework::{Error, Result, prelude::*};

/// State and parameters of every kind, some of them random.
struct Dice {
    fail_state: bool,
    fail_parameters: bool,
}
#[derive(Clone, Copy)]
struct DicePorts {
    xc: ContinuousState<Vec<f64>>,
    drawn: DiscreteState<Vec<f64>>,
    other: DiscreteState<Vec<f64>>,
    word: AbstractState<String>,
    low: Param<f64>,
    name: Param<String>,
    y: OutputPort<Vec<f64>>,
}
impl LeafSystem<f64> for Dice {
    type Ports = DicePorts;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let xc = d.continuous_state((1, 0, 1), &[1.0, 2.0], Dep::Nothing, |_, _, _| Ok(()));
        let (drawn, other) = (d.discrete_state(&[3.0]), d.discrete_state(&[4.0]));
        let word = d.abstract_state("word".to_owned());
        let (low, name) = (d.param(5.0), d.param("name".to_owned()));
        d.random_parameters(move |s, generator, p| {
            *p.get_mut(low) += 10.0 + generator.sample(RandomDistribution::Uniform);
            if s.fail_parameters {
                return Err(Error::custom("no dice"));
            }
            Ok(())
        });
        d.random_state(move |s, ctx, generator, x| {
            x.xc_mut()[1] += generator.sample(RandomDistribution::Gaussian);
            x.xd_mut(drawn)[0] += *ctx.param(low);
            x.xa_mut(word).push('!');
            if s.fail_state {
                return Err(Error::custom("rolled away"));
            }
            Ok(())
        });
        let deps = [Dep::X, Dep::AllParameters];
        let y = d.vector_output("y", 1, deps, move |_, ctx, y| {
            y[0] = ctx.z()[0] + ctx.xd(drawn)[0] + *ctx.param(low);
            Ok(())
        });
        DicePorts {
            xc,
            drawn,
            other,
            word,
            low,
            name,
            y,
        }
    }
}

struct Table {
    diagram: Diagram<f64>,
    dice: Block<Dice>,
    gain: Block<Gain>,
    log: Block<VectorLogSink>,
}

fn table(fail_state: bool, fail_parameters: bool) -> Table {
    let mut b = DiagramBuilder::new();
    let gain = b.add("gain", Gain::new(1, 2.0));
    let dice = Dice {
        fail_state,
        fail_parameters,
    };
    let dice = b.add_f64("dice", dice);
    let log = b.add("log", VectorLogSink::per_step(1));
    b.connect(dice.y, log.u);
    let diagram = b.build().unwrap();
    Table {
        diagram,
        dice,
        gain,
        log,
    }
}

impl Table {
    /// Returns a context in which nothing has its default and one sample is logged.
    fn changed(&self) -> Context<f64> {
        let mut ctx = self.diagram.default_context();
        ctx.xc_mut(self.dice.xc).unwrap().fill(-1.0);
        ctx.xd_mut(self.dice.drawn).unwrap()[0] = -1.0;
        ctx.xd_mut(self.dice.other).unwrap()[0] = -1.0;
        ctx.xa_mut(self.dice.word).unwrap().clear();
        *ctx.param_mut(self.dice.low).unwrap() = -1.0;
        ctx.param_mut(self.dice.name).unwrap().clear();
        *ctx.param_mut(self.gain.k).unwrap() = -1.0;
        ctx.force_publish().unwrap();
        ctx
    }

    /// Returns state, then parameters, then the samples of the log.
    fn values(&self, ctx: &Context<f64>) -> (Vec<f64>, String, Vec<f64>, String, Vec<f64>) {
        let mut x = ctx.xc(self.dice.xc).unwrap().to_vec();
        x.extend_from_slice(ctx.xd(self.dice.drawn).unwrap());
        x.extend_from_slice(ctx.xd(self.dice.other).unwrap());
        let p = [self.dice.low, self.gain.k].map(|p| *ctx.param(p).unwrap());
        let log = self.log.find_log(ctx).unwrap();
        (
            x,
            ctx.xa(self.dice.word).unwrap().clone(),
            p.to_vec(),
            ctx.param(self.dice.name).unwrap().clone(),
            log.samples().map(|(_, row)| row[0]).collect(),
        )
    }
}

#[test]
fn a_seed_determines_what_is_drawn() {
    let t = table(false, false);
    let draw = |seed| {
        let mut ctx = t.changed();
        ctx.set_random(&mut RandomGenerator::new(seed)).unwrap();
        t.values(&ctx)
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

#[test]
fn undrawn_values_get_their_defaults_and_draws_start_from_them() {
    let t = table(false, false);
    let mut ctx = t.changed();
    ctx.set_random(&mut RandomGenerator::new(3)).unwrap();
    let (x, word, p, name, log) = t.values(&ctx);
    // The same numbers, with the parameters first.
    let mut generator = RandomGenerator::new(3);
    let low = 15.0 + generator.sample(RandomDistribution::Uniform);
    let z = 2.0 + generator.sample(RandomDistribution::Gaussian);
    assert_eq!(
        x,
        [1.0, z, 3.0 + low, 4.0],
        "draws of state see the new parameters"
    );
    assert_eq!((word.as_str(), name.as_str()), ("word!", "name"));
    assert_eq!(p, [low, 2.0]);
    assert_eq!(log.len(), 1, "the log is left alone");
}

#[test]
fn only_parameters_or_only_state_can_be_drawn() {
    let t = table(false, false);
    let mut ctx = t.changed();
    let before = t.values(&ctx);
    ctx.set_random_parameters(&mut RandomGenerator::new(3))
        .unwrap();
    let after = t.values(&ctx);
    assert_eq!((&after.0, &after.1), (&before.0, &before.1));
    assert_ne!(after.2, before.2);
    let mut ctx = t.changed();
    ctx.set_random_state(&mut RandomGenerator::new(3)).unwrap();
    let after = t.values(&ctx);
    assert_eq!((&after.2, &after.3), (&before.2, &before.3));
    assert_eq!(after.0[2], 2.0, "the default and the unchanged parameter");
}

#[test]
fn outputs_follow_drawn_values() {
    let t = table(false, false);
    let mut ctx = t.changed();
    let sum = |ctx: &Context<f64>| {
        let (x, _, p, ..) = t.values(ctx);
        x[1] + x[2] + p[0]
    };
    let mut generator = RandomGenerator::new(4);
    for _ in 0..3 {
        ctx.set_random_parameters(&mut generator).unwrap();
        assert_eq!(ctx.eval(t.dice.y).unwrap()[0], sum(&ctx));
        ctx.set_random_state(&mut generator).unwrap();
        assert_eq!(ctx.eval(t.dice.y).unwrap()[0], sum(&ctx));
        ctx.set_random(&mut generator).unwrap();
        assert_eq!(ctx.eval(t.dice.y).unwrap()[0], sum(&ctx));
    }
}

#[test]
fn an_error_changes_nothing_and_names_the_system() {
    type Draw = fn(&mut Context<f64>, &mut RandomGenerator) -> Result<()>;
    let (all, state, parameters): (Draw, Draw, Draw) = (
        Context::set_random,
        Context::set_random_state,
        Context::set_random_parameters,
    );
    for (fail_state, draw) in [
        (true, all),
        (true, state),
        (false, all),
        (false, parameters),
    ] {
        let t = table(fail_state, !fail_state);
        let mut ctx = t.changed();
        let (before, y) = (t.values(&ctx), ctx.eval(t.dice.y).unwrap()[0]);
        let error = draw(&mut ctx, &mut RandomGenerator::new(5)).unwrap_err();
        let expected = if fail_state {
            "random state of 'dice': rolled away"
        } else {
            "random parameters of 'dice': no dice"
        };
        assert_eq!(error.to_string(), expected);
        assert_eq!(t.values(&ctx), before);
        assert_eq!(ctx.eval(t.dice.y).unwrap()[0], y);
    }
}

#[test]
fn random_declarations_are_made_once() {
    struct Twice(bool);
    impl LeafSystem<f64> for Twice {
        type Ports = ();
        fn declare(&self, d: &mut Declare<Self, f64>) {
            for _ in 0..2 {
                if self.0 {
                    d.random_state(|_, _, _, _| Ok(()));
                } else {
                    d.random_parameters(|_, _, _| Ok(()));
                }
            }
        }
    }
    for (state, what) in [(true, "state is"), (false, "parameters are")] {
        let mut b = DiagramBuilder::new();
        b.add_f64("twice", Twice(state));
        let error = b.build().err().unwrap().to_string();
        assert_eq!(
            error,
            format!("system 'twice': random {what} declared twice")
        );
    }
}

/// Rotation in the plane: positions (cos, sin), one velocity; `qdot = omega (-sin, cos)`.
struct Wheel;
impl<T: Scalar> LeafSystem<T> for Wheel {
    type Ports = ContinuousState<Vec<T>>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        d.velocity_map(
            |_, ctx, v, qdot| {
                let q = ctx.q();
                (qdot[0], qdot[1]) = (-q[1] * v[0], q[0] * v[0]);
                Ok(())
            },
            |_, ctx, qdot, v| {
                let q = ctx.q();
                v[0] = q[0] * qdot[1] - q[1] * qdot[0];
                Ok(())
            },
        );
        let x0 = [T::from(0.6), T::from(0.8), T::from(2.0)];
        d.continuous_state((2, 1, 0), &x0, Dep::Nothing, |_, _, _| Ok(()))
    }
}

/// Two positions, the given number of velocities, and no map.
struct Plain(usize);
impl<T: Scalar> LeafSystem<T> for Plain {
    type Ports = ContinuousState<Vec<T>>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let x0 = vec![T::zero(); 2 + self.0];
        d.continuous_state((2, self.0, 0), &x0, Dep::Nothing, |_, _, _| Ok(()))
    }
}

#[test]
fn rates_are_mapped_system_by_system() {
    let mut b = DiagramBuilder::new();
    b.add("first", Plain(2));
    b.add("wheel", Wheel);
    b.add("stateless", Gain::new(1, 1.0));
    b.add("last", Plain(2));
    let ctx = b.build().unwrap().default_context();
    let v = [1.0, 2.0, 3.0, 4.0, 5.0];
    let mut qdot = [f64::NAN; 6];
    ctx.map_v_to_qdot(&v, &mut qdot).unwrap();
    // Without a map qdot = v; the wheel is at (0.6, 0.8).
    assert_eq!(qdot, [1.0, 2.0, -0.8 * 3.0, 0.6 * 3.0, 4.0, 5.0]);
    let mut back = [f64::NAN; 5];
    ctx.map_qdot_to_v(&qdot, &mut back).unwrap();
    for (back, v) in back.iter().zip(v) {
        // 0.6^2 + 0.8^2 is 1 up to rounding.
        assert!((back - v).abs() < 1e-15, "{back} {v}");
    }
}

#[test]
fn maps_see_the_configuration_of_the_context() {
    let mut b = DiagramBuilder::new();
    let wheel = b.add("wheel", Wheel);
    let mut ctx = b.build().unwrap().default_context();
    ctx.xc_mut(*wheel.ports()).unwrap()[..2].copy_from_slice(&[0.0, 1.0]);
    let mut qdot = [f64::NAN; 2];
    ctx.map_v_to_qdot(&[3.0], &mut qdot).unwrap();
    assert_eq!(qdot, [-3.0, 0.0]);
}

#[test]
fn rates_of_wrong_lengths_are_errors() {
    let mut b = DiagramBuilder::new();
    b.add("wheel", Wheel);
    let ctx = b.build().unwrap().default_context();
    let message = |r: Result<()>| r.unwrap_err().to_string();
    assert_eq!(
        message(ctx.map_v_to_qdot(&[1.0], &mut [0.0; 3])),
        "map_v_to_qdot: the vectors must have 1 and 2 elements, got 1 and 3"
    );
    assert_eq!(
        message(ctx.map_qdot_to_v(&[1.0], &mut [0.0])),
        "map_qdot_to_v: the vectors must have 2 and 1 elements, got 1 and 1"
    );
}

#[test]
fn a_missing_map_names_the_system() {
    let mut b = DiagramBuilder::new();
    b.add("wheel", Wheel);
    b.add("odd", Plain(1));
    let ctx = b.build().unwrap().default_context();
    let expected = "system 'odd' has 2 positions and 1 velocity; declare how they relate with \
                    `Declare::velocity_map`";
    let error = ctx.map_v_to_qdot(&[1.0; 2], &mut [0.0; 4]).unwrap_err();
    assert_eq!(error.to_string(), format!("map_v_to_qdot: {expected}"));
    let error = ctx.map_qdot_to_v(&[1.0; 4], &mut [0.0; 2]).unwrap_err();
    assert_eq!(error.to_string(), format!("map_qdot_to_v: {expected}"));
}

#[test]
fn a_failing_map_names_the_system_and_is_declared_once() {
    struct Bad(usize);
    impl LeafSystem<f64> for Bad {
        type Ports = ContinuousState<Vec<f64>>;
        fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
            for _ in 0..self.0 {
                d.velocity_map(
                    |_, _, _, _| Err(Error::custom("gimbal lock")),
                    |_, _, _, _| Err(Error::custom("gimbal lock")),
                );
            }
            d.continuous_state((1, 1, 0), &[0.0; 2], Dep::Nothing, |_, _, _| Ok(()))
        }
    }
    let build = |n| {
        let mut b = DiagramBuilder::new();
        b.add_f64("bad", Bad(n));
        b.build()
    };
    let ctx = build(1).unwrap().default_context();
    let error = ctx.map_v_to_qdot(&[1.0], &mut [0.0]).unwrap_err();
    assert_eq!(error.to_string(), "velocity map of 'bad': gimbal lock");
    let error = build(2).err().unwrap().to_string();
    assert_eq!(error, "system 'bad': the velocity map is declared twice");
}
