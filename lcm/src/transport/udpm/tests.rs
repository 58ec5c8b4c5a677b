use super::*;
use crate::transport::url::LcmUrl;
use std::collections::HashMap;
use std::sync::mpsc;

/// A loopback URL with a port that no other test on this machine uses at the time.
fn url(test: u16) -> (UdpmUrl, String) {
    let port = 20_000 + (std::process::id() % 2000) as u16 * 20 + test;
    let text = format!("udpm://239.255.76.68:{port}?ttl=0&interface=127.0.0.1");
    (parsed(&text), text)
}

fn parsed(text: &str) -> UdpmUrl {
    match LcmUrl::parse(text).unwrap() {
        LcmUrl::Udpm(url) => url,
        other => panic!("{other:?}"),
    }
}

fn open(test: u16) -> (Udpm, Arc<Counters>) {
    let counters = Arc::new(Counters::default());
    let (url, text) = url(test);
    (Udpm::open(&url, &text, counters.clone()).unwrap(), counters)
}

fn heard(udpm: &Udpm) -> mpsc::Receiver<(String, Vec<u8>)> {
    let (sender, receiver) = mpsc::channel();
    udpm.start_receiving(move |channel, data| drop(sender.send((channel.to_owned(), data))))
        .unwrap();
    receiver
}

const SOON: Duration = Duration::from_secs(10);

#[test]
fn two_buses_of_a_process_hear_each_other_and_themselves() {
    let (a, _) = open(0);
    let (b, counters) = open(0);
    let (to_a, to_b) = (heard(&a), heard(&b));
    let large: Vec<u8> = (0..1_228_800).map(|k| (k / 7) as u8).collect();
    for (channel, data) in [
        ("SHORT", b"x".as_slice()),
        ("LARGE", &large),
        ("EMPTY", b""),
    ] {
        a.publish(channel, data).unwrap();
        for receiver in [&to_a, &to_b] {
            let (heard, received) = receiver.recv_timeout(SOON).unwrap();
            assert_eq!(heard, channel);
            assert!(received == data);
        }
    }
    b.publish("BACK", b"y").unwrap();
    assert_eq!(to_a.recv_timeout(SOON).unwrap().0, "BACK");
    assert_eq!(to_b.recv_timeout(SOON).unwrap().0, "BACK");
    let counts = counters.read();
    assert_eq!((counts.received, counts.lost, counts.malformed), (4, 0, 0));
    // Another port is another bus.
    let (other, _) = open(1);
    other.publish("OTHER", b"").unwrap();
    a.publish("LAST", b"").unwrap();
    assert_eq!(to_a.recv_timeout(SOON).unwrap().0, "LAST");
}

#[test]
fn a_flood_is_received_in_order_or_counted_as_lost() {
    let (sender, _) = open(2);
    let (receiver, counters) = open(2);
    let messages = heard(&receiver);
    let count = 100_000_u32;
    let thread = std::thread::spawn(move || {
        for k in 0..count {
            sender.publish("FLOOD", &k.to_be_bytes()).unwrap();
        }
    });
    // Everything is either received, in order, or counted as lost. The last messages may be lost,
    // too, and nothing reveals that.
    let (mut next, mut missed) = (0, 0);
    while next < count
        && let Ok((_, data)) = messages.recv_timeout(Duration::from_secs(2))
    {
        let k = u32::from_be_bytes(data.try_into().unwrap());
        assert!(k >= next);
        missed += k - next;
        next = k + 1;
    }
    thread.join().unwrap();
    assert_eq!(counters.read().lost, u64::from(missed));
    // The buffer holds about 50 ms of these messages. An idle machine loses none; on a busy
    // machine, other tests may stop this thread for longer now and then.
    assert!(
        missed + count - next < count / 2,
        "{missed} lost, {next} heard"
    );
}

#[test]
fn losses_and_malformed_datagrams_are_counted() {
    let (receiver, counters) = open(3);
    let messages = heard(&receiver);
    let (url, _) = url(3);
    let raw = sender(&url, Some(Ipv4Addr::LOCALHOST)).unwrap();
    let group = SockAddr::from(url.group);
    for sequence in [0_u32, 1, 4, 5] {
        let datagram = [b"LC02".as_slice(), &sequence.to_be_bytes(), b"RAW\0data"].concat();
        raw.send_to(&datagram, &group).unwrap();
    }
    for nonsense in [b"".as_slice(), b"nonsense", &[0; 65_507]] {
        raw.send_to(nonsense, &group).unwrap();
    }
    let last = [b"LC02".as_slice(), &6_u32.to_be_bytes(), b"LAST\0"].concat();
    raw.send_to(&last, &group).unwrap();
    let channels: Vec<_> = (0..5)
        .map(|_| messages.recv_timeout(SOON).unwrap().0)
        .collect();
    assert_eq!(channels, ["RAW", "RAW", "RAW", "RAW", "LAST"]);
    let counts = counters.read();
    assert_eq!(
        (counts.lost, counts.malformed, counts.incomplete),
        (2, 3, 0)
    );
}

