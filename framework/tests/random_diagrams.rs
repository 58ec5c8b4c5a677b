//! What every diagram promises, on random diagrams under random changes.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy does not recognise outside of test functions"
)]

use proptest::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tarragon_framework::primitives::{ConstantVectorSource, Gain};
use tarragon_framework::{CacheMode, Error, Result, WitnessDirection, prelude::*};

/// What happened in a simulation: numbers, bit by bit.
type Log = Arc<Mutex<Vec<u64>>>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Reads both inputs.
    Map,
    /// Reads the one input that its parameter tells.
    Switch,
    /// Fails where its parameter is above one half.
    Fallible,
    /// Swallows the failure of its first input.
    Fallback,
    /// Works with cache entries, and with time.
    Cached,
    /// Reads its first input if there is one.
    Optional,
    /// Has no input that it reads.
    Clock,
    /// Discrete state, updated periodically.
    Hold,
    /// Continuous state of positions and velocities; the output sees positions only.
    Spring,
    /// Abstract state, updated without restrictions.
    Letters,
    /// Continuous state that a witness function resets.
    Ramp,
    /// Computes its event times.
    Alarm,
}
const KINDS: [Kind; 12] = [
    Kind::Map,
    Kind::Switch,
    Kind::Fallible,
    Kind::Fallback,
    Kind::Cached,
    Kind::Optional,
    Kind::Clock,
    Kind::Hold,
    Kind::Spring,
    Kind::Letters,
    Kind::Ramp,
    Kind::Alarm,
];
const TIMINGS: [(f64, f64); 4] = [(0.1, 0.0), (0.1, 0.05), (0.25, 0.0), (0.07, 0.2)];

impl Kind {
    /// Which inputs the output is declared to read.
    fn feedthrough(self) -> [bool; 2] {
        match self {
            Self::Map | Self::Switch | Self::Cached => [true, true],
            Self::Fallible | Self::Fallback | Self::Optional => [true, false],
            _ => [false, false],
        }
    }
    fn reads_time(self) -> bool {
        matches!(self, Self::Cached | Self::Clock)
    }
}

/// Two inputs, a parameter and an output, all of two elements; state according to its kind.
struct System {
    kind: Kind,
    timing: (f64, f64),
}

#[derive(Clone, Copy)]
struct Ports<T> {
    u: [InputPort<Vec<T>>; 2],
    y: OutputPort<Vec<T>>,
    p: Param<T>,
    log: Param<Log>,
    entry: Option<CacheEntry<Vec<T>>>,
    xc: Option<ContinuousState<Vec<T>>>,
    xd: Option<DiscreteState<Vec<T>>>,
    xa: Option<AbstractState<Vec<T>>>,
}

/// Keeps values small, smoothly.
fn squash<T: Scalar>(x: T) -> T {
    x / (T::from(1.0) + x * x)
}

fn set<T>(y: &mut [T], f: impl Fn(usize) -> T) {
    y.iter_mut().enumerate().for_each(|(i, y)| *y = f(i));
}

/// An input, or something instead of its failure.
fn soft<T: Scalar>(ctx: &LeafContext<'_, T>, u: InputPort<Vec<T>>) -> [T; 2] {
    match ctx.eval(u) {
        Ok(u) => [u[0], u[1]],
        Err(_) => [T::from(-0.25), T::from(0.5)],
    }
}

