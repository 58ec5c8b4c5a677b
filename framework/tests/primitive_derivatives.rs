//! Derivatives of every primitive by dual numbers, against central differences.

use nalgebra::{Isometry3, Vector3, dmatrix};
use std::collections::BTreeSet;
use tarragon_framework::integrator::ExplicitEuler;
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::*;
use tarragon_framework::trajectories::{
    BsplineBasis, BsplineTrajectory, KnotVectorType, PiecewisePolynomial, PiecewisePose,
    PiecewiseQuaternionSlerp, Polynomial, SplineEnds,
};
use tarragon_framework::{DiagramScalar, Result, autodiff, math};

/// Step of the differences: a power of two, so that adding it to arguments causes almost no
/// rounding.
const H: f64 = 1.0 / 131_072.0;

/// Sampling period (s), longer than the simulated second: there is one update, at time 0.
const PERIOD: f64 = 2.0;

/// Arguments and results of a system, over one scalar.
struct Handles<T: Scalar> {
    /// Inputs with their numbers of elements.
    inputs: Vec<(InputPort<Vec<T>>, usize)>,
    /// Input for an index, fixed to 1.
    selector: Option<InputPort<usize>>,
    numbers: Vec<Param<T>>,
    vectors: Vec<Param<Vec<T>>>,
    continuous: Option<ContinuousState<Vec<T>>>,
    discrete: Vec<DiscreteState<Vec<T>>>,
    outputs: Vec<OutputPort<Vec<T>>>,
    /// Offset added to all arguments to keep them away from kinks.
    offset: f64,
}

impl<T: Scalar> Default for Handles<T> {
    fn default() -> Self {
        Self {
            inputs: vec![],
            selector: None,
            numbers: vec![],
            vectors: vec![],
            continuous: None,
            discrete: vec![],
            outputs: vec![],
            offset: 0.0,
        }
    }
}

/// Returns the number of arguments: the time, and the elements of inputs, parameters and state.
fn count<T: Scalar>(ctx: &Context<T>, h: &Handles<T>) -> usize {
    let inputs = h.inputs.iter().map(|(_, size)| size);
    let vectors = h.vectors.iter().map(|p| ctx.param(*p).unwrap().len());
    let continuous = h.continuous.iter().map(|x| ctx.xc(*x).unwrap().len());
    let discrete = h.discrete.iter().map(|x| ctx.xd(*x).unwrap().len());
    1 + inputs.sum::<usize>()
        + h.numbers.len()
        + vectors.sum::<usize>()
        + continuous.sum::<usize>()
        + discrete.sum::<usize>()
}

/// Computes the outputs, then the state after an update at time 0 and one Euler step of one second:
/// the state before plus the time derivatives, or the next discrete state.
fn results<T: DiagramScalar>(diagram: &Diagram<T>, h: &Handles<T>, arguments: &[T]) -> Vec<T> {
    let mut ctx = diagram.default_context();
    let mut rest = arguments;
    let mut take = |n: usize| {
        let (head, tail) = rest.split_at(n);
        rest = tail;
        head
    };
    ctx.set_time(take(1)[0]);
    for (input, size) in &h.inputs {
        ctx.fix(*input, take(*size).to_vec()).unwrap();
    }
    if let Some(selector) = h.selector {
        ctx.fix(selector, 1).unwrap();
    }
    for p in &h.numbers {
        *ctx.param_mut(*p).unwrap() = take(1)[0];
    }
    for p in &h.vectors {
        let vector = ctx.param_mut(*p).unwrap();
        let n = vector.len();
        vector.copy_from_slice(take(n));
    }
    if let Some(x) = h.continuous {
        let x = ctx.xc_mut(x).unwrap();
        x.copy_from_slice(take(x.len()));
    }
    for x in &h.discrete {
        let x = ctx.xd_mut(*x).unwrap();
        x.copy_from_slice(take(x.len()));
    }
    let outputs = h.outputs.iter().flat_map(|y| ctx.eval(*y).unwrap().clone());
    let mut results: Vec<T> = outputs.collect();
    if h.continuous.is_some() || !h.discrete.is_empty() {
        ctx.set_time(T::zero());
        let mut sim = Simulator::new(diagram, ctx).unwrap();
        sim.set_integrator(ExplicitEuler::new());
        sim.set_fixed_step(1.0).unwrap();
        sim.advance_to(1.0).unwrap();
        let ctx = sim.context();
        if let Some(x) = h.continuous {
            results.extend_from_slice(ctx.xc(x).unwrap());
        }
        for x in &h.discrete {
            results.extend_from_slice(ctx.xd(*x).unwrap());
        }
    }
    results
}

