//! Messages of one sender whose fragments interleave.

use super::*;

/// Letters of the messages that arrive, which have `count` fragments each. Lists hold sequence
/// number, letter and number of the fragment; the fragment 9 is a short message.
fn arrivals(bench: &mut Bench, count: u16, order: &[(u32, u8, u16)]) -> String {
    let mut arrived = String::new();
    for (sequence, letter, number) in order {
        let datagram = match number {
            9 => datagrams(*sequence, "C", &[*letter]).remove(0),
            _ => {
                let head: &[u8] = if *number == 0 { b"C\0" } else { b"" };
                let at = [10 * u32::from(count), 10 * u32::from(*number)];
                let rest = [head, &[*letter; 10]].concat();
                fragment(*sequence, at, [*number, count], &rest)
            }
        };
        if let Some(message) = bench.hear(1, &datagram) {
            assert!(message.channel == "C" && message.data.iter().all(|byte| byte == letter));
            arrived.push(char::from(*letter));
        }
    }
    arrived
}

/// All of these arrive at pydrake's `DrakeLcm`, too, except for what a restart ends.
#[test]
fn fragments_of_several_messages_interleave() {
    let (a, b, s) = (b'a', b'b', b's');
    type Order<'a> = &'a [(u32, u8, u16)];
    let cases: [(Order, &str); 12] = [
        (&[(5, a, 0), (6, b, 0), (5, a, 1), (6, b, 1)], "ab"),
        (&[(5, a, 0), (6, b, 0), (6, b, 1), (5, a, 1)], "ba"),
        (&[(6, b, 0), (5, a, 0), (5, a, 1), (6, b, 1)], "ab"),
        (&[(6, b, 0), (6, b, 1), (5, a, 1), (5, a, 0)], "ba"),
        (&[(5, a, 1), (6, b, 1), (5, a, 0), (6, b, 0)], "ab"),
        (&[(0, a, 0), (1, b, 0), (0, a, 1), (1, b, 1)], "ab"),
        (
            &[(1, b, 0), (0, a, 1), (2, s, 9), (0, a, 0), (1, b, 1)],
            "sab",
        ),
        (
            &[(u32::MAX, a, 0), (0, b, 0), (u32::MAX, a, 1), (0, b, 1)],
            "ab",
        ),
        // Every datagram twice.
        (
            &[
                (0, a, 0),
                (0, a, 0),
                (1, s, 9),
                (1, s, 9),
                (0, a, 1),
                (0, a, 1),
            ],
            "ssa",
        ),
        // A fragment of a complete message comes again.
        (
            &[
                (0, a, 0),
                (0, a, 1),
                (1, s, 9),
                (0, a, 1),
                (0, a, 0),
                (2, b, 0),
                (2, b, 1),
            ],
            "asb",
        ),
        // The sender restarts in the middle of a message.
        (
            &[(0, s, 9), (1, a, 0), (0, s, 9), (1, b, 0), (1, b, 1)],
            "ssb",
        ),
        (
            &[
                (0, a, 0),
                (0, a, 1),
                (1, a, 0),
                (0, b, 0),
                (0, b, 1),
                (1, b, 0),
                (1, b, 1),
            ],
            "abb",
        ),
    ];
    for (order, expected) in cases {
        let mut bench = Bench::default();
        assert_eq!(arrivals(&mut bench, 2, order), expected, "{order:?}");
        bench.wait(3.0);
        bench.reassembly.give_up_stale(bench.now);
        let restarts = u64::from(expected == "ssb" || expected == "abb");
        assert_eq!(bench.counts(), (restarts, restarts, 0), "{order:?}");
        assert_eq!(bench.reassembly.memory(), 0, "{order:?}");
    }
    // 500 messages in between, which is more than the numbering remembers.
    let mut bench = Bench::default();
    assert_eq!(arrivals(&mut bench, 2, &[(0, a, 0)]), "");
    assert!((1..=500).all(|sequence| bench.short(1, sequence)));
    assert_eq!(arrivals(&mut bench, 2, &[(0, a, 1)]), "a");
    assert_eq!(bench.counts(), (0, 0, 0));
    // One hundred open messages.
    let open: Vec<_> = (0..100).map(|k| (700 + k, a, 0)).collect();
    let close: Vec<_> = (0..100).rev().map(|k| (700 + k, a, 1)).collect();
    let mut bench = Bench::default();
    assert_eq!(arrivals(&mut bench, 2, &open), "");
    assert_eq!(arrivals(&mut bench, 2, &close).len(), 100);
    assert_eq!(bench.counts(), (0, 0, 0));
}

#[test]
fn a_late_message_in_fragments_is_subtracted_from_the_losses() {
    let mut bench = Bench::default();
    assert_eq!(arrivals(&mut bench, 3, &[(7, b's', 9), (9, b's', 9)]), "ss");
    assert_eq!(bench.counts(), (1, 0, 0));
    let late = [(8, b'a', 2), (10, b's', 9), (8, b'a', 0), (8, b'a', 1)];
    assert_eq!(arrivals(&mut bench, 3, &late), "sa");
    assert_eq!(bench.counts(), (0, 0, 0));
    // It counts again if it does not become complete.
    assert_eq!(
        arrivals(&mut bench, 3, &[(12, b's', 9), (11, b'b', 0)]),
        "s"
    );
    bench.wait(2.1);
    bench.reassembly.give_up_stale(bench.now);
    assert_eq!(bench.counts(), (1, 1, 0));
}

#[test]
fn a_contradiction_ends_one_message_of_several() {
    let mut bench = Bench::default();
    assert_eq!(arrivals(&mut bench, 2, &[(5, b'a', 0), (6, b'b', 0)]), "");
    bench.hear(1, &fragment(5, [21, 10], [1, 2], &[b'a'; 10]));
    assert_eq!(arrivals(&mut bench, 2, &[(5, b'a', 1), (6, b'b', 1)]), "b");
    assert_eq!((bench.counts(), bench.reassembly.memory()), ((1, 1, 1), 0));
}

#[test]
fn a_sender_of_many_incomplete_messages_displaces_only_its_own() {
    let limits = Limits {
        total: 1 << 20,
        trains: 20,
        ..Limits::default()
    };
    let mut bench = Bench::new(limits);
    let parts = datagrams(1, "LONG", &message(200_000));
    for part in &parts[..3] {
        bench.hear(1, part);
    }
    for sequence in 0..1000 {
        bench.wait(1e-3);
        let rest = [b"C\0".as_slice(), &[0; 60_000]].concat();
        bench.hear(2, &fragment(sequence, [120_000, 0], [0, 2], &rest));
        assert!(bench.reassembly.senders[1].trains.len() <= 20);
    }
    assert!(bench.hear(1, &parts[3]).is_some());
    // Without the memory limit, their number is limited.
    let limits = Limits {
        trains: 20,
        ..Limits::default()
    };
    let mut bench = Bench::new(limits);
    for sequence in 0..1000 {
        bench.hear(2, &fragment(sequence, [20, 10], [1, 2], &[b'a'; 10]));
    }
    assert_eq!(bench.counts(), (980, 980, 0));
    assert_eq!(arrivals_of(&mut bench, 980..1000), 20);
}

/// Sends the first of two fragments to each message, and returns how many become complete.
fn arrivals_of(bench: &mut Bench, sequences: std::ops::Range<u32>) -> usize {
    let first = |sequence| fragment(sequence, [20, 0], [0, 2], b"C\0aaaaaaaaaa");
    sequences
        .filter(|sequence| bench.hear(2, &first(*sequence)).is_some())
        .count()
}
