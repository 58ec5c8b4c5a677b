//! Benches of the systems framework, the counterpart of `a_framework.py`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nalgebra::{DMatrix, dmatrix};
use std::hint::black_box;
use tarragon::framework::integrator::RungeKutta3;
use tarragon::framework::primitives::{
    Adder, ConstantVectorSource, DiscreteTimeDelay, Gain, LinearSystem, VectorLogSink,
    ZeroOrderHold,
};
use tarragon::prelude::*;

/// Period of discrete systems (s).
const PERIOD: f64 = 0.01;

/// Changes the head of a chain of gains and evaluates its tail.
fn gain_chain(c: &mut Criterion) {
    for n in [1_usize, 10, 100, 1000] {
        let mut b = DiagramBuilder::new();
        let gains: Vec<_> = (0..n)
            .map(|i| b.add(&format!("g{i}"), Gain::new(1, 1.0001)))
            .collect();
        for pair in gains.windows(2) {
            b.connect(pair[0].y, pair[1].u);
        }
        let mut ctx = b.build().unwrap().default_context();
        let (head, tail) = (gains[0].u, gains[n - 1].y);
        ctx.fix(head, vec![1.0]).unwrap();
        let mut group = c.benchmark_group("A2.change_head+eval_tail");
        group.bench_function(n.to_string(), |bencher| {
            bencher.iter(|| {
                ctx.fixed_mut(head).unwrap()[0] = black_box(2.0);
                black_box(ctx.eval(tail).unwrap());
            });
        });
        group.finish();
    }
}

/// Evaluates an adder of many inputs from one cached source, one input changing.
fn cached_eval(c: &mut Criterion) {
    for n in [2_usize, 1000, 10_000] {
        let mut b = DiagramBuilder::new();
        let source = b.add("source", ConstantVectorSource::new([1.0]));
        let adder = b.add("adder", Adder::new(n, 1));
        for u in &adder.u[..n - 1] {
            b.connect(source.y, *u);
        }
        let mut ctx = b.build().unwrap().default_context();
        let last = adder.u[n - 1];
        ctx.fix(last, vec![1.0]).unwrap();
        let mut group = c.benchmark_group("A2.cached_input_eval_in_C++.per_input");
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(n.to_string(), |bencher| {
            bencher.iter(|| {
                ctx.fixed_mut(last).unwrap()[0] = black_box(2.0);
                black_box(ctx.eval(adder.sum).unwrap());
            });
        });
        group.finish();
    }
}

/// Function that adds system number `i` of a chain and returns its ports.
type Link = fn(&mut DiagramBuilder, usize) -> (InputPort<Vec<f64>>, OutputPort<Vec<f64>>);

fn hold(b: &mut DiagramBuilder, i: usize) -> (InputPort<Vec<f64>>, OutputPort<Vec<f64>>) {
    let hold = b.add(&format!("s{i}"), ZeroOrderHold::new(1, PERIOD, 0.0));
    (hold.u, hold.y)
}

fn delay(b: &mut DiagramBuilder, i: usize) -> (InputPort<Vec<f64>>, OutputPort<Vec<f64>>) {
    let delay = DiscreteTimeDelay::new(1, PERIOD, 1).unwrap();
    let delay = b.add(&format!("s{i}"), delay);
    (delay.u, delay.y)
}

fn linear(
    b: &mut DiagramBuilder,
    i: usize,
    matrices: [DMatrix<f64>; 4],
    period: f64,
) -> (InputPort<Vec<f64>>, OutputPort<Vec<f64>>) {
    let [a, b_matrix, c, d] = matrices;
    let system = LinearSystem::new(a, b_matrix, c, d)
        .and_then(|s| s.with_period(period))
        .unwrap();
    let system = b.add(&format!("s{i}"), system);
    (system.u, system.y)
}

fn linear1(b: &mut DiagramBuilder, i: usize) -> (InputPort<Vec<f64>>, OutputPort<Vec<f64>>) {
    let matrices = [dmatrix![0.5], dmatrix![0.5], dmatrix![1.0], dmatrix![0.0]];
    linear(b, i, matrices, PERIOD)
}