fn check(
    name: &str,
    (diagram, h): (&Diagram<f64>, &Handles<f64>),
    (dual, dual_h): (&Diagram<AutoDiff>, &Handles<AutoDiff>),
) {
    let n = count(&diagram.default_context(), h);
    let point: Vec<f64> = (0..n)
        .map(|i| h.offset + 1.4 * (1.0 + 2.3 * i as f64).sin())
        .collect();
    let (values, jacobian) = autodiff::jacobian(|x| results(dual, dual_h, x), &point);
    let exact = results(diagram, h, &point);
    assert!(!exact.is_empty(), "{name}: nothing is computed");
    for (i, (value, exact)) in values.iter().zip(&exact).enumerate() {
        // Dual numbers compute the values by the same operations.
        assert!(
            (value - exact).abs() <= 1e-15 * exact.abs(),
            "{name}: result {i} is {exact}, over duals {value}"
        );
    }
    for (j, column) in jacobian.column_iter().enumerate() {
        let shifted = |step: f64| {
            let mut x = point.clone();
            x[j] += step;
            results(diagram, h, &x)
        };
        let (low, high) = (shifted(-H), shifted(H));
        for (i, derivative) in column.iter().enumerate() {
            let difference = (high[i] - low[i]) / (2.0 * H);
            // Truncation: third derivatives here are below 30 times the value. Rounding: a few
            // units in the last place of the value and the argument, divided by the step.
            let size = 1.0 + exact[i].abs() + derivative.abs();
            let tolerance = (5.0 * H * H + 4.0 * f64::EPSILON / H) * size;
            assert!(
                (difference - derivative).abs() < tolerance,
                "{name}: result {i} by argument {j}: {derivative}, by differences {difference}"
            );
        }
    }
}

/// Checks a system and records its type; the given fields of [`Handles`] come from its ports.
macro_rules! check {
    ($seen:ident, $type:ident, $system:expr, |$p:ident| $($field:ident: $value:expr),*) => {{
        let mut b = DiagramBuilder::new();
        let block = b.add("system", $system);
        let diagram = b.build().unwrap();
        let dual = diagram.to_scalar::<AutoDiff>().unwrap();
        let h: Handles<f64> = {
            let $p = block.ports();
            Handles { $($field: $value,)* ..Default::default() }
        };
        let dual_h: Handles<AutoDiff> = {
            let $p = &dual.ports(&block).unwrap();
            Handles { $($field: $value,)* ..Default::default() }
        };
        check(stringify!($type), (&diagram, &h), (&dual, &dual_h));
        $seen.insert(stringify!($type));
    }};
}

/// Van der Pol oscillator driven by the input and by the square of time.
struct Oscillator;

impl VectorFunctions for Oscillator {
    fn output<T: Scalar>(&self, t: T, x: &[T], u: &[T], y: &mut [T]) -> Result<()> {
        y[0] = x[0] * x[1] + u[0].sin() * t;
        Ok(())
    }
    fn dynamics<T: Scalar>(&self, t: T, x: &[T], u: &[T], xdot: &mut [T]) -> Result<()> {
        xdot[0] = x[1] + t * t;
        xdot[1] = (T::one() - x[0] * x[0]) * x[1] - x[0] + u[0];
        Ok(())
    }
}

fn sources(seen: &mut BTreeSet<&'static str>) {
    let value = ConstantVectorSource::new([0.0, 0.0]);
    check!(seen, ConstantVectorSource, value, |p| vectors: vec![p.value], outputs: vec![p.y]);
    let wave = Sine::per_element([1.2, -0.4], [0.9, 0.5], [0.3, 1.0]).unwrap();
    check!(seen, Sine, wave.clone().with_input(), |p| inputs: vec![(p.u.unwrap(), 2)],
        outputs: vec![p.y, p.ydot, p.yddot]);
    check!(seen, Sine, wave, |p| outputs: vec![p.y, p.ydot, p.yddot]);
    // The time is 1.18 s, between breaks.
    let breaks = [0.0, 0.8, 1.5, 2.0];
    let samples = [1.0, -0.5, 2.0, 0.3].map(|x| vec![x, x * x, 1.0 - x]);
    let spline = PiecewisePolynomial::cubic_with_continuous_second_derivatives(
        &breaks,
        &samples,
        &SplineEnds::NotAKnot,
    )
    .unwrap();
    let turns = [0.0, 0.4, 1.0, 1.5].map(|a| math::rotation_exp(&Vector3::new(a, -a * a, 0.5)));
    let slerp = PiecewiseQuaternionSlerp::new(&breaks, &turns).unwrap();
    let polynomial = Polynomial::new(&samples).unwrap();
    let kind = KnotVectorType::ClampedUniform;
    let basis = BsplineBasis::uniform(4, 4, kind, (0.0, 3.0)).unwrap();
    let curve = BsplineTrajectory::new(basis, &samples).unwrap();
    let pose = PiecewisePose::new(spline.clone(), slerp.clone()).unwrap();
    let still = PiecewisePose::make_linear(&[-2.0, -1.0], &[Isometry3::identity(); 2]).unwrap();
    check!(seen, TrajectorySource, TrajectorySource::new(polynomial, 2), |p| outputs: vec![p.y]);
    check!(seen, TrajectorySource, TrajectorySource::new(spline, 3), |p| outputs: vec![p.y]);
    check!(seen, TrajectorySource, TrajectorySource::new(curve, 2), |p| outputs: vec![p.y]);
    check!(seen, TrajectorySource, TrajectorySource::new(slerp, 2), |p| outputs: vec![p.y]);
    check!(seen, TrajectorySource, TrajectorySource::new(pose, 2), |p| outputs: vec![p.y]);
    check!(seen, TrajectorySource, TrajectorySource::new(still, 1), |p| outputs: vec![p.y]);
}

