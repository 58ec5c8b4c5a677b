//! Depth and label images.

use super::pass::{Pass, put};
use crate::properties::RenderLabel;
use crate::render::DepthRange;
use crate::render::cpu::raster::Tile;
use crate::render::cpu::store::NO_ID;
use crate::render::image::{Depth32F, Label16I};
use wide::f32x8;

/// Pass for depth images.
pub(crate) struct DepthPass {
    pub(crate) range: DepthRange,
}

impl Pass for DepthPass {
    type Pixel = Depth32F;
    const IDS: bool = false;
    type ThreadState = ();
    fn thread_state(&self) {}
    fn finish(&self, tile: &Tile, row: usize, out: &mut [f32], (): &mut ()) {
        let clear = f32x8::splat(tile.clear());
        let min = f32x8::splat(self.range.min_depth() as f32);
        let max = f32x8::splat(self.range.max_depth() as f32);
        let far = f32x8::splat(Depth32F::TOO_FAR);
        for (w, out) in tile.w_row(row).iter().zip(out.chunks_mut(8)) {
            let z = f32x8::ONE / *w;
            let near_enough = !(z.simd_gt(max) | w.simd_eq(clear));
            let z = near_enough.bitselect(z, far);
            let z = z
                .simd_lt(min)
                .bitselect(f32x8::splat(Depth32F::TOO_CLOSE), z);
            put(out, z.as_array());
        }
    }
}

/// Pass for label images. Ids are numbers of visuals.
pub(crate) struct LabelPass<'a> {
    pub(crate) labels: &'a [i16],
}

impl Pass for LabelPass<'_> {
    type Pixel = Label16I;
    const IDS: bool = true;
    type ThreadState = ();
    fn thread_state(&self) {}
    fn finish(&self, tile: &Tile, row: usize, out: &mut [i16], (): &mut ()) {
        for (ids, out) in tile.id_row(row).iter().zip(out.chunks_mut(8)) {
            let ids = ids.as_array();
            if ids[0] == NO_ID && *ids == [NO_ID; 8] {
                out.fill(RenderLabel::EMPTY.value());
                continue;
            }
            for (id, out) in ids.iter().zip(out) {
                let label = self.labels.get(*id as usize);
                *out = label.copied().unwrap_or(RenderLabel::EMPTY.value());
            }
        }
    }
}
