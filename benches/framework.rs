//! Systems framework: next to `a_framework.py`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use tarragon::framework::primitives::{Adder, ConstantVectorSource, Gain, ZeroOrderHold};
use tarragon::prelude::*;

/// Change the head of a chain of gains and evaluate its tail.
fn gain_chain(c: &mut Criterion) {
    for n in [1_usize, 10, 100, 1000] {
        let mut b = DiagramBuilder::new();
        let gains: Vec<_> = (0..n)
            .map(|i| b.add(&format!("g{i}"), Gain::new(1.0001, 1)))
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

/// An adder of many inputs from one cached source, one input changing.
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

/// One step of a chain of zero-order holds that all sample at the same times.
fn discrete_step(c: &mut Criterion) {
    for n in [1_usize, 10, 100, 1000] {
        let mut b = DiagramBuilder::new();
        let source = b.add("source", ConstantVectorSource::new([1.0]));
        let mut last = source.y;
        for i in 0..n {
            let hold = b.add(&format!("h{i}"), ZeroOrderHold::new(0.01, 0.0, 1));
            b.connect(last, hold.u);
            last = hold.y;
        }
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.initialize().unwrap();
        let mut step = 0_u64;
        let mut group = c.benchmark_group("A1.sim_step_per_system.ZeroOrderHold");
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(n.to_string(), |bencher| {
            // As in the script, one call advances many steps; here one step per iteration.
            bencher.iter_custom(|steps| {
                step += steps;
                let start = std::time::Instant::now();
                sim.advance_to(step as f64 * 0.01).unwrap();
                start.elapsed()
            });
        });
        group.finish();
    }
}

/// Cloning the context of a chain of zero-order holds.
fn clone_context(c: &mut Criterion) {
    for n in [100_usize, 1000] {
        let mut b = DiagramBuilder::new();
        for i in 0..n {
            b.add(&format!("h{i}"), ZeroOrderHold::new(0.01, 0.0, 1));
        }
        let ctx = b.build().unwrap().default_context();
        let mut group = c.benchmark_group("A3.Context.Clone.ZOHchain");
        group.bench_function(n.to_string(), |bencher| {
            bencher.iter(|| black_box(ctx.clone()))
        });
        group.finish();
    }
}

criterion_group!(
    benches,
    gain_chain,
    cached_eval,
    discrete_step,
    clone_context
);
criterion_main!(benches);
