//! Messages: Rust types and their encodings.

mod decoder;
pub(crate) mod encoded;
mod encoder;
mod shared_arrays;
pub mod wire;

use crate::Result;
use bytes::{Bytes, BytesMut};
use wire::{Decoder, Encoder, Parents, Wire};

/// Longest message that is accepted from a network or a file (bytes), so that a forged length
/// cannot exhaust memory.
pub(crate) const MAX_MESSAGE: usize = 256 << 20;

/// A message type defined by [`lcm_types!`](crate::lcm_types).
///
/// The encoding is that of lcm-gen's types: the fingerprint (eight bytes), then the members,
/// big-endian.
///
/// ```
/// use tarragon_lcm::{LcmMessage, types::LcmtPoint};
/// let point = LcmtPoint { x: 1.0, y: 2.0, z: 3.0 };
/// let bytes = point.encode()?;
/// assert_eq!(bytes[..8], LcmtPoint::fingerprint().to_be_bytes());
/// assert_eq!(bytes[8..16], 1.0_f64.to_be_bytes());
/// assert_eq!(LcmtPoint::decode(&bytes)?, point);
///
/// let error = LcmtPoint::decode(&bytes[..20]).unwrap_err().to_string();
/// let place = "LCM message of type lcmt_point: member 'y'";
/// assert_eq!(error, format!("{place}: needs 8 bytes at byte 16, 4 are left"));
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
pub trait LcmMessage: Wire + Clone + Default + Send + Sync + 'static {
    /// Name of the LCM type, without its package.
    const NAME: &'static str;

    /// Fingerprint that tells types apart on the wire: a hash of the members, their types and
    /// sizes.
    fn fingerprint() -> u64;

    /// Hash that [`fingerprint`](Self::fingerprint) is made of; types that contain themselves count
    /// once.
    #[doc(hidden)]
    fn hash(parents: Parents<'_>) -> u64;

    /// Encodes the message.
    ///
    /// # Errors
    /// Returns an error if members that share a size have different lengths, or if a length does
    /// not fit into the type of its size member.
    fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![];
        self.encode_to(&mut bytes)?;
        Ok(bytes)
    }

    /// Encodes the message into `bytes`, replacing its content; does not allocate if the capacity
    /// suffices.
    ///
    /// # Errors
    /// Same as [`encode`](Self::encode); `bytes` is then empty.
    fn encode_to(&self, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        let written = encoded::write(self, Encoder::new(bytes));
        if written.is_err() {
            bytes.clear();
        }
        written
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// Returns an error if the fingerprint is that of another type, if bytes are missing or left
    /// over, if a size is negative or larger than what follows, or if a string is not UTF-8.
    fn decode(bytes: &[u8]) -> Result<Self> {
        let mut message = Self::default();
        message.decode_from(bytes)?;
        Ok(message)
    }

    /// Decodes `bytes` into this message, reusing its memory.
    ///
    /// # Errors
    /// Same as [`decode`](Self::decode); the message is then valid, but partly old and partly new.
    fn decode_from(&mut self, bytes: &[u8]) -> Result<()> {
        whole::<Self>(Decoder::new(bytes), |from| self.read(from, &[]))
    }

    /// Checks that bytes encode such a message, without building it.
    ///
    /// # Errors
    /// Same as [`decode`](Self::decode).
    fn check(bytes: &[u8]) -> Result<()> {
        whole::<Self>(Decoder::new(bytes), |from| Self::skip(1, from, &[]))
    }
}

