//! Encoding of msgpack into memory, which cannot fail.
//!
//! Numbers are encoded as by Drake's server: floating-point numbers always as f64, whole numbers in
//! their shortest form.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmp::encode;

/// Writes to a `Vec` never fail.
const INFALLIBLE: &str = "writing to memory cannot fail";

/// Type byte of an extension that holds little-endian u32 numbers (meshcat's convention).
const EXT_U32: i8 = 0x16;
/// Type byte of an extension that holds little-endian f32 numbers (meshcat's convention).
const EXT_F32: i8 = 0x17;

/// A msgpack encoder.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn new(buffer: Vec<u8>) -> Self {
        Self(buffer)
    }
    pub(crate) fn into_inner(self) -> Vec<u8> {
        self.0
    }
    /// Returns the number of bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
    /// Writes the start of a map of `n` keys and values.
    pub(crate) fn map(&mut self, n: usize) -> &mut Self {
        encode::write_map_len(&mut self.0, length(n)).expect(INFALLIBLE);
        self
    }
    /// Writes the start of an array of `n` elements.
    pub(crate) fn array(&mut self, n: usize) -> &mut Self {
        encode::write_array_len(&mut self.0, length(n)).expect(INFALLIBLE);
        self
    }
    pub(crate) fn str(&mut self, s: &str) -> &mut Self {
        encode::write_str(&mut self.0, s).expect(INFALLIBLE);
        self
    }
    pub(crate) fn f64(&mut self, x: f64) -> &mut Self {
        encode::write_f64(&mut self.0, x).expect(INFALLIBLE);
        self
    }
    pub(crate) fn uint(&mut self, x: u64) -> &mut Self {
        encode::write_uint(&mut self.0, x).expect(INFALLIBLE);
        self
    }
    pub(crate) fn int(&mut self, x: i64) -> &mut Self {
        encode::write_sint(&mut self.0, x).expect(INFALLIBLE);
        self
    }
    pub(crate) fn bool(&mut self, x: bool) -> &mut Self {
        encode::write_bool(&mut self.0, x).expect(INFALLIBLE);
        self
    }
    pub(crate) fn bin(&mut self, bytes: &[u8]) -> &mut Self {
        encode::write_bin(&mut self.0, bytes).expect(INFALLIBLE);
        self
    }
    /// Writes an array of f64.
    pub(crate) fn f64s(&mut self, xs: &[f64]) -> &mut Self {
        self.array(xs.len());
        for x in xs {
            self.f64(*x);
        }
        self
    }
    /// Writes `n` numbers as a typed array of little-endian u32; `numbers` must have `n` elements.
    pub(crate) fn u32s(&mut self, n: usize, numbers: impl Iterator<Item = u32>) -> &mut Self {
        encode::write_ext_meta(&mut self.0, length(4 * n), EXT_U32).expect(INFALLIBLE);
        let start = self.0.len();
        self.0.extend(numbers.flat_map(u32::to_le_bytes));
        debug_assert_eq!(self.0.len(), start + 4 * n);
        self
    }
    /// Writes `n` tuples of N numbers as a typed array of little-endian f32; `tuples` must have `n`
    /// elements.
    pub(crate) fn f32_tuples<const N: usize>(
        &mut self,
        n: usize,
        tuples: impl Iterator<Item = [f32; N]>,
    ) -> &mut Self {
        self.tuples(EXT_F32, n, tuples.map(|t| t.map(f32::to_le_bytes)))
    }
    /// Writes `n` triples as a typed array of little-endian u32; `triples` must have `n` elements.
    pub(crate) fn u32_triples(
        &mut self,
        n: usize,
        triples: impl Iterator<Item = [u32; 3]>,
    ) -> &mut Self {
        self.tuples(EXT_U32, n, triples.map(|t| t.map(u32::to_le_bytes)))
    }
    fn tuples<const N: usize>(
        &mut self,
        extension: i8,
        n: usize,
        tuples: impl Iterator<Item = [[u8; 4]; N]>,
    ) -> &mut Self {
        let size = 4 * N * n;
        encode::write_ext_meta(&mut self.0, length(size), extension).expect(INFALLIBLE);
        let start = self.0.len();
        self.0.resize(start + size, 0);
        let mut chunks = self.0[start..].chunks_exact_mut(4 * N);
        // `for_each` is faster than a loop over nested iterators.
        tuples.for_each(|tuple| match chunks.next() {
            Some(chunk) => chunk.copy_from_slice(tuple.as_flattened()),
            None => debug_assert!(false, "there are more tuples than the header says"),
        });
        debug_assert!(
            chunks.next().is_none(),
            "there are fewer tuples than the header says"
        );
        self
    }
    /// Writes a string: the `data:` URI of `content` in base64.
    pub(crate) fn data_uri(&mut self, media_type: &str, content: &[u8]) -> &mut Self {
        let base64 = content.len().div_ceil(3) * 4;
        let start = ["data:", media_type, ";base64,"];
        let n = start.iter().map(|s| s.len()).sum::<usize>() + base64;
        encode::write_str_len(&mut self.0, length(n)).expect(INFALLIBLE);
        for part in start {
            self.0.extend_from_slice(part.as_bytes());
        }
        let at = self.0.len();
        self.0.resize(at + base64, 0);
        let written = STANDARD.encode_slice(content, &mut self.0[at..]);
        debug_assert_eq!(written.ok(), Some(base64));
        self
    }
    /// Writes a value that is already encoded.
    pub(crate) fn encoded(&mut self, value: &[u8]) -> &mut Self {
        self.0.extend_from_slice(value);
        self
    }
    /// Writes `key` and a string.
    pub(crate) fn key_str(&mut self, key: &str, value: &str) -> &mut Self {
        self.str(key).str(value)
    }
    /// Writes `key` and a number.
    pub(crate) fn key_f64(&mut self, key: &str, value: f64) -> &mut Self {
        self.str(key).f64(value)
    }
    /// Writes `key` and a boolean.
    pub(crate) fn key_bool(&mut self, key: &str, value: bool) -> &mut Self {
        self.str(key).bool(value)
    }
    /// Writes `key` and a whole number.
    pub(crate) fn key_uint(&mut self, key: &str, value: u64) -> &mut Self {
        self.str(key).uint(value)
    }
}

