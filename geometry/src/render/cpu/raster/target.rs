//! Render targets of triangles, and the subpixel grid that corners are snapped to.

use crate::render::projection::PixelRect;

/// Render target of triangles.
pub(crate) trait RasterTarget {
    /// Returns the pixels of the target.
    fn rect(&self) -> PixelRect;
    /// Returns the index of a pixel.
    fn index(&self, px: i32, py: i32) -> usize;
    /// Returns the difference between the indices of two pixels in a column, `rows` rows apart.
    fn below(rows: i32) -> usize;
    /// Draws one pixel.
    fn set(&mut self, i: usize, w: f32, id: i32);
    /// Updates the target after a series of calls of [`set`](Self::set).
    fn changed(&mut self) {}
}

pub(crate) const SUBPIXEL_BITS: u32 = 8;
pub(crate) const SUBPIXEL: i32 = 1 << SUBPIXEL_BITS;

/// Guard band (pixels): triangles are clipped at this distance from the image's origin, so that
/// subpixels fit into `i32`.
pub(crate) const GUARD: f64 = 16384.0;
