//! Which tiles show what, from front to back.

use super::part::Item;
use super::pixels::Rect;
use super::shadow::Shadows;
use super::tile::{TILE_HEIGHT, TILE_WIDTH};
use std::ops::Range;

/// The order in which a prepared image is drawn; its storage is used again.
#[derive(Default)]
pub(super) struct Layout {
    /// For tile t, `order[start[t]..start[t + 1]]` are its items from front to back.
    start: Vec<u32>,
    order: Vec<u32>,
    /// While sorting: where the next item of a tile goes.
    next: Vec<u32>,
    /// While sorting: items in an order of numbers.
    keys: Vec<u64>,
    /// Pieces of the image, by their number, those with most to draw first.
    pub(super) pieces: Vec<u32>,
    /// What colour images show with everything behind it.
    pub(super) veils: Vec<Item>,
    pub(super) shadows: Option<Shadows>,
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

/// Tiles beside each other that are drawn by one thread.
pub(super) const PIECE: usize = 5;

/// The row of a piece, and its columns.
pub(super) fn tiles_of(piece: usize, columns: usize) -> (usize, Range<usize>) {
    let per_row = columns.div_ceil(PIECE);
    let first = piece % per_row * PIECE;
    (piece / per_row, first..(first + PIECE).min(columns))
}

impl Layout {
    /// Nothing, for so many tiles.
    pub(super) fn start(&mut self, columns: usize, rows: usize) {
        self.start.clear();
        self.start.resize(columns * rows + 1, 0);
        self.keys.clear();
        self.veils.clear();
        self.shadows = None;
    }
    /// Adds an item under a number.
    pub(super) fn add(&mut self, number: u32, item: &Item, columns: usize) {
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
    /// A counting sort by tile of the items sorted from front to back; `item` gives that of a number.
    pub(super) fn sort<'a>(&mut self, columns: usize, rows: usize, item: impl Fn(u32) -> &'a Item) {
        let Self {
            start,
            order,
            next,
            keys,
            pieces,
            ..
        } = self;
        keys.sort_unstable();
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        let per_row = columns.div_ceil(PIECE);
        pieces.clear();
        pieces.extend(0..(rows * per_row) as u32);
        pieces.sort_unstable_by_key(|piece| {
            let (row, tiles) = tiles_of(*piece as usize, columns);
            let count = start[row * columns + tiles.end] - start[row * columns + tiles.start];
            (std::cmp::Reverse(count), *piece)
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
    pub(super) fn items_of(&self, tile: usize) -> &[u32] {
        &self.order[self.start[tile] as usize..self.start[tile + 1] as usize]
    }
}
