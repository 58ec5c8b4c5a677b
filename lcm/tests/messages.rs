//! Types of `lcm_types!` compared with those of lcm-gen, random messages, and invalid bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use std::fmt::Debug;
use tarragon_lcm::{Bytes, ErrorKind, LcmMessage};

mod lab {
    tarragon_lcm::lcm_types!(file "tests/definitions/lab.lcm");
}
use lab::*;

/// Checks against the bytes that Python types of lcm-gen 1.5.3 produce for the message.
fn same_bytes<M: LcmMessage + PartialEq + Debug>(message: &M, hex: &str) {
    let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
    assert_eq!(message.encode().unwrap(), bytes);
    assert_eq!(&M::decode(&bytes).unwrap(), message);
}

/// A message with one member of each type; its values vary with `k`.
fn all(k: i8) -> LabAllT {
    LabAllT {
        b: k % 2 != 0,
        y: 200 + k as u8,
        i8: -100 - k,
        i16: -30_000 - i16::from(k),
        i32: -2_000_000_000 - i32::from(k),
        i64: -9_000_000_000_000_000_000 - i64::from(k),
        f: 1.5 + f32::from(k),
        d: -2.25 - f64::from(k),
        e: 1e300,
        s: format!("\u{B5}{k}"),
    }
}

fn node(name: &str, children: Vec<LabNodeT>, r#type: i64) -> LabNodeT {
    let name = name.into();
    LabNodeT {
        name,
        children,
        r#type,
    }
}

#[test]
fn primitive_types_match_lcm_gen() {
    same_bytes(
        &all(1),
        "52bb94385571158901c99b8acf88ca6bff831993af1d7bffff40200000c00a0000000000007e37e43c8800759c000000\
         04c2b53100",
    );
    assert_eq!((LabAllT::A, LabAllT::B, LabAllT::HEX), (-128, 127, 31));
    assert_eq!((LabAllT::PI, LabAllT::BIG), (3.25, 9_007_199_254_740_993));
}

#[test]
fn bytes_may_be_elements_of_arrays() {
    tarragon_lcm::lcm_types! {
        struct lab_bytes_t {
            int8_t n;
            int8_t m;
            byte rows[n][m];
            byte pair[2][m];
            byte points[n][2];
            byte fixed[3];
        }
    }
    let bytes = |bytes: &[u8]| Bytes::copy_from_slice(bytes);
    let mut message = LabBytesT {
        rows: vec![bytes(&[1, 2, 3]), bytes(&[4, 5, 6])],
        pair: [bytes(&[7, 8, 9]), bytes(&[10, 11, 12])],
        points: vec![[13, 14], [15, 16]],
        fixed: [17, 18, 19],
    };
    let encoded = message.encode().unwrap();
    assert_eq!(encoded[8..10], [2, 3]);
    assert_eq!(encoded[10..], (1..20).collect::<Vec<u8>>());
    assert_eq!(LabBytesT::decode(&encoded).unwrap(), message);
    message.pair[1].clear();
    let error = message.encode().unwrap_err().to_string();
    assert!(
        error.contains("member 'pair': must have the same length"),
        "{error}"
    );
    // Rows without bytes have no size, yet their number is bounded.
    let mut empty = LabBytesT::fingerprint().to_be_bytes().to_vec();
    empty.extend([120, 0]);
    empty.extend([0; 2 * 120 + 3]);
    LabBytesT::check(&empty).unwrap();
    assert_eq!(LabBytesT::decode(&empty).unwrap().rows.len(), 120);
}

