//! three.js `BufferGeometry`: arrays of vertices and of the triangles between them.

use crate::meshcat::msgpack::Writer;
use crate::{Error, Result};
use nalgebra::Vector3;
use std::ops::Range;

/// Maximum number of vertices, and of triangles, of one object: a msgpack array has at most 4 GiB.
const MAX_ELEMENTS: usize = u32::MAX as usize / 12;

/// Returns an error if there are more elements than fit into one array.
pub(super) fn check_count(function: &str, what: &str, n: usize) -> Result<()> {
    if n <= MAX_ELEMENTS {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "Meshcat: {function}: there must be at most {MAX_ELEMENTS} {what}, got {n}"
    )))
}

/// Returns the size in bytes of an array of `n` triples.
pub(super) fn size(n: usize) -> usize {
    12 * n + 128
}

/// A vertex attribute.
#[derive(Clone, Copy)]
pub(super) enum Attribute {
    Color,
    Normal,
    Position,
    TextureCoordinates,
}

/// Writes one geometry. Call [`BufferGeometry::index`] first, if there is an index, then
/// [`BufferGeometry::attributes`], then [`BufferGeometry::attribute`] once per attribute, sorted by
/// name.
pub(super) struct BufferGeometry<'w>(&'w mut Writer);

impl<'w> BufferGeometry<'w> {
    pub(super) fn new(w: &'w mut Writer, uuid: &str, has_index: bool) -> Self {
        w.map(3).key_str("type", "BufferGeometry");
        w.key_str("uuid", uuid).str("data");
        w.map(if has_index { 2 } else { 1 });
        Self(w)
    }
    /// Writes the index of `n` triangles.
    pub(super) fn index(&mut self, n: usize, triangles: impl Iterator<Item = [u32; 3]>) {
        self.0.str("index").map(4);
        self.typed("Uint32Array", 3).u32_triples(n, triangles);
        self.0.key_bool("normalized", false);
    }
    /// Writes the start of `count` attributes.
    pub(super) fn attributes(&mut self, count: usize) {
        self.0.str("attributes").map(count);
    }
    /// Writes one attribute of `n` vertices. Returns the range of its values in the object.
    pub(super) fn attribute<const N: usize>(
        &mut self,
        attribute: Attribute,
        n: usize,
        values: impl Iterator<Item = [f32; N]>,
    ) -> Range<usize> {
        let name = match attribute {
            Attribute::Color => "color",
            Attribute::Normal => "normal",
            Attribute::Position => "position",
            Attribute::TextureCoordinates => "uv",
        };
        self.0.str(name).map(4);
        let end = self.typed("Float32Array", N).f32_tuples(n, values).len();
        self.0.key_bool("normalized", false);
        end - n * size_of::<[f32; N]>()..end
    }
    /// Writes the positions as the only attribute.
    pub(super) fn positions(&mut self, n: usize, positions: impl Iterator<Item = [f32; 3]>) {
        self.attributes(1);
        self.attribute(Attribute::Position, n, positions);
    }
    fn typed(&mut self, kind: &str, item_size: usize) -> &mut Writer {
        self.0
            .key_uint("itemSize", item_size as u64)
            .key_str("type", kind);
        self.0.str("array")
    }
}

/// Converts coordinates to single precision, as graphics cards use them.
pub(super) fn single(p: &Vector3<f64>) -> [f32; 3] {
    [p.x as f32, p.y as f32, p.z as f32]
}

/// Returns whether a vertex can be drawn. A vertex that is not finite would leave the page without
/// the bounds of the object.
pub(super) fn is_finite(p: &[f32; 3]) -> bool {
    p.iter().all(|x| x.is_finite())
}
