//! The conversion of a drawn tile into pixels of an image.

use crate::render::cpu::raster::{ClusterVertices, Tile};
use crate::render::image::PixelType;

/// Conversion for one kind of image.
pub(crate) trait Pass: Sync {
    type Pixel: PixelType;
    /// True if the pass needs ids, not only depths.
    const IDS: bool;
    /// State that a thread keeps from tile to tile.
    type ThreadState;
    fn thread_state(&self) -> Self::ThreadState;
    /// Prepares the output of a drawn tile, before its rows are written.
    fn prepare(&self, _: &Tile, _: &mut ClusterVertices, _: &mut Self::ThreadState) {}
    /// Writes the pixels of a row of the tile.
    fn finish(
        &self,
        tile: &Tile,
        row: usize,
        out: &mut [<Self::Pixel as PixelType>::Channel],
        scratch: &mut Self::ThreadState,
    );
}

/// Writes a block of values, truncated at the edge of the image.
#[inline(always)]
pub(crate) fn put<T: Copy, const N: usize>(out: &mut [T], values: &[T; N]) {
    match out.first_chunk_mut() {
        Some(all) => *all = *values,
        None => put_first(out, values),
    }
}

/// Writes a truncated block. Not inlined, so that the usual case keeps a compile-time length.
#[cold]
#[inline(never)]
fn put_first<T: Copy>(out: &mut [T], values: &[T]) {
    out.copy_from_slice(&values[..out.len()]);
}
