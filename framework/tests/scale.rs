//! Costs grow at most linearly with the number of systems, and need no deep stack.

use std::time::{Duration, Instant};
use tarragon_framework::primitives::{Gain, Integrator, ZeroOrderHold};
use tarragon_framework::{Error, prelude::*};

const SMALL: usize = 10_000;
const LARGE: usize = 100_000;

/// Runs on a thread with a stack of 512 KiB, a sixteenth of that of a main thread.
fn on_a_small_stack<X: Send + 'static>(f: impl FnOnce() -> X + Send + 'static) -> X {
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    thread.spawn(f).unwrap().join().unwrap()
}

/// Returns the time per item at `LARGE` relative to that at `SMALL`. The shortest of three runs of
/// each counts, because other work on the machine can only make runs longer.
fn growth(run: impl Fn(usize) + Send + 'static) -> f64 {
    on_a_small_stack(move || {
        let shortest = |n| -> Duration {
            let time = |_| {
                let start = Instant::now();
                run(n);
                start.elapsed()
            };
            (0..3).map(time).min().unwrap()
        };
        let (small, large) = (shortest(SMALL), shortest(LARGE));
        let times = (LARGE / SMALL) as f64;
        large.as_secs_f64() / small.as_secs_f64() / times
    })
}

/// Largest accepted growth. Quadratic work grows by 10. Linear work grows by up to 2 when data no
/// longer fit a processor's caches; the rest is a margin for a loaded machine.
const MOST: f64 = 4.0;

/// Chain `hold -> g0 -> ... -> sum -> hold`.
struct Chain {
    diagram: Diagram<f64>,
    hold: Block<ZeroOrderHold>,
    gains: Vec<Block<Gain>>,
    sum: Block<Integrator>,
}

fn chain(n: usize) -> Chain {
    let mut b = DiagramBuilder::new();
    let hold = b.add("hold", ZeroOrderHold::new(1, 0.1, 0.0));
    let mut last = hold.y;
    let mut gains = vec![];
    for i in 0..n {
        let gain = b.add(&format!("g{i}"), Gain::new(1, 1.0));
        b.connect(last, gain.u);
        last = gain.y;
        gains.push(gain);
    }
    let sum = b.add("sum", Integrator::new(1));
    b.connect(last, sum.u);
    b.connect(sum.y, hold.u);
    Chain {
        diagram: b.build().unwrap(),
        hold,
        gains,
        sum,
    }
}

#[test]
fn a_long_chain_is_built_computed_changed_simulated_cloned_and_converted() {
    let n = LARGE;
    on_a_small_stack(move || {
        let Chain {
            diagram: d,
            hold,
            gains,
            sum,
        } = chain(n);
        let mut ctx = d.default_context();
        let last = gains[n - 1].y;
        assert_eq!(ctx.eval(last).unwrap()[0], 0.0);
        assert_eq!(ctx.cache_statistics().computations, n as u64 + 1);

        for gain in &gains {
            *ctx.param_mut(gain.k).unwrap() = 1.0;
        }
        // The first change reaches all values, the others only their own, stale one. Back to front,
        // no change would reach the rest of the chain.
        let reached = ctx.cache_statistics().notifications;
        assert!(reached <= 2 * n as u64 + 2, "{reached}");
        ctx.eval(last).unwrap();
        for gain in gains.iter().rev() {
            *ctx.param_mut(gain.k).unwrap() = 1.0;
        }
        let reached = ctx.cache_statistics().notifications - reached;
        assert!(reached <= 3 * n as u64 + 2, "{reached}");

        ctx.xc_mut(sum.x).unwrap()[0] = 1.0;
        let fork = ctx.clone();
        let mut sim = Simulator::new(&d, ctx).unwrap();
        sim.set_integrator(tarragon_framework::integrator::ExplicitEuler::new());
        sim.set_fixed_step(0.1).unwrap();
        sim.advance_to(1.0).unwrap();
        assert_eq!(sim.statistics().steps, 10);
        // Each sample x is added 0.1 times, so that x grows by a tenth per step.
        let x = sim.context().xc(sum.x).unwrap()[0];
        assert!(
            (x - 1.1_f64.powi(10)).abs() < 1e-12,
            "rounding of ten steps: {x}"
        );
        assert_eq!(fork.xc(sum.x).unwrap()[0], 1.0);

        let dual = d.to_scalar::<AutoDiff>().unwrap();
        let mut ctx = dual.default_context();
        ctx.set_time_state_and_parameters_from(&fork).unwrap();
        let hold = dual.ports(&hold).unwrap();
        let [middle, last] = [n / 2, n - 1].map(|i| dual.ports(&gains[i]).unwrap());
        ctx.xd_mut(hold.x).unwrap()[0] = AutoDiff::constant(3.0);
        *ctx.param_mut(middle.k).unwrap() = AutoDiff::variable(2.0, 0);
        let y = ctx.eval(last.y).unwrap()[0];
        assert_eq!((y.re, y.eps[0]), (6.0, 3.0));
    });
}