impl<T: Scalar> LeafSystem<T> for System {
    type Ports = Ports<T>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = [d.vector_input("u0", 2), d.vector_input("u1", 2)];
        let p = d.param(T::from(0.25));
        let log = d.fresh_param(Log::default);
        let note = move |ctx: &LeafContext<'_, T>, what: u64| {
            let now = ctx.time().re().to_bits();
            ctx.param(log).lock().unwrap().extend([what, now]);
        };
        let (period, offset) = self.timing;
        let ticks = Trigger::Periodic { period, offset };
        let both = [ticks, Trigger::Forced];
        let (mut entry, mut xc, mut xd, mut xa) = (None, None, None, None);
        let y = match self.kind {
            Kind::Map => {
                let deps = [u[0].into(), u[1].into(), p.into()];
                d.vector_output("y", 2, &deps, move |_, ctx, y| {
                    let (p, a, b) = (*ctx.param(p), ctx.eval(u[0])?, ctx.eval(u[1])?);
                    set(y, |i| squash(p * a[i] + b[1 - i]));
                    Ok(())
                })
            }
            Kind::Switch => {
                let deps = [Dep::AllInputs, Dep::AllParameters];
                d.vector_output("y", 2, &deps, move |_, ctx, y| {
                    let which = usize::from(*ctx.param(p) > T::from(0.0));
                    let a = ctx.eval(u[which])?;
                    set(y, |i| a[i] + T::from(0.125));
                    Ok(())
                })
            }
            Kind::Fallible => {
                d.vector_output("y", 2, &[p.into(), u[0].into()], move |_, ctx, y| {
                    // Half a result is written before the failure.
                    y[0] = T::from(7.0);
                    if *ctx.param(p) > T::from(0.5) {
                        return Err(Error::custom("too much"));
                    }
                    let a = ctx.eval(u[0])?;
                    set(y, |i| squash(a[i] - T::from(1.5)));
                    Ok(())
                })
            }
            Kind::Fallback => {
                d.vector_output("y", 2, &[p.into(), u[0].into()], move |_, ctx, y| {
                    let (p, a) = (*ctx.param(p), soft(ctx, u[0]));
                    set(y, |i| squash(a[i] + p));
                    Ok(())
                })
            }
            Kind::Cached => {
                let model = vec![T::from(0.0); 2];
                let deps = [u[0].into(), p.into()];
                let first = d.cache_entry("first", model.clone(), &deps, move |_, ctx, y| {
                    let (p, a) = (*ctx.param(p), ctx.eval(u[0])?);
                    set(y, |i| p * a[i]);
                    Ok(())
                });
                let deps = [first.into(), u[1].into()];
                let second = d.cache_entry("second", model, &deps, move |_, ctx, y| {
                    let (first, b) = (ctx.cached(first)?, ctx.eval(u[1])?);
                    set(y, |i| first[i] + b[i]);
                    Ok(())
                });
                entry = Some(first);
                let deps = [first.into(), second.into(), Dep::Time];
                d.vector_output("y", 2, &deps, move |_, ctx, y| {
                    let (a, b) = (ctx.cached(first)?, ctx.cached(second)?);
                    set(y, |i| squash(a[i] * b[i] + ctx.time()));
                    Ok(())
                })
            }
            Kind::Optional => {
                d.vector_output("y", 2, &[u[0].into(), p.into()], move |_, ctx, y| {
                    match ctx.eval_optional(u[0])? {
                        Some(a) => set(y, |i| a[i]),
                        None => set(y, |_| *ctx.param(p)),
                    }
                    Ok(())
                })
            }
            Kind::Clock => d.vector_output("y", 2, &[Dep::Time, p.into()], move |_, ctx, y| {
                set(y, |_| squash(ctx.time() * *ctx.param(p)));
                Ok(())
            }),
            Kind::Hold => {
                let x = d.discrete_state(&[T::from(0.1), T::from(-0.1)]);
                for trigger in both {
                    d.discrete_update_on(trigger, move |_, ctx, next| {
                        note(ctx, 1);
                        let (a, x0) = (soft(ctx, u[0]), ctx.xd(x));
                        set(next.get_mut(x), |i| squash(x0[i] + a[i]));
                        Ok(EventStatus::Succeeded)
                    });
                }
                xd = Some(x);
                d.vector_output("y", 2, &[Dep::Xd, p.into()], move |_, ctx, y| {
                    set(y, |i| ctx.xd(x)[i] + *ctx.param(p));
                    Ok(())
                })
            }
            Kind::Spring => {
                let x0 = [T::from(0.3), T::from(0.0)];
                let deps = [Dep::Xc, p.into(), u[1].into()];
                let x = d.continuous_state((1, 1, 0), &x0, &deps, move |_, ctx, dx| {
                    let (p, a) = (*ctx.param(p), soft(ctx, u[1]));
                    dx[0] = ctx.v()[0];
                    dx[1] = squash(a[0]) * p - ctx.q()[0];
                    Ok(())
                });
                xc = Some(x);
                d.vector_output("y", 2, &[Dep::Q], move |_, ctx, y| {
                    set(y, |_| ctx.q()[0]);
                    Ok(())
                })
            }
            Kind::Letters => {
                let x = d.abstract_state(vec![T::from(0.5)]);
                for trigger in both {
                    d.unrestricted_update_on(trigger, move |_, ctx, next| {
                        note(ctx, 2);
                        let a = soft(ctx, u[1]);
                        let x = next.xa_mut(x);
                        x.push(squash(a[1] + x[x.len() - 1]));
                        if x.len() > 4 {
                            x.remove(0);
                        }
                        Ok(EventStatus::Succeeded)
                    });
                }
                xa = Some(x);
                d.vector_output("y", 2, &[x.into(), p.into()], move |_, ctx, y| {
                    let x = ctx.xa(x);
                    let sum = x.iter().fold(*ctx.param(p), |sum, x| sum + *x);
                    set(y, |_| squash(sum));
                    Ok(())
                })
            }
            Kind::Ramp => {
                let count = d.discrete_state(&[T::from(0.0); 2]);
                let deps = [p.into()];
                let x = d.continuous_state((0, 0, 1), &[T::from(0.0)], &deps, move |_, ctx, dx| {
                    dx[0] = T::from(1.0) + squash(*ctx.param(p));
                    Ok(())
                });
                let top = d.witness_function(
                    "top",
                    WitnessDirection::NegativeThenNonNegative,
                    |_, ctx| Ok(ctx.z()[0] - T::from(0.3)),
                );
                d.unrestricted_update_on(Trigger::Witness(top), move |_, ctx, next| {
                    note(ctx, 3);
                    next.xc_mut()[0] = T::from(0.0);
                    next.xd_mut(count)[0] += T::from(1.0);
                    Ok(EventStatus::Succeeded)
                });
                (xc, xd) = (Some(x), Some(count));
                d.vector_output("y", 2, &[Dep::Z, count.into()], move |_, ctx, y| {
                    (y[0], y[1]) = (ctx.z()[0], squash(ctx.xd(count)[0]));
                    Ok(())
                })
            }
            Kind::Alarm => {
                let next = d.discrete_state(&[T::from(0.03), T::from(0.0)]);
                let alarm = d.timed_event(move |_, ctx| {
                    let next = ctx.xd(next)[0].re();
                    let now = ctx.time().re();
                    Ok(if next > now { next } else { f64::INFINITY })
                });
                d.discrete_update_on(Trigger::Timed(alarm), move |_, ctx, update| {
                    note(ctx, 4);
                    update.get_mut(next)[0] = ctx.time() + T::from(0.11);
                    Ok(EventStatus::Succeeded)
                });
                xd = Some(next);
                d.vector_output("y", 2, &[next.into()], move |_, ctx, y| {
                    set(y, |i| squash(ctx.xd(next)[i]));
                    Ok(())
                })
            }
        };
        for trigger in [ticks, Trigger::PerStep] {
            d.publish_on(trigger, move |_, ctx| {
                note(ctx, 5);
                let y = ctx.output(y).map(|y| y.iter().map(|y| y.re().to_bits()));
                let mut log = ctx.param(log).lock().unwrap();
                match y {
                    Ok(y) => log.extend(y),
                    Err(error) => log.push(hash(&error.to_string())),
                }
                Ok(EventStatus::Succeeded)
            });
        }
        Ports {
            u,
            y,
            p,
            log,
            entry,
            xc,
            xd,
            xa,
        }
    }
}

