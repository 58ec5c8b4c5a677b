//! Timed, witness and forced events; start, pacing and interruption of simulations.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tarragon_framework::WitnessDirection::{
    self, CrossesZero, NegativeThenNonNegative, PositiveThenNonPositive,
};
use tarragon_framework::prelude::*;
use tarragon_framework::{Error, InitializeOptions, SimulatorConfig, WitnessFunction};

type Times = Arc<Mutex<Vec<f64>>>;

/// Ball under gravity that loses a fraction of its speed at each impact.
struct BouncingBall {
    restitution: f64,
    impacts: Times,
}
const GRAVITY: f64 = 9.81;
impl LeafSystem<f64> for BouncingBall {
    type Ports = ContinuousState<Vec<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let x = d.continuous_state((1, 1, 0), &[1.0, 0.0], Dep::Xc, |_, ctx, dx| {
            (dx[0], dx[1]) = (ctx.v()[0], -GRAVITY);
            Ok(())
        });
        let ground = d.witness_function("ground", PositiveThenNonPositive, |_, ctx| Ok(ctx.q()[0]));
        d.unrestricted_update_on(Trigger::Witness(ground), |s, ctx, next| {
            s.impacts.lock().unwrap().push(ctx.time());
            next.xc_mut()[0] = 0.0;
            next.xc_mut()[1] *= -s.restitution;
            Ok(EventStatus::Succeeded)
        });
        x
    }
}

#[test]
fn a_ball_bounces_at_the_times_of_the_closed_form() {
    let impacts = Times::default();
    let mut b = DiagramBuilder::new();
    let ball = BouncingBall {
        restitution: 0.5,
        impacts: impacts.clone(),
    };
    let ball = b.add_f64("ball", ball);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    let accuracy = 1e-6;
    sim.set_error_control(accuracy).unwrap();
    sim.advance_to(1.2).unwrap();
    let first = (2.0 / GRAVITY).sqrt();
    // Each flight takes half as long as the one before.
    let expected = [first, 2.0 * first, 2.5 * first];
    let found = impacts.lock().unwrap();
    assert_eq!(found.len(), 3, "{found:?}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        // The isolation window is a hundredth of the accuracy times the largest step of 0.1 s. Each
        // impact starts the next flight late by that much; integration of a parabola is exact.
        let late = found - expected;
        let limit = 0.01 * accuracy * 0.1 * (i + 1) as f64 + 1e-13;
        assert!(late.abs() <= limit, "impact {i} is {late:e} s late");
    }
    assert_eq!(sim.statistics().witness_triggers, 3);
    let height = sim.context().xc(*ball.ports()).unwrap()[0];
    let (t, v) = (1.2 - 2.5 * first, 0.125 * GRAVITY * first);
    assert!((height - (v * t - 0.5 * GRAVITY * t * t)).abs() < 1e-8);
}

/// Witness sin(t) in one direction; the system has no state.
struct Watch {
    direction: WitnessDirection,
    times: Times,
}
impl LeafSystem<f64> for Watch {
    type Ports = WitnessFunction;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let sine = d.witness_function("sine", self.direction, |_, ctx| Ok(ctx.time().sin()));
        d.publish_on(Trigger::Witness(sine), |s, ctx| {
            s.times.lock().unwrap().push(ctx.time());
            Ok(EventStatus::Succeeded)
        });
        d.publish_on(Trigger::every(1.0), |_, _| Ok(EventStatus::Succeeded));
        sine
    }
}

/// Returns the event times of `Watch` until 10 s.
fn watch(direction: WitnessDirection, change: impl FnOnce(&mut Simulator<f64>)) -> Vec<f64> {
    let times = Times::default();
    let mut b = DiagramBuilder::new();
    let watch = Watch {
        direction,
        times: times.clone(),
    };
    b.add_f64("watch", watch);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    change(&mut sim);
    sim.advance_to(10.0).unwrap();
    times.lock().unwrap().clone()
}

