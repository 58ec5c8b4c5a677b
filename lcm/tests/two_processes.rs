//! Two processes exchange messages over loopback multicast: in order, with every loss counted.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tarragon_lcm::{Lcm, Subscriber, lcm_types};

lcm_types! {
    struct lcmt_numbered {
        int64_t number;
        int32_t num_data;
        byte data[num_data];
    }
}

const MESSAGES: i64 = 100_000;
/// More messages than this are not on the way at one time, where there is an answer.
const WINDOW: i64 = 256;
/// Names the role of a process that a test started, and its port.
const ROLE: &str = "TARRAGON_LCM_TEST_ROLE";
/// A machine that is that slow fails the test.
const PATIENCE: Duration = Duration::from_secs(120);

fn bus(port: u16, parameters: &str) -> Lcm {
    let url = format!("udpm://239.255.76.91:{port}?ttl=0&interface=127.0.0.1{parameters}");
    Lcm::with_url(&url).unwrap()
}

/// This test as another process.
fn other_process(test: &str, port: u16) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(ROLE, port.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn role() -> Option<u16> {
    Some(std::env::var(ROLE).ok()?.parse().unwrap())
}

/// Two ports of this process and test: one each way, so that each bus has one sender.
fn own_port(test: u16) -> u16 {
    20_000 + 6 * (std::process::id() % 7_000) as u16 + 2 * test
}

/// Numbers that come in order from 0; later ones where some were lost.
struct Numbers {
    arrived: mpsc::Receiver<i64>,
    next: i64,
    received: i64,
}

impl Numbers {
    fn subscribe(lcm: &Lcm) -> Self {
        let (sender, arrived) = mpsc::channel();
        let mut subscription = lcm
            .subscribe("NUMBERS", move |m: &LcmtNumbered| {
                sender.send(m.number).unwrap();
            })
            .unwrap();
        subscription.set_queue_capacity(2 * MESSAGES as usize);
        subscription.detach();
        let (next, received) = (0, 0);
        Self {
            arrived,
            next,
            received,
        }
    }
    fn check(&mut self) {
        for number in self.arrived.try_iter() {
            assert!(number >= self.next, "{number} came after {}", self.next - 1);
            self.next = number + 1;
            self.received += 1;
        }
    }
}

/// Waits for a child that must end well.
fn join(mut child: Child) {
    let until = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("the other process did not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(child.wait().unwrap().success());
}

/// A number that says something else.
const READY: i64 = -1;
const DONE: i64 = -2;

/// Sends numbers to another process, which sends each of them back; at most a window is on the way.
#[test]
fn exchange_100_000_messages() {
    let number = |number, size: usize| LcmtNumbered {
        number,
        data: vec![number as u8; size].into(),
    };
    if let Some(port) = role() {
        let (forth, back) = (bus(port, ""), bus(port + 1, ""));
        let answers = back.clone();
        let (sender, done) = mpsc::channel();
        let mut subscription = forth
            .subscribe("NUMBERS", move |m: &LcmtNumbered| {
                if m.number == DONE {
                    sender.send(()).unwrap();
                } else {
                    answers.publish("NUMBERS", m).unwrap();
                }
            })
            .unwrap();
        subscription.set_queue_capacity(2 * MESSAGES as usize);
        let until = Instant::now() + PATIENCE;
        let mut heard = false;
        while done.try_recv().is_err() && Instant::now() < until {
            if !heard {
                back.publish("READY", &number(READY, 0)).unwrap();
            }
            heard |= forth
                .handle_subscriptions(Duration::from_millis(20))
                .unwrap()
                > 0;
        }
        return;
    }
    let port = own_port(0);
    let (forth, back) = (bus(port, ""), bus(port + 1, ""));
    let mut numbers = Numbers::subscribe(&back);
    let ready = Subscriber::<LcmtNumbered>::new(&back, "READY").unwrap();
    let child = other_process("exchange_100_000_messages", port);
    let until = Instant::now() + PATIENCE;
    while ready.count() == 0 {
        assert!(Instant::now() < until, "the other process does not answer");
        back.handle_subscriptions(Duration::from_millis(20))
            .unwrap();
    }
    let (start, mut sent) = (Instant::now(), 0);
    let mut last = Instant::now();
    // What does not come for so long, on however busy a machine, was lost.
    while numbers.next < MESSAGES && last.elapsed() < Duration::from_secs(10) {
        while sent < MESSAGES && sent < numbers.next + WINDOW {
            forth
                .publish("NUMBERS", &number(sent, (sent % 200) as usize))
                .unwrap();
            sent += 1;
        }
        if back
            .handle_subscriptions(Duration::from_millis(20))
            .unwrap()
            > 0
        {
            last = Instant::now();
        }
        numbers.check();
    }
    let seconds = start.elapsed().as_secs_f64();
    forth.publish("NUMBERS", &number(DONE, 0)).unwrap();
    join(child);
    let statistics = back.statistics();
    println!(
        "{} of {MESSAGES} messages went there and back in {seconds:.2} s, {:.0} per second; lost on the way back {}",
        numbers.received,
        numbers.received as f64 / seconds,
        statistics.lost
    );
    // With a window that fits in any socket buffer, nothing is lost.
    assert_eq!(numbers.received, MESSAGES);
    assert_eq!(
        (statistics.lost, statistics.malformed, statistics.overflowed),
        (0, 0, 0)
    );
}

/// Sends `MESSAGES` of `size` bytes as fast as it can from another process: what is not received is
/// lost, and counted as such. Returns the number that was lost.
fn flood(test: &str, port: u16, size: usize, parameters: &str) -> i64 {
    if let Some(port) = role() {
        let (forth, back) = (bus(port, ""), bus(port + 1, ""));
        let start = Subscriber::<LcmtNumbered>::new(&back, "START").unwrap();
        let until = Instant::now() + PATIENCE;
        while start.count() == 0 && Instant::now() < until {
            back.handle_subscriptions(Duration::from_millis(20))
                .unwrap();
        }
        let data = vec![7; size].into();
        let mut message = LcmtNumbered { number: 0, data };
        for number in 0..MESSAGES {
            message.number = number;
            forth.publish("NUMBERS", &message).unwrap();
        }
        // Others make a gap at the end visible; one of them comes through.
        message.data.clear();
        for _ in 0..50 {
            std::thread::sleep(Duration::from_millis(10));
            forth.publish("DONE", &message).unwrap();
        }
        assert_eq!(forth.statistics().unsent, 0);
        return 0;
    }
    let (forth, back) = (bus(port, parameters), bus(port + 1, ""));
    let mut numbers = Numbers::subscribe(&forth);
    let mut done = Subscriber::<LcmtNumbered>::new(&forth, "DONE").unwrap();
    done.subscription_mut().set_queue_capacity(50);
    let child = other_process(test, port);
    let until = Instant::now() + PATIENCE;
    while done.count() == 0 {
        assert!(Instant::now() < until, "the flood does not end");
        if numbers.received == 0 {
            back.publish("START", &LcmtNumbered::default()).unwrap();
        }
        forth
            .handle_subscriptions(Duration::from_millis(20))
            .unwrap();
        numbers.check();
    }
    let statistics = forth.statistics();
    let lost = statistics.lost as i64;
    join(child);
    assert!(numbers.received > 0);
    assert_eq!(numbers.received + lost, MESSAGES);
    assert_eq!((statistics.malformed, statistics.overflowed), (0, 0));
    lost
}

#[test]
fn a_flood_of_100_000_messages() {
    // How many are lost depends on the machine; the sum does not.
    let lost = flood("a_flood_of_100_000_messages", own_port(1), 1000, "");
    println!("{lost} of {MESSAGES} messages of 1000 bytes were lost");
}

#[test]
fn a_flood_into_a_socket_buffer_that_is_full() {
    // It holds two messages at most.
    let name = "a_flood_into_a_socket_buffer_that_is_full";
    let lost = flood(name, own_port(2), 4000, "&recv_buf_size=8000");
    println!("{lost} of {MESSAGES} messages of 4000 bytes were lost");
    assert!(lost > 0 || role().is_some());
}
