//! Encoding messages.

use super::shared_arrays::{LEAST_SHARED, SharedArrays};
use bytes::Bytes;

/// Appends an encoded message to a byte vector.
///
/// ```
/// use tarragon_lcm::wire::{Encoder, Wire};
/// let mut bytes = vec![];
/// let mut out = Encoder::new(&mut bytes);
/// out.size::<i16>("n", 3)?;
/// "up".to_string().write(&mut out, &[])?;
/// assert_eq!(bytes, [0, 3, 0, 0, 0, 3, b'u', b'p', 0]);
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
#[derive(Debug)]
pub struct Encoder<'a> {
    bytes: &'a mut Vec<u8>,
    /// Destination of long arrays, if they are not copied among the bytes.
    shared: Option<&'a mut SharedArrays>,
}

impl<'a> Encoder<'a> {
    /// Creates an encoder that appends to `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self {
            bytes,
            shared: None,
        }
    }
    /// Creates an encoder that appends to `bytes`, except long byte arrays, which go to `shared`.
    pub(super) fn sharing(bytes: &'a mut Vec<u8>, shared: &'a mut SharedArrays) -> Self {
        let shared = Some(shared);
        Self { bytes, shared }
    }
    pub(super) fn byte_array(&mut self, array: &Bytes) {
        match &mut self.shared {
            Some(shared) if array.len() >= LEAST_SHARED => {
                shared.push((self.bytes.len(), array.clone()));
            }
            _ => self.bytes(array),
        }
    }
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
    /// Appends `count` bytes for the caller to fill.
    pub(super) fn room(&mut self, count: usize) -> &mut [u8] {
        let start = self.bytes.len();
        self.bytes.resize(start + count, 0);
        &mut self.bytes[start..]
    }
}