#[test]
fn witnesses_have_four_directions() {
    use std::f64::consts::PI;
    let of = |direction| watch(direction, |sim| sim.context_mut().set_accuracy(Some(1e-9)));
    for (direction, expected) in [
        (WitnessDirection::None, vec![]),
        (PositiveThenNonPositive, vec![PI, 3.0 * PI]),
        (NegativeThenNonNegative, vec![2.0 * PI]),
        (CrossesZero, vec![PI, 2.0 * PI, 3.0 * PI]),
    ] {
        let found = of(direction);
        assert_eq!(found.len(), expected.len(), "{direction:?}: {found:?}");
        for (found, expected) in found.iter().zip(expected) {
            // Just after the crossing: within a window of 0.01 * 1e-9 * 0.1 s, plus rounding.
            let late = found - expected;
            assert!((0.0..1.1e-12).contains(&(late + 1e-15)), "{late:e}");
        }
    }
}

#[test]
fn witnesses_are_not_isolated_without_an_accuracy() {
    let fixed = |sim: &mut Simulator<f64>| sim.set_fixed_step(0.1).unwrap();
    assert_eq!(
        watch(PositiveThenNonPositive, fixed),
        [4.0, 10.0],
        "ends of the steps between the publishes, as in Drake"
    );
}

#[test]
fn a_failing_witness_preserves_the_state() {
    struct Bad;
    impl LeafSystem<f64> for Bad {
        type Ports = ContinuousState<Vec<f64>>;
        fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
            let dx = |_: &Self, _: &LeafContext<'_, f64>, dx: &mut [f64]| {
                dx[0] = 1.0;
                Ok(())
            };
            let x = d.continuous_state((0, 0, 1), &[0.0], Dep::Nothing, dx);
            d.witness_function("limit", CrossesZero, |_, ctx| {
                if ctx.z()[0] > 0.5 {
                    return Err(Error::custom("out of range"));
                }
                Ok(1.0)
            });
            x
        }
    }
    let mut b = DiagramBuilder::new();
    let bad = b.add_f64("bad", Bad);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    let error = sim.advance_to(1.0).unwrap_err().to_string();
    assert_eq!(
        error,
        "at 0.47809999999999997 s: witness function 'limit' of 'bad': out of range"
    );
    let (t, x) = (
        sim.context().time(),
        sim.context().xc(*bad.ports()).unwrap(),
    );
    assert!(t <= 0.5 && (x[0] - t).abs() < 1e-12, "{t} {x:?}");
}

/// System that doubles the wait before each of its events.
struct Backoff {
    times: Times,
    /// Next event time before any event has happened (s).
    first: f64,
}
impl LeafSystem<f64> for Backoff {
    type Ports = DiscreteState<Vec<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let next = d.discrete_state(&[self.first]);
        let alarm = d.timed_event(move |_, ctx| Ok(ctx.xd(next)[0]));
        d.discrete_update_on(Trigger::Timed(alarm), move |s, ctx, update| {
            s.times.lock().unwrap().push(ctx.time());
            update.get_mut(next)[0] = 2.0 * ctx.time();
            Ok(EventStatus::Succeeded)
        });
        d.publish_on(Trigger::Timed(alarm), move |s, ctx| {
            s.times.lock().unwrap().push(-ctx.time());
            Ok(EventStatus::Succeeded)
        });
        next
    }
}

fn backoff(first: f64) -> (Times, Diagram<f64>) {
    let times = Times::default();
    let mut b = DiagramBuilder::new();
    let system = Backoff {
        times: times.clone(),
        first,
    };
    b.add_f64("backoff", system);
    (times, b.build().unwrap())
}

#[test]
fn systems_compute_event_times() {
    let (times, d) = backoff(0.25);
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    sim.advance_to(2.0).unwrap();
    // The publish comes at the end of the step, the update at the beginning of the next one; the
    // update at 2 s is still pending.
    let expected = [-0.25, 0.25, -0.5, 0.5, -1.0, 1.0, -2.0];
    assert_eq!(*times.lock().unwrap(), expected);
    sim.advance_pending_events().unwrap();
    assert_eq!(times.lock().unwrap().last(), Some(&2.0));
    assert_eq!(sim.context().time(), 2.0);
}

