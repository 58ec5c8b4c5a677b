//! Tests of allocations: receiving allocates the message and nothing per datagram, sending nothing.

use super::datagram::{Datagrams, tests::bytes};
use super::reassembly::{Limits, Reassembly};
use super::udpm::Udpm;
use super::url::LcmUrl;
use counting_allocator::ALLOCATIONS;
use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

#[path = "../../../framework/tests/counting_allocator/mod.rs"]
mod counting_allocator;

/// Counts the allocations of this thread during `work`.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn receiving_allocates_only_the_message() {
    let mut reassembly = Reassembly::new(Limits::default(), Arc::default());
    let from = SocketAddr::from(([127, 0, 0, 1], 1));
    let data: Vec<u8> = (0..1_228_800).map(|k| k as u8).collect();
    let now = Instant::now();
    for sequence in 0..20 {
        let len = if sequence % 2 == 0 { 100 } else { data.len() };
        let datagrams = Datagrams::new(sequence, "CHANNEL", &data[..len]).unwrap();
        let datagrams: Vec<Vec<u8>> = datagrams.map(|packet| bytes(&packet)).collect();
        let mut received = Vec::new();
        let allocated = allocations(|| {
            for datagram in &datagrams {
                if let Some(message) = reassembly.accept(from, datagram, now) {
                    assert_eq!(message.channel, "CHANNEL");
                    received = message.data;
                }
            }
        });
        assert!(received == data[..len]);
        // A long message allocates its channel and its data, which grows from 65 kB by factors of
        // four. The first datagram of a sender also allocates the sender's record.
        let expected = if len == 100 { 1 } else { 4 };
        assert!(sequence == 0 || allocated == expected, "{allocated}");
    }
}

#[test]
fn sending_allocates_nothing() {
    let port = 20_000 + (std::process::id() % 2000) as u16 * 20 + 19;
    let text = format!("udpm://239.255.76.68:{port}?ttl=0&interface=127.0.0.1");
    let LcmUrl::Udpm(url) = LcmUrl::parse(&text).unwrap() else {
        panic!("{text} is UDP");
    };
    let udpm = Udpm::open(&url, &text, Arc::default()).unwrap();
    let data = vec![1; 300_000];
    let allocated = allocations(|| {
        udpm.publish("SHORT", &data[..100]).unwrap();
        udpm.publish("LONG", &data).unwrap();
    });
    assert_eq!(allocated, 0);
}