#[test]
fn arrays_match_lcm_gen() {
    let number = |i: usize, j: usize| std::array::from_fn(|k| (100 * i + 10 * j + k) as f64);
    let row = |i: usize| (0..3).map(|j| i as f32 + 0.5 * j as f32).collect();
    let matrix = LabMatrixT {
        cube: (0..2)
            .map(|i| (0..3).map(|j| number(i, j)).collect())
            .collect(),
        names: vec![["a".into(), "b".into()], [String::new(), "dd".into()]],
        rows: std::array::from_fn(row),
        flags: vec![true, false],
        data: vec![1, 2, 3].into(),
        all: [all(0), all(1)],
    };
    same_bytes(
        &matrix,
        "887bfb4619f04f3f02000300000000000000003ff0000000000000400000000000000040240000000000004026000000\
         000000402800000000000040340000000000004035000000000000403600000000000040590000000000004059400000\
         0000004059800000000000405b800000000000405bc00000000000405c000000000000405e000000000000405e400000\
         000000405e800000000000000000026100000000026200000000010000000003646400000000003f0000003f8000003f\
         8000003fc0000040000000400000004020000040400000404000004060000040800000010001020300c89c8ad088ca6c\
         00831993af1d7c00003fc00000c0020000000000007e37e43c8800759c00000004c2b5300001c99b8acf88ca6bff8319\
         93af1d7bffff40200000c00a0000000000007e37e43c8800759c00000004c2b53100",
    );
}

#[test]
fn recursive_types_match_lcm_gen() {
    same_bytes(
        &node("x", vec![node("y", vec![], 0)], 5),
        "0c7e81dca2890595000000027800000000010000000279000000000000000000000000000000000000000005",
    );
    let b = node("b", vec![node("c", vec![], 0)], 2);
    let tree = LabTreeT {
        roots: vec![
            node("r", vec![node("a", vec![], 1), b], -3),
            node("s", vec![], 0),
        ],
        leaf: LabLeafT {
            node: node("leaf", vec![], 9),
        },
    };
    same_bytes(
        &tree,
        "42124f071868f6a400000002000000027200000000020000000261000000000000000000000000010000000262000000\
         00010000000263000000000000000000000000000000000000000002fffffffffffffffd000000027300000000000000\
         000000000000000000056c65616600000000000000000000000009",
    );
}

fn any_all() -> impl Strategy<Value = LabAllT> {
    let numbers = any::<(bool, u8, i8, i16, i32, i64)>();
    // Excludes NaN, which is not equal to itself, and text with a zero, which the tests of `String`
    // cover.
    let reals = (any::<f32>(), any::<f64>(), any::<f64>());
    (numbers, reals, "[^\0]{0,12}").prop_map(|((b, y, i8, i16, i32, i64), (f, d, e), s)| LabAllT {
        b,
        y,
        i8,
        i16,
        i32,
        i64,
        f,
        d,
        e,
        s,
    })
}

fn any_matrix() -> impl Strategy<Value = LabMatrixT> {
    let sizes = (0_usize..5, 0_usize..6);
    let matrix = sizes.prop_flat_map(|(n, m)| {
        (
            vec(vec(any::<[f64; 3]>(), m), n),
            vec(["\\PC{0,5}", "\\PC{0,5}"], n),
            std::array::from_fn::<_, 4, _>(|_| vec(any::<f32>(), m)),
            vec(any::<bool>(), n),
            vec(any::<u8>(), m),
            [any_all(), any_all()],
        )
    });
    matrix.prop_map(|(cube, names, rows, flags, data, all)| LabMatrixT {
        cube,
        names,
        rows,
        flags,
        data: data.into(),
        all,
    })
}

fn any_node() -> impl Strategy<Value = LabNodeT> {
    let leaf = ("[a-z\u{B5}]{0,4}", any::<i64>()).prop_map(|(name, ty)| node(&name, vec![], ty));
    leaf.prop_recursive(6, 60, 5, |inner| {
        (".{0,4}", vec(inner, 0..5), any::<i64>())
            .prop_map(|(name, children, ty)| node(&name, children, ty))
    })
}

/// Cloning into a message reuses its memory.
#[test]
fn copies_into_messages_do_not_allocate() {
    let tree = |name: &str| node(name, vec![node("leaf", vec![], 1); 3], 2);
    let (mut to, from) = (tree("old name"), tree("new"));
    let before = crate::counting_allocator::ALLOCATIONS.get();
    to.clone_from(&from);
    assert_eq!(crate::counting_allocator::ALLOCATIONS.get(), before);
    assert_eq!(to, from);
    let bytes = from.encode().unwrap();
    let before = crate::counting_allocator::ALLOCATIONS.get();
    to.decode_from(&bytes).unwrap();
    assert_eq!(crate::counting_allocator::ALLOCATIONS.get(), before);
}