fn memoryless(seen: &mut BTreeSet<&'static str>) {
    check!(seen, Adder, Adder::new(3, 2), |p|
        inputs: p.u.iter().map(|u| (*u, 2)).collect(), outputs: vec![p.sum]);
    check!(seen, Demultiplexer, Demultiplexer::new([1, 2]), |p|
        inputs: vec![(p.u, 3)], outputs: p.y.clone());
    check!(seen, Gain, Gain::new(2, 0.0), |p|
        inputs: vec![(p.u, 2)], numbers: vec![p.k], outputs: vec![p.y]);
    let gain = MatrixGain::new(dmatrix![1.0, -2.0, 3.0; 0.5, 0.0, 7.0]).unwrap();
    check!(seen, MatrixGain, gain, |p| inputs: vec![(p.u, 3)], outputs: vec![p.y]);
    check!(seen, Multiplexer, Multiplexer::new([1, 2]), |p|
        inputs: vec![(p.u[0], 1), (p.u[1], 2)], outputs: vec![p.y]);
    check!(seen, PassThrough, PassThrough::new(2), |p|
        inputs: vec![(p.u, 2)], outputs: vec![p.y]);
    check!(seen, PortSwitch, PortSwitch::new(3, 2), |p|
        inputs: p.u.iter().map(|u| (*u, 2)).collect(), selector: Some(p.selector),
        outputs: vec![p.value]);
    let pick = Selector::new([1, 2], [vec![(1, 1), (0, 0)], vec![(1, 0), (1, 1)]]).unwrap();
    check!(seen, Selector, pick, |p|
        inputs: vec![(p.u[0], 1), (p.u[1], 2)], outputs: p.y.clone());
    let wrap = WrapToSystem::new(3).with_interval(0, -0.3, 0.4).unwrap();
    let wrap = wrap.with_interval(1, 0.0, 4.0).unwrap();
    check!(seen, WrapToSystem, wrap, |p| inputs: vec![(p.u, 3)], outputs: vec![p.y]);
    // Inputs are -0.22, -0.88, 1.4: within, below and above the limits.
    let limit = Saturation::new([-1.0, -0.5, -1.0], [1.0, 0.5, 1.0]).unwrap();
    check!(seen, Saturation, limit, |p| inputs: vec![(p.u, 3)], outputs: vec![p.y]);
    let high = Saturation::with_limit_ports(1);
    check!(seen, Saturation, high, |p|
        inputs: vec![(p.u, 1), (p.max.unwrap(), 1)], outputs: vec![p.y]);
    let low = Saturation::with_limit_ports(1);
    check!(seen, Saturation, low, |p|
        inputs: vec![(p.min.unwrap(), 1), (p.u, 1)], outputs: vec![p.y]);
}

