//! What triangles are drawn into, and how corners are snapped.

use crate::render::cpu::pixels::Rect;

/// What triangles are drawn into.
pub(crate) trait RasterTarget {
    /// The pixels that it has.
    fn rect(&self) -> Rect;
    /// The place of a pixel.
    fn index(&self, px: i32, py: i32) -> usize;
    /// The place of a pixel behind that of one so many rows above it.
    fn below(rows: i32) -> usize;
    /// Draws one pixel.
    fn set(&mut self, i: usize, w: f32, id: i32);
    /// To be called after [`set`](Self::set).
    fn changed(&mut self) {}
}

pub(crate) const SUBPIXEL_BITS: u32 = 8;
pub(crate) const SUBPIXEL: i32 = 1 << SUBPIXEL_BITS;

/// Corners farther than this from the image's origin (pixels) are clipped away, so that subpixels
/// fit into `i32`.
pub(crate) const GUARD: f64 = 16384.0;