fn hash(x: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    x.hash(&mut hasher);
    hasher.finish()
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// The output of this system, modulo what may feed it.
    Output(usize),
    Fixed([f64; 2]),
    /// Neither connected nor fixed.
    Left,
    /// The exported input of this number.
    Shared(usize),
}

#[derive(Clone, Copy, Debug)]
struct Spec {
    kind: Kind,
    timing: usize,
    nested: bool,
    sources: [Source; 2],
}

fn value() -> impl Strategy<Value = f64> {
    -2.0..2.0_f64
}

fn spec() -> impl Strategy<Value = Spec> {
    let source = || {
        prop_oneof![
            8 => (0..1000_usize).prop_map(Source::Output),
            3 => [value(), value()].prop_map(Source::Fixed),
            1 => Just(Source::Left),
            2 => (0..2_usize).prop_map(Source::Shared),
        ]
    };
    let kind = (0..KINDS.len()).prop_map(|i| KINDS[i]);
    (kind, 0..TIMINGS.len(), any::<bool>(), [source(), source()]).prop_map(
        |(kind, timing, nested, sources)| Spec {
            kind,
            timing,
            nested,
            sources,
        },
    )
}

/// A diagram, and what the test knows about it by itself.
struct Built {
    diagram: Diagram<f64>,
    blocks: Vec<Block<System>>,
    /// Per system and input, the system that it is connected to.
    wires: Vec<[Option<usize>; 2]>,
    /// Per exported input, the ports (system, input) that share it. The last one is connected.
    shared: [Vec<(usize, usize)>; 2],
    fixed: Vec<(usize, usize, [f64; 2])>,
}