/// Encodes a message, decodes it into an empty and into an existing one, and decodes truncated
/// bytes.
fn round_trip<M: LcmMessage + PartialEq + Debug>(message: &M, mut old: M) {
    let bytes = message.encode().unwrap();
    assert_eq!(&M::decode(&bytes).unwrap(), message);
    old.decode_from(&bytes).unwrap();
    assert_eq!(&old, message);
    for length in 0..bytes.len() {
        assert!(
            M::decode(&bytes[..length]).is_err(),
            "{length} of {} bytes",
            bytes.len()
        );
    }
}

/// Calls `with`, and returns the largest single request to the allocator (bytes).
fn peak<V>(with: impl FnOnce() -> V) -> (V, usize) {
    use crate::counting_allocator::{LIVE, PEAK};
    let before = LIVE.get();
    PEAK.set(before);
    let value = with();
    (value, (PEAK.get() - before).max(0) as usize)
}

/// Decodes bytes that may not be a message. The result is an error, or the message with exactly
/// these bytes, and the memory used is proportional to the bytes.
fn decode_anything<M: LcmMessage>(bytes: &[u8], per_byte: usize) {
    let (decoded, memory) = peak(|| M::decode(bytes));
    // Error messages take memory however few the bytes are.
    assert!(
        memory <= per_byte * bytes.len() + 2000,
        "{memory} bytes of memory for {} bytes of a {}",
        bytes.len(),
        M::NAME
    );
    let text = |error: tarragon_lcm::Error| error.to_string();
    let checked = M::check(bytes).map_err(text);
    assert_eq!(
        checked,
        decoded.as_ref().map(drop).map_err(ToString::to_string)
    );
    if let Ok(message) = decoded {
        assert_eq!(
            M::decode(&message.encode().unwrap())
                .unwrap()
                .encode()
                .unwrap(),
            message.encode().unwrap()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 200 } else { 2000 }))]

    #[test]
    fn primitives_round_trip(message in any_all(), old in any_all()) {
        round_trip(&message, old);
    }

    #[test]
    fn arrays_round_trip(message in any_matrix(), old in any_matrix()) {
        round_trip(&message, old);
    }

    #[test]
    fn trees_round_trip(message in any_node(), old in any_node()) {
        round_trip(&message, old);
    }

    #[test]
    fn arbitrary_bytes_do_not_break_decoding(bytes in vec(any::<u8>(), 0..400)) {
        let with = |fingerprint: u64| [&fingerprint.to_be_bytes()[..], &bytes].concat();
        decode_anything::<LabAllT>(&with(LabAllT::fingerprint()), 10);
        decode_anything::<LabMatrixT>(&with(LabMatrixT::fingerprint()), 10);
        decode_anything::<LabNodeT>(&with(LabNodeT::fingerprint()), 10);
        decode_anything::<LabTreeT>(&with(LabTreeT::fingerprint()), 10);
    }

    /// Messages with a few corrupted bytes get further than random bytes.
    #[test]
    fn corrupted_messages_do_not_break_decoding(
        matrix in any_matrix(),
        tree in any_node(),
        wrong in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let spoil = |mut bytes: Vec<u8>| {
            for (index, byte) in &wrong {
                let index = 8 + index.index(bytes.len() - 8);
                bytes[index] = *byte;
            }
            bytes
        };
        decode_anything::<LabMatrixT>(&spoil(matrix.encode().unwrap()), 10);
        decode_anything::<LabNodeT>(&spoil(tree.encode().unwrap()), 10);
    }
}

