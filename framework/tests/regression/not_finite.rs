//! NaN in the state ends a simulation, and the message names its origin. The expected values hold
//! by construction: each system fixes the time at which its value becomes NaN.

use tarragon_framework::prelude::*;
use tarragon_framework::primitives::{ConstantVectorSource, Gain, Integrator, VectorSystem};
use tarragon_framework::{ErrorKind, SimulatorConfig, WitnessDirection, primitives::ZeroOrderHold};

/// Counts up every 0.25 s. Element 1 of its second group becomes NaN at the time `nan_from` (s).
struct Counter {
    nan_from: f64,
    by: Update,
}

#[derive(Clone, Copy, PartialEq)]
enum Update {
    Discrete,
    Unrestricted,
}

impl<T: Scalar> LeafSystem<T> for Counter {
    type Ports = DiscreteState<Vec<T>>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let _first = d.discrete_state(&[T::zero()]);
        let group = d.discrete_state(&[T::zero(), T::zero()]);
        let every = Trigger::every(0.25);
        let next_value = move |s: &Self, x: T, now: T| {
            if now.re() >= s.nan_from {
                T::from(f64::NAN)
            } else {
                x + T::one()
            }
        };
        match self.by {
            Update::Discrete => d.discrete_update_on(every, move |s, ctx, next| {
                let x = ctx.xd(group)[1];
                next.get_mut(group)[1] = next_value(s, x, ctx.time());
                Ok(EventStatus::Succeeded)
            }),
            Update::Unrestricted => d.unrestricted_update_on(every, move |s, ctx, next| {
                let x = ctx.xd(group)[1];
                next.xd_mut(group)[1] = next_value(s, x, ctx.time());
                Ok(EventStatus::Succeeded)
            }),
        }
        group
    }
}

#[test]
fn an_update_to_nan_fails_with_time_system_and_index() {
    for by in [Update::Discrete, Update::Unrestricted] {
        let mut b = DiagramBuilder::new();
        let counter = b.add("counter", Counter { nan_from: 0.6, by });
        let state = *counter.ports();
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        let error = sim.advance_to(2.0).unwrap_err();
        let update = match by {
            Update::Discrete => "discrete",
            Update::Unrestricted => "unrestricted",
        };
        let expected = format!(
            "at 0.75 s: {update} update of 'counter': group 1 of the discrete state must stay \
             finite, got NaN at index 1"
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.kind(), ErrorKind::NumericalFailure);
        // The state is what it was before the update.
        assert_eq!(sim.context().time(), 0.75);
        assert_eq!(sim.context().xd(state).unwrap(), [0.0, 3.0]);
    }
}

#[test]
fn a_nan_that_was_there_before_is_none_of_the_simulators_business() {
    let mut b = DiagramBuilder::new();
    let hold = b.add("hold", ZeroOrderHold::new(1, 0.25, 0.0));
    let counter = Counter {
        nan_from: 0.0,
        by: Update::Discrete,
    };
    let counter = b.add("counter", counter);
    let state = *counter.ports();
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(hold.u, vec![1.0]).unwrap();
    ctx.xd_mut(state).unwrap()[1] = f64::NAN;
    let mut sim = Simulator::new(&diagram, ctx).unwrap();
    sim.advance_to(1.0).unwrap();
    assert!(sim.context().xd(state).unwrap()[1].is_nan());
}

/// Returns a source of `sqrt(1 - t)`, which is NaN after 1 s.
fn root() -> VectorSystem {
    VectorSystem::new(0, 1, |t: f64, _, _, y| {
        y[0] = (1.0 - t).sqrt();
        Ok(())
    })
}

#[test]
fn a_slope_of_nan_fails_every_kind_of_integrator_with_its_origin() {
    for scheme in ["explicit_euler", "runge_kutta3", "implicit_euler", "radau3"] {
        let mut b = DiagramBuilder::new();
        let root = b.add_f64("root", root());
        let double = b.add("double", Gain::new(1, 2.0));
        let speed = b.add("speed", ConstantVectorSource::new(vec![1.0]));
        let other = b.add("other", Integrator::new(1));
        let integral = b.add("integral", Integrator::new(1));
        b.connect(root.y, double.u);
        b.connect(double.y, integral.u);
        b.connect(speed.y, other.u);
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        let config = SimulatorConfig {
            integration_scheme: scheme.into(),
            max_step_size: 0.25,
            use_error_control: false,
            ..SimulatorConfig::default()
        };
        sim.apply_config(&config).unwrap();
        let error = sim.advance_to(2.0).unwrap_err().to_string();
        let time = sim.context().time();
        let expected = format!(
            "at {time:?} s: integration of 'integral': the time derivative must stay finite, got NaN \
             at index 0; the first NaN is in output 'root.y0' at index 0"
        );
        assert_eq!(error, expected, "{scheme}");
        // Some methods evaluate the slope at the end of the step, or retry with smaller steps.
        assert!((1.0..=1.25).contains(&time), "{scheme}: {time}");
        let passed = sim.context().eval(other.y).unwrap()[0];
        assert!((passed - time).abs() < 1e-12, "{scheme}: {passed}");
    }
}

