//! Step order, event times and integration.

use std::sync::{Arc, Mutex};
use tarragon_framework::integrator::{ExplicitEuler, RungeKutta3};
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::{
    Integrator, Sine, TrajectorySource, VectorLogSink, ZeroOrderHold,
};
use tarragon_framework::trajectories::PiecewisePolynomial;
use tarragon_framework::{Error, Result};

type Record = Arc<Mutex<Vec<(&'static str, f64, f64)>>>;

/// Counts in discrete state and records (event, time, count seen) for each of its events.
struct Recorder {
    record: Record,
    stop_at: f64,
    fail_at: f64,
}
#[derive(Clone, Copy)]
struct RecorderPorts {
    count: DiscreteState<Vec<f64>>,
}
impl LeafSystem<f64> for Recorder {
    type Ports = RecorderPorts;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let count = d.discrete_state(&[0.0]);
        let log = move |s: &Self, what, ctx: &LeafContext<'_, f64>| {
            s.record
                .lock()
                .unwrap()
                .push((what, ctx.time(), ctx.xd(count)[0]));
        };
        for (name, trigger) in [
            ("init", Trigger::Initialization),
            ("step", Trigger::PerStep),
            ("tick", Trigger::every(0.1)),
            (
                "late",
                Trigger::Periodic {
                    period: 0.25,
                    offset: 0.05,
                },
            ),
            ("forced", Trigger::Forced),
        ] {
            d.publish_on(trigger, move |s, ctx| {
                log(s, name, ctx);
                if ctx.time() >= s.stop_at {
                    return Ok(EventStatus::ReachedTermination {
                        reason: "enough".into(),
                    });
                }
                Ok(EventStatus::Succeeded)
            });
        }
        d.discrete_update_on(Trigger::every(0.1), move |s, ctx, next| {
            log(s, "update", ctx);
            next.get_mut(count)[0] += 1.0;
            if ctx.time() >= s.fail_at {
                return Err(Error::custom("broken"));
            }
            Ok(EventStatus::Succeeded)
        });
        RecorderPorts { count }
    }
}

fn recorder(stop_at: f64, fail_at: f64) -> (Simulator<f64>, RecorderPorts, Record) {
    let record = Record::default();
    let mut b = DiagramBuilder::new();
    let block = b.add_f64(
        "recorder",
        Recorder {
            record: record.clone(),
            stop_at,
            fail_at,
        },
    );
    let ports = *block.ports();
    let d = b.build().unwrap();
    (
        Simulator::new(&d, d.default_context()).unwrap(),
        ports,
        record,
    )
}

fn of(record: &Record, what: &str) -> Vec<(f64, f64)> {
    let record = record.lock().unwrap();
    record
        .iter()
        .filter(|r| r.0 == what)
        .map(|r| (r.1, r.2))
        .collect()
}

#[test]
fn events_fire_in_order_at_exact_times() {
    let (mut sim, ports, record) = recorder(f64::INFINITY, f64::INFINITY);
    assert_eq!(
        sim.advance_to(0.3).unwrap(),
        SimulatorStatus::ReachedBoundaryTime
    );
    assert_eq!(of(&record, "init"), [(0.0, 0.0)]);
    let times = [0.0, 0.1, 0.2, 3.0 * 0.1];
    // Publishes see the updates of the step before them; the update at the boundary waits.
    let ticks: Vec<(f64, f64)> = times
        .iter()
        .zip(0..)
        .map(|(t, k)| (*t, f64::from(k)))
        .collect();
    assert_eq!(of(&record, "update"), ticks[..3]);
    // The boundary 0.3 comes one bit before the third tick at 3 * 0.1.
    assert_eq!(of(&record, "tick"), ticks[..3]);
    assert_eq!(of(&record, "late"), [(0.05, 1.0), (0.3, 3.0)]);
    assert_eq!(sim.context().xd(ports.count).unwrap(), [3.0]);
    sim.advance_to(0.35).unwrap();
    assert_eq!(of(&record, "update"), ticks);
    assert!(of(&record, "forced").is_empty());
    sim.context().force_publish().unwrap();
    assert_eq!(of(&record, "forced"), [(0.35, 4.0)]);
}

#[test]
fn updates_at_the_boundary_wait_and_publishes_do_not() {
    let (mut sim, ports, record) = recorder(f64::INFINITY, f64::INFINITY);
    sim.advance_to(0.2).unwrap();
    assert_eq!(sim.context().xd(ports.count).unwrap(), [2.0]);
    assert_eq!(of(&record, "tick").last(), Some(&(0.2, 2.0)));
    sim.advance_to(0.25).unwrap();
    assert_eq!(sim.context().xd(ports.count).unwrap(), [3.0]);
}