fn linear4(b: &mut DiagramBuilder, i: usize) -> (InputPort<Vec<f64>>, OutputPort<Vec<f64>>) {
    let mut a: DMatrix<f64> = 0.5 * DMatrix::identity(4, 4);
    a[(0, 1)] = 0.1;
    let (input, output) = (
        DMatrix::from_element(4, 1, 0.1),
        DMatrix::from_element(1, 4, 0.1),
    );
    linear(b, i, [a, input, output, dmatrix![0.0]], PERIOD)
}

fn continuous(b: &mut DiagramBuilder, i: usize) -> (InputPort<Vec<f64>>, OutputPort<Vec<f64>>) {
    let matrices = [dmatrix![-1.0], dmatrix![1.0], dmatrix![1.0], dmatrix![0.0]];
    linear(b, i, matrices, 0.0)
}

fn hold_or_gain(b: &mut DiagramBuilder, i: usize) -> (InputPort<Vec<f64>>, OutputPort<Vec<f64>>) {
    if i.is_multiple_of(2) {
        return hold(b, i);
    }
    let gain = b.add(&format!("s{i}"), Gain::new(1, 0.99));
    (gain.u, gain.y)
}

/// A source and `n` systems, each taking the previous one's output as input.
fn chain(link: Link, n: usize) -> Diagram<f64> {
    let mut b = DiagramBuilder::new();
    let mut last = b.add("source", ConstantVectorSource::new([1.0])).y;
    for i in 0..n {
        let (u, y) = link(&mut b, i);
        b.connect(last, u);
        last = y;
    }
    b.build().unwrap()
}

/// Times one step of `period` (s) per iteration. As in the script, one call advances many steps.
fn steps(bencher: &mut criterion::Bencher<'_>, sim: &mut Simulator<f64>, period: f64) {
    sim.initialize().unwrap();
    let (start_time, mut done) = (sim.context().time(), 0_u64);
    bencher.iter_custom(|steps| {
        done += steps;
        let start = std::time::Instant::now();
        sim.advance_to(start_time + done as f64 * period).unwrap();
        start.elapsed()
    });
}

/// One step of a chain of discrete systems that all update at the same times.
fn discrete_step(c: &mut Criterion) {
    let kinds: [(&str, Link); 5] = [
        ("ZeroOrderHold", hold),
        ("DiscreteTimeDelay", delay),
        ("LinearSystem1_discrete", linear1),
        ("LinearSystem4_discrete", linear4),
        ("ZOH_Gain_alternating", hold_or_gain),
    ];
    for (name, link) in kinds {
        for n in [1_usize, 10, 100, 1000] {
            let diagram = chain(link, n);
            let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
            let mut group = c.benchmark_group(format!("A1.sim_step_per_system.{name}"));
            group.throughput(Throughput::Elements(n as u64));
            group.bench_function(n.to_string(), |bencher| steps(bencher, &mut sim, PERIOD));
            group.finish();
        }
    }
}

/// A hold with a log, and holds with ten different periods.
fn log_and_many_periods(c: &mut Criterion) {
    let mut b = DiagramBuilder::new();
    let source = b.add("source", ConstantVectorSource::new([1.0]));
    let hold = b.add("hold", ZeroOrderHold::new(1, PERIOD, 0.0));
    let log = b.add("log", VectorLogSink::periodic(1, PERIOD));
    b.connect(source.y, hold.u);
    b.connect(hold.y, log.u);
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let mut group = c.benchmark_group("A1.sim_step.ZOH+VectorLogSink");
    group.bench_function("1", |bencher| steps(bencher, &mut sim, PERIOD));
    group.finish();

    let mut b = DiagramBuilder::new();
    let source = b.add("source", ConstantVectorSource::new([1.0]));
    for i in 1..=10 {
        let period = PERIOD * f64::from(i);
        let hold = b.add(&format!("h{i}"), ZeroOrderHold::new(1, period, 0.0));
        b.connect(source.y, hold.u);
    }
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let mut group = c.benchmark_group("A1.sim_multirate.10ZOH_periods_1..10h");
    group.bench_function("10", |bencher| steps(bencher, &mut sim, PERIOD));
    group.finish();
}

