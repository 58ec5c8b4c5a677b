//! Logs that simulations write and play back.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::Sine;
use tarragon_lcm::types::{LcmtDrakeSignal, LcmtPoint, LcmtScope};
use tarragon_lcm::{
    ErrorKind, Lcm, LcmLog, LcmLogPlaybackSystem, LcmMessage, LcmPublisherSystem, LcmScopeSystem,
    LcmSubscriberSystem, LogReader, LogWriter, Subscriber,
};
use tempfile::TempDir;

/// Writes a log of messages that contain their own timestamps (µs).
fn log_of(timestamps: &[i64]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("test.lcm");
    let mut log = LogWriter::create(&path).unwrap();
    for timestamp in timestamps {
        let message = LcmtDrakeSignal {
            timestamp: *timestamp,
            ..LcmtDrakeSignal::default()
        };
        log.write(*timestamp, "S", &message.encode().unwrap())
            .unwrap();
    }
    (dir, path)
}

/// Simulates `log` from `start` (s) to 1 s. Returns the timestamps (µs) of the received messages,
/// and the output after each step that changed it, with its time (s).
fn play(log: &LcmLog, start: f64) -> (Vec<i64>, Vec<(f64, i64)>) {
    let mut b = DiagramBuilder::new();
    let heard = LcmSubscriberSystem::<LcmtDrakeSignal>::new("S", log.lcm()).unwrap();
    let heard = b.add("heard", heard);
    b.add("log", LcmLogPlaybackSystem::new(log.clone()));
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    ctx.set_time(start);
    let mut sim = Simulator::new(&diagram, ctx).unwrap();
    let handed = Arc::<Mutex<Vec<i64>>>::default();
    let _s = log.lcm().subscribe("S", {
        let handed = handed.clone();
        move |m: &LcmtDrakeSignal| handed.lock().unwrap().push(m.timestamp)
    });
    let outputs = Arc::<Mutex<Vec<(f64, i64)>>>::default();
    let rows = outputs.clone();
    sim.set_monitor(move |ctx| {
        let stamp = ctx.eval(heard.lcm_message)?.timestamp;
        let mut rows = rows.lock().unwrap();
        if rows.last().is_none_or(|(_, last)| *last != stamp) {
            rows.push((ctx.time(), stamp));
        }
        Ok(EventStatus::DidNothing)
    });
    sim.advance_to(1.0).unwrap();
    drop(sim);
    let (handed, outputs) = (handed.lock().unwrap(), outputs.lock().unwrap());
    (handed.clone(), outputs.clone())
}

/// Reads the output at given times.
fn outputs_at(log: &LcmLog, times: &[f64]) -> Vec<(i64, u64)> {
    let mut b = DiagramBuilder::new();
    b.add("log", LcmLogPlaybackSystem::new(log.clone()));
    let heard = LcmSubscriberSystem::<LcmtDrakeSignal>::new("S", log.lcm()).unwrap();
    let heard = b.add("heard", heard);
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let mut at = |time: &f64| {
        sim.advance_to(*time).unwrap();
        let stamp = sim.context().eval(heard.lcm_message).unwrap().timestamp;
        (stamp, *sim.context().eval(heard.message_count).unwrap())
    };
    times.iter().map(&mut at).collect()
}

#[test]
fn messages_are_dispatched_at_their_times() {
    let (_dir, path) = log_of(&[0, 100_001, 250_000, 250_000, 700_000]);
    let log = LcmLog::open(&path).unwrap();
    let times = [0.05, 0.1, 0.101, 0.2499, 0.2501, 0.6999999, 0.71, 2.0];
    let expected = [
        (0, 1),
        (0, 1),
        (100_001, 2),
        (100_001, 2),
        (250_000, 4),
        (250_000, 4),
        (700_000, 5),
        (700_000, 5),
    ];
    assert_eq!(outputs_at(&log, &times), expected);
    assert_eq!(log.next_message_time().unwrap(), f64::INFINITY);
    // The next simulation plays the log anew, and its outputs change at the times of the messages.
    let (_, outputs) = play(&log, 0.0);
    let stamps: Vec<i64> = outputs.iter().map(|(_, stamp)| *stamp).collect();
    assert_eq!(stamps, [0, 100_001, 250_000, 700_000]);
    assert_eq!(outputs[1].0, 0.25);
    assert_eq!(outputs[3].0, 1.0);
}

#[test]
fn playback_begins_at_the_start_time() {
    let (_dir, path) = log_of(&[0, 100_000, 500_000, 900_000]);
    let log = LcmLog::open(&path).unwrap();
    let stamps = |start| play(&log, start).0;
    assert_eq!(stamps(0.3), [500_000, 900_000]);
    assert_eq!(stamps(0.0), [0, 100_000, 500_000, 900_000]);
    assert_eq!(stamps(0.9), [900_000]);
    assert_eq!(stamps(0.95), [0; 0]);
}