#[test]
fn termination_and_bad_boundaries() {
    let (mut sim, _, _) = recorder(0.15, f64::INFINITY);
    let status = sim.advance_to(1.0).unwrap();
    assert_eq!(
        status,
        SimulatorStatus::ReachedTermination {
            reason: "enough".into()
        }
    );
    assert_eq!(sim.context().time(), 0.2);
    assert!(
        sim.advance_to(0.1)
            .unwrap_err()
            .to_string()
            .contains("the current time, 0.2 s, got 0.1 s")
    );
    assert!(sim.advance_to(f64::NAN).is_err());
    assert!(sim.set_fixed_step(0.0).is_err());
}

#[test]
fn a_failed_update_preserves_the_state() {
    let (mut sim, ports, _) = recorder(f64::INFINITY, 0.1);
    let message = sim.advance_to(1.0).unwrap_err().to_string();
    assert_eq!(message, "at 0.1 s: discrete update of 'recorder': broken");
    assert_eq!(sim.context().xd(ports.count).unwrap(), [1.0]);
}

#[test]
fn every_publish_is_dispatched_even_after_one_fails() {
    let record = Record::default();
    struct Bad;
    impl LeafSystem<f64> for Bad {
        type Ports = ();
        fn declare(&self, d: &mut Declare<Self, f64>) {
            d.publish_on(Trigger::Initialization, |_, _| {
                Err(Error::custom("no paper"))
            });
        }
    }
    let mut b = DiagramBuilder::new();
    b.add_f64("printer", Bad);
    let (stop_at, fail_at) = (f64::INFINITY, f64::INFINITY);
    b.add_f64(
        "recorder",
        Recorder {
            record: record.clone(),
            stop_at,
            fail_at,
        },
    );
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    assert_eq!(
        sim.initialize().unwrap_err().to_string(),
        "at 0.0 s: publish of 'printer': no paper"
    );
    assert_eq!(of(&record, "init").len(), 1);
}

#[test]
fn simultaneous_updates_see_the_state_before_the_step() {
    let mut b = DiagramBuilder::new();
    let wave = b.add("wave", Sine::new(1).with_phase(0.5));
    let first = b.add("first", ZeroOrderHold::new(1, 0.1, 0.0));
    let second = b.add("second", ZeroOrderHold::new(1, 0.1, 0.0));
    b.connect(wave.y, first.u);
    b.connect(first.y, second.u);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    sim.advance_to(0.15).unwrap();
    assert_eq!(
        sim.context().eval(first.y).unwrap()[0],
        (0.1_f64 + 0.5).sin()
    );
    assert_eq!(sim.context().eval(second.y).unwrap()[0], 0.5_f64.sin());
}

/// Keeps a word in abstract state and counts in every kind of state.
struct Speller {
    fail: bool,
}
#[derive(Clone, Copy)]
struct SpellerPorts {
    word: AbstractState<String>,
    count: DiscreteState<Vec<f64>>,
    x: ContinuousState<Vec<f64>>,
    text: OutputPort<String>,
}
impl LeafSystem<f64> for Speller {
    type Ports = SpellerPorts;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let word = d.abstract_state(String::new());
        let count = d.discrete_state(&[0.0]);
        let x = d.continuous_state((1, 0, 0), &[1.0], Dep::Nothing, |_, _, xdot| {
            xdot[0] = 0.0;
            Ok(())
        });
        d.unrestricted_update_on(Trigger::every(0.1), move |s, ctx, next| {
            next.xa_mut(word).push('a');
            next.xd_mut(count)[0] += 100.0;
            next.xc_mut()[0] *= 2.0;
            if s.fail && ctx.time() > 0.05 {
                return Err(Error::custom("out of ink"));
            }
            Ok(EventStatus::Succeeded)
        });
        d.discrete_update_on(Trigger::every(0.1), move |_, ctx, next| {
            // Sees the values written by the unrestricted update of the same step.
            next.get_mut(count)[0] = ctx.xd(count)[0] + 1.0;
            Ok(EventStatus::Succeeded)
        });
        let text = d.output("text", String::new(), word, move |_, ctx, text| {
            text.clone_from(ctx.xa(word));
            Ok(())
        });
        SpellerPorts {
            word,
            count,
            x,
            text,
        }
    }
}

#[test]
fn unrestricted_updates_come_first_and_change_every_kind_of_state() {
    for fail in [false, true] {
        let mut b = DiagramBuilder::new();
        let speller = b.add_f64("speller", Speller { fail });
        let d = b.build().unwrap();
        let mut sim = Simulator::new(&d, d.default_context()).unwrap();
        sim.context().eval(speller.text).unwrap();
        let result = sim.advance_to(0.15);
        let (word, count, x) = if fail {
            ("a", 101.0, 2.0)
        } else {
            ("aa", 202.0, 4.0)
        };
        let ctx = sim.context();
        assert_eq!(ctx.eval(speller.text).unwrap(), word);
        assert_eq!(ctx.xa(speller.word).unwrap(), word);
        assert_eq!(ctx.xd(speller.count).unwrap(), [count]);
        assert_eq!(ctx.xc(speller.x).unwrap(), [x]);
        if fail {
            let message = result.unwrap_err().to_string();
            assert_eq!(
                message,
                "at 0.1 s: unrestricted update of 'speller': out of ink"
            );
        } else {
            assert_eq!(sim.statistics().unrestricted_updates, 2);
        }
    }
}