/// Without caching an output is computed along every path that leads to it; there are at most so many.
const MOST_PATHS: u64 = 60;

fn build(specs: &[Spec]) -> Built {
    let mut b = DiagramBuilder::new();
    let mut blocks: Vec<Block<System>> = vec![];
    for (i, spec) in specs.iter().enumerate() {
        let system = || System {
            kind: spec.kind,
            timing: TIMINGS[spec.timing],
        };
        let block = if spec.nested {
            let inner = |b: &mut DiagramBuilder| Ok::<_, Error>(b.add("system", system()));
            b.subdiagram(&format!("inner{i}"), inner).unwrap()
        } else {
            b.add(&format!("system{i}"), system())
        };
        blocks.push(block);
    }
    let delayed = |i: &usize| specs[*i].kind.feedthrough() == [false, false];
    let mut wires = vec![[None; 2]; specs.len()];
    let mut shared = [vec![], vec![]];
    let mut fixed = vec![];
    let mut paths = vec![1; specs.len()];
    for (i, spec) in specs.iter().enumerate() {
        for (k, source) in spec.sources.iter().enumerate() {
            match *source {
                Source::Output(j) => {
                    // Feedthrough goes from front to back, the rest anywhere.
                    let from: Vec<usize> =
                        (0..specs.len()).filter(|j| *j < i || delayed(j)).collect();
                    let Some(&j) = from.get(j % from.len().max(1)) else {
                        continue;
                    };
                    let times = if spec.kind == Kind::Cached { 2 } else { 1 };
                    let reads = spec.kind.feedthrough()[k];
                    if reads && paths[i] + times * paths[j] > MOST_PATHS {
                        fixed.push((i, k, [0.5, -0.5]));
                        continue;
                    }
                    paths[i] += if reads { times * paths[j] } else { 0 };
                    b.connect(blocks[j].y, blocks[i].u[k]);
                    wires[i][k] = Some(j);
                }
                Source::Fixed(value) => fixed.push((i, k, value)),
                Source::Left => {}
                Source::Shared(n) => {
                    b.export_input(&format!("shared{n}"), blocks[i].u[k]);
                    shared[n].push((i, k));
                }
            }
        }
    }
    let constant = b.add("constant", ConstantVectorSource::new([0.75, -0.25]));
    if let Some(&(i, k)) = shared[1].first() {
        b.connect(constant.y, blocks[i].u[k]);
    }
    if let Some(&(i, k)) = shared[0].last() {
        fixed.push((i, k, [0.4, 0.2]));
    }
    Built {
        diagram: b.build().unwrap(),
        blocks,
        wires,
        shared,
        fixed,
    }
}

