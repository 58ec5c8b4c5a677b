//! Which tiles show what, from front to back.

use super::chunk::DrawItem;
use super::shadows::Shadows;
use crate::render::cpu::pixels::Rect;
use crate::render::cpu::raster::{TILE_HEIGHT, TILE_WIDTH};
use std::ops::Range;

/// The order in which a prepared image is drawn; its storage is used again.
#[derive(Default)]
pub(crate) struct TileLists {
    /// For tile t, `order[start[t]..start[t + 1]]` are its items from front to back.
    start: Vec<u32>,
    order: Vec<u32>,
    /// While sorting: where the next item of a tile goes.
    next: Vec<u32>,
    /// While sorting: items in an order of numbers.
    keys: Vec<u64>,
    /// TileStrips of the image, by their number, those with most to draw first.
    pub(crate) strips: Vec<u32>,
    /// What colour images show with everything behind it.
    pub(crate) translucent: Vec<DrawItem>,
    pub(crate) shadows: Option<Shadows>,
}

/// Tiles of a rectangle: columns and rows.
fn tiles(rect: &Rect) -> (Range<usize>, Range<usize>) {
    let range =
        |low: i32, high: i32, size: usize| low as usize / size..(high as usize).div_ceil(size);
    (
        range(rect.x0, rect.x1, TILE_WIDTH),
        range(rect.y0, rect.y1, TILE_HEIGHT),
    )
}

/// TileStrips that an image has at most, as long as it has no more rows of tiles: what needs no memory
/// of its own.
pub(crate) const MAX_STRIPS: usize = 64;
/// Tiles beside each other that are drawn by one thread, at least: fewer share too little.
const MIN_TILES: usize = 5;

/// TileStrips of an image: tiles beside each other in one row.
#[derive(Clone, Copy)]
pub(crate) struct TileStrips {
    columns: usize,
    /// Tiles of a strip.
    tiles: usize,
}

impl TileStrips {
    /// The strips of an image of so many columns and rows of tiles.
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        let per_row = (MAX_STRIPS / rows.max(1)).max(1);
        let tiles = columns.div_ceil(per_row).max(MIN_TILES);
        Self { columns, tiles }
    }
    /// TileStrips beside each other.
    pub(crate) fn per_row(self) -> usize {
        self.columns.div_ceil(self.tiles)
    }
    /// The tiles that all strips but the last of a row have.
    pub(crate) fn tiles(self) -> usize {
        self.tiles
    }
    /// The row of a strip, and its columns.
    pub(crate) fn place(self, strip: usize) -> (usize, Range<usize>) {
        let first = strip % self.per_row() * self.tiles;
        let end = (first + self.tiles).min(self.columns);
        (strip / self.per_row(), first..end)
    }
}

impl TileLists {
    /// Nothing, for so many tiles.
    pub(crate) fn start(&mut self, columns: usize, rows: usize) {
        self.start.clear();
        self.start.resize(columns * rows + 1, 0);
        self.keys.clear();
        self.translucent.clear();
        self.shadows = None;
    }
    /// Adds an item under a number.
    pub(crate) fn add(&mut self, number: u32, item: &DrawItem, columns: usize) {
        // Positive numbers are ordered as their bits are; the nearest first, then the first number.
        self.keys
            .push(u64::from(!item.w_max.to_bits()) << 32 | u64::from(number));
        let (x, y) = tiles(&item.rect);
        for row in y {
            for count in &mut self.start[row * columns + 1..][x.clone()] {
                *count += 1;
            }
        }
    }
    /// A counting sort by tile of the items sorted from front to back; `item` gives that of a
    /// number.
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
    /// Numbers of the items of a tile, from front to back.
    pub(crate) fn items_of(&self, tile: usize) -> &[u32] {
        &self.order[self.start[tile] as usize..self.start[tile + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_every_tile_once() {
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
