//! Primitive systems against closed forms, and their rejection of bad arguments.

use nalgebra::{DMatrix, dmatrix};
use tarragon_framework::integrator::RungeKutta3;
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::*;
use tarragon_framework::random::{RandomDistribution, RandomGenerator};
use tarragon_framework::{Result, autodiff};

fn message<V>(result: Result<V>) -> String {
    result.err().expect("the result is an error").to_string()
}

/// Simulates a diagram until `end` (s) and returns its context.
fn simulate(diagram: &Diagram<f64>, ctx: Context<f64>, end: f64) -> Context<f64> {
    let mut sim = Simulator::new(diagram, ctx).unwrap();
    sim.set_integrator(RungeKutta3::new());
    sim.set_fixed_step(1e-3).unwrap();
    sim.advance_to(end).unwrap();
    sim.into_context()
}

#[test]
fn a_continuous_affine_system_follows_its_closed_form() {
    // xdot = -2 x + 3 u + 1 from 5: x = x_inf + (5 - x_inf) exp(-2 t), x_inf = (3 u + 1) / 2.
    let system = AffineSystem::new(
        dmatrix![-2.0],
        dmatrix![3.0],
        dmatrix![1.0; 4.0],
        dmatrix![0.0; 2.0],
    )
    .and_then(|s| s.with_offsets([1.0], [0.0, 7.0]));
    let mut b = DiagramBuilder::new();
    let s = b.add("s", system.unwrap().with_initial_state([5.0]).unwrap());
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(s.u, vec![0.5]).unwrap();
    let ctx = simulate(&diagram, ctx, 0.7);
    let x = 1.25 + 3.75 * (-1.4_f64).exp();
    assert!((ctx.xc(s.continuous.unwrap()).unwrap()[0] - x).abs() < 1e-9);
    let y = ctx.eval(s.y).unwrap();
    assert!((y[0] - x).abs() < 1e-9 && (y[1] - (4.0 * x + 8.0)).abs() < 1e-8);
}

#[test]
fn a_discrete_linear_system_without_feedthrough_closes_a_loop() {
    let one = || dmatrix![1.0];
    let system = LinearSystem::new(dmatrix![0.5], one(), one(), dmatrix![0.0])
        .and_then(|s| s.with_period(0.1))
        .unwrap();
    let mut b = DiagramBuilder::new();
    let s = b.add("s", system.with_initial_state([1.0]).unwrap());
    let gain = b.add("gain", MatrixGain::new(dmatrix![0.25]).unwrap());
    b.connect(s.y, gain.u);
    b.connect(gain.y, s.u);
    let diagram = b.build().unwrap();
    let ctx = simulate(&diagram, diagram.default_context(), 0.35);
    assert_eq!(ctx.eval(s.y).unwrap(), &[0.75_f64.powi(4)]);
}

#[test]
fn a_system_without_inputs_needs_none() {
    let none = DMatrix::zeros;
    let system = LinearSystem::new(dmatrix![0.0], none(1, 0), dmatrix![2.0], none(1, 0));
    let mut b = DiagramBuilder::new();
    let s = b.add("s", system.unwrap().with_initial_state([3.0]).unwrap());
    let diagram = b.build().unwrap();
    let ctx = simulate(&diagram, diagram.default_context(), 0.2);
    assert_eq!(ctx.eval(s.y).unwrap(), &[6.0]);
}

#[test]
fn bad_matrices_are_named() {
    let one = || dmatrix![1.0];
    let bad = LinearSystem::new(one(), dmatrix![1.0; 2.0], one(), one());
    assert_eq!(message(bad), "LinearSystem: B must be 1 x 1, got 2 x 1");
    let bad = LinearSystem::new(one(), one(), one(), one()).and_then(|s| s.with_period(f64::NAN));
    assert_eq!(
        message(bad),
        "LinearSystem: the period must be positive and finite, got NaN s"
    );
    let bad = MatrixGain::new(dmatrix![f64::NAN]);
    assert!(message(bad).starts_with("MatrixGain: the elements of D must be finite, got NaN"));
    let system = LinearSystem::new(one(), one(), one(), one()).unwrap();
    assert!(message(system.with_initial_state([])).contains("x0 must have 1 element, got 0"));
}