/// The value of a port bit by bit, or its error.
type Found = Result<Vec<u64>, String>;

impl Built {
    fn context(&self) -> Context<f64> {
        let mut ctx = self.diagram.default_context();
        for &(i, k, value) in &self.fixed {
            ctx.fix(self.blocks[i].u[k], value.to_vec()).unwrap();
        }
        ctx
    }

    fn output(&self, ctx: &Context<f64>, i: usize) -> Found {
        let y = ctx.eval(self.blocks[i].y);
        y.map(|y| y.iter().map(|y| y.to_bits()).collect())
            .map_err(|e| e.to_string())
    }

    fn outputs(&self, ctx: &Context<f64>) -> Vec<Found> {
        let n = self.blocks.len();
        (0..n).map(|i| self.output(ctx, i)).collect()
    }

    /// A new context with the same values.
    fn copy(&self, ctx: &Context<f64>) -> Context<f64> {
        let mut copy = self.diagram.default_context();
        copy.set_time_state_and_parameters_from(ctx).unwrap();
        copy.fix_inputs_from(ctx).unwrap();
        copy
    }

    /// All that lies downstream of these outputs, by the declarations.
    fn downstream(&self, mut todo: Vec<usize>) -> Vec<bool> {
        let mut hit = vec![false; self.blocks.len()];
        while let Some(i) = todo.pop() {
            if std::mem::replace(&mut hit[i], true) {
                continue;
            }
            for (j, wires) in self.wires.iter().enumerate() {
                let reads = self.blocks[j].system().kind.feedthrough();
                if (0..2).any(|k| reads[k] && wires[k] == Some(i)) {
                    todo.push(j);
                }
            }
        }
        hit
    }

    /// Systems whose outputs read this input.
    fn readers(&self, i: usize, k: usize) -> Vec<usize> {
        let groups = self.shared.iter().find(|ports| ports.contains(&(i, k)));
        let ports = groups.cloned().unwrap_or_else(|| vec![(i, k)]);
        let reads =
            |&(i, k): &(usize, usize)| self.blocks[i].system().kind.feedthrough()[k].then_some(i);
        ports.iter().filter_map(reads).collect()
    }
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Time(f64),
    Parameter(usize, f64),
    State(usize, f64),
    Fix(usize, usize, [f64; 2]),
    FixInPlace(usize, usize, f64),
    DiscreteUpdates,
    UnrestrictedUpdates,
    Clone,
    Disable(usize, bool),
    DisableEntry(usize, bool),
    Evaluate(usize),
    EvaluateFrozen(usize),
    Simulate(f64),
}

fn change() -> impl Strategy<Value = Change> {
    let i = || 0..1000_usize;
    prop_oneof![
        2 => (0.0..3.0_f64).prop_map(Change::Time),
        6 => (i(), -1.0..1.0_f64).prop_map(|(i, x)| Change::Parameter(i, x)),
        3 => (i(), value()).prop_map(|(i, x)| Change::State(i, x)),
        3 => (i(), 0..2_usize, [value(), value()]).prop_map(|(i, k, x)| Change::Fix(i, k, x)),
        3 => (i(), 0..2_usize, value()).prop_map(|(i, k, x)| Change::FixInPlace(i, k, x)),
        1 => Just(Change::DiscreteUpdates),
        1 => Just(Change::UnrestrictedUpdates),
        1 => Just(Change::Clone),
        1 => (i(), any::<bool>()).prop_map(|(i, x)| Change::Disable(i, x)),
        1 => (i(), any::<bool>()).prop_map(|(i, x)| Change::DisableEntry(i, x)),
        8 => i().prop_map(Change::Evaluate),
        1 => i().prop_map(Change::EvaluateFrozen),
        1 => (0.0..0.3_f64).prop_map(Change::Simulate),
    ]
}

