//! Systems that publish, subscribe and handle messages, compared with pydrake 1.51.1.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::{ConstantVectorSource, Sine};
use tarragon_framework::{AutoDiff, SimulatorStatus, to_microseconds};
use tarragon_lcm::types::{LcmtDrakeSignal, LcmtPoint, LcmtScope};
use tarragon_lcm::{
    ErrorKind, Lcm, LcmBuses, LcmInterfaceSystem, LcmParams, LcmPublisherSystem, LcmScopeSystem,
    LcmSubscriberSystem, LcmSubscriberSystemPorts, Subscriber, apply_lcm_bus_config,
};

/// Outputs the time (µs) as a message.
struct Clock;

impl<T: Scalar> LeafSystem<T> for Clock {
    type Ports = OutputPort<LcmtDrakeSignal>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        d.output(
            "time",
            LcmtDrakeSignal::default(),
            Dep::Time,
            |_, ctx, out| {
                out.timestamp = to_microseconds(ctx.time().re())?;
                Ok(())
            },
        )
    }
}

fn stamped(timestamp: i64) -> LcmtDrakeSignal {
    LcmtDrakeSignal {
        timestamp,
        ..LcmtDrakeSignal::default()
    }
}

type Signal = LcmtDrakeSignal;
/// Simulated time (µs) and timestamp of the latest message.
type Row = (i64, i64);

struct Setup {
    lcm: Lcm,
    diagram: Diagram<f64>,
    signal: LcmSubscriberSystemPorts<Signal>,
}

/// A publisher of the time, a subscriber and an interface on one bus, added in the given order.
fn setup(order: &[&str], period: f64, offset: f64, wait: Duration) -> Setup {
    let lcm = Lcm::with_url("memq://").unwrap();
    let mut b = DiagramBuilder::new();
    let mut signal = None;
    for part in order {
        match *part {
            "pub" => {
                let publisher = LcmPublisherSystem::new("S", lcm.clone(), period, offset).unwrap();
                let (clock, publisher) = (b.add("clock", Clock), b.add("pub", publisher));
                b.connect(*clock.ports(), publisher.lcm_message);
            }
            "sub" => {
                let system = LcmSubscriberSystem::<Signal>::new("S", &lcm).unwrap();
                let system = system.with_wait_for_message_on_initialization(wait);
                signal = Some(*b.add("sub", system).ports());
            }
            "if" => {
                LcmInterfaceSystem::add_to_builder(&mut b, "if", lcm.clone());
            }
            part => panic!("{part}"),
        }
    }
    let (diagram, signal) = (b.build().unwrap(), signal.unwrap());
    Setup {
        lcm,
        diagram,
        signal,
    }
}

/// Rows that a monitor sees, at initialization and at the end of each step.
fn watch(sim: &mut Simulator<f64>, port: OutputPort<Signal>) -> Arc<Mutex<Vec<Row>>> {
    let rows = Arc::<Mutex<Vec<Row>>>::default();
    let seen = rows.clone();
    sim.set_monitor(move |ctx| {
        let time = (ctx.time() * 1e6).round() as i64;
        seen.lock().unwrap().push((time, ctx.eval(port)?.timestamp));
        Ok(EventStatus::DidNothing)
    });
    rows
}

/// Publishes `pre` messages with the stamps -1, -2, ..., then simulates to 0.3 s.
fn rows(setup: &Setup, pre: i64) -> Vec<Row> {
    let mut sim = Simulator::new(&setup.diagram, setup.diagram.default_context()).unwrap();
    let rows = watch(&mut sim, setup.signal.lcm_message);
    for k in 1..=pre {
        setup.lcm.publish("S", &stamped(-k)).unwrap();
    }
    sim.advance_to(0.3).unwrap();
    sim.clear_monitor();
    let rows = rows.lock().unwrap();
    rows.clone()
}

