//! Products and solutions of tiles with vectors.

use super::tile::{TILE, TILE_LEN};
use tarragon_framework::simd::{LANES, Lanes, Pack};

/// Packs of a tile's vector.
const PACKS: usize = TILE / LANES;

/// Vector of a tile.
pub(super) type TileVector<P> = [P; PACKS];

/// Columns of a tile, as many as there are numbers in a pack.
type Columns = [f64; LANES * TILE];

/// The numbers from `at`, as many as there are and zeros after them.
#[inline(always)]
pub(super) fn load<P: Pack>(zero: P, x: &[f64], at: usize) -> TileVector<P> {
    if let Some(full) = x[at..].first_chunk() {
        return load_column(zero, full);
    }
    let mut y = [0.0; TILE];
    y[..x.len() - at].copy_from_slice(&x[at..]);
    load_column(zero, &y)
}

/// Replaces the numbers from `at`, as many as there are.
#[inline(always)]
pub(super) fn store<P: Pack>(y: &TileVector<P>, x: &mut [f64], at: usize) {
    let y = numbers(y);
    let n = TILE.min(x.len() - at);
    x[at..at + n].copy_from_slice(&y[..n]);
}

#[inline(always)]
pub(super) fn load_column<P: Pack>(zero: P, column: &[f64; TILE]) -> TileVector<P> {
    let mut all = [zero; PACKS];
    for (pack, x) in all.iter_mut().zip(column.as_chunks().0) {
        *pack = zero.load(Lanes(*x));
    }
    all
}

#[inline(always)]
pub(super) fn numbers<P: Pack>(y: &TileVector<P>) -> [f64; TILE] {
    let mut all = [0.0; TILE];
    for (x, pack) in all.as_chunks_mut().0.iter_mut().zip(y) {
        *x = pack.store().0;
    }
    all
}

/// `y -= a x` for a row of tiles a.
#[inline(always)]
pub(super) fn subtract_vector<P: Pack>(y: &mut TileVector<P>, a: &[f64], x: &[f64]) {
    let zero = y[0].splat(0.0);
    // Sums that do not wait for each other.
    let mut sums = [[zero; PACKS]; LANES];
    let columns: &[Columns] = a.as_chunks().0;
    for (columns, x) in columns.iter().zip(x.as_chunks::<LANES>().0) {
        let columns = columns.as_chunks().0.iter().zip(x);
        for ((column, x), sum) in columns.zip(&mut sums) {
            let x = zero.splat(*x);
            for (a, sum) in load_column(zero, column).into_iter().zip(sum) {
                *sum = a.mul_add(x, *sum);
            }
        }
    }
    let [a, b, c, d] = sums;
    for (k, y) in y.iter_mut().enumerate() {
        *y -= (a[k] + b[k]) + (c[k] + d[k]);
    }
}

/// `x -= a^T y` for a row of tiles a, as far as x goes.
#[inline(always)]
pub(super) fn subtract_transposed<P: Pack>(x: &mut [f64], a: &[f64], y: &TileVector<P>) {
    let zero = y[0].splat(0.0);
    let columns: &[Columns] = a.as_chunks().0;
    for (x, columns) in x.chunks_mut(LANES).zip(columns) {
        let products = products(columns, y, 0);
        if let Some(x) = x.first_chunk_mut() {
            *x = (zero.load(Lanes(*x)) - products).store().0;
            continue;
        }
        for (x, product) in x.iter_mut().zip(products.store().0) {
            *x -= product;
        }
    }
}

/// Scalar products of columns with a vector, from a pack on.
#[inline(always)]
fn products<P: Pack>(columns: &Columns, y: &TileVector<P>, first: usize) -> P {
    let zero = y[0].splat(0.0);
    let mut sums = [zero; LANES];
    for (sum, column) in sums.iter_mut().zip(columns.as_chunks().0) {
        let column = load_column(zero, column);
        for (a, y) in column.into_iter().zip(y).skip(first) {
            *sum = a.mul_add(*y, *sum);
        }
    }
    let [a, b, c, d] = P::transpose(sums);
    (a + b) + (c + d)
}

/// Replaces y by `l^-1 y` with a factored tile l.
#[inline(always)]
pub(super) fn forward<P: Pack>(l: &[f64; TILE_LEN], y: &mut TileVector<P>) {
    let zero = y[0].splat(0.0);
    let all: &[Columns] = l.as_chunks().0;
    for (n, columns) in all.iter().enumerate() {
        let (columns, _) = columns.as_chunks::<TILE>();
        let mut x = y[n].store().0;
        for (i, column) in columns.iter().enumerate() {
            // On the diagonal there is the inverse.
            x[i] *= column[LANES * n + i];
            for k in i + 1..LANES {
                x[k] -= column[LANES * n + k] * x[i];
            }
        }
        y[n] = zero.load(Lanes(x));
        for (column, x) in columns.iter().zip(x) {
            let (column, x) = (load_column(zero, column), zero.splat(-x));
            for (y, a) in y.iter_mut().zip(column).skip(n + 1) {
                *y = a.mul_add(x, *y);
            }
        }
    }
}

/// Replaces y by `l^-T y` with a factored tile l.
#[inline(always)]
pub(super) fn backward<P: Pack>(l: &[f64; TILE_LEN], y: &mut TileVector<P>) {
    let zero = y[0].splat(0.0);
    let all: &[Columns] = l.as_chunks().0;
    for (n, columns) in all.iter().enumerate().rev() {
        let mut x = (y[n] - products(columns, y, n + 1)).store().0;
        let (columns, _) = columns.as_chunks::<TILE>();
        for i in (0..LANES).rev() {
            for k in i + 1..LANES {
                x[i] -= columns[i][LANES * n + k] * x[k];
            }
            x[i] *= columns[i][LANES * n + i];
        }
        y[n] = zero.load(Lanes(x));
    }
}