/// Returns the error of integrating sin(t) from 0 to 1.
fn error(euler: bool, step: f64) -> f64 {
    let mut b = DiagramBuilder::new();
    let wave = b.add("wave", Sine::new(1));
    let sum = b.add("sum", Integrator::new(1));
    b.connect(wave.y, sum.u);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    if euler {
        sim.set_integrator(ExplicitEuler::new());
        sim.set_fixed_step(step).unwrap();
    } else {
        sim.set_integrator(RungeKutta3::new());
        sim.set_fixed_step(step).unwrap();
    }
    sim.advance_to(1.0).unwrap();
    (sim.context().eval(sum.y).unwrap()[0] - (1.0 - 1.0_f64.cos())).abs()
}

#[test]
fn integrators_have_their_order() {
    let ratio = error(true, 0.02) / error(true, 0.01);
    assert!((ratio - 2.0).abs() < 0.05, "first order: {ratio}");
    // For a function of time alone, Kutta's third-order weights are Simpson's rule, of order four.
    let ratio = error(false, 0.1) / error(false, 0.05);
    assert!((ratio - 16.0).abs() < 0.5, "{ratio}");
}

#[test]
fn simulates_in_autodiff() {
    let mut b = DiagramBuilder::new();
    let wave = b.add("wave", Sine::new(1));
    let sum = b.add("sum", Integrator::new(1));
    b.connect(wave.y, sum.u);
    let d = b.build().unwrap().to_scalar::<AutoDiff>().unwrap();
    let ports = d.ports(&sum).unwrap();
    let mut ctx = d.default_context();
    ctx.xc_mut(ports.x).unwrap()[0] = AutoDiff::variable(0.0, 0);
    let mut sim = Simulator::new(&d, ctx).unwrap();
    sim.advance_to(1.0).unwrap();
    let y = sim.context().eval(ports.y).unwrap()[0];
    assert_eq!(y.eps[0], 1.0, "the initial value passes through");
    assert!((y.re - (1.0 - 1.0_f64.cos())).abs() < 1e-6);
}

#[test]
fn logs_and_trajectories() {
    let breaks = [0.0, 1.0, 2.0];
    let samples = [vec![0.0, 1.0], vec![1.0, -1.0], vec![0.5, 0.0]];
    let spline = PiecewisePolynomial::cubic_spline_at_rest(&breaks, &samples).unwrap();
    let mut b = DiagramBuilder::new();
    let source = b.add("source", TrajectorySource::new(spline.clone(), 1));
    let sink = b.add("sink", VectorLogSink::periodic(4, 0.25));
    b.connect(source.y, sink.u);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    sim.advance_to(2.0).unwrap();
    let log = sink.find_log(sim.context()).unwrap();
    assert_eq!(
        log.sample_times(),
        (0..9).map(|k| f64::from(k) * 0.25).collect::<Vec<_>>()
    );
    for (t, row) in log.samples() {
        assert_eq!(row[..2], spline.value(t)[..]);
    }
    for (i, t) in breaks.iter().enumerate() {
        let value = spline.value(*t);
        assert!(
            value
                .iter()
                .zip(&samples[i])
                .all(|(a, b)| (a - b).abs() < 1e-15)
        );
        // The second derivative is continuous at the inner break; the first is zero at the ends.
        let derivative = |time: f64, order| {
            let mut y = [0.0; 2];
            spline.evaluate_derivative(time, order, &mut y);
            y
        };
        if i == 1 {
            let jump = derivative(t + 1e-9, 2)[0] - derivative(t - 1e-9, 2)[0];
            assert!(jump.abs() < 1e-6, "{jump}");
        } else {
            assert!(derivative(*t, 1).iter().all(|v| v.abs() < 1e-14));
        }
    }
    let slope = spline.value(AutoDiff::variable(0.4, 0))[0].eps[0];
    let h = 1e-6;
    let difference = (spline.value(0.4 + h)[0] - spline.value(0.4 - h)[0]) / (2.0 * h);
    assert!((slope - difference).abs() < 1e-8);
}

#[test]
fn bad_trajectories_are_explained() {
    let make = PiecewisePolynomial::first_order_hold;
    let message = |r: Result<PiecewisePolynomial>| r.unwrap_err().to_string();
    assert!(message(make(&[0.0], &[vec![]])).contains("breaks, got 1"));
    assert!(message(make(&[0.0, 0.0], &[vec![], vec![]])).contains("break 1 at 0.0 s"));
    assert!(message(make(&[0.0, 1.0], &[vec![]])).contains("there must be 2 samples, got 1"));
    assert!(
        message(make(&[0.0, 1.0], &[vec![0.0], vec![]]))
            .contains("samples[1] must have 1 element, got 0")
    );
    assert!(message(make(&[0.0, 1.0], &[vec![0.0], vec![f64::NAN]])).contains("NaN"));
}
