//! Tiles: the part of an image that one thread draws at a time.

use super::exact_shape::ExactShape;
use super::kernels::{ShapeKernel, lanes};
use super::target::RasterTarget;
use crate::render::cpu::simd::BLOCK;
use crate::render::cpu::store::NO_ID;
use crate::render::projection::PixelRect;
use wide::{bytemuck, f32x8, i32x8};

/// Width of a tile (pixels), a multiple of the block. Width and height were chosen by measurement.
pub(crate) const TILE_WIDTH: usize = 64;
/// Height of a tile (pixels).
pub(crate) const TILE_HEIGHT: usize = 32;
const STRIDE: usize = TILE_WIDTH / BLOCK;
const BLOCKS: usize = STRIDE * TILE_HEIGHT;

/// Framebuffer of a tile: inverse depth and id of the nearest surface, per pixel.
pub(crate) struct Tile {
    rect: PixelRect,
    w: [f32x8; BLOCKS],
    ids: [i32x8; BLOCKS],
    /// w of an empty pixel.
    clear: f32,
    /// Smallest w of all pixels; `None` after something was drawn.
    farthest: Option<f32>,
    /// True if triangles were drawn.
    triangles: bool,
}

impl Tile {
    /// Creates a tile without pixels.
    pub(crate) fn new() -> Self {
        let nothing = PixelRect {
            x0: 0,
            y0: 0,
            x1: 0,
            y1: 0,
        };
        Self {
            rect: nothing,
            w: [f32x8::ZERO; BLOCKS],
            ids: [i32x8::ZERO; BLOCKS],
            clear: 0.0,
            farthest: None,
            triangles: false,
        }
    }
    /// Sets the far clipping plane (m): later tiles show nothing beyond it.
    pub(crate) fn set_far(&mut self, far: f64) {
        self.clear = ((1.0 / far) as f32).next_down();
    }
    /// Clears the tile and moves it to other pixels.
    pub(crate) fn start(&mut self, rect: PixelRect) {
        self.rect = rect;
        self.farthest = None;
        self.triangles = false;
        self.ids.fill(i32x8::splat(NO_ID));
        self.w.fill(f32x8::splat(self.clear));
        // Pixels outside the image are infinitely near, so nothing is drawn there.
        let outside = f32x8::splat(f32::INFINITY);
        let width = (rect.x1 - rect.x0) as usize;
        let rows = (rect.y1 - rect.y0) as usize;
        self.w[rows * STRIDE..].fill(outside);
        for x in (width / BLOCK * BLOCK..TILE_WIDTH).step_by(BLOCK) {
            let inside = lanes().simd_lt(f32x8::splat(width as f32 - x as f32));
            for row in 0..rows {
                let w = &mut self.w[row * STRIDE + x / BLOCK];
                *w = inside.bitselect(*w, outside);
            }
        }
    }
    pub(crate) fn rect(&self) -> PixelRect {
        self.rect
    }
    /// Returns w of an empty pixel.
    pub(crate) fn clear(&self) -> f32 {
        self.clear
    }
    /// Returns the inverse depths of a row of the tile.
    pub(crate) fn w_row(&self, row: usize) -> &[f32x8; STRIDE] {
        self.w[row * STRIDE..]
            .first_chunk()
            .expect("the row is within the tile")
    }
    /// Returns the ids of a row of the tile.
    pub(crate) fn id_row(&self, row: usize) -> &[i32x8; STRIDE] {
        self.ids[row * STRIDE..]
            .first_chunk()
            .expect("the row is within the tile")
    }
    /// Returns the ids of all pixels; `NO_ID` for pixels outside the image.
    pub(crate) fn ids(&self) -> &[i32x8] {
        &self.ids
    }
    /// True if triangles were drawn.
    pub(crate) fn has_triangles(&self) -> bool {
        self.triangles
    }
    /// Returns true if a surface at `w` would be in front of that of pixel index `i`.
    pub(crate) fn shows(&self, i: usize, w: f32) -> bool {
        let ws: &[f32] = bytemuck::cast_slice(&self.w);
        w > ws[i]
    }
    /// Returns true if no surface at `w_max` or farther can change a pixel.
    pub(crate) fn hides(&mut self, w_max: f32) -> bool {
        let farthest = match self.farthest {
            Some(w) => w,
            None => {
                let w = self.find_farthest();
                self.farthest = Some(w);
                w
            }
        };
        w_max < farthest
    }
    /// Returns true if no surface at `w_max` or farther can change a pixel of the rectangle.
    pub(crate) fn hides_within(&self, rect: &PixelRect, w_max: f32) -> bool {
        let rect = rect.intersection(&self.rect);
        if rect.is_empty() {
            return true;
        }
        let w_max = f32x8::splat(w_max);
        let first = (rect.x0 - self.rect.x0) as usize / BLOCK;
        let end = ((rect.x1 - self.rect.x0) as usize).div_ceil(BLOCK);
        let rows = (rect.y0 - self.rect.y0) as usize..(rect.y1 - self.rect.y0) as usize;
        self.w[rows.start * STRIDE..rows.end * STRIDE]
            .chunks_exact(STRIDE)
            .all(|row| row[first..end].iter().all(|w| w_max.simd_lt(*w).all()))
    }
    fn find_farthest(&self) -> f32 {
        let clear = f32x8::splat(self.clear);
        let mut least = f32x8::splat(f32::INFINITY);
        for row in self.w.chunks_exact(STRIDE) {
            for w in row {
                least = least.fast_min(*w);
            }
            if least.simd_eq(clear).any() {
                return self.clear;
            }
        }
        least.to_array().into_iter().fold(f32::INFINITY, f32::min)
    }
    /// Draws a surface into the pixels of the tile that are in `rect`. The nearer surface wins; at
    /// equal depth, the smaller id.
    pub(crate) fn draw<K: ShapeKernel, const IDS: bool>(
        &mut self,
        kernel: &K,
        rect: &PixelRect,
        id: i32,
    ) {
        let rect = rect.intersection(&self.rect);
        if rect.is_empty() {
            return;
        }
        let bound = kernel.bound(rect.corners());
        if bound <= 0.0 || self.hides((bound * (1.0 + 1e-5)) as f32) {
            return;
        }
        let first = (rect.x0 - self.rect.x0) as usize / BLOCK;
        let end = ((rect.x1 - self.rect.x0) as usize).div_ceil(BLOCK);
        let id = i32x8::splat(id);
        for py in rect.y0..rect.y1 {
            let row = kernel.row(f64::from(py));
            let at = (py - self.rect.y0) as usize * STRIDE;
            let mut px = f64::from(self.rect.x0) + (first * BLOCK) as f64;
            for i in at + first..at + end {
                let w = kernel.block(&row, px);
                px += BLOCK as f64;
                self.put::<IDS>(i, w, id);
            }
        }
        self.farthest = None;
    }
    #[inline(always)]
    fn put<const IDS: bool>(&mut self, i: usize, w: f32x8, id: i32x8) {
        let old = self.w[i];
        let mut wins = w.simd_gt(old);
        if IDS {
            let ties = w.simd_eq(old);
            if ties.any() {
                let smaller: f32x8 = bytemuck::cast(id.simd_lt(self.ids[i]));
                wins |= ties & smaller;
            }
            if !wins.any() {
                return;
            }
            let mask: i32x8 = bytemuck::cast(wins);
            self.ids[i] = mask.bitselect(id, self.ids[i]);
        }
        self.w[i] = wins.bitselect(w, old);
    }
    /// Draws an exact shape pixel by pixel.
    pub(crate) fn draw_exact(&mut self, exact: &ExactShape, rect: &PixelRect, id: i32) {
        let rect = rect.intersection(&self.rect);
        for py in rect.y0..rect.y1 {
            for px in rect.x0..rect.x1 {
                let w = exact.w(f64::from(px), f64::from(py));
                let i = self.index(px, py);
                self.set(i, w, id);
            }
        }
        self.farthest = None;
    }
}

impl RasterTarget for Tile {
    fn rect(&self) -> PixelRect {
        self.rect
    }
    fn index(&self, px: i32, py: i32) -> usize {
        Self::below(py - self.rect.y0) + (px - self.rect.x0) as usize
    }
    fn below(rows: i32) -> usize {
        rows as usize * TILE_WIDTH
    }
    #[inline(always)]
    fn set(&mut self, i: usize, w: f32, id: i32) {
        let ids: &mut [i32] = bytemuck::cast_slice_mut(&mut self.ids);
        let ws: &mut [f32] = bytemuck::cast_slice_mut(&mut self.w);
        if w > ws[i] || w == ws[i] && id < ids[i] {
            ws[i] = w;
            ids[i] = id;
        }
    }
    fn changed(&mut self) {
        self.farthest = None;
        self.triangles = true;
    }
}
