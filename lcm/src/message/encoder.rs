//! Writing the bytes of messages.

use super::encoded::{LEAST_SHARED, SharedArrays};
use super::wire::Wire;
use crate::error::{Error, Result};
use bytes::Bytes;

/// Where a message is written.
///
/// ```
/// use tarragon_lcm::message::wire::{Encoder, Wire};
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
    /// Where long arrays go, instead of among the bytes.
    shared: Option<&'a mut SharedArrays>,
}

impl<'a> Encoder<'a> {
    /// Appends to `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self {
            bytes,
            shared: None,
        }
    }
    /// Appends to `bytes`, but long arrays of bytes to `shared`.
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
    /// `count` more bytes, to be filled.
    pub(super) fn room(&mut self, count: usize) -> &mut [u8] {
        let start = self.bytes.len();
        self.bytes.resize(start + count, 0);
        &mut self.bytes[start..]
    }
    /// The member `name`.
    ///
    /// # Errors
    /// Returns an error if a length in it is not that of `sizes`.
    pub fn member<V: Wire>(&mut self, name: &str, value: &V, sizes: &[usize]) -> Result<()> {
        let written = value.write(self, sizes);
        written.map_err(|e| Error::invalid(format!("member '{name}' {e}")))
    }
    /// The member `name`, which is the size of others, as an integer `I`.
    ///
    /// # Errors
    /// Returns an error if the integer cannot hold it.
    pub fn size<I: Wire + TryFrom<usize>>(&mut self, name: &str, size: usize) -> Result<()> {
        let Ok(integer) = I::try_from(size) else {
            return Err(Error::invalid(format!(
                "member '{name}' is the length {size}, which is more than {} bits hold",
                8 * I::MIN
            )));
        };
        integer.write(self, &[])
    }
}