#[test]
fn threads_publish_at_the_same_time() {
    let (sender, _) = open(4);
    let (receiver, counters) = open(4);
    let messages = heard(&receiver);
    let data: Vec<u8> = (0..150_000).map(|k| k as u8).collect();
    std::thread::scope(|scope| {
        for name in ["A", "B", "C", "D"] {
            let (sender, data) = (&sender, &data);
            scope.spawn(move || {
                for k in 0..20 {
                    let len = if k % 2 == 0 { 150_000 } else { 10 };
                    sender.publish(name, &data[..len]).unwrap();
                    // Lets the receiver keep up on a busy machine.
                    std::thread::sleep(Duration::from_millis(2));
                }
            });
        }
    });
    let mut lens: HashMap<String, Vec<usize>> = HashMap::new();
    for _ in 0..80 {
        let (channel, received) = messages.recv_timeout(SOON).unwrap();
        assert!(received == data[..received.len()]);
        lens.entry(channel).or_default().push(received.len());
    }
    for name in ["A", "B", "C", "D"] {
        assert_eq!(lens[name], [150_000, 10].repeat(10));
    }
    assert_eq!(counters.read().lost, 0);
}

#[test]
fn the_thread_ends_with_its_bus() {
    let mut fastest = Duration::MAX;
    for _ in 0..10 {
        let (udpm, _) = open(5);
        let (sender, receiver) = mpsc::channel::<()>();
        udpm.start_receiving(move |_, _| sender.send(()).unwrap_or_default())
            .unwrap();
        // A second call has no effect.
        udpm.start_receiving(|_, _| panic!("another sink")).unwrap();
        udpm.publish("X", b"").unwrap();
        receiver.recv_timeout(SOON).unwrap();
        let start = Instant::now();
        drop(udpm);
        fastest = fastest.min(start.elapsed());
        // The sink was dropped, so the thread has ended.
        assert!(receiver.recv().is_err());
    }
    // The thread was woken: having just received something, it would have checked by itself much
    // later.
    assert!(fastest < LOOK_AROUND / 2 || cfg!(not(unix)), "{fastest:?}");
}

#[test]
fn waking_the_thread_ends_it() {
    let (udpm, counters) = open(9);
    let socket = udpm.receiving_socket().unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reassembly = Reassembly::new(Limits::default(), counters.clone());
        let thread = scope.spawn(|| receive(&socket, &stop, reassembly, |_, _| ()));
        std::thread::sleep(LOOK_AROUND / 4);
        stop.store(true, Ordering::Release);
        drop(socket2::SockRef::from(&socket).shutdown(std::net::Shutdown::Both));
        // A panic of the thread shows here.
        thread.join().unwrap();
    });
    assert_eq!(counters.read().malformed, 0);
}

#[test]
fn a_bus_may_be_dropped_on_its_own_thread() {
    let (udpm, _) = open(6);
    let udpm = Arc::new(Mutex::new(Some(udpm)));
    let (sender, receiver) = mpsc::channel();
    let held = udpm.clone();
    let sink = move |_: &str, _| {
        drop(held.lock().unwrap().take());
        sender.send(()).unwrap();
    };
    {
        let locked = udpm.lock().unwrap();
        let bus = locked.as_ref().unwrap();
        bus.start_receiving(sink).unwrap();
        bus.publish("X", b"").unwrap();
    }
    receiver.recv_timeout(SOON).unwrap();
    assert!(receiver.recv_timeout(SOON).is_err(), "the thread has ended");
}

#[test]
fn refused_messages_take_no_sequence_number() {
    let (udpm, counters) = open(7);
    let messages = heard(&udpm);
    udpm.publish("A", b"").unwrap();
    let error = udpm.publish(&"x".repeat(64), b"").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("must have 1 to 63 bytes"));
    udpm.publish("B", b"").unwrap();
    messages.recv_timeout(SOON).unwrap();
    messages.recv_timeout(SOON).unwrap();
    assert_eq!(counters.read().lost, 0);
}

#[test]
fn an_interface_must_belong_to_this_machine() {
    // A documentation address (RFC 5737), chosen unlike those of machines that really use that
    // network.
    let text = "udpm://239.255.76.68:20000?interface=203.0.113.77";
    let error = Udpm::open(&parsed(text), text, Arc::default()).unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with(&format!(
            "LCM URL '{text}': cannot reach the group 239.255.76.68 on the interface 203.0.113.77, \
             which must be the address of one that is up: "
        )),
        "{message}"
    );
}

#[test]
fn the_environment_can_deny_the_network() {
    let check = |allowed| check_network("udpm://", allowed);
    for allowed in [None, Some(""), Some("lcm"), Some("meshcat:lcm")] {
        assert!(check(allowed).is_ok(), "{allowed:?}");
    }
    for denied in ["none", "meshcat", "lcms"] {
        let error = check(Some(denied)).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "LCM URL 'udpm://': the environment variable DRAKE_ALLOW_NETWORK must name 'lcm' or be unset"
            ) && error.contains(&format!(
                "got '{denied}'; add 'lcm'"
            )),
            "{error}"
        );
    }
}