/// Every step with its time, as a monitor of pydrake's simulator saw it. `sub-if-pub` has one more
/// step per message, because the subscriber is asked before the interface passes the message on.
#[test]
fn a_diagram_receives_its_own_messages_as_in_drake() {
    let run = |order: &[&str], offset| rows(&setup(order, 0.1, offset, Duration::ZERO), 0);
    let (a, b, c) = (100_000, 200_000, 300_000);
    let late = [
        (0, 0),
        (0, 0),
        (0, 0),
        (a, 0),
        (a, 0),
        (a, 0),
        (b, a),
        (b, a),
        (b, a),
        (c, b),
    ];
    assert_eq!(run(&["pub", "sub", "if"], 0.0), late);
    assert_eq!(run(&["sub", "if", "pub"], 0.0), late);
    let early = [(0, 0), (0, 0), (a, 0), (a, 0), (b, a), (b, a), (c, b)];
    assert_eq!(run(&["if", "sub", "pub"], 0.0), early);
    let shifted = [
        (0, 0),
        (50_000, 0),
        (50_000, 0),
        (50_000, 0),
        (150_000, 50_000),
        (150_000, 50_000),
        (150_000, 50_000),
        (250_000, 150_000),
        (250_000, 150_000),
        (250_000, 150_000),
        (c, 250_000),
    ];
    assert_eq!(run(&["sub", "pub", "if"], 0.05), shifted);
    let deaf = [(0, 0), (a, 0), (b, 0), (c, 0)];
    assert_eq!(run(&["pub", "sub"], 0.0), deaf, "nobody handles messages");
}

#[test]
fn messages_from_before_the_start_arrive_as_in_drake() {
    let pair = |wait| setup(&["sub", "if"], 0.0, 0.0, Duration::from_millis(wait));
    assert_eq!(rows(&pair(0), 2), [(0, 0), (0, 0), (300_000, -2)]);
    // Initialization handles messages itself if it has to wait.
    assert_eq!(rows(&pair(200), 2), [(0, -2), (300_000, -2)]);
    let alone = setup(&["sub"], 0.0, 0.0, Duration::ZERO);
    assert_eq!(rows(&alone, 2), [(0, 0), (300_000, 0)]);
}

#[test]
fn initialization_copies_the_message_received_before() {
    let s = setup(&["sub"], 0.0, 0.0, Duration::ZERO);
    s.lcm.publish("S", &stamped(7)).unwrap();
    s.lcm.handle_subscriptions(Duration::ZERO).unwrap();
    let mut sim = Simulator::new(&s.diagram, s.diagram.default_context()).unwrap();
    assert_eq!(*sim.context().eval(s.signal.message_count).unwrap(), 0);
    sim.initialize().unwrap();
    assert_eq!(*sim.context().eval(s.signal.message_count).unwrap(), 1);
    assert_eq!(
        sim.context().eval(s.signal.lcm_message).unwrap().timestamp,
        7
    );
}

#[test]
fn initialization_fails_if_no_message_arrives_in_time() {
    let s = setup(&["sub", "if"], 0.0, 0.0, Duration::from_millis(30));
    let mut sim = Simulator::new(&s.diagram, s.diagram.default_context()).unwrap();
    let start = Instant::now();
    let error = sim.initialize().unwrap_err();
    assert!(start.elapsed() >= Duration::from_millis(30));
    assert_eq!(error.kind(), ErrorKind::Network);
    assert!(
        error
            .to_string()
            .contains("no message arrived on 'S' of 'memq://' within 30ms"),
        "{error}"
    );
    // The next attempt finds a message.
    s.lcm.publish("S", &stamped(1)).unwrap();
    sim.initialize().unwrap();
    assert_eq!(
        sim.context().eval(s.signal.lcm_message).unwrap().timestamp,
        1
    );
}

#[test]
fn an_endless_wait_ends_with_the_first_message() {
    let s = setup(&["if", "sub"], 0.0, 0.0, Duration::MAX);
    let lcm = s.lcm.clone();
    let sender = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        lcm.publish("S", &stamped(5)).unwrap();
    });
    let mut sim = Simulator::new(&s.diagram, s.diagram.default_context()).unwrap();
    sim.initialize().unwrap();
    assert_eq!(
        sim.context().eval(s.signal.lcm_message).unwrap().timestamp,
        5
    );
    sender.join().unwrap();
}

/// A waiting system notices messages that another thread handles.
#[test]
fn waiting_sees_messages_handled_by_another_thread() {
    let lcm = Lcm::with_url("memq://").unwrap();
    let system = LcmSubscriberSystem::<Signal>::new("S", &lcm).unwrap();
    assert!(system.received_message().is_none());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (stop, lcm) = (&stop, &lcm);
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                lcm.handle_subscriptions(Duration::from_millis(1)).unwrap();
            }
        });
        for count in 1..=50 {
            lcm.publish("S", &stamped(count as i64)).unwrap();
            let found = system.wait_for_message(count - 1, Duration::from_secs(20));
            assert_eq!(found.unwrap(), count);
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(system.received_message().unwrap().timestamp, 50);
    assert_eq!(system.wait_for_message(50, Duration::ZERO).unwrap(), 50);
}