/// Makes a change; tells the systems whose outputs read what was changed, if the test knows.
fn apply(built: &Built, ctx: &mut Context<f64>, change: Change) -> Option<Vec<usize>> {
    let n = built.blocks.len();
    let kind = |i: usize| built.blocks[i].system().kind;
    match change {
        Change::Time(t) => {
            ctx.set_time(t);
            return Some((0..n).filter(|i| kind(*i).reads_time()).collect());
        }
        Change::Parameter(i, x) => {
            *ctx.param_mut(built.blocks[i % n].p).unwrap() = x;
            return Some(vec![i % n]);
        }
        Change::State(i, x) => {
            let block = &built.blocks[i % n];
            if let Some(xc) = block.xc {
                ctx.xc_mut(xc).unwrap()[0] = x;
            }
            if let Some(xd) = block.xd {
                ctx.xd_mut(xd).unwrap()[0] = x;
            }
            if let Some(xa) = block.xa {
                ctx.xa_mut(xa).unwrap().push(x);
            }
            return Some(vec![i % n]);
        }
        Change::Fix(i, k, x) => {
            let done = ctx.fix(built.blocks[i % n].u[k], x.to_vec());
            let connected =
                built.wires[i % n][k].is_some() || built.shared[1].contains(&(i % n, k));
            assert_eq!(done.is_err(), connected);
            return Some(built.readers(i % n, k));
        }
        Change::FixInPlace(i, k, x) => {
            if let Ok(u) = ctx.fixed_mut(built.blocks[i % n].u[k]) {
                u[1] = x;
            }
            return Some(built.readers(i % n, k));
        }
        Change::DiscreteUpdates => {
            ctx.force_discrete_update().unwrap();
            return Some((0..n).filter(|i| kind(*i) == Kind::Hold).collect());
        }
        Change::UnrestrictedUpdates => {
            ctx.force_unrestricted_update().unwrap();
            return Some((0..n).filter(|i| kind(*i) == Kind::Letters).collect());
        }
        Change::Clone => *ctx = ctx.clone(),
        Change::Disable(i, x) => ctx.disable_caching(built.blocks[i % n].y, x).unwrap(),
        Change::DisableEntry(i, x) => {
            if let Some(entry) = built.blocks[i % n].entry {
                ctx.disable_caching_of(entry, x).unwrap();
            }
        }
        Change::Evaluate(i) => {
            let _ = built.output(ctx, i % n);
            return Some(vec![]);
        }
        Change::EvaluateFrozen(i) => {
            ctx.freeze_cache(true);
            let _ = built.output(ctx, i % n);
            ctx.freeze_cache(false);
            return Some(vec![]);
        }
        Change::Simulate(time) => {
            let mut sim = Simulator::new(&built.diagram, ctx.clone()).unwrap();
            let end = ctx.time() + time;
            sim.advance_to(end).unwrap();
            *ctx = sim.into_context();
        }
    }
    None
}

/// Everything that a simulation of one second leaves, as one number.
fn simulate(built: &Built, mode: CacheMode) -> u64 {
    let mut ctx = built.context();
    ctx.set_cache_mode(mode);
    let mut sim = Simulator::new(&built.diagram, ctx).unwrap();
    sim.advance_to(1.0).unwrap();
    let ctx = sim.context();
    let mut seen = vec![ctx.time().to_bits()];
    for block in &built.blocks {
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        seen.extend(block.xc.iter().flat_map(|x| bits(ctx.xc(*x).unwrap())));
        seen.extend(block.xd.iter().flat_map(|x| bits(ctx.xd(*x).unwrap())));
        seen.extend(block.xa.iter().flat_map(|x| bits(ctx.xa(*x).unwrap())));
        seen.extend_from_slice(&ctx.param(block.log).unwrap().lock().unwrap());
    }
    hash(&seen)
}