#[test]
fn costs_of_a_chain_are_linear() {
    let found = growth(|n| {
        let Chain {
            diagram: d, gains, ..
        } = chain(n);
        let mut ctx = d.default_context();
        ctx.eval(gains[n - 1].y).unwrap();
        for gain in &gains {
            *ctx.param_mut(gain.k).unwrap() = 1.0;
        }
        let mut sim = Simulator::new(&d, ctx.clone()).unwrap();
        sim.advance_to(0.5).unwrap();
        d.to_scalar::<AutoDiff>().unwrap().default_context();
    });
    assert!(found < MOST, "{found}");
}

#[test]
fn costs_of_exports_are_linear() {
    let found = growth(|n| {
        let mut b = DiagramBuilder::new();
        let mut first = None;
        for i in 0..n {
            let inner = |b: &mut DiagramBuilder| {
                let gain = b.add("gain", Gain::new(1, 1.0));
                b.export_output("y", gain.y);
                Ok::<_, Error>(b.export_input("u", gain.u))
            };
            let u = b.subdiagram(&format!("sub{i}"), inner).unwrap();
            first = Some(b.export_input("u", u));
        }
        let d = b.build().unwrap();
        let mut ctx = d.default_context();
        ctx.fix(first.unwrap(), vec![1.0]).unwrap();
        let paths = d.exports().count();
        assert_eq!(paths, n + 1);
        for i in (0..n).step_by(n / 100) {
            let y = d.output_port::<Vec<f64>>(&format!("sub{i}"), "y").unwrap();
            assert_eq!(ctx.eval(y).unwrap()[0], 1.0);
        }
    });
    assert!(found < MOST, "{found}");
}

/// Rings once, at its own time (s).
struct Alarm(f64);
impl LeafSystem<f64> for Alarm {
    type Ports = OutputPort<Vec<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let rung = d.discrete_state(&[0.0]);
        let alarm = d.timed_event(move |s, ctx| {
            let done = ctx.xd(rung)[0] > 0.0;
            Ok(if done { f64::INFINITY } else { s.0 })
        });
        d.discrete_update_on(Trigger::Timed(alarm), move |_, _, next| {
            next.get_mut(rung)[0] = 1.0;
            Ok(EventStatus::Succeeded)
        });
        d.vector_output("y", 1, rung, move |_, ctx, y| {
            y[0] = ctx.xd(rung)[0];
            Ok(())
        })
    }
}

#[test]
fn costs_of_simultaneous_events_are_linear() {
    let found = growth(|n| {
        let mut b = DiagramBuilder::new();
        let alarms: Vec<_> = (0..n)
            .map(|i| b.add_f64(&format!("alarm{i}"), Alarm(0.5)))
            .collect();
        let d = b.build().unwrap();
        let mut sim = Simulator::new(&d, d.default_context()).unwrap();
        sim.advance_to(1.0).unwrap();
        for alarm in [&alarms[0], &alarms[n - 1]] {
            assert_eq!(sim.context().eval(*alarm.ports()).unwrap()[0], 1.0);
        }
    });
    assert!(found < MOST, "{found}");
}

#[test]
fn costs_of_finding_a_loop_are_linear() {
    let found = growth(|n| {
        let mut b = DiagramBuilder::new();
        let add = |i| b.add(&format!("g{i}"), Gain::new(1, 1.0));
        let gains: Vec<_> = (0..n).map(add).collect();
        for (i, gain) in gains.iter().enumerate() {
            b.connect(gain.y, gains[(i + 1) % n].u);
        }
        let message = b.build().err().unwrap().to_string();
        assert_eq!(message.matches("declared to depend on u").count(), n);
    });
    assert!(found < MOST, "{found}");
}