/// Lengths of 2^31 - 1 without any data.
#[test]
fn forged_lengths_take_no_memory() {
    let with = |fingerprint: u64, rest: &[u8]| [&fingerprint.to_be_bytes()[..], rest].concat();
    let most = i32::MAX.to_be_bytes();
    let name = [0, 0, 0, 1, 0];
    let node = with(LabNodeT::fingerprint(), &[&name[..], &most].concat());
    decode_anything::<LabNodeT>(&node, 0);
    let error = LabNodeT::decode(&node).unwrap_err().to_string();
    assert!(error.contains("member 'children': needs "), "{error}");
    let tree = with(LabTreeT::fingerprint(), &most);
    decode_anything::<LabTreeT>(&tree, 0);
    let matrix = with(LabMatrixT::fingerprint(), &[127, 127, 255]);
    decode_anything::<LabMatrixT>(&matrix, 0);
    let text = with(LabNodeT::fingerprint(), &most);
    decode_anything::<LabNodeT>(&text, 0);
    let negative = with(LabTreeT::fingerprint(), &(-1_i32).to_be_bytes());
    let error = LabTreeT::decode(&negative).unwrap_err().to_string();
    assert!(
        error.contains("member 'n' is a length and must be at least 0, got -1"),
        "{error}"
    );
}

/// Nesting beyond the limit is an error; nesting up to the limit is not.
#[test]
fn nesting_depth_is_limited() {
    let deep = |depth: usize| {
        let mut tree = LabNodeT::default();
        for _ in 1..depth {
            tree = node("", vec![tree], 0);
        }
        tree
    };
    round_trip(&deep(64), LabNodeT::default());
    let error = LabNodeT::decode(&deep(65).encode().unwrap()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("lab_node_t must be nested in fewer than 64 structs"),
        "{error}"
    );
}

tarragon_lcm::lcm_types! {
    struct empty_t {}
    struct many_t { int32_t n; empty_t nothing[n]; int32_t m; empty_t table[n][m]; }
}

/// The length of a message does not bound the number of zero-size elements.
#[test]
fn zero_size_elements_are_limited() {
    let empty = || EmptyT::default();
    let message = ManyT {
        nothing: vec![empty(); 3],
        table: vec![vec![empty(); 2]; 3],
    };
    round_trip(&message, ManyT::default());
    let bytes = |n: i32, m: i32| {
        let fingerprint = ManyT::fingerprint().to_be_bytes();
        [&fingerprint[..], &n.to_be_bytes(), &m.to_be_bytes()].concat()
    };
    let sizes = [
        (i32::MAX, 0),
        (0, i32::MAX),
        (1 << 16, 1 << 16),
        (30_000, 3),
        (i32::MAX, i32::MAX),
    ];
    for (n, m) in sizes {
        let (decoded, memory) = peak(|| ManyT::decode(&bytes(n, m)));
        // An array without rows has no elements.
        let Err(error) = decoded else {
            assert_eq!(n, 0);
            continue;
        };
        assert!(
            error
                .to_string()
                .contains("must have at most 65536 zero-size elements"),
            "{error}"
        );
        assert!(memory < 4 << 20, "{n} x {m}: {memory} bytes");
    }
}

#[test]
fn bytes_that_are_no_message_are_parse_errors_with_their_cause() {
    let bytes = node("name", vec![], 0).encode().unwrap();
    let at = bytes.windows(4).position(|w| w == b"name").unwrap();
    let mut latin = bytes.clone();
    latin[at] = 0xE9;
    let text = LabNodeT::decode(&latin).unwrap_err();
    assert!(text.cause().unwrap().is::<std::str::Utf8Error>(), "{text}");
    let wrong_type = LabAllT::decode(&bytes).unwrap_err();
    let cut = LabNodeT::decode(&bytes[..bytes.len() - 1]).unwrap_err();
    let short = LabNodeT::decode(&bytes[..5]).unwrap_err();
    assert!(
        short.to_string().contains("the fingerprint: needs 8 bytes"),
        "{short}"
    );
    for error in [text, wrong_type, cut, short] {
        assert_eq!(error.kind(), ErrorKind::Parse, "{error}");
    }
}
