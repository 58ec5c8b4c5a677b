//! Fragments of several messages that arrive interleaved.
//!
//! Source of the right answers: LCM's C library keeps fragments by sender and sequence number. The
//! same datagrams were sent to pydrake's `DrakeLcm` (Drake 1.51), which received every message.

use socket2::{Domain, SockAddr, Socket, Type};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tarragon_lcm::{Lcm, LcmStatistics};

const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 76, 91);

/// Sends datagrams from one socket, and returns the first byte of every message that a bus
/// receives, with the statistics of the bus.
fn received(test: u16, datagrams: &[Vec<u8>]) -> (Vec<u8>, LcmStatistics) {
    let port = 62_100 + 30 * (std::process::id() % 100) as u16 + test;
    let url = format!("udpm://{GROUP}:{port}?ttl=0&interface=127.0.0.1");
    let lcm = Lcm::with_url(&url).unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let list = heard.clone();
    let mut subscription = lcm
        .subscribe_bytes("FRAGMENTS", move |bytes| {
            list.lock().unwrap().push(bytes[0]);
        })
        .unwrap();
    subscription.set_queue_capacity(2000);
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
    socket.set_multicast_ttl_v4(0).unwrap();
    socket.set_multicast_if_v4(&Ipv4Addr::LOCALHOST).unwrap();
    let group = SockAddr::from(SocketAddrV4::new(GROUP, port));
    let last = short(u32::MAX / 3, b'.');
    for datagram in datagrams.iter().chain([&last]) {
        socket.send_to(datagram, &group).unwrap();
    }
    let until = Instant::now() + Duration::from_secs(10);
    while heard.lock().unwrap().last() != Some(&b'.') && Instant::now() < until {
        lcm.handle_subscriptions(Duration::from_millis(10)).unwrap();
    }
    let mut heard = heard.lock().unwrap().clone();
    assert_eq!(heard.pop(), Some(b'.'), "the last message arrives");
    (heard, lcm.statistics())
}

/// A message of one datagram.
fn short(sequence: u32, letter: u8) -> Vec<u8> {
    let head = [b"LC02".as_slice(), &sequence.to_be_bytes()].concat();
    [&head, b"FRAGMENTS\0".as_slice(), &[letter]].concat()
}

/// One of three fragments of a message of 30 bytes.
fn part(sequence: u32, letter: u8, number: u16) -> Vec<u8> {
    let mut bytes = b"LC03".to_vec();
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(30_u32.to_be_bytes());
    bytes.extend((10 * u32::from(number)).to_be_bytes());
    bytes.extend(number.to_be_bytes());
    bytes.extend(3_u16.to_be_bytes());
    if number == 0 {
        bytes.extend(b"FRAGMENTS\0");
    }
    bytes.extend([letter; 10]);
    bytes
}

/// Both messages were lost.
#[test]
fn interleaved_messages_of_one_sender_all_arrive() {
    let orders: [&[(u32, u8, u16)]; 4] = [
        &[
            (5, b'a', 0),
            (6, b'b', 0),
            (5, b'a', 1),
            (6, b'b', 1),
            (5, b'a', 2),
            (6, b'b', 2),
        ],
        &[
            (6, b'b', 0),
            (5, b'a', 2),
            (6, b'b', 1),
            (6, b'b', 2),
            (5, b'a', 1),
            (5, b'a', 0),
        ],
        // Number 0 comes late, which is no restart of the sender.
        &[
            (0, b'a', 1),
            (1, b'b', 0),
            (0, b'a', 0),
            (1, b'b', 1),
            (0, b'a', 2),
            (1, b'b', 2),
        ],
        // Numbers wrap around.
        &[
            (u32::MAX, b'a', 0),
            (0, b'b', 0),
            (0, b'b', 1),
            (u32::MAX, b'a', 1),
            (0, b'b', 2),
            (u32::MAX, b'a', 2),
        ],
    ];
    for (test, order) in orders.into_iter().enumerate() {
        let datagrams: Vec<_> = order.iter().map(|(s, l, n)| part(*s, *l, *n)).collect();
        let (mut heard, statistics) = received(test as u16, &datagrams);
        heard.sort();
        assert_eq!(heard, b"ab", "{order:?}");
        assert_eq!(
            (statistics.incomplete, statistics.malformed),
            (0, 0),
            "{order:?}"
        );
    }
}

/// The fragmented message was lost.
#[test]
fn short_messages_between_fragments_end_no_message() {
    for (test, (first, shorts)) in [(0, 1), (5, 1), (5, 500)].into_iter().enumerate() {
        let mut datagrams = vec![part(first, b'a', 0)];
        datagrams.extend((1..=shorts).map(|k| short(first + k, b's')));
        datagrams.extend([part(first, b'a', 1), part(first, b'a', 2)]);
        let (heard, statistics) = received(10 + test as u16, &datagrams);
        assert_eq!(heard.len() as u32, shorts + 1);
        assert_eq!(heard.last(), Some(&b'a'), "after {shorts} short messages");
        assert_eq!(statistics.incomplete, 0);
    }
}

/// The first fragment of the second message contradicted the first one, and both were lost. A
/// sender reuses a number when it restarts. LCM's C library drops the message that is incomplete.
#[test]
fn a_message_of_another_size_replaces_an_incomplete_one_of_its_number() {
    let mut shorter = part(5, b'b', 0);
    shorter.truncate(shorter.len() - 5);
    let sizes = |datagram: &mut Vec<u8>, size: u32, count: u16| {
        datagram[8..12].copy_from_slice(&size.to_be_bytes());
        datagram[18..20].copy_from_slice(&count.to_be_bytes());
    };
    sizes(&mut shorter, 15, 2);
    let mut rest = part(5, b'b', 1);
    rest[12..16].copy_from_slice(&5_u32.to_be_bytes());
    sizes(&mut rest, 15, 2);
    let (heard, statistics) = received(9, &[part(5, b'a', 0), part(5, b'a', 1), shorter, rest]);
    assert_eq!(heard, [b'b']);
    assert_eq!(statistics.incomplete, 1);
    assert_eq!(statistics.malformed, 0);
}