/// Each message is dispatched by its own event, so no queue overflows.
#[test]
fn simultaneous_and_decreasing_timestamps_lose_no_message() {
    let (_dir, path) = log_of(&[500_000; 1000]);
    let log = LcmLog::open(&path).unwrap();
    assert_eq!(outputs_at(&log, &[0.4, 0.6]), [(0, 0), (500_000, 1000)]);
    assert_eq!(log.lcm().statistics().overflowed, 0);

    let (_dir, path) = log_of(&[100_000, 300_000, 200_000, 400_000]);
    let log = LcmLog::open(&path).unwrap();
    let expected = [(100_000, 1), (200_000, 3), (400_000, 4)];
    assert_eq!(outputs_at(&log, &[0.25, 0.35, 0.5]), expected);
}

#[test]
fn wall_clock_times_can_be_shifted() {
    let epoch = 1_790_000_000_000_000;
    let (_dir, path) = log_of(&[epoch, epoch + 250_000, epoch + 500_001]);
    let log = LcmLog::open(&path).unwrap();
    assert_eq!(log.next_message_time().unwrap(), 1.79e9);
    let log = log.with_first_message_at(0.5).unwrap();
    assert_eq!(log.next_message_time().unwrap(), 0.5);
    let counts = outputs_at(&log, &[0.4, 0.6, 0.9, 1.0, 1.1]);
    let counts: Vec<u64> = counts.iter().map(|(_, count)| *count).collect();
    assert_eq!(counts, [0, 1, 2, 2, 3]);
    log.seek(0.6).unwrap();
    assert_eq!(log.next_message_time().unwrap(), 0.75);
    for time in [f64::NAN, f64::INFINITY] {
        let error = log.clone().with_first_message_at(time).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("the time of the first message must be finite"),
            "{error}"
        );
    }
    // Extreme timestamps still give finite times.
    let (_dir, path) = log_of(&[i64::MIN, 0, i64::MAX]);
    let log = LcmLog::open(&path)
        .unwrap()
        .with_first_message_at(1e300)
        .unwrap();
    assert!(log.next_message_time().unwrap().is_finite());
}

#[test]
fn messages_can_be_dispatched_by_hand() {
    let (_dir, path) = log_of(&[100_000, 200_000]);
    let log = LcmLog::open(&path).unwrap();
    let heard = Subscriber::<LcmtDrakeSignal>::new(log.lcm(), "S").unwrap();
    let dispatch = |time| log.dispatch_message_and_advance_log(time).unwrap();
    assert!(!dispatch(0.05));
    assert!(!dispatch(f64::NAN));
    assert_eq!((heard.count(), log.next_message_time().unwrap()), (0, 0.1));
    assert!(dispatch(0.1));
    assert_eq!((heard.count(), log.next_message_time().unwrap()), (1, 0.2));
    assert!(dispatch(7.0) && !dispatch(7.0));
    // A handler may seek backwards, which plays the log once more.
    log.seek(-1.0).unwrap();
    assert_eq!(log.next_message_time().unwrap(), 0.1);
    let clone = log.clone();
    let _s = log.lcm().subscribe("S", move |m: &LcmtDrakeSignal| {
        if m.timestamp == 100_000 {
            clone.seek(0.2).unwrap();
        }
    });
    assert!(dispatch(1.0) && dispatch(1.0) && !dispatch(1.0));
    assert_eq!(heard.count(), 4);
    let empty = tempfile::NamedTempFile::new().unwrap();
    let log = LcmLog::open(empty.path())
        .unwrap()
        .with_first_message_at(0.0)
        .unwrap();
    assert_eq!(log.next_message_time().unwrap(), f64::INFINITY);
    assert!(LcmLog::open("no such file").is_err());
}

/// `y = (t, t^2, -t)`.
struct Path3;

impl<T: Scalar> LeafSystem<T> for Path3 {
    type Ports = OutputPort<LcmtPoint>;
    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        d.output("point", LcmtPoint::default(), Dep::Time, |_, ctx, out| {
            let t = ctx.time().re();
            *out = LcmtPoint {
                x: t,
                y: t * t,
                z: -t,
            };
            Ok(())
        })
    }
}

fn url(path: &Path) -> String {
    format!("file://{}?mode=w", path.display())
}