#[test]
fn splitting_and_stacking_preserves_vectors() {
    let mut b = DiagramBuilder::new();
    let split = b.add("split", Demultiplexer::new([2, 0, 1]));
    let stack = b.add("stack", Multiplexer::new([2, 0, 1]));
    for (y, u) in split.y.iter().zip(&stack.u) {
        b.connect(*y, *u);
    }
    let mut ctx = b.build().unwrap().default_context();
    ctx.fix(split.u, vec![1.0, 2.0, 3.0]).unwrap();
    assert_eq!(ctx.eval(stack.y).unwrap(), &[1.0, 2.0, 3.0]);
}

#[test]
fn limits_from_ports_are_optional_but_not_both() {
    let mut b = DiagramBuilder::new();
    let s = b.add("s", Saturation::with_limit_ports(1));
    let mut ctx = b.build().unwrap().default_context();
    ctx.fix(s.u, vec![3.0]).unwrap();
    assert!(message(ctx.eval(s.y)).contains("neither 'u1'"));
    ctx.fix(s.max.unwrap(), vec![2.0]).unwrap();
    assert_eq!(ctx.eval(s.y).unwrap(), &[2.0]);
    ctx.fix(s.min.unwrap(), vec![2.5]).unwrap();
    let error = message(ctx.eval(s.y));
    assert!(
        error
            .contains("element 0: the smallest value must not be above the largest, got 2.5 and 2"),
        "{error}"
    );
    assert!(message(Saturation::new([1.0], [0.0])).starts_with("Saturation: element 0"));
    assert!(message(Saturation::new([f64::NAN], [0.0])).starts_with("Saturation: element 0"));
    assert!(message(Saturation::new([1.0], [])).contains("must have 1 element, got 0"));
}

#[test]
fn a_delay_of_no_steps_samples_and_holds() {
    for steps in [0, 1, 3] {
        let mut b = DiagramBuilder::new();
        let wave = b.add("wave", Sine::new(1).with_phase(0.3));
        let delay = DiscreteTimeDelay::new(1, 0.1, steps).unwrap();
        let delay = b.add("delay", delay);
        b.connect(wave.y, delay.u);
        let diagram = b.build().unwrap();
        let ctx = simulate(&diagram, diagram.default_context(), 0.45);
        let taken = (4 - steps) as f64 * 0.1;
        assert_eq!(ctx.eval(delay.y).unwrap(), &[(taken + 0.3).sin()]);
    }
    assert!(message(DiscreteTimeDelay::new(1, 0.0, 1)).contains("the period must be positive"));
}

#[test]
fn the_initial_transient_is_suppressed_by_default() {
    let derivative = DiscreteDerivative::new(1, 0.1).unwrap();
    let mut b = DiagramBuilder::new();
    let quiet = b.add("quiet", derivative.clone());
    let loud = b.add("loud", derivative.with_initial_transient());
    let states = StateInterpolatorWithDiscreteDerivative::new(1, 0.1).unwrap();
    let states = b.add("states", states.with_initial_transient());
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    for u in [quiet.u, loud.u, states.position] {
        ctx.fix(u, vec![2.0]).unwrap();
    }
    let ctx = simulate(&diagram, ctx, 0.05);
    assert_eq!(ctx.eval(quiet.dudt).unwrap(), &[0.0]);
    assert_eq!(ctx.eval(loud.dudt).unwrap(), &[20.0]);
    assert_eq!(ctx.eval(states.state).unwrap(), &[2.0, 20.0]);
    let mut ctx = simulate(&diagram, ctx, 0.15);
    assert_eq!(ctx.eval(loud.dudt).unwrap(), &[0.0]);
    quiet.history.set(&mut ctx, &[1.0], &[0.5]).unwrap();
    assert_eq!(ctx.eval(quiet.dudt).unwrap(), &[5.0]);
    assert!(
        message(quiet.history.set(&mut ctx, &[], &[0.5]))
            .contains("latest must have 1 element, got 0")
    );
}