fn continuous(seen: &mut BTreeSet<&'static str>) {
    let (a, b) = (dmatrix![0.5, -1.0; 2.0, 0.1], dmatrix![1.0, 2.0; 0.0, -1.0]);
    let (c, d) = (dmatrix![3.0, 1.0], dmatrix![0.2, -0.4]);
    for period in [0.0, PERIOD] {
        let [a, b, c, d] = [&a, &b, &c, &d].map(Clone::clone);
        let linear = LinearSystem::new(a, b, c, d)
            .and_then(|s| s.with_period(period))
            .unwrap();
        let affine = linear.as_affine();
        let matrices = [affine.a(), affine.b(), affine.c(), affine.d()].map(Clone::clone);
        let [a, b, c, d] = matrices;
        let affine = AffineSystem::new(a, b, c, d)
            .and_then(|s| s.with_offsets([1.0, 2.0], [3.0])?.with_period(period))
            .unwrap();
        check!(seen, LinearSystem, linear, |p| inputs: vec![(p.u, 2)], outputs: vec![p.y],
            continuous: p.continuous, discrete: p.discrete.into_iter().collect());
        check!(seen, AffineSystem, affine, |p| inputs: vec![(p.u, 2)], outputs: vec![p.y],
            continuous: p.continuous, discrete: p.discrete.into_iter().collect());
    }
    check!(seen, Integrator, Integrator::new(2), |p|
        inputs: vec![(p.u, 2)], outputs: vec![p.y], continuous: Some(p.x));
    let filter = FirstOrderLowPassFilter::new([0.5, 2.0]).unwrap();
    check!(seen, FirstOrderLowPassFilter, filter, |p|
        inputs: vec![(p.u, 2)], outputs: vec![p.y], continuous: Some(p.x));
    let pid = PidController::new([2.0, 1.0], [3.0, 0.5], [5.0, 0.1]).unwrap();
    let pid = pid
        .with_output_projection(dmatrix![1.0, 0.5; -1.0, 2.0])
        .unwrap();
    check!(seen, PidController, pid, |p|
        inputs: vec![(p.estimated_state, 4), (p.desired_state, 4)], outputs: vec![p.control],
        continuous: Some(p.integral));
    let oscillator = VectorSystem::from_functions(1, 1, Oscillator);
    let oscillator = oscillator.with_initial_continuous_state([0.0, 0.0]);
    check!(seen, VectorSystem, oscillator, |p|
        inputs: vec![(p.u, 1)], outputs: vec![p.y], continuous: p.continuous);
    let map = VectorSystem::from_functions(1, 1, Oscillator);
    let map = map.with_initial_discrete_state([0.0, 0.0], PERIOD);
    check!(seen, VectorSystem, map, |p|
        inputs: vec![(p.u, 1)], outputs: vec![p.y], discrete: p.discrete.into_iter().collect());
}

fn sampled(seen: &mut BTreeSet<&'static str>) {
    check!(seen, ZeroOrderHold, ZeroOrderHold::new(2, PERIOD, 0.0), |p|
        inputs: vec![(p.u, 2)], outputs: vec![p.y], discrete: vec![p.x]);
    let delay = DiscreteTimeDelay::new(2, PERIOD, 2).unwrap();
    check!(seen, DiscreteTimeDelay, delay, |p|
        inputs: vec![(p.u, 2)], outputs: vec![p.y], discrete: vec![p.x]);
    let sum = DiscreteTimeIntegrator::new(2, PERIOD).unwrap();
    check!(seen, DiscreteTimeIntegrator, sum, |p|
        inputs: vec![(p.u, 2)], outputs: vec![p.y], discrete: vec![p.x]);
    let rate = DiscreteDerivative::new(2, PERIOD).unwrap();
    // The count of samples is an argument too; its kink is at 2.
    check!(seen, DiscreteDerivative, rate.clone(), |p|
        inputs: vec![(p.u, 2)], outputs: vec![p.dudt], offset: 5.0,
        discrete: [p.history.latest, p.history.previous].into_iter().chain(p.history.count).collect());
    check!(seen, DiscreteDerivative, rate.with_initial_transient(), |p|
        inputs: vec![(p.u, 2)], outputs: vec![p.dudt],
        discrete: vec![p.history.latest, p.history.previous]);
    let states = StateInterpolatorWithDiscreteDerivative::new(2, PERIOD).unwrap();
    check!(seen, StateInterpolatorWithDiscreteDerivative, states.with_initial_transient(), |p|
        inputs: vec![(p.position, 2)], outputs: vec![p.state],
        discrete: vec![p.history.latest, p.history.previous]);
}

#[test]
fn derivatives_of_every_primitive_equal_central_differences() {
    let mut seen = BTreeSet::new();
    sources(&mut seen);
    memoryless(&mut seen);
    continuous(&mut seen);
    sampled(&mut seen);

    // These have nothing to differentiate: values of any type, samples that depend on nothing, and
    // a log that is not an output.
    seen.extend([
        "ConstantValueSource",
        "ValueDiscreteTimeDelay",
        "ValuePassThrough",
        "ValuePortSwitch",
        "ValueZeroOrderHold",
        "RandomSource",
        "VectorLogSink",
    ]);
    // Items exported next to the systems.
    let parts = [
        "InputHistory",
        "VectorClosures",
        "VectorFunctions",
        "VectorLog",
    ];
    let exports = include_str!("../src/primitives/mod.rs")
        .split("pub use ")
        .skip(1);
    for export in exports.flat_map(|e| e.split(';').next()) {
        let names = export.split("::").nth(1).unwrap();
        for name in names.split(|c: char| !c.is_alphanumeric() && c != '_') {
            let is_type = name.starts_with(char::is_uppercase);
            let known = !is_type || name.ends_with("Ports") || parts.contains(&name);
            assert!(known || seen.contains(name), "{name} is not in these tests");
        }
    }
}