#[test]
fn event_times_in_the_past_are_errors() {
    for (first, found) in [(-1.0, "-1.0"), (f64::NAN, "NaN")] {
        let (_, d) = backoff(first);
        let mut sim = Simulator::new(&d, d.default_context()).unwrap();
        let error = sim.advance_to(1.0).unwrap_err().to_string();
        let expected = format!(
            "at 0.0 s: next event time of 'backoff': the time must be at least the current time, 0.0 s, or \
             infinity for none, got {found} s"
        );
        assert!(error.starts_with(&expected), "{error}");
        assert_eq!(sim.context().time(), 0.0);
    }
}

#[test]
fn a_timed_event_at_the_start_time_is_due() {
    let (times, d) = backoff(3.0);
    let mut context = d.default_context();
    context.set_time(3.0);
    let mut sim = Simulator::new(&d, context).unwrap();
    sim.initialize().unwrap();
    assert_eq!(*times.lock().unwrap(), [-3.0]);
    sim.advance_to(4.0).unwrap();
    assert_eq!(*times.lock().unwrap(), [-3.0, 3.0]);
}

/// Counts forced events, in discrete state and by unrestricted update.
struct Counter;
#[derive(Clone)]
struct CounterPorts {
    count: DiscreteState<Vec<f64>>,
    label: AbstractState<String>,
}
impl LeafSystem<f64> for Counter {
    type Ports = CounterPorts;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let count = d.discrete_state(&[0.0]);
        let label = d.abstract_state(String::new());
        for trigger in [Trigger::Forced, Trigger::Initialization] {
            d.discrete_update_on(trigger, move |_, ctx, next| {
                next.get_mut(count)[0] = ctx.xd(count)[0] + 1.0;
                Ok(EventStatus::Succeeded)
            });
        }
        d.unrestricted_update_on(Trigger::Forced, move |_, ctx, next| {
            next.xa_mut(label).push('x');
            if ctx.xd(count)[0] > 5.0 {
                return Err(Error::custom("overflow"));
            }
            Ok(EventStatus::Succeeded)
        });
        d.publish_on(Trigger::Forced, move |_, ctx| match ctx.xd(count)[0] {
            x if x > 2.0 => Ok(EventStatus::ReachedTermination {
                reason: "enough".into(),
            }),
            _ => Ok(EventStatus::Succeeded),
        });
        CounterPorts { count, label }
    }
}

#[test]
fn events_can_be_forced() {
    let mut b = DiagramBuilder::new();
    let counter = b.add_f64("counter", Counter);
    let d = b.build().unwrap();
    let mut ctx = d.default_context();
    assert_eq!(ctx.force_discrete_update().unwrap(), EventStatus::Succeeded);
    ctx.force_unrestricted_update().unwrap();
    assert_eq!(ctx.xd(counter.count).unwrap(), [1.0]);
    assert_eq!(ctx.xa(counter.label).unwrap(), "x");
    assert_eq!(ctx.force_publish().unwrap(), EventStatus::Succeeded);
    ctx.xd_mut(counter.count).unwrap()[0] = 9.0;
    let reason = "enough".into();
    let stop = EventStatus::ReachedTermination { reason };
    assert_eq!(ctx.force_publish().unwrap(), stop);
    let error = ctx.force_unrestricted_update().unwrap_err().to_string();
    assert_eq!(error, "unrestricted update of 'counter': overflow");
    assert_eq!(ctx.xa(counter.label).unwrap(), "x", "unchanged");

    let empty = DiagramBuilder::new().build().unwrap();
    let nothing = empty.default_context().force_discrete_update().unwrap();
    assert_eq!(nothing, EventStatus::DidNothing);
}

#[test]
fn initialization_events_can_be_suppressed() {
    let mut b = DiagramBuilder::new();
    let counter = b.add_f64("counter", Counter);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    sim.initialize().unwrap();
    assert_eq!(sim.context().xd(counter.count).unwrap(), [1.0]);
    sim.initialize_with(InitializeOptions::suppress_initialization_events())
        .unwrap();
    assert_eq!(sim.context().xd(counter.count).unwrap(), [1.0]);
    sim.initialize().unwrap();
    assert_eq!(sim.context().xd(counter.count).unwrap(), [2.0]);
}