#[test]
fn each_context_has_its_own_message() {
    let s = setup(&["sub", "if"], 0.0, 0.0, Duration::ZERO);
    let eval = |ctx: &Context<f64>| {
        let count = *ctx.eval(s.signal.message_count).unwrap();
        (ctx.eval(s.signal.lcm_message).unwrap().timestamp, count)
    };
    let mut first = s.diagram.default_context();
    s.lcm.publish("S", &stamped(1)).unwrap();
    s.lcm.handle_subscriptions(Duration::ZERO).unwrap();
    assert_eq!(eval(&first), (0, 0), "nothing changes without an update");
    first.force_unrestricted_update().unwrap();
    let clone = first.clone();
    for stamp in [2, 3] {
        s.lcm.publish("S", &stamped(stamp)).unwrap();
    }
    s.lcm.handle_subscriptions(Duration::ZERO).unwrap();
    first.force_unrestricted_update().unwrap();
    assert_eq!(eval(&first), (3, 3));
    assert_eq!(eval(&clone), (1, 1));
    assert_eq!(eval(&s.diagram.default_context()), (0, 0));
    // Every simulation receives it, including those that begin later.
    for _ in 0..2 {
        let mut sim = Simulator::new(&s.diagram, s.diagram.default_context()).unwrap();
        sim.advance_to(0.1).unwrap();
        assert_eq!(eval(sim.context()), (3, 3));
    }
}

#[test]
fn a_subscription_ends_with_its_system() {
    let s = setup(&["sub"], 0.0, 0.0, Duration::ZERO);
    let publish = || {
        s.lcm.publish("S", &stamped(1)).unwrap();
        s.lcm.handle_subscriptions(Duration::ZERO).unwrap()
    };
    assert_eq!(publish(), 1);
    drop(s.diagram);
    assert_eq!(publish(), 0);
}

#[test]
fn systems_of_other_scalars_receive_messages() {
    let s = setup(&["sub", "if"], 0.0, 0.0, Duration::ZERO);
    let diagram = s.diagram.to_scalar::<AutoDiff>().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    s.lcm.publish("S", &stamped(4)).unwrap();
    sim.advance_to(0.5).unwrap();
    assert_eq!(
        sim.context().eval(s.signal.lcm_message).unwrap().timestamp,
        4
    );
}

/// In Drake, the first and the second simulation never advance beyond their first time.
#[test]
fn time_advances_whatever_arrives() {
    // Every step publishes a message that requests another step.
    let s = setup(&["pub", "sub", "if"], 0.0, 0.0, Duration::ZERO);
    let seen = rows(&s, 0);
    assert!(seen.len() < 100, "{} steps", seen.len());
    let (time, stamp) = *seen.last().unwrap();
    assert_eq!((time, stamp), (300_000, 0));

    // Two systems that answer each other immediately.
    let lcm = Lcm::with_url("memq://").unwrap();
    let mut b = DiagramBuilder::new();
    LcmInterfaceSystem::add_to_builder(&mut b, "if", lcm.clone());
    let answers = |from: &str, to: &'static str| {
        let bus = lcm.clone();
        lcm.subscribe(from, move |m: &Signal| bus.publish(to, m).unwrap())
    };
    let _pair = (answers("A", "B").unwrap(), answers("B", "A").unwrap());
    lcm.publish("A", &stamped(1)).unwrap();
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    assert_eq!(
        sim.advance_to(1.0).unwrap(),
        SimulatorStatus::ReachedBoundaryTime
    );

    // More messages than a simulation can handle.
    let s = setup(&["sub", "if"], 0.0, 0.0, Duration::ZERO);
    let (stop, lcm) = (Arc::new(AtomicBool::new(false)), s.lcm.clone());
    let stopped = stop.clone();
    let flood = std::thread::spawn(move || {
        let message = stamped(1);
        while !stopped.load(Ordering::Relaxed) {
            lcm.publish("S", &message).unwrap();
        }
    });
    let mut sim = Simulator::new(&s.diagram, s.diagram.default_context()).unwrap();
    for k in 1..=20 {
        sim.advance_to(0.1 * f64::from(k)).unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    flood.join().unwrap();
    assert!(sim.statistics().steps <= 21 * 40, "{:?}", sim.statistics());
}