/// Reads a number that is not in any context, and does not tell.
struct Liar(Arc<AtomicU64>);
impl LeafSystem<f64> for Liar {
    type Ports = OutputPort<Vec<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        d.vector_output("y", 1, &[Dep::Nothing], |s, _, y| {
            y[0] = s.0.load(Ordering::Relaxed) as f64;
            Ok(())
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_do_not_depend_on_what_is_cached(
        specs in prop::collection::vec(spec(), 1..40),
        changes in prop::collection::vec(change(), 0..60),
    ) {
        let built = build(&specs);
        let mut ctx = built.context();
        for change in changes {
            apply(&built, &mut ctx, change);
        }
        // Before the context itself has to compute anything.
        let mut uncached = ctx.clone();
        uncached.set_cache_mode(CacheMode::Off);
        let (fresh, cold) = (built.copy(&ctx), ctx.clone());
        let found = built.outputs(&ctx);
        prop_assert_eq!(&found, &built.outputs(&uncached), "without caching");
        prop_assert_eq!(&found, &built.outputs(&fresh), "copied");
        let mut backwards: Vec<Found> = (0..specs.len()).rev().map(|i| built.output(&cold, i)).collect();
        backwards.reverse();
        prop_assert_eq!(&found, &backwards, "computed in another order");
        let mut verified = ctx.clone();
        verified.set_cache_mode(CacheMode::Verify);
        prop_assert_eq!(&found, &built.outputs(&verified), "computed for verification");
        prop_assert_eq!(&found, &built.outputs(&verified), "verified");
    }

    #[test]
    fn verification_finds_nothing_while_values_change(
        specs in prop::collection::vec(spec(), 1..20),
        changes in prop::collection::vec(change(), 0..40),
    ) {
        let built = build(&specs);
        let mut ctx = built.context();
        ctx.set_cache_mode(CacheMode::Verify);
        for change in changes {
            apply(&built, &mut ctx, change);
            for found in built.outputs(&ctx) {
                let complaint = found.is_err_and(|e| e.contains("is kept as"));
                prop_assert!(!complaint);
            }
        }
    }

    #[test]
    fn verification_finds_what_is_not_in_the_context(
        specs in prop::collection::vec(spec(), 1..10),
        behind in 0..30_usize,
        disabled in 0..30_usize,
    ) {
        let number = Arc::new(AtomicU64::new(1));
        let mut b = DiagramBuilder::new();
        for (i, spec) in specs.iter().enumerate() {
            b.add(&format!("other{i}"), System { kind: spec.kind, timing: TIMINGS[spec.timing] });
        }
        let mut last = *b.add_f64("liar", Liar(number.clone())).ports();
        let mut ports = vec![];
        for i in 0..behind {
            let gain = b.add(&format!("gain{i}"), Gain::new(1.0, 1));
            b.connect(last, gain.u);
            last = gain.y;
            ports.push(last);
        }
        let mut ctx = b.build().unwrap().default_context();
        if let Some(port) = ports.get(disabled) {
            ctx.disable_caching(*port, true).unwrap();
        }
        ctx.set_cache_mode(CacheMode::Verify);
        prop_assert_eq!(ctx.eval(last).unwrap()[0], 1.0);
        prop_assert_eq!(ctx.eval(last).unwrap()[0], 1.0, "nothing has changed");
        number.store(2, Ordering::Relaxed);
        let message = ctx.eval(last).unwrap_err().to_string();
        let expected = "'liar.y' is kept as [1.0] but computes to [2.0] now";
        prop_assert!(message.contains(expected), "{}", message);
    }

    #[test]
    fn dual_numbers_compute_the_same_values(
        specs in prop::collection::vec(spec(), 1..40),
        changes in prop::collection::vec(change(), 0..20),
    ) {
        let built = build(&specs);
        let mut ctx = built.context();
        for change in changes {
            apply(&built, &mut ctx, change);
        }
        let dual = built.diagram.to_scalar::<AutoDiff>().unwrap();
        let mut dual_ctx = dual.default_context();
        dual_ctx.set_time_state_and_parameters_from(&ctx).unwrap();
        dual_ctx.fix_inputs_from(&ctx).unwrap();
        for (block, expected) in built.blocks.iter().zip(built.outputs(&ctx)) {
            let y = dual_ctx.eval(dual.ports(block).unwrap().y);
            let found: Found = y
                .map(|y| y.iter().map(|y| y.re.to_bits()).collect())
                .map_err(|e| e.to_string());
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn derivatives_are_those_of_differences(
        specs in prop::collection::vec(spec(), 1..40),
        which in 0..1000_usize,
    ) {
        let built = build(&specs);
        prop_assume!(!built.fixed.is_empty());
        let (i, k, value) = built.fixed[which % built.fixed.len()];
        let dual = built.diagram.to_scalar::<AutoDiff>().unwrap();
        let mut dual_ctx = dual.default_context();
        dual_ctx.fix_inputs_from(&built.context()).unwrap();
        let seed = vec![AutoDiff::variable(value[0], 0), AutoDiff::variable(value[1], 1)];
        dual_ctx.fix(dual.ports(&built.blocks[i]).unwrap().u[k], seed).unwrap();
        for direction in 0..2 {
            let at = |h: f64| -> Vec<Option<[f64; 2]>> {
                let mut ctx = built.context();
                ctx.fixed_mut(built.blocks[i].u[k]).unwrap()[direction] += h;
                let outputs = built.blocks.iter().map(|b| ctx.eval(b.y).ok().map(|y| [y[0], y[1]]));
                outputs.collect()
            };
            let h = 1e-4;
            let [a, b, c, d] = [at(-h), at(h), at(-h / 2.0), at(h / 2.0)];
            for (j, block) in built.blocks.iter().enumerate() {
                let y = dual_ctx.eval(dual.ports(block).unwrap().y);
                prop_assert_eq!(y.is_ok(), a[j].is_some());
                let (Ok(y), Some(a), Some(b), Some(c), Some(d)) = (y, a[j], b[j], c[j], d[j]) else {
                    continue;
                };
                for e in 0..2 {
                    let (wide, narrow) = ((b[e] - a[e]) / (2.0 * h), (d[e] - c[e]) / h);
                    // The error of `narrow` is a third of the difference plus terms of higher order;
                    // rounding of numbers below 2 is divided by h.
                    let tolerance = (wide - narrow).abs() + 1e-10;
                    let error = (y[e].eps[direction] - narrow).abs();
                    prop_assert!(error <= tolerance, "{} {:e} {:e}", y[e].eps[direction], error, tolerance);
                }
            }
        }
    }

    #[test]
    fn only_what_is_downstream_of_a_change_is_computed_again(
        specs in prop::collection::vec(spec(), 1..40),
        changes in prop::collection::vec(change(), 0..40),
    ) {
        let built = build(&specs);
        let mut ctx = built.context();
        let serials = |ctx: &Context<f64>| -> Vec<u64> {
            built.blocks.iter().map(|b| ctx.serial(b.y).unwrap()).collect()
        };
        for change in changes {
            if matches!(change, Change::Disable(..) | Change::DisableEntry(..)) {
                continue;
            }
            built.outputs(&ctx);
            let before = serials(&ctx);
            let downstream = apply(&built, &mut ctx, change).map(|first| built.downstream(first));
            built.outputs(&ctx);
            built.outputs(&ctx);
            for (i, (before, after)) in before.iter().zip(serials(&ctx)).enumerate() {
                prop_assert!(after >= *before);
                if let Some(downstream) = &downstream {
                    let most = before + u64::from(downstream[i]);
                    prop_assert!(after <= most, "system {} after {:?}", i, change);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn simulations_repeat_to_the_bit(specs in prop::collection::vec(spec(), 1..20)) {
        let built = build(&specs);
        let expected = simulate(&built, CacheMode::On);
        prop_assert_eq!(simulate(&built, CacheMode::On), expected, "again");
        prop_assert_eq!(simulate(&built, CacheMode::Off), expected, "without caching");
        let others: Vec<u64> = std::thread::scope(|s| {
            let threads: Vec<_> = (0..2).map(|_| s.spawn(|| simulate(&built, CacheMode::On))).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        prop_assert_eq!(others, [expected, expected], "on threads");
    }
}
