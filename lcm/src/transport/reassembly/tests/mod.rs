use super::super::datagram::tests::bytes;
use super::*;
use crate::transport::datagram::Datagrams;
use proptest::prelude::*;

mod interleaved;

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

/// A reassembly with its counters and a clock.
struct Bench {
    reassembly: Reassembly,
    counters: Arc<Counters>,
    now: Instant,
}

impl Bench {
    fn new(limits: Limits) -> Self {
        let counters = Arc::new(Counters::default());
        Self {
            reassembly: Reassembly::new(limits, counters.clone()),
            counters,
            now: Instant::now(),
        }
    }
    fn hear(&mut self, port: u16, datagram: &[u8]) -> Option<Received<'static>> {
        let received = self
            .reassembly
            .accept(address(port), datagram, self.now)
            .map(|message| Received {
                channel: Cow::Owned(message.channel.into_owned()),
                data: message.data,
            });
        assert!(self.reassembly.memory() <= self.reassembly.limits.total);
        let trains = self.reassembly.senders.iter().flat_map(|s| &s.trains);
        assert_eq!(
            self.reassembly.memory(),
            trains.map(Train::memory).sum::<usize>()
        );
        received
    }
    fn short(&mut self, port: u16, sequence: u32) -> bool {
        let datagrams = datagrams(sequence, "S", b"x");
        self.hear(port, &datagrams[0]).is_some()
    }
    fn wait(&mut self, seconds: f64) {
        self.now += Duration::from_secs_f64(seconds);
    }
    /// Counts of lost, incomplete and malformed.
    fn counts(&self) -> (u64, u64, u64) {
        let counts = self.counters.read();
        (counts.lost, counts.incomplete, counts.malformed)
    }
}

