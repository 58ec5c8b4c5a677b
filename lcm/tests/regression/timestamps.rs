//! Timestamps of messages and of their events in a log.
//!
//! Source of the right values: the simulated times are `0.01 k` s, rounded to whole microseconds.
//! Drake cuts them, so that its messages have 12 wrong ones; its log events are rounded.

use tarragon_framework::ErrorKind;
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::Sine;
use tarragon_lcm::types::LcmtScope;
use tarragon_lcm::{Lcm, LcmLog, LcmMessage, LcmScopeSystem, LogReader};

/// At 2.05 s, the message said 2 049 999 us.
#[test]
fn a_message_and_its_event_have_the_same_timestamp() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scope.lcm");
    let lcm = Lcm::with_url(&format!("file://{}?mode=w", path.display())).unwrap();
    let mut b = DiagramBuilder::new();
    let wave = b.add("wave", Sine::new(1));
    LcmScopeSystem::add_to_builder(&mut b, &lcm, wave.y, "WAVE", 0.01).unwrap();
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(10.0).unwrap();
    lcm.flush().unwrap();
    let events: Vec<_> = LogReader::open(&path)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(events.len(), 1001);
    for (k, event) in events.iter().enumerate() {
        let utime = LcmtScope::decode(&event.data).unwrap().utime;
        assert_eq!(
            (event.timestamp, utime),
            (10_000 * k as i64, 10_000 * k as i64)
        );
    }
}

#[test]
fn times_that_are_not_numbers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("times.lcm");
    let lcm = Lcm::with_url(&format!("file://{}?mode=w", path.display())).unwrap();
    let publish = |time| lcm.publish_at("S", &LcmtScope::default(), time);
    let error = publish(f64::NAN).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("got NaN"), "{error}");
    let memory = Lcm::with_url("memq://").unwrap();
    assert!(
        memory
            .publish_at("S", &LcmtScope::default(), f64::NAN)
            .is_err()
    );
    assert!(memory.publish_bytes("S", b"", Some(f64::NAN)).is_err());
    // Times beyond the range become its ends.
    for (time, timestamp) in [
        (-0.5, -500_000),
        (1e300, i64::MAX),
        (f64::INFINITY, i64::MAX),
        (f64::NEG_INFINITY, i64::MIN),
    ] {
        publish(time).unwrap();
        lcm.flush().unwrap();
        let event = LogReader::open(&path).unwrap().last().unwrap().unwrap();
        assert_eq!(event.timestamp, timestamp, "{time}");
    }
    let log = LcmLog::open(&path).unwrap();
    assert!(log.seek(f64::NAN).is_err());
    log.seek(f64::INFINITY).unwrap();

    let mut b = DiagramBuilder::new();
    let wave = b.add("wave", Sine::new(1));
    let (scope, _) = LcmScopeSystem::add_to_builder(&mut b, &memory, wave.y, "WAVE", 0.01).unwrap();
    let mut ctx = b.build().unwrap().default_context();
    ctx.set_time(f64::NAN);
    assert!(ctx.eval(scope.output).is_err());
}
