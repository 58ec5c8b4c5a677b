//! Fuzz target of reassembly.

use super::{Limits, Reassembly};
use crate::statistics::Counters;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interprets bytes as datagrams of a few senders with pauses between them, and checks that the
/// limits hold. Each datagram is preceded by a byte that chooses its sender, a pause and its first
/// bytes, which saves the fuzzer from guessing them, and then by its length.
pub(crate) fn fuzz(bytes: &[u8]) {
    let limits = Limits {
        message: 2000,
        total: 4000,
        senders: 4,
        trains: 3,
        patience: Duration::from_secs(2),
    };
    let counters = Arc::new(Counters::default());
    let mut reassembly = Reassembly::new(limits, counters.clone());
    let mut now = Instant::now();
    let (mut heard, mut taken, mut rest) = (0_u64, 0, bytes);
    while let [how, len, after @ ..] = rest {
        let (datagram, next) = after.split_at(usize::from(*len).min(after.len()));
        rest = next;
        let head: &[u8] = match how >> 6 {
            0 => b"",
            1 => b"LC02\0\0\0",
            2 => b"LC03\0\0\0",
            _ => b"LC03",
        };
        let datagram = [head, datagram].concat();
        let from = SocketAddr::from(([10, 0, 0, 1], u16::from(how & 7)));
        now += Duration::from_millis(700) * u32::from(how >> 3 & 7 == 7);
        heard += 1;
        if let Some(message) = reassembly.accept(from, &datagram, now) {
            taken += 1;
            assert!(!message.channel.is_empty() && message.channel.len() <= 63);
            // A short message is as long as its datagram.
            assert!(message.data.len() <= limits.message);
        }
        assert!(reassembly.memory() <= limits.total);
        assert!(reassembly.senders.len() <= limits.senders);
        assert_eq!(reassembly.index.len(), reassembly.senders.len());
    }
    let counts = counters.read();
    assert_eq!(taken, counts.received);
    assert!(taken + counts.malformed <= heard);
    // A datagram of its own began each incomplete message, which is lost.
    assert!(counts.incomplete <= heard - taken);
    // Late messages are subtracted only if they were counted: the count never falls below zero.
    assert!(counts.lost >= counts.incomplete && counts.lost < 1 << 48);
    reassembly.give_up_stale(now + 2 * limits.patience);
    assert_eq!(reassembly.memory(), 0);
}
