use super::*;
use crate::transport::capture::packets;
use proptest::prelude::*;

/// The datagram's bytes on the wire.
pub(crate) fn bytes(packet: &Packet<'_>) -> Vec<u8> {
    [&[packet.header()], &packet.data[..]].concat().concat()
}

#[test]
fn captured_short_messages_are_read_and_written_alike() {
    let packets = packets();
    let mut seen = 0;
    for packet in packets.iter().filter(|packet| packet.kind == "short LC02") {
        let raw = packet.bytes();
        let Datagram::Short {
            sequence,
            channel,
            data,
        } = parse(&raw).unwrap()
        else {
            panic!("{packet:?}");
        };
        assert_eq!(sequence, packet.seq);
        assert_eq!(Some(channel), packet.channel.as_deref());
        assert_eq!(Some(data.len()), packet.payload_len);
        let written: Vec<_> = Datagrams::new(sequence, channel, data).unwrap().collect();
        assert_eq!(written.len(), 1);
        assert_eq!(bytes(&written[0]), raw);
        seen += 1;
    }
    assert_eq!(seen, 12);
}

#[test]
fn a_long_message_is_split_as_captured() {
    let packets = packets();
    let fragments: Vec<_> = packets
        .iter()
        .filter(|packet| packet.kind == "frag LC03")
        .collect();
    assert_eq!(fragments.len(), 12);
    // The capture holds only the head of every fragment, so the rest is not compared.
    let data = vec![0; fragments[0].msg_size.unwrap()];
    let channel = fragments[0].channel.as_deref().unwrap();
    let written = Datagrams::new(fragments[0].seq, channel, &data).unwrap();
    let mut count = 0;
    for (ours, theirs) in written.zip(&fragments) {
        let raw = bytes(&ours);
        assert_eq!(raw.len(), theirs.len);
        let head = if count == 0 {
            20 + channel.len() + 1
        } else {
            20
        };
        assert_eq!(raw[..head], theirs.bytes()[..head]);
        let Datagram::Fragment(parsed) = parse(&raw).unwrap() else {
            panic!("{theirs:?}");
        };
        assert_eq!(Some(parsed.offset), theirs.frag_offset);
        assert_eq!(Some(parsed.number), theirs.frag_no);
        assert_eq!(parsed.channel, theirs.channel.as_deref());
        count += 1;
    }
    assert_eq!(count, 12);
}

#[test]
fn a_message_that_fits_is_one_datagram() {
    let data = vec![1; 65499];
    let count = |channel: &str, len: usize| {
        let datagrams = Datagrams::new(7, channel, &data[..len]).unwrap();
        datagrams
            .map(|packet| bytes(&packet).len())
            .collect::<Vec<_>>()
    };
    assert_eq!(count("ABC", 65495), [65507]);
    // 4 bytes for the channel and 65496 of data, 65487 of them in the first fragment.
    assert_eq!(count("ABC", 65496), [65507, 20 + 13]);
    assert_eq!(count("A", 0), [10]);
}

#[test]
fn an_invalid_channel_is_refused() {
    let refused = |channel: &str| Datagrams::new(0, channel, b"").unwrap_err();
    assert_eq!(
        refused(""),
        "the channel must have 1 to 63 bytes without a zero, got ''"
    );
    let long = "x".repeat(64);
    assert!(refused(&long).contains("(64 bytes)"));
    assert!(refused("a\0b").contains("without a zero, got 'a\\0b'"));
    assert!(Datagrams::new(0, &long[1..], b"").is_ok());
}

#[test]
fn a_message_of_too_many_fragments_is_refused() {
    let most = MAX_FRAGMENTS * FRAGMENT_ROOM - 2;
    // Zeroed memory is not committed until it is touched.
    let data = vec![0; most + 1];
    assert_eq!(
        Datagrams::new(0, "x", &data[..most]).unwrap().count,
        Some(65535)
    );
    assert_eq!(
        Datagrams::new(0, "x", &data).unwrap_err(),
        format!(
            "the message on channel 'x' has {} bytes, but must have at most {most}",
            most + 1
        )
    );
}

