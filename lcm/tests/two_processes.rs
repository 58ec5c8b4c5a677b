//! Two processes exchange messages over loopback multicast: in order, with every loss counted.

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
/// Most messages in flight when the other process answers.
const WINDOW: i64 = 256;
/// Environment variable with the role and port of a child process.
const ROLE: &str = "TARRAGON_LCM_TEST_ROLE";
/// Longest wait before a test fails, even on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn bus(port: u16, parameters: &str) -> Lcm {
    let url = format!("udpm://239.255.76.91:{port}?ttl=0&interface=127.0.0.1{parameters}");
    Lcm::with_url(&url).unwrap()
}

/// Starts this test as another process.
fn other_process(test: &str, port: u16) -> Child {
    let test = format!("two_processes::{test}");
    Command::new(std::env::current_exe().unwrap())
        .args([&*test, "--exact", "--nocapture"])
        .env(ROLE, port.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn role() -> Option<u16> {
    Some(std::env::var(ROLE).ok()?.parse().unwrap())
}

/// Two ports of this process and test, one for each direction, so that each bus has one sender.
fn own_port(test: u16) -> u16 {
    20_000 + 6 * (std::process::id() % 7_000) as u16 + 2 * test
}

/// Receives numbers in increasing order from 0, with gaps where messages were lost.
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

/// Waits for a child process, which must succeed.
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

/// A number that signals readiness.
const READY: i64 = -1;
const DONE: i64 = -2;

/// Sends numbers to another process, which sends each of them back; at most a window is in flight.
#[test]
fn two_processes_exchange_100_000_messages() {
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
    let child = other_process("two_processes_exchange_100_000_messages", port);
    let until = Instant::now() + PATIENCE;
    while ready.count() == 0 {
        assert!(Instant::now() < until, "the other process does not answer");
        back.handle_subscriptions(Duration::from_millis(20))
            .unwrap();
    }
    let (start, mut sent) = (Instant::now(), 0);
    let mut last = Instant::now();
    // Even on a busy machine, a message missing for this long was lost.
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
        "{} of {MESSAGES} messages made the round trip in {seconds:.2} s, {:.0} per second; lost on the way back: {}",
        numbers.received,
        numbers.received as f64 / seconds,
        statistics.lost
    );
    // The window fits into any socket buffer, so nothing is lost.
    assert_eq!(numbers.received, MESSAGES);
    assert_eq!(
        (statistics.lost, statistics.malformed, statistics.overflowed),
        (0, 0, 0)
    );
}

/// Lets another process send `MESSAGES` messages of `size` bytes as fast as it can: every message
/// is received or counted as lost. Returns the number lost.
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
        // Further messages make a gap at the end visible; at least one of them arrives. Each tells
        // how many messages were sent before it.
        message.data.clear();
        for number in MESSAGES..MESSAGES + 50 {
            std::thread::sleep(Duration::from_millis(10));
            message.number = number;
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
    let (received, sent) = (done.count() as i64 - 1, done.message().unwrap().number);
    assert_eq!(numbers.received + received + lost, sent);
    assert_eq!((statistics.malformed, statistics.overflowed), (0, 0));
    lost
}

#[test]
fn a_flood_of_100_000_messages() {
    // The number lost depends on the machine; the sum of received and lost does not.
    let lost = flood("a_flood_of_100_000_messages", own_port(1), 1000, "");
    println!("{lost} of {MESSAGES} messages of 1000 bytes were lost");
}

#[test]
fn a_flood_into_a_socket_buffer_that_is_full() {
    // The buffer holds at most two messages.
    let name = "a_flood_into_a_socket_buffer_that_is_full";
    let lost = flood(name, own_port(2), 4000, "&recv_buf_size=8000");
    println!("{lost} of {MESSAGES} messages of 4000 bytes were lost");
    assert!(lost > 0 || role().is_some());
}