#[test]
fn sums_and_filters() {
    let mut b = DiagramBuilder::new();
    let sum = b.add("sum", DiscreteTimeIntegrator::new(2, 0.25).unwrap());
    let filter = FirstOrderLowPassFilter::new([0.5, 2.0]).unwrap();
    let filter = b.add("filter", filter);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(sum.u, vec![1.0, -4.0]).unwrap();
    ctx.fix(filter.u, vec![1.0, 1.0]).unwrap();
    let ctx = simulate(&diagram, ctx, 1.1);
    assert_eq!(ctx.eval(sum.y).unwrap(), &[1.25, -5.0]);
    let y = ctx.eval(filter.y).unwrap();
    for (y, tau) in y.iter().zip([0.5, 2.0]) {
        assert!((y - (1.0 - (-1.1_f64 / tau).exp())).abs() < 1e-9);
    }
    let bad = FirstOrderLowPassFilter::new([1.0, -1.0]);
    assert!(message(bad).contains("the time constant must be positive and finite, got -1.0 s"));
    assert!(
        message(DiscreteTimeIntegrator::new(1, -0.5))
            .contains("the period must be positive and finite, got -0.5 s")
    );
}

#[test]
fn projections_select_and_distribute() {
    let pid = PidController::new([2.0], [3.0], [5.0]).unwrap();
    let select = dmatrix![0.0, 1.0, 0.0, 0.0; 0.0, 0.0, 0.0, 1.0];
    let pid = pid.with_state_projection(select).unwrap();
    let pid = pid.with_output_projection(dmatrix![1.0; -1.0]).unwrap();
    let mut b = DiagramBuilder::new();
    let pid = b.add("pid", pid);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(pid.estimated_state, vec![9.0, 1.0, 9.0, 2.0])
        .unwrap();
    ctx.fix(pid.desired_state, vec![2.0, 4.0]).unwrap();
    let ctx = simulate(&diagram, ctx, 0.5);
    let expected = 2.0 + 3.0 * 0.5 + 5.0 * 2.0;
    for (y, sign) in ctx.eval(pid.control).unwrap().iter().zip([1.0, -1.0]) {
        assert!((y - sign * expected).abs() < 1e-12);
    }
    let bad = PidController::new([1.0], [1.0, 2.0], [1.0]);
    assert_eq!(message(bad), "PidController: ki must have 1 element, got 2");
    let pid = PidController::new([1.0], [0.0], [1.0]).unwrap();
    let bad = pid.with_state_projection(DMatrix::zeros(1, 2));
    assert!(message(bad).contains("the state projection must be 2 x 2, got 1 x 2"));
}

/// Gradient of the sum of the outputs of a diagram of primitives, by duals.
#[test]
fn derivatives_pass_through_every_primitive() {
    let mut b = DiagramBuilder::new();
    let gain = b.add(
        "gain",
        MatrixGain::new(dmatrix![2.0, 0.0; 0.0, 3.0]).unwrap(),
    );
    let limit = b.add("limit", Saturation::new([-9.0, -9.0], [9.0, 1.0]).unwrap());
    let pass = b.add("pass", PassThrough::new(2));
    let pid = b.add("pid", PidController::new([4.0], [0.0], [1.0]).unwrap());
    b.connect(gain.y, limit.u);
    b.connect(limit.y, pass.u);
    b.connect(pass.y, pid.desired_state);
    let diagram = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    let gain = diagram.ports(&gain).unwrap();
    let pid = diagram.ports(&pid).unwrap();
    let (value, gradient) = autodiff::gradient(
        |x| {
            let mut ctx = diagram.default_context();
            ctx.fix(gain.u, x.to_vec()).unwrap();
            ctx.fix(pid.estimated_state, vec![AutoDiff::from(0.0); 2])
                .unwrap();
            ctx.eval(pid.control).unwrap()[0]
        },
        &[1.0, 2.0],
    );
    // control = 4 min(2 x0, 9) + min(3 x1, 1); the second limit is active.
    assert_eq!((value, gradient.as_slice()), (9.0, [8.0, 0.0].as_slice()));
}