/// Van der Pol's oscillator with mu = 1.
struct VanDerPol;
impl LeafSystem<f64> for VanDerPol {
    type Ports = ();
    fn declare(&self, d: &mut Declare<Self, f64>) {
        d.continuous_state((1, 1, 0), &[2.0, 0.0], Dep::Xc, |_, ctx, dx| {
            let [q, v] = [ctx.q()[0], ctx.v()[0]];
            (dx[0], dx[1]) = (v, (1.0 - q * q) * v - q);
            Ok(())
        });
    }
}

/// Ten states, nearly undamped.
fn linear10() -> Diagram<f64> {
    // Any matrix of this kind serves the purpose; the script draws its own.
    let random = DMatrix::from_fn(10, 10, |i, j| ((7 * i + 13 * j) % 11) as f64 / 5.0 - 1.0);
    let a = &random - random.transpose() - 0.05 * DMatrix::identity(10, 10);
    let (b_matrix, c, d) = (
        DMatrix::zeros(10, 1),
        DMatrix::identity(10, 10),
        DMatrix::zeros(10, 1),
    );
    let system = LinearSystem::new(a, b_matrix, c, d).unwrap();
    let system = system.with_initial_state(vec![1.0; 10]).unwrap();
    let mut b = DiagramBuilder::new();
    let zero = b.add("zero", ConstantVectorSource::new([0.0]));
    let system = b.add("system", system);
    b.connect(zero.y, system.u);
    b.build().unwrap()
}

/// Fixed steps of the third-order Runge-Kutta method.
fn fixed_steps(c: &mut Criterion) {
    let mut van_der_pol = DiagramBuilder::new();
    van_der_pol.add_f64("oscillator", VanDerPol);
    let mut cases = vec![
        ("VanDerPol".into(), 2, 1e-3, van_der_pol.build().unwrap()),
        ("Linear10".into(), 10, 1e-3, linear10()),
    ];
    for n in [10, 100, 1000] {
        let name = format!("diagram_of_{n}_lin1");
        cases.push((name, n, 0.01, chain(continuous, n)));
    }
    for (name, n, step, diagram) in cases {
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.set_integrator(RungeKutta3::new());
        sim.set_fixed_step(step).unwrap();
        let mut group = c.benchmark_group(format!("A4.rk3_{name}.fixed{step}.per_step"));
        group.bench_function(n.to_string(), |bencher| steps(bencher, &mut sim, step));
        group.finish();
    }
}

/// Building a chain of zero-order holds, and the costs of its context.
fn build_and_contexts(c: &mut Criterion) {
    for n in [1_usize, 10, 100, 1000] {
        let mut group = c.benchmark_group("A3.Diagram_build_py(DiagramBuilder loop)");
        group.bench_function(n.to_string(), |bencher| {
            bencher.iter(|| black_box(chain(hold, n)));
        });
        group.finish();
        let diagram = chain(hold, n);
        let mut group = c.benchmark_group("A3.CreateDefaultContext.ZOHchain");
        group.bench_function(n.to_string(), |bencher| {
            bencher.iter(|| black_box(diagram.default_context()));
        });
        group.finish();
        let (context, mut other) = (diagram.default_context(), diagram.default_context());
        let mut group = c.benchmark_group("A3.SetTimeStateAndParametersFrom");
        group.bench_function(n.to_string(), |bencher| {
            bencher.iter(|| other.set_time_state_and_parameters_from(&context).unwrap());
        });
        group.finish();
        let mut group = c.benchmark_group("A3.Context.Clone.ZOHchain");
        group.bench_function(n.to_string(), |bencher| {
            bencher.iter(|| black_box(context.clone()));
        });
        group.finish();
    }
}

criterion_group!(
    benches,
    gain_chain,
    cached_eval,
    discrete_step,
    log_and_many_periods,
    fixed_steps,
    build_and_contexts
);
criterion_main!(benches);