#[test]
fn datagrams_that_are_not_lcm_are_refused() {
    let wrong = |bytes: &[u8]| parse(bytes).unwrap_err();
    assert_eq!(wrong(b""), Malformed::Magic);
    assert_eq!(wrong(b"LC0"), Malformed::Magic);
    assert_eq!(wrong(b"LC01\0\0\0\0x\0"), Malformed::Magic);
    assert_eq!(wrong(b"LC02\0\0\0"), Malformed::Header);
    assert_eq!(wrong(b"LC02\0\0\0\0"), Malformed::Channel);
    assert_eq!(wrong(b"LC02\0\0\0\0\0data"), Malformed::Channel);
    assert_eq!(wrong(b"LC02\0\0\0\0data"), Malformed::Channel);
    assert_eq!(wrong(b"LC02\0\0\0\0\xff\0data"), Malformed::Utf8);
    let long = [b"LC02\0\0\0\0".as_slice(), &[b'x'; 64], b"\0"].concat();
    assert_eq!(wrong(&long), Malformed::Channel);
    let fragment = |size: u32, offset: u32, number: u16, count: u16, rest: &[u8]| {
        let mut bytes = b"LC03\0\0\0\x01".to_vec();
        bytes.extend(size.to_be_bytes());
        bytes.extend(offset.to_be_bytes());
        bytes.extend(number.to_be_bytes());
        bytes.extend(count.to_be_bytes());
        bytes.extend(rest);
        bytes
    };
    for len in 4..20 {
        assert_eq!(wrong(&fragment(9, 0, 1, 2, b"")[..len]), Malformed::Header);
    }
    assert!(parse(&fragment(9, 8, 1, 2, b"x")).is_ok());
    assert_eq!(wrong(&fragment(9, 9, 1, 2, b"x")), Malformed::Range);
    assert_eq!(wrong(&fragment(9, u32::MAX, 1, 2, b"x")), Malformed::Range);
    assert_eq!(
        wrong(&fragment(2 * 65487 + 1, 0, 1, 2, b"x")),
        Malformed::Size
    );
    assert!(parse(&fragment(2 * 65487, 0, 1, 2, b"x")).is_ok());
    assert_eq!(wrong(&fragment(9, 0, 2, 2, b"x")), Malformed::Number);
    assert_eq!(wrong(&fragment(9, 0, 0, 0, b"x\0")), Malformed::Number);
    assert_eq!(wrong(&fragment(9, 0, 0, 2, b"x")), Malformed::Channel);
}

proptest! {
    #[test]
    fn messages_come_back(
        sequence: u32,
        channel in "[a-zA-Z_\u{e9}]{1,31}",
        len in prop_oneof![0_usize..100, 65_400_usize..65_600, 0_usize..400_000],
    ) {
        let data: Vec<u8> = (0..len).map(|i| (i * 7 + i / 256) as u8).collect();
        let mut joined: Vec<u8> = Vec::new();
        for (k, packet) in Datagrams::new(sequence, &channel, &data).unwrap().enumerate() {
            let raw = bytes(&packet);
            prop_assert!(raw.len() <= MAX_DATAGRAM);
            match parse(&raw).unwrap() {
                Datagram::Short { sequence: s, channel: c, data: d } => {
                    prop_assert_eq!((s, c), (sequence, channel.as_str()));
                    joined.extend(d);
                }
                Datagram::Fragment(f) => {
                    prop_assert_eq!((f.sequence, f.number as usize), (sequence, k));
                    prop_assert_eq!((f.size as usize, f.offset as usize), (len, joined.len()));
                    prop_assert_eq!(f.channel, (k == 0).then_some(channel.as_str()));
                    joined.extend(f.data);
                }
            }
        }
        prop_assert_eq!(joined, data);
    }

    #[test]
    fn arbitrary_bytes_do_not_break_the_parser(which in 0_usize..3, rest in prop::collection::vec(any::<u8>(), 0..200)) {
        let head: [&[u8]; 3] = [b"", b"LC02", b"LC03"];
        let raw = [head[which], &rest].concat();
        if let Ok(Datagram::Fragment(f)) = parse(&raw) {
            prop_assert!(f.number < f.count && f.offset as usize + f.data.len() <= f.size as usize);
        }
    }
}