/// A message that arrives during a step is available at the end of the next one.
#[test]
fn messages_may_arrive_during_a_simulation() {
    for order in [["sub", "if"], ["if", "sub"]] {
        let s = setup(&order, 0.0, 0.0, Duration::ZERO);
        let mut sim = Simulator::new(&s.diagram, s.diagram.default_context()).unwrap();
        let mut seen = vec![];
        for k in 0..5 {
            let lcm = s.lcm.clone();
            let publish = move || lcm.publish("S", &stamped(k)).unwrap();
            std::thread::spawn(publish).join().unwrap();
            sim.advance_to(0.1 * (k + 1) as f64).unwrap();
            seen.push(sim.context().eval(s.signal.lcm_message).unwrap().timestamp);
        }
        assert_eq!(seen, [0, 1, 2, 3, 4]);
        assert_eq!(*sim.context().eval(s.signal.message_count).unwrap(), 5);
    }
}

/// A system that answers its messages within the same simulated time.
#[test]
fn a_chain_of_systems_settles_at_one_time() {
    let lcm = Lcm::with_url("memq://").unwrap();
    let mut b = DiagramBuilder::new();
    let end = LcmSubscriberSystem::<Signal>::new("C", &lcm).unwrap();
    let end = b.add("end", end);
    let relay = lcm.subscribe("B", {
        let lcm = lcm.clone();
        move |m: &Signal| lcm.publish("C", m).unwrap()
    });
    LcmInterfaceSystem::add_to_builder(&mut b, "if", lcm.clone());
    let publisher = LcmPublisherSystem::new("B", lcm.clone(), 0.5, 0.0).unwrap();
    let (clock, publisher) = (b.add("clock", Clock), b.add("pub", publisher));
    b.connect(*clock.ports(), publisher.lcm_message);
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let rows = watch(&mut sim, end.lcm_message);
    sim.advance_to(1.2).unwrap();
    sim.clear_monitor();
    let rows = rows.lock().unwrap();
    // The state of a step is visible at its end.
    let first = |stamp| rows.iter().find(|(_, s)| *s == stamp).unwrap().0;
    assert_eq!((first(500_000), first(1_000_000)), (1_000_000, 1_200_000));
    drop(relay);
}

#[test]
fn publishers_publish_at_their_times() {
    let times = |period, offset, end: f64| {
        let lcm = Lcm::with_url("memq://").unwrap();
        let heard = Arc::<Mutex<Vec<i64>>>::default();
        let list = heard.clone();
        let _s = lcm.subscribe("S", move |m: &Signal| {
            list.lock().unwrap().push(m.timestamp)
        });
        let mut b = DiagramBuilder::new();
        let publisher = LcmPublisherSystem::new("S", lcm.clone(), period, offset).unwrap();
        let (clock, publisher) = (b.add("clock", Clock), b.add("pub", publisher));
        b.connect(*clock.ports(), publisher.lcm_message);
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.advance_to(end).unwrap();
        sim.context().force_publish().unwrap();
        lcm.handle_subscriptions(Duration::ZERO).unwrap();
        let heard = heard.lock().unwrap();
        heard.clone()
    };
    // Both the start and the end publish, and the last message is forced.
    assert_eq!(times(0.25, 0.0, 0.5), [0, 250_000, 500_000, 500_000]);
    assert_eq!(times(0.25, 0.1, 0.5), [100_000, 350_000, 500_000]);
    assert_eq!(times(0.0, 0.0, 0.5), [0, 500_000, 500_000], "per step");
}

#[test]
fn publishers_refuse_invalid_times() {
    let lcm = Lcm::with_url("memq://").unwrap();
    for (period, offset, expected) in [
        (
            -1.0,
            0.0,
            "the period must be positive and finite, or 0 for every step, got -1.0 s",
        ),
        (
            f64::NAN,
            0.0,
            "the period must be positive and finite, or 0 for every step, got NaN s",
        ),
        (
            f64::INFINITY,
            0.0,
            "the period must be positive and finite, or 0 for every step, got inf s",
        ),
        (
            1.0,
            -0.5,
            "the offset must be finite and at least 0, got -0.5 s",
        ),
        (
            1.0,
            f64::INFINITY,
            "the offset must be finite and at least 0, got inf s",
        ),
        (
            0.0,
            0.5,
            "the offset must be 0 if the period is 0, got 0.5 s",
        ),
    ] {
        let made = LcmPublisherSystem::<Signal>::new("S", lcm.clone(), period, offset);
        let error = made.unwrap_err().to_string();
        let expected = format!("LcmPublisherSystem 'S': {expected}");
        assert!(error.starts_with(&expected), "{error}");
    }
}

