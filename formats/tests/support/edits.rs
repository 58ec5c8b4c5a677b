//! Random damage to model files.

use proptest::prelude::*;

/// One edit: position, number of bytes, position of a source, byte value and kind of edit.
type Edit = (usize, usize, usize, u8, u8);

/// Strategy of a few edits anywhere in files of up to `size` bytes.
pub(crate) fn edits(size: usize) -> impl Strategy<Value = Vec<Edit>> {
    let edit = (0..size, 0..40_usize, 0..size, any::<u8>(), 0..4_u8);
    prop::collection::vec(edit, 1..6)
}

/// Applies edits to the bytes of a text.
pub(crate) fn edited(text: &str, edits: Vec<Edit>) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (at, length, from, byte, kind) in edits {
        let at = at % (bytes.len() + 1);
        let end = (at + length).min(bytes.len());
        match kind {
            0 => drop(bytes.drain(at..end)),
            1 => bytes.insert(at, byte),
            2 => bytes[at..end].fill(byte),
            // A piece copied from elsewhere keeps more of the grammar intact.
            _ => {
                let from = from % (bytes.len() + 1);
                let piece = bytes[from..(from + length).min(bytes.len())].to_vec();
                bytes.splice(at..end, piece);
            }
        }
    }
    bytes
}
