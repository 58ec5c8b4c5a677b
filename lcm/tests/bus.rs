//! Delivery on a bus: which messages reach which handlers, in what order, and what happens to the
//! others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use tarragon_lcm::types::{LcmtPoint, LcmtRobotState, LcmtScope};
use tarragon_lcm::{Lcm, LcmMessage, LcmParams, Subscriber, Subscription};

fn bus(suffix: &str) -> Lcm {
    let params = LcmParams {
        lcm_url: "memq://".into(),
        channel_suffix: suffix.into(),
        ..LcmParams::default()
    };
    Lcm::new(params).unwrap()
}

/// A handler that counts its calls.
fn counting(count: &Arc<AtomicU64>) -> impl FnMut(&[u8]) + Send + 'static {
    let count = count.clone();
    move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

fn handle(lcm: &Lcm) -> usize {
    lcm.handle_subscriptions(Duration::ZERO).unwrap()
}

/// Received channels and messages, as text.
type Heard = Arc<Mutex<Vec<String>>>;

/// Subscribes with a regular expression and records messages as text.
fn listen(lcm: &Lcm, regex: &str, heard: &Heard) -> Subscription {
    let heard = heard.clone();
    let handler = move |channel: &str, bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        heard.lock().unwrap().push(format!("{channel} {text}"));
    };
    lcm.subscribe_multichannel(regex, handler).unwrap()
}

fn taken(heard: &Heard) -> Vec<String> {
    std::mem::take(&mut heard.lock().unwrap())
}

fn say(lcm: &Lcm, channel: &str, text: &str) {
    lcm.publish_bytes(channel, text.as_bytes(), None).unwrap();
}

#[test]
fn patterns_match_whole_names() {
    let lcm = bus("");
    for (regex, expected) in [
        ("A", "A"),
        ("A|B", "A B"),
        ("A|AB", "A AB"),
        ("A.*", "A AB A.B"),
        (".*B", "B AB A.B"),
        ("A\\.B", "A.B"),
        ("[AB]", "A B"),
        ("", ""),
        ("(?i)ab", "AB"),
    ] {
        let heard = Heard::default();
        let subscription = listen(&lcm, regex, &heard);
        for channel in ["A", "B", "AB", "A.B"] {
            say(&lcm, channel, "x");
        }
        handle(&lcm);
        let names: Vec<String> = taken(&heard)
            .iter()
            .map(|line| line.replace(" x", ""))
            .collect();
        assert_eq!(names.join(" "), expected, "{regex}");
        drop(subscription);
    }
    // A channel subscribed to by name is not a pattern.
    let _s = lcm
        .subscribe_bytes("A.*", |_| panic!("'A.*' is a name"))
        .unwrap();
    say(&lcm, "AB", "x");
    assert_eq!(handle(&lcm), 0);
}

