//! The hash of a struct as lcm-gen computes it, without the hashes of nested structs.

use crate::definition::{Dimension, Kind, Struct};

/// The base of the fingerprint: names of members, their primitive types and dimensions, in order.
/// Names of structs and constants are not hashed.
pub(crate) fn base(of: &Struct) -> u64 {
    let mut hash = Hash(0x1234_5678);
    for member in &of.members {
        hash.text(&member.name.to_string());
        if let Kind::Primitive(primitive) = &member.kind {
            hash.text(primitive.name);
        }
        hash.byte(member.dimensions.len() as u8);
        for dimension in &member.dimensions {
            hash.byte(matches!(dimension, Dimension::Variable { .. }).into());
            hash.text(dimension.text());
        }
    }
    hash.0 as u64
}

struct Hash(i64);

impl Hash {
    fn byte(&mut self, byte: u8) {
        let Self(v) = *self;
        // lcm-gen hashes signed characters.
        self.0 = ((v << 8) ^ (v >> 55)).wrapping_add((byte as i8).into());
    }
    fn text(&mut self, text: &str) {
        self.byte(text.len() as u8);
        text.bytes().for_each(|b| self.byte(b));
    }
}