#[test]
fn forced_publishes_can_run_every_step() {
    let mut b = DiagramBuilder::new();
    let counter = b.add_f64("counter", Counter);
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    let config = SimulatorConfig {
        publish_every_time_step: true,
        start_time: Some(5.0),
        ..SimulatorConfig::default()
    };
    sim.apply_config(&config).unwrap();
    sim.initialize().unwrap();
    assert_eq!(sim.context().time(), 5.0);
    sim.context_mut().xd_mut(counter.count).unwrap()[0] = 3.0;
    let status = sim.advance_to(6.0).unwrap();
    assert!(matches!(status, SimulatorStatus::ReachedTermination { reason } if reason == "enough"));
}

#[test]
fn realtime_pacing_waits_and_can_be_interrupted() {
    let (_, d) = backoff(0.25);
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    assert!(sim.actual_realtime_rate().is_nan());
    for rate in [-1.0, f64::NAN, f64::INFINITY] {
        let error = sim.set_target_realtime_rate(rate).unwrap_err().to_string();
        assert!(error.contains("target realtime rate"), "{error}");
    }
    sim.set_target_realtime_rate(10.0).unwrap();
    let start = Instant::now();
    sim.advance_to(1.0).unwrap();
    sim.advance_to(1.0).unwrap(); // The wait comes before the next step.
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(100), "{took:?}");
    assert!(sim.actual_realtime_rate() <= 10.0);

    // Without the interruption this would take years.
    sim.set_target_realtime_rate(1e-9).unwrap();
    let stop = sim.interrupt_handle();
    let waker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        stop.interrupt();
    });
    assert_eq!(sim.advance_to(64.0).unwrap(), SimulatorStatus::Interrupted);
    waker.join().unwrap();
    sim.set_target_realtime_rate(0.0).unwrap();
    let status = sim.advance_to(64.0).unwrap();
    assert_eq!(status, SimulatorStatus::ReachedBoundaryTime);
}

#[test]
fn a_trigger_of_another_system_does_not_build() {
    struct Thief(WitnessFunction);
    impl LeafSystem<f64> for Thief {
        type Ports = ();
        fn declare(&self, d: &mut Declare<Self, f64>) {
            d.publish_on(Trigger::Witness(self.0), |_, _| Ok(EventStatus::Succeeded));
        }
    }
    let mut b = DiagramBuilder::new();
    let watch = Watch {
        direction: CrossesZero,
        times: Times::default(),
    };
    let watch = b.add_f64("watch", watch);
    b.add_f64("thief", Thief(*watch.ports()));
    let error = b.build().err().unwrap().to_string();
    assert!(
        error.starts_with("system 'thief': the trigger of an event was declared by system 0"),
        "{error}"
    );
}

#[test]
fn a_failed_update_is_retried() {
    /// Fails the first time.
    struct Flaky(Times);
    impl LeafSystem<f64> for Flaky {
        type Ports = DiscreteState<Vec<f64>>;
        fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
            let x = d.discrete_state(&[0.0]);
            d.discrete_update_on(Trigger::every(1.0), move |s, ctx, next| {
                next.get_mut(x)[0] += 1.0;
                let mut calls = s.0.lock().unwrap();
                calls.push(ctx.time());
                if calls.len() == 2 {
                    return Err(Error::custom("not now"));
                }
                Ok(EventStatus::Succeeded)
            });
            x
        }
    }
    let calls = Times::default();
    let mut b = DiagramBuilder::new();
    let flaky = b.add_f64("flaky", Flaky(calls.clone()));
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    let error = sim.advance_to(2.5).unwrap_err().to_string();
    assert_eq!(error, "at 1.0 s: discrete update of 'flaky': not now");
    assert_eq!(sim.context().time(), 1.0);
    assert_eq!(sim.context().xd(*flaky.ports()).unwrap(), [1.0]);
    sim.advance_to(2.5).unwrap();
    assert_eq!(*calls.lock().unwrap(), [0.0, 1.0, 1.0, 2.0]);
    assert_eq!(sim.context().xd(*flaky.ports()).unwrap(), [3.0]);
}