/// Converts a length to the form that msgpack stores.
fn length(n: usize) -> u32 {
    u32::try_from(n).expect("callers limit what they send to 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_arrays_have_the_extension_and_the_bytes_of_the_protocol() {
        let mut w = Writer::default();
        w.map(2).str("i").u32_triples(1, [[1, 258, 0]].into_iter());
        w.str("v").f32_tuples(1, [[1.0, 0.0, -2.0]].into_iter());
        assert_eq!(
            w.into_inner(),
            [
                0x82, 0xa1, b'i', 0xc7, 12, 0x16, 1, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0xa1, b'v',
                0xc7, 12, 0x17, 0, 0, 0x80, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0
            ]
        );
    }

    #[test]
    fn data_uris_are_strings() {
        let mut w = Writer::default();
        w.data_uri("image/png", b"foob");
        // Header of a short string of 30 bytes.
        let mut expected = vec![0xa0 | 30];
        expected.extend_from_slice(b"data:image/png;base64,Zm9vYg==");
        assert_eq!(w.into_inner(), expected);
    }

    #[test]
    fn numbers_have_the_form_that_drake_sends() {
        let mut w = Writer::default();
        w.key_uint("a", 5)
            .key_uint("b", 300)
            .key_f64("c", 1.0)
            .key_bool("d", true);
        assert_eq!(
            w.into_inner(),
            [
                0xa1, b'a', 5, 0xa1, b'b', 0xcd, 1, 44, 0xa1, b'c', 0xcb, 0x3f, 0xf0, 0, 0, 0, 0,
                0, 0, 0xa1, b'd', 0xc3
            ]
        );
    }
}
