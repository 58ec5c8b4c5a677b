//! What turns a drawn tile into pixels of an image.

use crate::render::cpu::raster::{ClusterVertices, Tile};
use crate::render::image::PixelType;

/// One kind of image.
pub(crate) trait Pass: Sync {
    type Pixel: PixelType;
    /// Whether it matters what is seen.
    const IDS: bool;
    /// What a thread keeps from tile to tile.
    type ThreadState;
    fn thread_state(&self) -> Self::ThreadState;
    /// Called when a tile is drawn, before its rows are written.
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

/// Writes a block, which is cut off at the edge of the image.
#[inline(always)]
pub(crate) fn put<T: Copy, const N: usize>(out: &mut [T], values: &[T; N]) {
    match out.first_chunk_mut() {
        Some(all) => *all = *values,
        None => put_first(out, values),
    }
}

/// Not inlined, so that the usual length stays one that is known when this is compiled.
#[cold]
#[inline(never)]
fn put_first<T: Copy>(out: &mut [T], values: &[T]) {
    out.copy_from_slice(&values[..out.len()]);
}