#[test]
fn elements_are_selected_by_checked_indices() {
    let bad = Selector::new([1], [vec![(1, 0)]]);
    assert_eq!(message(bad), "Selector: y0[0] selects input 1 of 1 input");
    let bad = Selector::new([1], [vec![], vec![(0, 0), (0, 1)]]);
    assert!(message(bad).contains("y1[1] selects element 1 of u0, which has 1 element"));
}

#[test]
fn a_switch_reads_only_the_selected_input() {
    let mut b = DiagramBuilder::new();
    let source = b.add("source", ConstantValueSource::new(0_usize));
    let switch = b.add("switch", PortSwitch::new(2, 1));
    b.connect(source.y, switch.selector);
    let mut ctx = b.build().unwrap().default_context();
    ctx.fix(switch.u[0], vec![3.0]).unwrap();
    assert_eq!(ctx.eval(switch.value).unwrap(), &[3.0]);
    *ctx.param_mut(source.value).unwrap() = 1;
    assert!(message(ctx.eval(switch.value)).contains("'switch.u1' is not connected"));
    *ctx.param_mut(source.value).unwrap() = 2;
    let error = message(ctx.eval(switch.value));
    assert!(
        error.contains("'port_selector' must be below 2, got 2"),
        "{error}"
    );
}

#[test]
fn wrapped_values_lie_in_their_interval() {
    let (low, high) = (-std::f64::consts::PI, std::f64::consts::PI);
    let wrap = WrapToSystem::new(1).with_interval(0, low, high).unwrap();
    let mut b = DiagramBuilder::new();
    let wrap = b.add("wrap", wrap);
    let mut ctx = b.build().unwrap().default_context();
    for u in [
        low,
        high,
        -low - 1e-20,
        low - 1e-16,
        low - 4e-16,
        100.0,
        -7.0,
        0.5,
    ] {
        ctx.fix(wrap.u, vec![u]).unwrap();
        let y = ctx.eval(wrap.y).unwrap()[0];
        assert!(low <= y && y < high, "{u} gives {y}");
        let turns = (u - y) / (high - low);
        assert!((turns - turns.round()).abs() < 1e-14, "{u} gives {y}");
    }
    assert!(message(WrapToSystem::new(1).with_interval(1, 0.0, 1.0)).contains("below 1, got 1"));
    assert!(message(WrapToSystem::new(1).with_interval(0, 1.0, 1.0)).contains("1.0 and 1.0"));
}

#[test]
fn samples_have_the_moments_of_their_distribution() {
    use RandomDistribution::{Exponential, Gaussian, Uniform};
    for (distribution, mean, variance) in [
        (Uniform, 0.5, 1.0 / 12.0),
        (Gaussian, 0.0, 1.0),
        (Exponential, 1.0, 1.0),
    ] {
        let mut state = RandomGenerator::new(1);
        let n = 100_000;
        let samples: Vec<f64> = (0..n).map(|_| state.sample(distribution)).collect();
        let n = f64::from(n);
        let m = samples.iter().sum::<f64>() / n;
        let v = samples.iter().map(|x| (x - m) * (x - m)).sum::<f64>() / n;
        // Five standard errors of the mean; the fourth moments are at most 9.
        assert!(
            (m - mean).abs() < 5.0 * (variance / n).sqrt(),
            "{distribution:?} {m}"
        );
        assert!(
            (v - variance).abs() < 5.0 * (9.0 / n).sqrt(),
            "{distribution:?} {v}"
        );
    }
}