/// `1/(1 - t)` is infinite at 1 s. Infinity would make NaN only later, in another system.
#[test]
fn an_infinite_slope_fails() {
    let mut b = DiagramBuilder::new();
    let pole = VectorSystem::new(0, 1, |t: f64, _, _, y| {
        y[0] = 1.0 / (1.0 - t);
        Ok(())
    });
    let pole = b.add_f64("pole", pole);
    let integral = b.add("integral", Integrator::new(1));
    b.connect(pole.y, integral.u);
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let config = SimulatorConfig {
        integration_scheme: "explicit_euler".into(),
        max_step_size: 0.25,
        use_error_control: false,
        ..SimulatorConfig::default()
    };
    sim.apply_config(&config).unwrap();
    let error = sim.advance_to(2.0).unwrap_err().to_string();
    let expected = "at 1.0 s: integration of 'integral': the time derivative must stay finite, got \
                    inf at index 0";
    assert_eq!(error, expected);
    let x = sim.context().eval(integral.y).unwrap()[0];
    // Slopes of 1, 4/3, 2 and 4, each for 0.25 s.
    assert!((x - 25.0 / 12.0).abs() < 1e-12, "{x}");
}

/// A witness function of NaN never changes its sign, so the event that it stands for was lost.
#[test]
fn a_witness_of_nan_fails() {
    struct Watch;
    impl LeafSystem<f64> for Watch {
        type Ports = ();
        fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
            let direction = WitnessDirection::CrossesZero;
            let root =
                d.witness_function("root", direction, |_, ctx| Ok((1.0 - ctx.time()).sqrt()));
            d.publish_on(Trigger::Witness(root), |_, _| Ok(EventStatus::Succeeded));
        }
    }
    let mut b = DiagramBuilder::new();
    b.add_f64("watch", Watch);
    // Its events end steps at multiples of 0.25 s.
    let counter = Counter {
        nan_from: f64::INFINITY,
        by: Update::Discrete,
    };
    b.add("counter", counter);
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let error = sim.advance_to(2.0).unwrap_err().to_string();
    let expected = "at 1.0 s: witness function 'root' of 'watch': the value must not be NaN";
    assert_eq!(error, expected);
}

#[test]
fn an_error_upstream_of_nan_names_the_first_one() {
    let mut b = DiagramBuilder::new();
    let root = b.add_f64("root", root());
    let double = b.add("double", Gain::new(1, 2.0));
    let picky = VectorSystem::new(1, 1, |_, _, u, y| {
        if u[0].is_nan() {
            return Err("the input must be a number".into());
        }
        y[0] = u[0];
        Ok(())
    });
    let picky = b.add_f64("picky", picky);
    let hold = b.add("hold", ZeroOrderHold::new(1, 0.25, 0.0));
    b.connect(root.y, double.u);
    b.connect(double.y, picky.u);
    b.connect(picky.y, hold.u);
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let error = sim.advance_to(2.0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "at 1.25 s: computing 'picky.y0': the input must be a number; the first NaN is in output \
         'root.y0' at index 0"
    );
}

#[test]
fn a_fixed_nan_is_an_origin_too() {
    let mut b = DiagramBuilder::new();
    let integral = b.add("integral", Integrator::new(2));
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(integral.u, vec![0.0, f64::NAN]).unwrap();
    let mut sim = Simulator::new(&diagram, ctx).unwrap();
    let error = sim.advance_to(2.0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "at 0.0 s: integration of 'integral': the time derivative must stay finite, got NaN at index \
         1; the first NaN is in the fixed value of input 'integral.u' at index 1"
    );
}

/// The state grows at 1/s. Its derivative fails once `sqrt(1 - x)` is NaN, which happens at a stage
/// within a step. Nothing is NaN at the start of that step.
#[test]
fn an_error_at_a_stage_names_the_first_nan() {
    for use_error_control in [true, false] {
        let mut b = DiagramBuilder::new();
        let root = VectorSystem::new(1, 1, |_, _, x, y| {
            y[0] = (1.0 - x[0]).sqrt();
            Ok(())
        });
        let root = b.add_f64("root", root);
        let picky = VectorSystem::new(1, 1, |_, _, u, y| {
            if u[0].is_nan() {
                return Err("the input must be a number".into());
            }
            y[0] = 1.0;
            Ok(())
        });
        let picky = b.add_f64("picky", picky);
        let integral = b.add("integral", Integrator::new(1));
        b.connect(integral.y, root.u);
        b.connect(root.y, picky.u);
        b.connect(picky.y, integral.u);
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        let config = SimulatorConfig {
            max_step_size: 0.3,
            use_error_control,
            ..SimulatorConfig::default()
        };
        sim.apply_config(&config).unwrap();
        let error = sim.advance_to(2.0).unwrap_err().to_string();
        let expected = "computing 'picky.y0': the input must be a number; the first NaN is in output \
                        'root.y0' at index 0";
        assert!(error.ends_with(expected), "{error}");
        assert!(sim.context().time() < 1.0, "{error}");
    }
}