/// The times of pydrake's scope: µs, rounded towards zero.
#[test]
fn scopes_match_drake() {
    let lcm = Lcm::with_url("memq://").unwrap();
    let mut b = DiagramBuilder::new();
    let source = b.add("source", ConstantVectorSource::new([1.0, 2.0]));
    let (scope, publisher) =
        LcmScopeSystem::add_to_builder(&mut b, &lcm, source.y, "SC", 0.1).unwrap();
    assert_eq!(publisher.system().channel(), "SC");
    // A second scope on the channel gets different names.
    let second = Lcm::with_url("memq://").unwrap();
    LcmScopeSystem::add_to_builder(&mut b, &second, source.y, "SC", 0.1).unwrap();
    let mut ctx = b.build().unwrap().default_context();
    for (time, utime) in [
        (0.3, 300_000),
        (0.1 + 0.2, 300_000),
        (2.7e-6, 3),
        (4.35, 4_350_000),
        (-2.7e-6, -3),
    ] {
        ctx.set_time(time);
        let value = vec![1.0, 2.0];
        assert_eq!(ctx.eval(scope.output).unwrap(), &LcmtScope { utime, value });
    }
    let heard = Subscriber::<LcmtScope>::new(&lcm, "SC").unwrap();
    ctx.force_publish().unwrap();
    lcm.handle_subscriptions(Duration::ZERO).unwrap();
    assert_eq!(heard.message().unwrap().utime, -3);

    let mut b = DiagramBuilder::new();
    let source = b.add("source", Sine::new(2));
    let wrong = LcmScopeSystem::add_to_builder(&mut b, &lcm, source.y, "SC", -0.1);
    assert!(wrong.is_err());
    // A scope made by hand has a fixed size.
    let scope = b.add("scope", LcmScopeSystem::new(3));
    b.connect(source.y, scope.input);
    assert!(b.build().err().unwrap().to_string().contains('3'));
}

#[test]
fn buses_are_made_by_configuration() {
    let text = "\
driver_traffic:
  lcm_url: memq://
  channel_suffix: _LEFT
nobody:
  lcm_url: memq://null
none:
";
    let config: BTreeMap<String, Option<LcmParams>> = serde_saphyr::from_str(text).unwrap();
    let mut b = DiagramBuilder::new();
    let buses = apply_lcm_bus_config(&config, &mut b).unwrap();
    assert_eq!(buses.len(), 3);
    let all: Vec<_> = buses.iter().map(|(name, lcm)| (name, lcm.url())).collect();
    assert_eq!(
        all,
        [
            ("driver_traffic", "memq://"),
            ("nobody", LcmBuses::MEMQ_NULL),
            ("none", LcmBuses::MEMQ_NULL)
        ]
    );
    let lcm = buses.find("test", "driver_traffic").unwrap();
    let heard = Subscriber::<LcmtPoint>::new(lcm, "P").unwrap();
    let deaf = Subscriber::<LcmtPoint>::new(buses.find("test", "none").unwrap(), "P").unwrap();
    let diagram = b.build().unwrap();
    let paths: Vec<String> = diagram.systems().map(|s| s.path).collect();
    assert_eq!(paths, ["driver_traffic"]);
    for (_, lcm) in buses.iter() {
        lcm.publish("P", &LcmtPoint::default()).unwrap();
    }
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(0.1).unwrap();
    assert_eq!((heard.count(), deaf.count()), (1, 0));
}

#[test]
fn an_invalid_configuration_adds_nothing() {
    let config = |text: &str| serde_saphyr::from_str::<BTreeMap<String, Option<LcmParams>>>(text);
    assert!(config("a: { lcm_url: memq://, colour: red }").is_err());
    let config = config("a: { lcm_url: memq:// }\nb: { lcm_url: smoke:// }").unwrap();
    let mut b = DiagramBuilder::new();
    let error = apply_lcm_bus_config(&config, &mut b)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("LCM bus 'b': LCM URL 'smoke://': "),
        "{error}"
    );
    assert_eq!(b.build().unwrap().systems().count(), 0);
}