#[test]
fn the_seed_and_the_context_determine_the_samples() {
    let run = |seed| {
        let noise = RandomSource::new(2, 0.1, RandomDistribution::Gaussian)
            .unwrap()
            .with_fixed_seed(seed);
        let mut b = DiagramBuilder::new();
        let noise = b.add("noise", noise);
        let diagram = b.build().unwrap();
        let before = diagram.default_context().eval(noise.y).unwrap().clone();
        let half = simulate(&diagram, diagram.default_context(), 0.15);
        let first = half.eval(noise.y).unwrap().clone();
        let forked = simulate(&diagram, half.clone(), 0.35);
        let again = simulate(&diagram, half, 0.35);
        let last = forked.eval(noise.y).unwrap().clone();
        assert_eq!(&last, again.eval(noise.y).unwrap());
        assert!(before != first && first != last && last[0] != last[1]);
        last
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
    let bad = RandomSource::new(1, f64::INFINITY, RandomDistribution::Uniform);
    assert!(message(bad).contains("the period must be positive and finite, got inf s"));
}

#[test]
fn closures_make_systems_and_their_errors_are_located() {
    let count = VectorSystem::new(1, 1, |t, x, u, y| {
        y[0] = t + x[0] + u[0];
        if u[0] < 0.0 {
            return Err(tarragon_framework::Error::custom("negative"));
        }
        Ok(())
    });
    let count = count.with_discrete_state([10.0], 0.1, |_, x, u, next| {
        next[0] = x[0] + u[0];
        Ok(())
    });
    let mut b = DiagramBuilder::new();
    let count = b.add_f64("count", count);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(count.u, vec![2.0]).unwrap();
    let mut ctx = simulate(&diagram, ctx, 0.25);
    assert_eq!(ctx.eval(count.y).unwrap(), &[0.25 + 16.0 + 2.0]);
    ctx.fix(count.u, vec![-1.0]).unwrap();
    assert_eq!(message(ctx.eval(count.y)), "computing 'count.y0': negative");
    let source = VectorSystem::new(0, 1, |t, x, u, y| {
        assert!(x.is_empty() && u.is_empty());
        y[0] = 2.0 * t;
        Ok(())
    });
    let mut b = DiagramBuilder::new();
    let source = b.add_f64("source", source);
    let mut ctx = b.build().unwrap().default_context();
    ctx.set_time(3.0);
    assert_eq!(ctx.eval(source.y).unwrap(), &[6.0]);
}

/// Counts in steps of 1 + u, over every scalar.
struct Count;

impl VectorFunctions for Count {
    fn output<T: Scalar>(&self, t: T, x: &[T], u: &[T], y: &mut [T]) -> Result<()> {
        assert!(u.is_empty(), "no feedthrough");
        y[0] = x[0] + t;
        Ok(())
    }
    fn dynamics<T: Scalar>(&self, _: T, x: &[T], u: &[T], next: &mut [T]) -> Result<()> {
        next[0] = x[0] + u[0] + T::one();
        Ok(())
    }
}

/// Functions without dynamics.
struct Still;

impl VectorFunctions for Still {
    fn output<T: Scalar>(&self, _: T, _: &[T], u: &[T], y: &mut [T]) -> Result<()> {
        y.copy_from_slice(u);
        Ok(())
    }
}

#[test]
fn functions_make_systems_of_every_scalar() {
    let count = VectorSystem::from_functions(1, 1, Count).without_feedthrough();
    let count = count.with_initial_discrete_state([10.0], 0.1);
    let mut b = DiagramBuilder::new();
    let count = b.add("count", count);
    let dual = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    let ports = dual.ports(&count).unwrap();
    let mut ctx = dual.default_context();
    ctx.fix(ports.u, vec![AutoDiff::variable(2.0, 0)]).unwrap();
    let mut sim = Simulator::new(&dual, ctx).unwrap();
    sim.advance_to(0.25).unwrap();
    let y = sim.context().eval(ports.y).unwrap()[0];
    assert_eq!((y.re, y.eps[0]), (10.0 + 3.0 * 3.0 + 0.25, 3.0));

    let mut b = DiagramBuilder::new();
    let bad = VectorSystem::from_functions(1, 1, Still).with_initial_discrete_state([], 0.0);
    b.add("bad", bad);
    let message_of_build = message(b.build().map(|_| ()));
    assert!(
        message_of_build.starts_with("system 'bad'"),
        "{message_of_build}"
    );
    assert!(
        message_of_build.contains("the period must be positive"),
        "{message_of_build}"
    );
    let still = VectorSystem::from_functions(1, 1, Still).with_initial_continuous_state([1.0]);
    let mut b = DiagramBuilder::new();
    let still = b.add("still", still);
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(still.u, vec![2.0]).unwrap();
    assert_eq!(ctx.eval(still.y).unwrap(), &[2.0]);
    let error = Simulator::new(&diagram, ctx).and_then(|mut sim| sim.advance_to(1.0));
    assert!(message(error).contains("no `VectorFunctions::dynamics`; implement it"));
}

#[test]
fn values_of_any_type_are_sampled_delayed_and_switched() {
    let names = ["a", "b", "c"].map(String::from);
    let mut b = DiagramBuilder::new();
    let source = b.add("source", ConstantValueSource::new(names[0].clone()));
    let hold = ValueZeroOrderHold::new("none".to_string(), 0.1, 0.05);
    let hold = b.add("hold", hold);
    let delays: Vec<_> = (0..3)
        .map(|steps| {
            let delay = ValueDiscreteTimeDelay::new("none".to_string(), 0.1, steps).unwrap();
            let delay = b.add(&format!("delay{steps}"), delay);
            b.connect(source.y, delay.u);
            delay
        })
        .collect();
    let switch = b.add("switch", ValuePortSwitch::new(3, String::new()));
    b.connect(source.y, hold.u);
    for (delay, u) in delays.iter().zip(&switch.u) {
        b.connect(delay.y, *u);
    }
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.fix(switch.selector, 2).unwrap();
    for (k, name) in names.iter().enumerate() {
        ctx.param_mut(source.value).unwrap().clone_from(name);
        // Samples at 0, 0.1 and 0.2 s.
        ctx = simulate(&diagram, ctx, 0.1 * k as f64 + 0.02);
        for (steps, delay) in delays.iter().enumerate() {
            let expected = k.checked_sub(steps).map_or("none", |k| &names[k]);
            assert_eq!(ctx.eval(delay.y).unwrap(), expected);
        }
        // The first sample, at 0.05 s, comes after the first run.
        let expected = if k == 0 { "none" } else { name };
        assert_eq!(ctx.eval(hold.y).unwrap(), expected);
    }
    assert_eq!(ctx.eval(switch.value).unwrap(), "a");
    assert_eq!(ctx.xa(delays[2].x).unwrap(), &names);
    ctx.fix(switch.selector, 3).unwrap();
    assert!(message(ctx.eval(switch.value)).contains("'port_selector' must be below 3, got 3"));
    let dual = diagram.to_scalar::<AutoDiff>().unwrap();
    let ports = dual.ports(&hold).unwrap();
    assert_eq!(dual.default_context().eval(ports.y).unwrap(), "none");
    let bad = ValueDiscreteTimeDelay::new(0_u8, f64::NAN, 1);
    assert!(
        message(bad).starts_with(
            "ValueDiscreteTimeDelay: the period must be positive and finite, got NaN s"
        )
    );
}

#[test]
fn every_element_of_a_sine_has_its_own_amplitude_frequency_and_phase() {
    let (a, w, p) = ([2.0, -0.5], [3.0, 0.25], [0.5, -1.0]);
    let mut b = DiagramBuilder::new();
    let wave = b.add("wave", Sine::per_element(a, w, p).unwrap());
    let by_input = Sine::per_element(a, w, p).unwrap().with_input();
    let by_input = b.add("by_input", by_input);
    let mut ctx = b.build().unwrap().default_context();
    ctx.set_time(0.7);
    let u = [0.1, 0.2];
    ctx.fix(by_input.u.unwrap(), u.to_vec()).unwrap();
    for (ports, x) in [(&wave, [0.7, 0.7]), (&by_input, u)] {
        for (k, port) in [ports.y, ports.ydot, ports.yddot].into_iter().enumerate() {
            let found = ctx.eval(port).unwrap();
            for i in 0..2 {
                let angle = w[i] * x[i] + p[i];
                let expected =
                    a[i] * [angle.sin(), w[i] * angle.cos(), -w[i] * w[i] * angle.sin()][k];
                // The derivatives are sines of a shifted angle: rounding of numbers up to 20.
                assert!((found[i] - expected).abs() < 1e-14, "{k} {i}");
            }
        }
    }
    let error = message(Sine::per_element([1.0, 2.0], [1.0], [0.0; 2]));
    assert!(error.starts_with("Sine: frequencies"), "{error}");
    assert!(message(Sine::per_element([1.0], [1.0], [0.0; 2])).starts_with("Sine: phases"));
}
