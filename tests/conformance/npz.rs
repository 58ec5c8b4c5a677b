//! Reads arrays from NumPy's `.npz` files: a ZIP archive of `.npy` files.

use flate2::read::DeflateDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// One array: its type in NumPy's notation (`<f4`), its shape and its bytes.
pub(crate) struct Array {
    kind: String,
    pub(crate) shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Array {
    /// The values as doubles, row by row.
    pub(crate) fn values(&self) -> Vec<f64> {
        macro_rules! each {
            ($t:ty) => {{
                let (chunks, _) = self.bytes.as_chunks();
                chunks
                    .iter()
                    .map(|c| <$t>::from_le_bytes(*c).into())
                    .collect()
            }};
        }
        match self.kind.as_str() {
            "<f8" => each!(f64),
            "<f4" => each!(f32),
            "<i4" => each!(i32),
            "<i2" => each!(i16),
            "<u2" => each!(u16),
            "|u1" => each!(u8),
            other => panic!("values of type {other} are not read"),
        }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}
fn u32_at(bytes: &[u8], at: usize) -> usize {
    u16_at(bytes, at) | u16_at(bytes, at + 2) << 16
}

/// All arrays of a file by name. A broken file panics: it is part of the test.
pub(crate) fn read(path: &Path) -> BTreeMap<String, Array> {
    let zip = std::fs::read(path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    // The end record points to the central directory (PKWARE APPNOTE 4.3).
    let end = zip.windows(4).rposition(|w| w == b"PK\x05\x06");
    let end = end.unwrap_or_else(|| panic!("{path:?} is not a ZIP file"));
    let mut at = u32_at(&zip, end + 16);
    let mut arrays = BTreeMap::new();
    for _ in 0..u16_at(&zip, end + 10) {
        let (method, size) = (u16_at(&zip, at + 10), u32_at(&zip, at + 20));
        let (name, extra, comment) = (
            u16_at(&zip, at + 28),
            u16_at(&zip, at + 30),
            u16_at(&zip, at + 32),
        );
        let local = u32_at(&zip, at + 42);
        let file = String::from_utf8_lossy(&zip[at + 46..at + 46 + name]);
        let data = local + 30 + u16_at(&zip, local + 26) + u16_at(&zip, local + 28);
        let packed = &zip[data..data + size];
        let mut npy = Vec::new();
        match method {
            0 => npy.extend_from_slice(packed),
            _ => {
                DeflateDecoder::new(packed)
                    .read_to_end(&mut npy)
                    .unwrap_or_else(|e| panic!("{path:?}: {file}: {e}"));
            }
        }
        arrays.insert(file.trim_end_matches(".npy").to_owned(), array(&npy));
        at += 46 + name + extra + comment;
    }
    arrays
}

/// Reads version 1 of the npy format.
fn array(npy: &[u8]) -> Array {
    let end = 10 + u16_at(npy, 8);
    let header = String::from_utf8_lossy(&npy[10..end]);
    let after = |key: &str| header.split(key).nth(1).expect("every npy header has it");
    assert!(after("'fortran_order':").trim_start().starts_with("False"));
    let kind = after("'descr':").split('\'').nth(1).unwrap_or_default();
    let shape = after("'shape':")
        .split(['(', ')'])
        .nth(1)
        .unwrap_or_default();
    Array {
        kind: kind.to_owned(),
        shape: shape
            .split(',')
            .filter_map(|n| n.trim().parse().ok())
            .collect(),
        bytes: npy[end..].to_vec(),
    }
}
