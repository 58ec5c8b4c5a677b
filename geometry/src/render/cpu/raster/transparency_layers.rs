//! Transparency layers: the translucent surfaces of each pixel of a tile, from back to front.

use super::exact_shape::ExactShape;
use super::target::RasterTarget;
use super::tile::{TILE_WIDTH, Tile};
use crate::render::projection::PixelRect;

/// One translucent surface in one pixel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragment {
    /// Index of the pixel in the tile.
    pub(crate) pixel: u32,
    pub(crate) w: f32,
    pub(crate) id: i32,
}

/// Transparency layers of a tile. The storage is reused.
#[derive(Debug, Default)]
pub(crate) struct TransparencyLayers {
    fragments: Vec<Fragment>,
}

/// Render target that collects the fragments in front of the opaque surfaces.
pub(crate) struct LayerCollector<'a> {
    tile: &'a Tile,
    fragments: &'a mut Vec<Fragment>,
}

impl TransparencyLayers {
    /// Clears the layers and starts collecting those of a tile whose opaque surfaces are drawn.
    pub(crate) fn start<'a>(&'a mut self, tile: &'a Tile) -> LayerCollector<'a> {
        self.fragments.clear();
        LayerCollector {
            tile,
            fragments: &mut self.fragments,
        }
    }
    /// Sorts the fragments by pixel, then from back to front. At equal depth, the visual registered
    /// first is in front, as among opaque surfaces.
    pub(crate) fn sort(&mut self) {
        self.fragments.sort_unstable_by(|a, b| {
            let by_depth = a.w.total_cmp(&b.w).then(b.id.cmp(&a.id));
            a.pixel.cmp(&b.pixel).then(by_depth)
        });
    }
    /// Returns the layers of the eight pixels from column `x` of a row on.
    pub(crate) fn block(&self, row: usize, x: usize) -> &[Fragment] {
        let first = (row * TILE_WIDTH + x) as u32;
        let start = self.fragments.partition_point(|f| f.pixel < first);
        let rest = &self.fragments[start..];
        &rest[..rest.partition_point(|f| f.pixel < first + 8)]
    }
}

impl LayerCollector<'_> {
    /// Adds the front and the back of a body.
    pub(crate) fn body(&mut self, exact: &ExactShape, rect: &PixelRect, id: i32) {
        let rect = rect.intersection(&self.rect());
        for py in rect.y0..rect.y1 {
            for px in rect.x0..rect.x1 {
                let i = self.index(px, py);
                for w in exact.layers(f64::from(px), f64::from(py)) {
                    self.set(i, w, id);
                }
            }
        }
    }
}

impl RasterTarget for LayerCollector<'_> {
    fn rect(&self) -> PixelRect {
        self.tile.rect()
    }
    fn index(&self, px: i32, py: i32) -> usize {
        self.tile.index(px, py)
    }
    fn below(rows: i32) -> usize {
        Tile::below(rows)
    }
    fn set(&mut self, i: usize, w: f32, id: i32) {
        if self.tile.shows(i, w) {
            self.fragments.push(Fragment {
                pixel: i as u32,
                w,
                id,
            });
        }
    }
}