/// Checks the fingerprint, reads the members by `read`, and checks that nothing is left over.
fn whole<M: LcmMessage>(
    mut from: Decoder<'_>,
    read: impl FnOnce(&mut Decoder<'_>) -> Result<()>,
) -> Result<()> {
    let read = from
        .fingerprint(M::fingerprint())
        .and_then(|()| read(&mut from));
    read.and_then(|()| from.finish())
        .map_err(|e| e.at(format!("LCM message of type {}", M::NAME)))
}

/// Replaces the bytes of a member `byte data[n]` by what `fill` appends to an empty array. The
/// memory is reused unless it is shared with a queued message or a clone of this one.
///
/// ```
/// use tarragon_lcm::{Bytes, refill_bytes, types::LcmtImage};
/// let mut image = LcmtImage { data: Bytes::from(vec![1, 2, 3]), ..Default::default() };
/// let before = image.data.as_ptr();
/// refill_bytes(&mut image.data, |data| data.extend([4, 5]));
/// assert_eq!((&image.data[..], image.data.as_ptr()), (&[4, 5][..], before));
/// let kept = image.data.clone();
/// refill_bytes(&mut image.data, |data| data.push(6));
/// assert_eq!((&kept[..], &image.data[..]), (&[4, 5][..], &[6][..]));
/// ```
pub fn refill_bytes<V>(bytes: &mut Bytes, fill: impl FnOnce(&mut Vec<u8>) -> V) -> V {
    let mut memory = std::mem::take(bytes)
        .try_into_mut()
        .unwrap_or_else(|_| BytesMut::new());
    // Cleared first, because the conversion to `Vec` would otherwise move the bytes.
    memory.clear();
    let mut memory = Vec::from(memory);
    let done = fill(&mut memory);
    *bytes = memory.into();
    done
}

/// Defines Rust types from LCM type definitions, written as in `.lcm` files.
///
/// | LCM | Rust |
/// |---|---|
/// | `struct lcmt_my_state` | `pub struct LcmtMyState` |
/// | `int8_t` ... `int64_t`, `float`, `double` | `i8` ... `i64`, `f32`, `f64` |
/// | `boolean`, `byte`, `string` | `bool`, `u8`, `String` |
/// | `lcmt_header`, `drake.lcmt_header` | `LcmtHeader`, which must be in scope |
/// | `double x[3]` | `[f64; 3]` |
/// | `int32_t n; byte x[n]` | [`Bytes`](crate::Bytes), which messages and their receivers share |
/// | `int32_t n; double x[n][3]` | `x: Vec<[f64; 3]>`; `n` is its length and not a member |
/// | `const int32_t LEFT = 1;` | an associated constant |
///
/// Types implement `Clone`, `Debug`, `Default` and `PartialEq`. Members are public and keep their
/// LCM names (`r#type` where the name is a Rust keyword). Doc comments and attributes are kept. The
/// memory of [`Bytes`](crate::Bytes) can be reused, see [`refill_bytes`](crate::refill_bytes).
/// Several members of one size (`a[n]; b[n]`) must have the same length when a message is encoded.
/// [Fingerprints](LcmMessage::fingerprint) match those of lcm-gen, so programs in other languages
/// understand the messages.
///
/// ```
/// use tarragon_lcm::{LcmMessage, lcm_types, types::LcmtHeader};
/// lcm_types! {
///     package lab;
///     /// State of the gripper.
///     struct lcmt_gripper_state {
///         drake.lcmt_header header;
///         const int8_t OPEN = 0, CLOSED = 1;
///         int8_t state;
///         /// Forces at the fingers (N).
///         int32_t num_fingers;
///         double force[num_fingers][3];
///         string finger_name[num_fingers];
///     }
/// }
/// let state = LcmtGripperState {
///     state: LcmtGripperState::CLOSED,
///     force: vec![[0.0, 0.0, 3.0], [0.0, 0.0, -3.0]],
///     finger_name: vec!["left".into(), "right".into()],
///     ..Default::default()
/// };
/// assert_eq!(LcmtGripperState::decode(&state.encode()?)?, state);
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
///
/// A file of definitions is named by its path relative to the crate's `Cargo.toml`. The crate is
/// rebuilt when the file changes. Comments in the file are dropped.
///
/// ```
/// mod lab {
///     tarragon_lcm::lcm_types!(file "tests/definitions/lab.lcm");
/// }
/// let leaf = lab::LabNodeT { name: "leaf".into(), ..Default::default() };
/// let tree = lab::LabNodeT { children: vec![leaf.clone(), leaf], ..Default::default() };
/// assert_eq!(tree.children.len(), 2);
/// ```
///
/// Invalid definitions do not compile. A size must be declared before the arrays that use it, and
/// must be an integer:
///
/// ```compile_fail
/// tarragon_lcm::lcm_types! {
///     struct late_t { double x[n]; int32_t n; }
/// }
/// ```
/// ```compile_fail
/// tarragon_lcm::lcm_types! {
///     struct real_t { double n; double x[n]; }
/// }
/// ```
///
/// Other types must be in scope, and member names must differ:
///
/// ```compile_fail
/// tarragon_lcm::lcm_types! {
///     struct outer_t { unknown_t inner; }
/// }
/// ```
/// ```compile_fail
/// tarragon_lcm::lcm_types! {
///     struct twice_t { double x; float x; }
/// }
/// ```
///
/// Enums and string constants are not supported:
///
/// ```compile_fail
/// tarragon_lcm::lcm_types! {
///     enum colour_t { RED, GREEN }
/// }
/// ```
/// ```compile_fail
/// tarragon_lcm::lcm_types! {
///     struct text_t { const string NAME = "x"; }
/// }
/// ```
///
/// A file must exist:
///
/// ```compile_fail
/// tarragon_lcm::lcm_types!(file "tests/definitions/lost.lcm");
/// ```
#[macro_export]
macro_rules! lcm_types {
    ($($definitions:tt)*) => {
        $crate::wire::lcm_types_in! { $crate; $($definitions)* }
    };
}