#[test]
fn invalid_patterns_and_names_are_refused() {
    let lcm = bus("");
    for regex in ["(", "A)|(B", "*", "[", "a{2000000}"] {
        let error = lcm.subscribe_multichannel(regex, |_, _| ()).unwrap_err();
        let start = format!("LCM: channel pattern must be a regular expression, got '{regex}': ");
        assert!(error.to_string().starts_with(&start), "{error}");
    }
    let long = "x".repeat(64);
    for (channel, expected) in [
        ("", "must have 1 to 63 bytes without a zero, got ''"),
        (&*long, "(64 bytes)"),
        ("a\0b", "without a zero, got 'a\\0b'"),
    ] {
        let published = lcm.publish(channel, &LcmtPoint::default()).unwrap_err();
        let bytes = lcm.publish_bytes(channel, &[], None).unwrap_err();
        let subscribed = lcm.subscribe(channel, |_: &LcmtPoint| ()).unwrap_err();
        for error in [published, bytes, subscribed] {
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
    say(&lcm, &long[1..], "63 bytes");
    assert_eq!(lcm.statistics().published, 1);
    // The length limit applies to the name with its suffix.
    let error = bus("_ALT").publish(&long[1..], &LcmtPoint::default());
    assert!(error.unwrap_err().to_string().contains("(67 bytes)"));
    let params = LcmParams {
        lcm_url: "memq://".into(),
        channel_suffix: long,
        ..LcmParams::default()
    };
    let error = Lcm::new(params).unwrap_err().to_string();
    assert!(error.starts_with("LCM: channel suffix 'xxx"), "{error}");
}

/// Handlers get names without the suffix, whichever subscribed first.
#[test]
fn suffixes_stay_on_the_wire() {
    for exact_first in [true, false] {
        let (lcm, heard) = (bus("_ALT"), Heard::default());
        let mut subscriptions = vec![];
        let count = Arc::new(AtomicU64::new(0));
        for exact in [exact_first, !exact_first] {
            subscriptions.push(if exact {
                lcm.subscribe_bytes("A", counting(&count)).unwrap()
            } else {
                listen(&lcm, "A|B", &heard)
            });
        }
        for channel in ["A", "B", "A_ALT", "C"] {
            say(&lcm, channel, "x");
        }
        assert_eq!(handle(&lcm), 3);
        assert_eq!(taken(&heard), ["A x", "B x"], "exact first: {exact_first}");
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn messages_are_handled_in_order_of_arrival_across_channels() {
    let (lcm, heard) = (bus(""), Heard::default());
    let _b = listen(&lcm, "B", &heard);
    let _a = listen(&lcm, "A", &heard);
    for (channel, text) in [("A", "1"), ("B", "2"), ("A", "3"), ("B", "4"), ("A", "5")] {
        say(&lcm, channel, text);
    }
    assert_eq!(handle(&lcm), 5);
    assert_eq!(taken(&heard), ["A 1", "B 2", "A 3", "B 4", "A 5"]);
    // Subscriptions to one channel are called in the order in which they were made.
    let first = Heard::default();
    let shared = listen(&lcm, "(A)", &heard);
    say(&lcm, "A", "6");
    assert_eq!(handle(&lcm), 2);
    assert_eq!(taken(&heard), ["A 6", "A 6"]);
    drop((shared, first));
}

#[test]
fn full_queues_drop_their_oldest_messages() {
    let (lcm, heard) = (bus(""), Heard::default());
    let mut subscription = listen(&lcm, "A", &heard);
    for k in 0..35 {
        say(&lcm, "A", &k.to_string());
    }
    assert_eq!(handle(&lcm), 30);
    let texts = taken(&heard);
    assert_eq!((&*texts[0], &*texts[29]), ("A 5", "A 34"));
    assert_eq!(lcm.statistics().overflowed, 5);

    subscription.set_queue_capacity(2);
    for k in 0..4 {
        say(&lcm, "A", &k.to_string());
    }
    // At least one message is kept.
    subscription.set_queue_capacity(0);
    say(&lcm, "A", "4");
    assert_eq!(handle(&lcm), 1);
    assert_eq!(taken(&heard), ["A 4"]);
    assert_eq!(lcm.statistics().overflowed, 9);

    subscription.set_queue_capacity(1000);
    for _ in 0..1000 {
        say(&lcm, "A", "x");
    }
    assert_eq!(handle(&lcm), 1000);
    assert_eq!(lcm.statistics().overflowed, 9);
}

/// 20 queues hold messages of 4 MiB; each queue counts its own, so the fourth message reaches 256
/// MiB.
#[test]
fn queues_hold_a_bounded_number_of_bytes() {
    let lcm = bus("");
    let counts: Vec<_> = (0..20).map(|_| Arc::new(AtomicU64::new(0))).collect();
    let subscriptions: Vec<Subscription> = counts
        .iter()
        .map(|count| lcm.subscribe_bytes("A", counting(count)).unwrap())
        .collect();
    let data = vec![0; 4 << 20];
    for _ in 0..10 {
        lcm.publish_bytes("A", &data, None).unwrap();
    }
    let handled = handle(&lcm);
    assert!((20..=64).contains(&handled), "{handled}");
    assert_eq!(lcm.statistics().overflowed, 200 - handled as u64);
    assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) >= 1));
    // Handled messages and ended subscriptions free their share.
    for _ in 0..2 {
        lcm.publish_bytes("A", &data, None).unwrap();
    }
    drop(subscriptions);
    let again = lcm.subscribe_bytes("A", |_| ()).unwrap();
    for _ in 0..30 {
        lcm.publish_bytes("A", &data, None).unwrap();
    }
    assert_eq!(handle(&lcm), 30);
    drop(again);
}

#[test]
fn handlers_publish_subscribe_and_unsubscribe() {
    let (lcm, heard) = (bus(""), Heard::default());
    let _all = listen(&lcm, "ECHO", &heard);
    let made = Arc::<Mutex<Option<Subscription>>>::default();
    let handler = {
        let (lcm, heard, made) = (lcm.clone(), heard.clone(), made.clone());
        move |bytes: &[u8]| match bytes {
            b"publish" => say(&lcm, "ECHO", "heard"),
            b"subscribe" => *made.lock().unwrap() = Some(listen(&lcm, "NEW", &heard)),
            _ => drop(made.lock().unwrap().take()),
        }
    };
    let _s = lcm.subscribe_bytes("DO", handler).unwrap();
    say(&lcm, "DO", "publish");
    assert_eq!(handle(&lcm), 1, "the answer waits for the next call");
    assert_eq!(handle(&lcm), 1);
    assert_eq!(taken(&heard), ["ECHO heard"]);
    for text in ["subscribe", "say"] {
        say(&lcm, "NEW", "too early or late");
        say(&lcm, "DO", text);
        handle(&lcm);
        if text == "subscribe" {
            say(&lcm, "NEW", "now");
            assert_eq!(handle(&lcm), 1);
            assert_eq!(taken(&heard), ["NEW now"]);
        }
    }
    taken(&heard);
    say(&lcm, "NEW", "nobody listens");
    assert_eq!((handle(&lcm), taken(&heard).len()), (0, 0));
}

/// The handler ends its own subscription with the first message, so the second is not delivered.
#[test]
fn a_handler_may_end_its_own_subscription() {
    let lcm = bus("");
    let own = Arc::<Mutex<Option<Subscription>>>::default();
    let count = Arc::new(AtomicU64::new(0));
    let handler = {
        let (own, count) = (own.clone(), count.clone());
        move |_: &[u8]| {
            count.fetch_add(1, Ordering::Relaxed);
            own.lock().unwrap().take();
        }
    };
    *own.lock().unwrap() = Some(lcm.subscribe_bytes("A", handler).unwrap());
    say(&lcm, "A", "1");
    say(&lcm, "A", "2");
    assert_eq!(handle(&lcm), 1);
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

/// The next call handles the messages after the one whose handler panicked.
#[test]
fn a_panic_in_a_handler_costs_one_message() {
    let (lcm, heard) = (bus(""), Heard::default());
    let _log = listen(&lcm, ".*", &heard);
    let _s = lcm.subscribe_bytes("A", |bytes| assert_ne!(bytes, b"2", "a wrong handler"));
    for text in ["1", "2", "3"] {
        say(&lcm, "A", text);
    }
    say(&lcm, "B", "4");
    assert!(catch_unwind(AssertUnwindSafe(|| handle(&lcm))).is_err());
    say(&lcm, "A", "5");
    // The log handler gets 3, 4, 5, the other handler 3 and 5.
    assert_eq!(handle(&lcm), 5);
    assert_eq!(taken(&heard), ["A 1", "A 2", "A 3", "B 4", "A 5"]);
    assert_eq!(handle(&lcm), 0);
}

/// A handler that handles messages itself is not re-entered.
#[test]
fn a_handler_that_handles_messages_is_not_reentered() {
    let lcm = bus("");
    let inner = Arc::new(AtomicU64::new(0));
    let handler = {
        let (lcm, inner) = (lcm.clone(), inner.clone());
        move |_: &[u8]| {
            say(&lcm, "A", "again");
            say(&lcm, "B", "for the other");
            inner.fetch_add(handle(&lcm) as u64, Ordering::Relaxed);
        }
    };
    let a = lcm.subscribe_bytes("A", handler).unwrap();
    let _b = lcm.subscribe_bytes("B", |_| ()).unwrap();
    say(&lcm, "A", "start");
    assert_eq!(handle(&lcm), 1);
    assert_eq!(inner.load(Ordering::Relaxed), 1, "'B' only");
    assert_eq!(handle(&lcm), 1, "the message waiting on 'A'");
    drop(a);
}

/// The handler ends only after everything is published: a publisher that waited for it would never
/// return.
#[test]
fn publishers_do_not_wait_for_handlers() {
    let lcm = bus("");
    let (start, started) = mpsc::channel();
    let (finish, finished) = mpsc::channel::<()>();
    let (finished, mut first) = (Mutex::new(finished), true);
    let handler = move |_: &LcmtPoint| {
        if std::mem::take(&mut first) {
            start.send(()).unwrap();
            finished.lock().unwrap().recv().unwrap();
        }
    };
    let _s = lcm.subscribe("P", handler).unwrap();
    lcm.publish("P", &LcmtPoint::default()).unwrap();
    std::thread::scope(|scope| {
        let handling = scope.spawn(|| handle(&lcm));
        started.recv().unwrap();
        let publish = || {
            for _ in 0..1000 {
                lcm.publish("P", &LcmtPoint::default()).unwrap();
            }
        };
        let publishers: Vec<_> = (0..4).map(|_| scope.spawn(publish)).collect();
        publishers.into_iter().for_each(|p| p.join().unwrap());
        assert_eq!(handle(&lcm), 0, "the handler is busy on another thread");
        finish.send(()).unwrap();
        assert_eq!(handling.join().unwrap(), 1);
    });
    let statistics = lcm.statistics();
    assert_eq!((statistics.published, statistics.overflowed), (4001, 3970));
    assert_eq!(handle(&lcm), 30);
}

#[test]
fn messages_of_another_type_are_counted() {
    let lcm = bus("");
    let points = Subscriber::<LcmtPoint>::new(&lcm, "P").unwrap();
    let good = LcmtPoint {
        x: 1.0,
        y: 2.0,
        z: 3.0,
    };
    let bytes = good.encode().unwrap();
    lcm.publish("P", &LcmtScope::default()).unwrap();
    lcm.publish_bytes("P", &bytes[..20], None).unwrap();
    lcm.publish_bytes("P", &[&bytes[..], b"x"].concat(), None)
        .unwrap();
    lcm.publish_bytes("P", b"", None).unwrap();
    handle(&lcm);
    assert_eq!((points.count(), points.message()), (0, None));
    lcm.publish("P", &good).unwrap();
    lcm.publish_bytes("P", &bytes[..20], None).unwrap();
    handle(&lcm);
    assert_eq!((points.count(), points.message()), (1, Some(good)));
    assert_eq!(lcm.statistics().undecodable, 5);
}

#[test]
fn messages_that_cannot_be_encoded_are_not_published() {
    let lcm = bus("");
    let _s = lcm.subscribe_bytes("S", |_| panic!("nothing is published"));
    let wrong = LcmtRobotState {
        joint_name: vec!["a".into()],
        joint_position: vec![1.0, 2.0],
        ..LcmtRobotState::default()
    };
    let error = lcm.publish("S", &wrong).unwrap_err().to_string();
    assert!(
        error.starts_with("LCM message of type lcmt_robot_state: "),
        "{error}"
    );
    assert_eq!((handle(&lcm), lcm.statistics().published), (0, 0));
}

#[test]
fn clones_are_one_bus_and_subscriptions_outlive_handles() {
    let (lcm, heard) = (bus(""), Heard::default());
    let clone = lcm.clone();
    assert!(clone.is_same_as(&lcm) && !clone.is_same_as(&bus("")));
    listen(&lcm, "A", &heard).detach();
    say(&clone, "A", "1");
    say(&bus(""), "A", "another bus");
    drop(lcm);
    assert_eq!(handle(&clone), 1);
    assert_eq!(taken(&heard), ["A 1"]);
    // A subscription does not keep its bus alive.
    let subscription = listen(&clone, "A", &heard);
    drop(clone);
    assert_eq!(Arc::strong_count(&heard), 1, "handlers end with their bus");
    drop(subscription);
}

#[test]
fn handling_waits_for_messages() {
    let lcm = bus("");
    let _s = lcm.subscribe_bytes("A", |_| ()).unwrap();
    let start = Instant::now();
    let wait = |timeout| lcm.handle_subscriptions(timeout).unwrap();
    assert_eq!(wait(Duration::from_millis(30)), 0);
    assert!(start.elapsed() >= Duration::from_millis(30));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(30));
            say(&lcm, "NOBODY", "x");
            say(&lcm, "A", "x");
        });
        assert_eq!(wait(Duration::MAX), 1);
    });
}

#[test]
fn a_null_bus_discards_messages() {
    let lcm = Lcm::with_url("memq://null").unwrap();
    let points = Subscriber::<LcmtPoint>::new(&lcm, "P").unwrap();
    lcm.publish("P", &LcmtPoint::default()).unwrap();
    assert_eq!((handle(&lcm), points.count()), (0, 0));
    assert_eq!(lcm.statistics().published, 1);
}

/// No lock of the subscriber is held while a reader uses the message.
#[test]
fn messages_may_arrive_while_the_latest_is_read() {
    let lcm = bus("");
    let points = Subscriber::<LcmtPoint>::new(&lcm, "P").unwrap();
    let say = |x: f64| lcm.publish("P", &LcmtPoint { x, y: 0.0, z: 0.0 }).unwrap();
    say(1.0);
    handle(&lcm);
    let (before, after) = points.with_message(|message| {
        say(2.0);
        handle(&lcm);
        (message.unwrap().x, points.message().unwrap().x)
    });
    assert_eq!((before, after, points.count()), (1.0, 2.0, 2));
}
