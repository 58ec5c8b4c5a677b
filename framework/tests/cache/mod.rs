//! Guarantees of the cache, one per test. This file holds systems that count their computations;
//! the tests are in the other files.

mod invalidation;
mod modes;
mod safety;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tarragon_framework::primitives::Gain;
use tarragon_framework::{CacheMode, CacheStatistics, Dependencies, Error, Result, prelude::*};

type Inputs = [InputPort<Vec<f64>>; 2];
type Calc = Box<dyn Fn(&LeafContext<'_, f64>, Inputs, f64) -> Result<f64> + Send + Sync>;

/// System whose output may read two inputs and a parameter; counts its computations.
struct System {
    calc: Calc,
    calls: AtomicU64,
}
#[derive(Clone, Copy)]
struct Ports {
    u: Inputs,
    p: Param<f64>,
    y: OutputPort<Vec<f64>>,
}
impl LeafSystem<f64> for System {
    type Ports = Ports;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let u = [d.vector_input("u0", 1), d.vector_input("u1", 1)];
        let p = d.param(0.0);
        let y = d.vector_output("y", 1, (Dep::AllInputs, p), move |s, ctx, y| {
            s.calls.fetch_add(1, Ordering::Relaxed);
            y[0] = (s.calc)(ctx, u, *ctx.param(p))?;
            Ok(())
        });
        Ports { u, p, y }
    }
}

fn add(
    b: &mut DiagramBuilder,
    name: &str,
    calc: impl Fn(&LeafContext<'_, f64>, Inputs, f64) -> Result<f64> + Send + Sync + 'static,
) -> Block<System> {
    let (calc, calls) = (Box::new(calc), AtomicU64::new(0));
    b.add_f64(name, System { calc, calls })
}

/// `u0 + p`.
fn plus(b: &mut DiagramBuilder, name: &str) -> Block<System> {
    add(b, name, |ctx, u, p| Ok(ctx.eval(u[0])?[0] + p))
}

/// Outputs the parameter.
fn source(b: &mut DiagramBuilder, name: &str) -> Block<System> {
    add(b, name, |_, _, p| Ok(p))
}

/// Outputs u0 where its parameter is positive, else -1.
fn switch(b: &mut DiagramBuilder, name: &str) -> Block<System> {
    add(b, name, |ctx, u, p| {
        Ok(if p > 0.0 { ctx.eval(u[0])?[0] } else { -1.0 })
    })
}

/// Outputs its input, and fails where that is negative.
fn root(b: &mut DiagramBuilder, name: &str) -> Block<System> {
    add(b, name, |ctx, u, _| match ctx.eval(u[0])?[0] {
        x if x < 0.0 => Err(Error::custom("negative")),
        x => Ok(x),
    })
}

/// Outputs its input, or -1 where that fails.
fn swallow(b: &mut DiagramBuilder, name: &str) -> Block<System> {
    add(b, name, |ctx, u, _| {
        Ok(ctx.eval(u[0]).map_or(-1.0, |u| u[0]))
    })
}

/// Wires systems one behind the other, by their first inputs.
fn wire(b: &mut DiagramBuilder, systems: &[&Block<System>]) {
    for pair in systems.windows(2) {
        b.connect(pair[0].y, pair[1].u[0]);
    }
}

fn set(ctx: &mut Context<f64>, system: &Block<System>, p: f64) {
    *ctx.param_mut(system.p).unwrap() = p;
}

fn value(ctx: &Context<f64>, system: &Block<System>) -> f64 {
    ctx.eval(system.y).unwrap()[0]
}

fn calls(system: &Block<System>) -> u64 {
    system.system().calls.load(Ordering::Relaxed)
}

fn gains(n: usize) -> (Diagram<f64>, Vec<Block<Gain>>) {
    let mut b = DiagramBuilder::new();
    let add = |i| b.add(&format!("g{i}"), Gain::new(1, 1.0));
    let g: Vec<_> = (0..n).map(add).collect();
    g.windows(2).for_each(|w| b.connect(w[0].y, w[1].u));
    (b.build().unwrap(), g)
}
