//! Binary data of a scene as text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// Bytes of a glTF buffer, encoded once for all frames.
#[derive(Debug)]
pub(super) struct Buffer {
    /// Number of bytes before encoding.
    pub(super) bytes: usize,
    /// The bytes in base64.
    pub(super) base64: String,
}

impl Buffer {
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.len(),
            base64: BASE64.encode(bytes),
        }
    }
    /// Encodes vectors of `f32`, which glTF stores in little-endian order.
    pub(super) fn of_floats<const N: usize>(vectors: &[[f32; N]]) -> Self {
        let bytes = vectors.as_flattened().iter().flat_map(|x| x.to_le_bytes());
        Self::of_bytes(&bytes.collect::<Vec<u8>>())
    }
    /// Encodes indices.
    pub(super) fn of_indices(indices: &[u32]) -> Self {
        let bytes = indices.iter().flat_map(|i| i.to_le_bytes());
        Self::of_bytes(&bytes.collect::<Vec<u8>>())
    }
}
