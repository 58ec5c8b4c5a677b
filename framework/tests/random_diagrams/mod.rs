//! Guarantees of every diagram, checked on random diagrams under random changes. This file holds
//! the systems that they consist of.

mod diagrams;
mod properties;

use proptest::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tarragon_framework::primitives::{ConstantVectorSource, Gain};
use tarragon_framework::{CacheMode, Error, Result, WitnessDirection, prelude::*};

/// Record of a simulation: numbers, bit by bit.
type Log = Arc<Mutex<Vec<u64>>>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Reads both inputs.
    Map,
    /// Reads the one input that its parameter selects.
    Switch,
    /// Fails where its parameter is above one half.
    Fallible,
    /// Swallows the failure of its first input.
    Fallback,
    /// Uses cache entries, and reads the time.
    Cached,
    /// Reads its first input if there is one.
    Optional,
    /// Reads none of its inputs.
    Clock,
    /// Discrete state, updated periodically.
    Hold,
    /// Continuous state of positions and velocities; the output depends only on positions.
    Spring,
    /// Abstract state, changed by unrestricted updates.
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
    /// Returns for each input whether the output is declared to read it.
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

/// System with two inputs, a parameter and an output, all of two elements, and state according to
/// its kind.
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

/// Keeps values small, by a smooth function.
fn squash<T: Scalar>(x: T) -> T {
    x / (T::from(1.0) + x * x)
}

fn set<T>(y: &mut [T], f: impl Fn(usize) -> T) {
    y.iter_mut().enumerate().for_each(|(i, y)| *y = f(i));
}

/// Returns an input, or a substitute if it fails.
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
            Kind::Map => d.vector_output("y", 2, (u[0], u[1], p), move |_, ctx, y| {
                let (p, a, b) = (*ctx.param(p), ctx.eval(u[0])?, ctx.eval(u[1])?);
                set(y, |i| squash(p * a[i] + b[1 - i]));
                Ok(())
            }),
            Kind::Switch => d.vector_output(
                "y",
                2,
                (Dep::AllInputs, Dep::AllParameters),
                move |_, ctx, y| {
                    let which = usize::from(*ctx.param(p) > T::from(0.0));
                    let a = ctx.eval(u[which])?;
                    set(y, |i| a[i] + T::from(0.125));
                    Ok(())
                },
            ),
            Kind::Fallible => {
                d.vector_output("y", 2, (p, u[0]), move |_, ctx, y| {
                    // Half of the result is written before the failure.
                    y[0] = T::from(7.0);
                    if *ctx.param(p) > T::from(0.5) {
                        return Err(Error::custom("too much"));
                    }
                    let a = ctx.eval(u[0])?;
                    set(y, |i| squash(a[i] - T::from(1.5)));
                    Ok(())
                })
            }
            Kind::Fallback => d.vector_output("y", 2, (p, u[0]), move |_, ctx, y| {
                let (p, a) = (*ctx.param(p), soft(ctx, u[0]));
                set(y, |i| squash(a[i] + p));
                Ok(())
            }),
            Kind::Cached => {
                let model = vec![T::from(0.0); 2];
                let first = d.cache_entry("first", model.clone(), (u[0], p), move |_, ctx, y| {
                    let (p, a) = (*ctx.param(p), ctx.eval(u[0])?);
                    set(y, |i| p * a[i]);
                    Ok(())
                });
                let second = d.cache_entry("second", model, (first, u[1]), move |_, ctx, y| {
                    let (first, b) = (ctx.cached(first)?, ctx.eval(u[1])?);
                    set(y, |i| first[i] + b[i]);
                    Ok(())
                });
                entry = Some(first);
                d.vector_output("y", 2, (first, second, Dep::Time), move |_, ctx, y| {
                    let (a, b) = (ctx.cached(first)?, ctx.cached(second)?);
                    set(y, |i| squash(a[i] * b[i] + ctx.time()));
                    Ok(())
                })
            }
            Kind::Optional => d.vector_output("y", 2, (u[0], p), move |_, ctx, y| {
                match ctx.eval_optional(u[0])? {
                    Some(a) => set(y, |i| a[i]),
                    None => set(y, |_| *ctx.param(p)),
                }
                Ok(())
            }),
            Kind::Clock => d.vector_output("y", 2, (Dep::Time, p), move |_, ctx, y| {
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
                d.vector_output("y", 2, (Dep::Xd, p), move |_, ctx, y| {
                    set(y, |i| ctx.xd(x)[i] + *ctx.param(p));
                    Ok(())
                })
            }
            Kind::Spring => {
                let x0 = [T::from(0.3), T::from(0.0)];
                let x =
                    d.continuous_state((1, 1, 0), &x0, (Dep::Xc, p, u[1]), move |_, ctx, dx| {
                        let (p, a) = (*ctx.param(p), soft(ctx, u[1]));
                        dx[0] = ctx.v()[0];
                        dx[1] = squash(a[0]) * p - ctx.q()[0];
                        Ok(())
                    });
                xc = Some(x);
                d.vector_output("y", 2, Dep::Q, move |_, ctx, y| {
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
                d.vector_output("y", 2, (x, p), move |_, ctx, y| {
                    let x = ctx.xa(x);
                    let sum = x.iter().fold(*ctx.param(p), |sum, x| sum + *x);
                    set(y, |_| squash(sum));
                    Ok(())
                })
            }
            Kind::Ramp => {
                let count = d.discrete_state(&[T::from(0.0); 2]);
                let x = d.continuous_state((0, 0, 1), &[T::from(0.0)], p, move |_, ctx, dx| {
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
                d.vector_output("y", 2, (Dep::Z, count), move |_, ctx, y| {
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
                d.vector_output("y", 2, next, move |_, ctx, y| {
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