impl Default for Bench {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

fn datagrams(sequence: u32, channel: &str, data: &[u8]) -> Vec<Vec<u8>> {
    let datagrams = Datagrams::new(sequence, channel, data).unwrap();
    datagrams.map(|packet| bytes(&packet)).collect()
}

fn message(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

/// A fragment with freely chosen fields.
fn fragment(
    sequence: u32,
    [size, offset]: [u32; 2],
    [number, count]: [u16; 2],
    rest: &[u8],
) -> Vec<u8> {
    let mut bytes = b"LC03".to_vec();
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(size.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(number.to_be_bytes());
    bytes.extend(count.to_be_bytes());
    bytes.extend(rest);
    bytes
}

#[test]
fn captured_datagrams_become_messages() {
    let packets = crate::transport::capture::packets();
    let mut bench = Bench::default();
    let mut messages = Vec::new();
    for packet in packets {
        let mut raw = packet.bytes();
        // Only the head of each fragment is recorded.
        raw.resize(packet.len, 0);
        messages.extend(bench.hear(1, &raw).map(|m| (m.channel, m.data.len())));
    }
    assert_eq!(messages.len(), 13);
    assert_eq!(messages[1].0, "LCM_SELF_TEST");
    assert_eq!(messages[12], ("IMAGES".into(), 768_155));
    assert_eq!(bench.counts(), (0, 0, 0));
}

#[test]
fn gaps_in_numbers_are_losses() {
    let mut bench = Bench::default();
    for sequence in [7, 8, 11, 12] {
        assert!(bench.short(1, sequence));
    }
    assert_eq!(bench.counts(), (2, 0, 0));
    assert!(bench.short(1, 9), "late is better than never");
    assert_eq!(bench.counts(), (1, 0, 0));
    assert!(bench.short(2, 4), "another sender has its own numbers");
    assert!(bench.short(1, 0), "a restart");
    assert!(bench.short(1, 1));
    assert_eq!(bench.counts(), (1, 0, 0));
    assert!(bench.short(1, u32::MAX) && bench.short(1, 1));
    assert_eq!(bench.counts(), (1, 0, 0));
}

#[test]
fn a_message_without_one_fragment_is_lost_once() {
    let mut bench = Bench::default();
    let data = message(200_000);
    let parts = datagrams(1, "LONG", &data);
    assert_eq!(parts.len(), 4);
    bench.short(1, 0);
    for part in &parts[..3] {
        assert_eq!(bench.hear(1, part), None);
    }
    assert_eq!(bench.counts(), (0, 0, 0));
    assert!(bench.short(1, 3));
    assert_eq!(bench.counts(), (1, 0, 0), "only message 2 is missing yet");
    bench.wait(2.1);
    assert_eq!(bench.hear(1, &parts[3]), None, "too late");
    assert_eq!((bench.counts(), bench.reassembly.memory()), ((2, 1, 0), 0));
}

#[test]
fn stale_trains_are_dropped() {
    let mut bench = Bench::default();
    let data = message(200_000);
    let parts = datagrams(5, "LONG", &data);
    for part in &parts[..3] {
        bench.hear(1, part);
        bench.wait(1.5);
    }
    bench.hear(1, &parts[0]);
    bench.wait(0.6);
    assert_eq!(
        bench.hear(1, &parts[3]),
        None,
        "the last new fragment arrived 2.1 s ago"
    );
    assert_eq!(bench.counts(), (1, 1, 0));
    // After silence, the same number is another message.
    bench.wait(3.0);
    let whole = parts.iter().filter_map(|part| bench.hear(1, part)).count();
    assert_eq!((whole, bench.counts()), (1, (1, 1, 0)));
    bench.hear(2, &parts[1]);
    bench.wait(2.1);
    bench.reassembly.give_up_stale(bench.now);
    assert_eq!(bench.counts(), (2, 2, 0));
    assert_eq!(bench.reassembly.memory(), 0);
}

#[test]
fn contradictions_end_a_train() {
    let first = fragment(9, [30, 0], [0, 3], b"C\0aaaaaaaaaa");
    let good = fragment(9, [30, 10], [1, 3], b"bbbbbbbbbb");
    let last = fragment(9, [30, 20], [2, 3], b"cccccccccc");
    for (what, wrong) in [
        ("another size", fragment(9, [31, 10], [1, 3], b"bbbbbbbbbb")),
        (
            "another count",
            fragment(9, [30, 10], [1, 4], b"bbbbbbbbbb"),
        ),
        ("an overlap", fragment(9, [30, 9], [1, 3], b"bbbbbbbbbb")),
        ("a gap", fragment(9, [30, 11], [1, 3], b"bbbbbbbbbb")),
        ("too much", fragment(9, [30, 0], [2, 3], &[b'x'; 21])),
        (
            "too much at once",
            fragment(9, [30, 10], [1, 3], &[b'x'; 20]),
        ),
    ] {
        let mut bench = Bench::default();
        bench.hear(1, &first);
        let mut received = bench.hear(1, &wrong);
        for part in [&good, &last] {
            received = received.or(bench.hear(1, part));
        }
        assert_eq!((received, bench.counts()), (None, (1, 1, 1)), "{what}");
        assert_eq!(bench.reassembly.memory(), 0, "{what}");
        assert!(bench.short(1, 10), "{what}");
        assert_eq!(bench.counts(), (1, 1, 1), "{what}");
    }
    let mut bench = Bench::default();
    bench.hear(1, &fragment(9, [30, 0], [0, 2], b"C\0aaaaaaaaaa"));
    assert_eq!(bench.hear(1, &fragment(9, [30, 10], [1, 2], b"b")), None);
    assert_eq!(bench.counts(), (1, 1, 1), "too little");
    // A datagram that contradicts itself does not harm the train.
    let mut bench = Bench::default();
    bench.hear(1, &first);
    bench.hear(1, &fragment(9, [30, 21], [1, 3], b"bbbbbbbbbb"));
    bench.hear(1, &fragment(9, [30, 10], [3, 3], b"bbbbbbbbbb"));
    bench.hear(1, &last);
    assert!(bench.hear(1, &good).is_some());
    assert_eq!(bench.counts(), (0, 0, 2));
}

#[test]
fn memory_follows_received_and_not_announced_sizes() {
    let mut bench = Bench::default();
    let most: u32 = 256 << 20;
    let count = most.div_ceil(65_487) as u16;
    bench.hear(1, &fragment(1, [most, 0], [0, count], b"C\0aaaaaaaaaa"));
    assert!(bench.reassembly.memory() < 1000);
    bench.hear(
        1,
        &fragment(1, [most, most - 10], [count - 1, count], &[0; 10]),
    );
    assert!(bench.reassembly.memory() < 2000);
    bench.hear(1, &fragment(1, [most, 10], [1, count], &[0; 60_000]));
    assert!(
        bench.reassembly.memory() < 242_000,
        "{}",
        bench.reassembly.memory()
    );
    let mut bench = Bench::default();
    let count = count + 1;
    bench.hear(1, &fragment(1, [most + 1, 0], [0, count], b"C\0aaaaaaaaaa"));
    assert_eq!((bench.counts(), bench.reassembly.memory()), ((1, 1, 0), 0));
    bench.hear(1, &fragment(1, [most + 1, 10], [1, count], b"aaaaaaaaaa"));
    assert_eq!(bench.counts(), (1, 1, 0));
}

#[test]
fn the_oldest_trains_make_room() {
    let limits = Limits {
        total: 100_000,
        ..Limits::default()
    };
    let mut bench = Bench::new(limits);
    let part = fragment(
        1,
        [60_000, 0],
        [0, 2],
        &[b"C\0".as_slice(), &[1; 30_000]].concat(),
    );
    for port in 1..=3 {
        bench.hear(port, &part);
        bench.wait(0.01);
    }
    assert_eq!(bench.counts(), (2, 2, 0));
    let rest = fragment(1, [60_000, 30_000], [1, 2], &[1; 30_000]);
    assert_eq!(bench.hear(1, &rest), None);
    assert_eq!(bench.hear(3, &rest).unwrap().data, [1; 60_000]);
    // One message that exceeds the limit by itself.
    let size = 400_000;
    for number in 0..6 {
        let rest = [1; 60_000];
        let head: &[u8] = if number == 0 { b"C\0" } else { b"" };
        let at = [size, u32::from(number) * 60_000];
        bench.hear(4, &fragment(1, at, [number, 7], &[head, &rest].concat()));
    }
    assert_eq!(bench.counts(), (3, 3, 0));
}

#[test]
fn empty_fragments_count_against_the_limit() {
    let limits = Limits {
        total: 1 << 20,
        ..Limits::default()
    };
    let mut bench = Bench::new(limits);
    for number in (1..60_000).rev() {
        bench.hear(1, &fragment(1, [10, 5], [number, 60_000], b""));
    }
    // 128 bytes are charged for each.
    assert_eq!(bench.counts(), (1, 1, 0));
}

#[test]
fn the_oldest_of_a_hundred_thousand_senders_are_forgotten() {
    let mut bench = Bench::default();
    for k in 0..100_000_u32 {
        let [_, a, b, c] = k.to_be_bytes();
        let from = SocketAddr::from(([10, a, b, c], 7));
        let part = fragment(k, [100_000, 0], [0, 2], b"C\0aaaaaaaaaaaaaaaaaaaa");
        bench.reassembly.accept(from, &part, bench.now);
        bench.now += Duration::from_nanos(1);
    }
    assert_eq!(bench.reassembly.senders.len(), 1024);
    assert_eq!(bench.reassembly.index.len(), 1024);
    assert!(bench.reassembly.memory() < 1024 * 1000);
    assert_eq!(bench.counts(), (100_000 - 1024, 100_000 - 1024, 0));
    let mut heard: Vec<_> = bench.reassembly.senders.iter().map(|s| s.heard).collect();
    heard.sort();
    assert_eq!(bench.now - heard[0], Duration::from_nanos(1024));
}

#[derive(Clone, Debug)]
enum Fate {
    Once,
    Twice,
    Never,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Sends messages of any length, their fragments in any order and interleaved, some duplicated,
    /// some lost: complete messages come out unchanged, and everything else is counted.
    #[test]
    fn complete_messages_come_out_unchanged(
        start: u32,
        messages in prop::collection::vec(
            (prop_oneof![0_usize..2000, 65_000_usize..500_000], any::<u64>(), 0..4_u8),
            1..12,
        ),
    ) {
        let mut bench = Bench::default();
        let (mut expected, mut received) = (Vec::new(), Vec::new());
        // The first and the last message arrive, so that all gaps show.
        let last = messages.len() - 1;
        let mut incomplete = 0;
        let mut waiting: Vec<Vec<u8>> = Vec::new();
        for (k, (len, seed, losses)) in messages.iter().enumerate() {
            let data = message(*len);
            let parts = datagrams(start.wrapping_add(k as u32), "CHANNEL", &data);
            let mut random = *seed;
            let mut next = || {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (random >> 33) as usize
            };
            let may_lose = *losses == 0 && k != 0 && k != last;
            let fates: Vec<Fate> = parts.iter().map(|_| match next() % 4 {
                0 if may_lose => Fate::Never,
                1 if parts.len() > 1 => Fate::Twice,
                _ => Fate::Once,
            }).collect();
            let mut order: Vec<usize> = Vec::new();
            for (i, fate) in fates.iter().enumerate() {
                let times = match fate { Fate::Once => 1, Fate::Twice => 2, Fate::Never => 0 };
                order.extend(std::iter::repeat_n(i, times));
            }
            for i in (1..order.len()).rev() {
                order.swap(i, next() % (i + 1));
            }
            let lost = fates.iter().filter(|fate| matches!(fate, Fate::Never)).count();
            if lost == 0 {
                expected.push(data);
            } else if lost < parts.len() {
                incomplete += 1;
            }
            let is_short = parts.len() == 1;
            // Up to half of the fragments of earlier messages come later, among this one's.
            let mut next_parts: Vec<_> = order.into_iter().map(|i| parts[i].clone()).collect();
            next_parts.append(&mut waiting);
            for i in (1..next_parts.len()).rev() {
                next_parts.swap(i, next() % (i + 1));
            }
            if !is_short && k != last {
                waiting = next_parts.split_off(next_parts.len() / 2);
            }
            for part in next_parts {
                received.extend(bench.hear(1, &part).map(|m| m.data));
            }
        }
        bench.wait(2.1);
        bench.reassembly.give_up_stale(bench.now);
        received.sort();
        expected.sort();
        let lost = (messages.len() - expected.len()) as u64;
        prop_assert_eq!(received, expected);
        prop_assert_eq!(bench.counts(), (lost, incomplete, 0));
        prop_assert_eq!(bench.reassembly.memory(), 0);
    }

    /// Arbitrary datagrams from anyone do no harm, and the memory limit holds ([`Bench::hear`]).
    #[test]
    fn arbitrary_datagrams_do_not_break_reassembly(
        datagrams in prop::collection::vec(
            (0_u16..5, 0_u32..4, 0_u32..3, 0_u32..300, 0_u16..5, 0_u16..5, 0_usize..200, 0_u64..900),
            0..200,
        ),
    ) {
        let limits = Limits {
            message: 400,
            total: 3000,
            senders: 3,
            trains: 2,
            patience: Duration::from_secs(2),
        };
        let mut bench = Bench::new(limits);
        for (port, sequence, size, offset, number, count, len, wait) in datagrams {
            let mut rest = vec![b'x'; len];
            if number == 0 && len > 1 {
                rest[1] = 0;
            }
            let size = [60, 200, 500][size as usize];
            bench.hear(port, &fragment(sequence, [size, offset], [number, count], &rest));
            bench.wait(wait as f64 * 1e-3);
        }
    }
}