/// A simulation writes a log; another one plays it and writes what it receives, at the same times.
#[test]
fn a_simulation_receives_what_another_one_wrote() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("first.lcm"), dir.path().join("second.lcm"));
    {
        let lcm = Lcm::with_url(&url(&first)).unwrap();
        let mut b = DiagramBuilder::new();
        let path = b.add("path", Path3);
        for (channel, period, offset) in [("FAST", 0.01, 0.0), ("SLOW", 0.3, 0.05)] {
            let publisher = LcmPublisherSystem::new(channel, lcm.clone(), period, offset).unwrap();
            let publisher = b.add(channel, publisher);
            b.connect(*path.ports(), publisher.lcm_message);
        }
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.advance_to(2.0).unwrap();
    }
    {
        let log = LcmLog::open(&first).unwrap();
        let out = Lcm::with_url(&url(&second)).unwrap();
        let mut b = DiagramBuilder::new();
        b.add("log", LcmLogPlaybackSystem::new(log.clone()));
        for (channel, period, offset) in [("FAST", 0.01, 0.005), ("SLOW", 0.3, 0.06)] {
            let heard = LcmSubscriberSystem::<LcmtPoint>::new(channel, log.lcm()).unwrap();
            let heard = b.add(&format!("{channel} in"), heard);
            let publisher = LcmPublisherSystem::new(channel, out.clone(), period, offset).unwrap();
            let publisher = b.add(channel, publisher);
            b.connect(heard.lcm_message, publisher.lcm_message);
        }
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.advance_to(2.0).unwrap();
    }
    // The second log is sampled midway between messages, so it has the messages of the first one 5
    // or 10 ms later.
    let events = |path, delays: [i64; 2]| -> Vec<(String, i64, Vec<u8>)> {
        let events = LogReader::open(path).unwrap().map(Result::unwrap);
        let mut events: Vec<_> = events
            .map(|e| {
                let delay = delays[usize::from(e.channel == "SLOW")];
                (e.channel, e.timestamp - delay, e.data)
            })
            .collect();
        events.sort();
        events
    };
    let mut written = events(&first, [0, 0]);
    assert_eq!(written.len(), 201 + 7);
    // The last message comes after the last sample.
    written.retain(|(_, time, _)| *time < 2_000_000);
    assert_eq!(events(&second, [5_000, 10_000]), written);
    for (_, time, data) in written {
        let point = LcmtPoint::decode(&data).unwrap();
        assert_eq!((point.x * 1e6).round() as i64, time);
    }
}

/// A log that Drake 1.51.1 wrote with the URL `file://...?mode=w`, of `Sine(1, 1, 0)` and a scope
/// at 0.1 s; its timestamps are those of a wall clock.
#[test]
fn a_log_of_drake_is_read_and_reproduced() {
    let hex = include_str!("captures/drake_scope_log.hex").trim();
    let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
    let dir = tempfile::tempdir().unwrap();
    let (theirs, ours) = (dir.path().join("theirs.lcm"), dir.path().join("ours.lcm"));
    std::fs::write(&theirs, bytes).unwrap();

    let log = LcmLog::open(&theirs).unwrap();
    assert!(log.next_message_time().unwrap() > 1.7e9);
    let log = log.with_first_message_at(0.0).unwrap();
    let scopes = Subscriber::<LcmtScope>::new(log.lcm(), "SC").unwrap();
    for k in 0..=10 {
        assert!(log.dispatch_message_and_advance_log(1.0).unwrap());
        let scope = scopes.message().unwrap();
        assert_eq!(scope.utime, 100_000 * k);
        assert_eq!(scope.value, [(0.1 * k as f64).sin()]);
    }

    // The same diagram writes the same channels and bytes, with simulated times.
    let lcm = Lcm::with_url(&url(&ours)).unwrap();
    let mut b = DiagramBuilder::new();
    let wave = b.add("wave", Sine::new(1));
    LcmScopeSystem::add_to_builder(&mut b, &lcm, wave.y, "SC", 0.1).unwrap();
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(1.0).unwrap();
    lcm.flush().unwrap();
    let events = |path| LogReader::open(path).unwrap().map(Result::unwrap);
    let times = events(&ours).map(|e| e.timestamp);
    assert!(times.eq((0..=10).map(|k| 100_000 * k)));
    let content = |path| events(path).map(|e| (e.number, e.channel, e.data));
    assert!(content(&ours).eq(content(&theirs)));
}

/// A simulation stops with an error at an unreadable event, and can continue after it.
#[test]
fn unreadable_events_stop_a_simulation_once() {
    let (_dir, path) = log_of(&[100_000, 200_000, 300_000]);
    let mut bytes = std::fs::read(&path).unwrap();
    let event = bytes.len() / 3;
    bytes[event + 28] = 0xFF; // the channel of the second one
    std::fs::write(&path, bytes).unwrap();
    let log = LcmLog::open(&path).unwrap();
    let mut b = DiagramBuilder::new();
    b.add("log", LcmLogPlaybackSystem::new(log.clone()));
    let heard = LcmSubscriberSystem::<LcmtDrakeSignal>::new("S", log.lcm()).unwrap();
    let heard = b.add("heard", heard);
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let error = sim.advance_to(1.0).unwrap_err().to_string();
    assert!(
        error.contains("'log'") && error.contains("test.lcm"),
        "{error}"
    );
    sim.advance_to(1.0).unwrap();
    let stamp = sim.context().eval(heard.lcm_message).unwrap().timestamp;
    assert_eq!(stamp, 300_000);
}

#[test]
fn a_log_that_is_played_refuses_messages() {
    let (_dir, path) = log_of(&[0]);
    let lcm = Lcm::with_url(&format!("file://{}", path.display())).unwrap();
    let error = lcm.publish("S", &LcmtDrakeSignal::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error.to_string().contains("add '?mode=w' to write it"),
        "{error}"
    );
}
