//! Tile lists: the draw items of each tile, from front to back.

use super::chunk::DrawItem;
use super::shadows::Shadows;
use crate::render::cpu::raster::{TILE_HEIGHT, TILE_WIDTH};
use crate::render::projection::PixelRect;
use std::ops::Range;

/// Draw order of a prepared image. The storage is reused.
#[derive(Default)]
pub(crate) struct TileLists {
    /// For tile t, `order[start[t]..start[t + 1]]` are its items from front to back.
    start: Vec<u32>,
    order: Vec<u32>,
    /// While sorting: the index in `order` of each tile's next item.
    next: Vec<u32>,
    /// While sorting: keys that order the items from front to back.
    keys: Vec<u64>,
    /// Numbers of the image's strips, those with the most items first.
    pub(crate) strips: Vec<u32>,
    /// Translucent items of a colour image.
    pub(crate) translucent: Vec<DrawItem>,
    pub(crate) shadows: Option<Shadows>,
}

/// Returns the columns and rows of the tiles that a rectangle touches.
fn tiles(rect: &PixelRect) -> (Range<usize>, Range<usize>) {
    let range =
        |low: i32, high: i32, size: usize| low as usize / size..(high as usize).div_ceil(size);
    (
        range(rect.x0, rect.x1, TILE_WIDTH),
        range(rect.y0, rect.y1, TILE_HEIGHT),
    )
}

/// Maximum number of strips of an image with at most as many rows of tiles; lists of this length
/// need no heap allocation.
pub(crate) const MAX_STRIPS: usize = 64;
/// Minimum number of tiles in a strip. Shorter strips would share too little work.
const MIN_TILES: usize = 5;

/// Partition of an image into strips: runs of adjacent tiles in one row.
#[derive(Clone, Copy)]
pub(crate) struct TileStrips {
    columns: usize,
    /// Number of tiles in a strip.
    tiles: usize,
}

impl TileStrips {
    /// Partitions an image with the given number of columns and rows of tiles.
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        let per_row = (MAX_STRIPS / rows.max(1)).max(1);
        let tiles = columns.div_ceil(per_row).max(MIN_TILES);
        Self { columns, tiles }
    }
    /// Returns the number of strips in a row.
    pub(crate) fn per_row(self) -> usize {
        self.columns.div_ceil(self.tiles)
    }
    /// Returns the number of tiles in every strip but the last of a row.
    pub(crate) fn tiles(self) -> usize {
        self.tiles
    }
    /// Returns the row of a strip, and its columns.
    pub(crate) fn place(self, strip: usize) -> (usize, Range<usize>) {
        let first = strip % self.per_row() * self.tiles;
        let end = (first + self.tiles).min(self.columns);
        (strip / self.per_row(), first..end)
    }
}

impl TileLists {
    /// Clears the lists for an image with the given number of columns and rows of tiles.
    pub(crate) fn start(&mut self, columns: usize, rows: usize) {
        self.start.clear();
        self.start.resize(columns * rows + 1, 0);
        self.keys.clear();
        self.translucent.clear();
        self.shadows = None;
    }
    /// Adds an item with the given number.
    pub(crate) fn add(&mut self, number: u32, item: &DrawItem, columns: usize) {
        // The bits of positive floats sort like their values. Nearest first, then smallest number.
        self.keys
            .push(u64::from(!item.w_max.to_bits()) << 32 | u64::from(number));
        let (x, y) = tiles(&item.rect);
        for row in y {
            for count in &mut self.start[row * columns + 1..][x.clone()] {
                *count += 1;
            }
        }
    }
    /// Sorts the items from front to back, then distributes them to the tiles by counting sort;
    /// `item` returns the item with a given number.
    pub(crate) fn sort<'a>(
        &mut self,
        columns: usize,
        rows: usize,
        item: impl Fn(u32) -> &'a DrawItem,
    ) {
        let Self {
            start,
            order,
            next,
            keys,
            strips,
            ..
        } = self;
        keys.sort_unstable();
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        let all = TileStrips::new(columns, rows);
        strips.clear();
        strips.extend(0..(rows * all.per_row()) as u32);
        strips.sort_unstable_by_key(|strip| {
            let (row, tiles) = all.place(*strip as usize);
            let count = start[row * columns + tiles.end] - start[row * columns + tiles.start];
            (std::cmp::Reverse(count), *strip)
        });
        next.clone_from(start);
        order.resize(start[start.len() - 1] as usize, 0);
        for key in &*keys {
            let number = *key as u32;
            let (x, y) = tiles(&item(number).rect);
            for row in y {
                for at in &mut next[row * columns..][x.clone()] {
                    order[*at as usize] = number;
                    *at += 1;
                }
            }
        }
    }
    /// Returns the numbers of a tile's items, from front to back.
    pub(crate) fn items_of(&self, tile: usize) -> &[u32] {
        &self.order[self.start[tile] as usize..self.start[tile + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_cover_every_tile_once() {
        for (columns, rows) in [(1, 1), (10, 15), (20, 23), (30, 34), (7, 64), (60, 100)] {
            let strips = TileStrips::new(columns, rows);
            let n = rows * strips.per_row();
            assert!(n <= MAX_STRIPS.max(rows), "{columns} x {rows}: {n}");
            let places = (0..n).map(|strip| strips.place(strip));
            let tiles: Vec<(usize, usize)> = places
                .flat_map(|(row, columns)| columns.map(move |column| (row, column)))
                .collect();
            let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
            assert!(tiles.into_iter().eq(all), "{columns} x {rows}");
        }
    }
}
