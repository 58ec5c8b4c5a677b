//! Kernels on tiles of 12x12 numbers, stored by columns. Four vertices make a tile row.
//!
//! Loops over whole tiles have fixed lengths, so that compilers turn them into vector instructions;
//! `FUSED` says whether the processor multiplies and adds in one instruction.

use tarragon_framework::simd::multiply_add;

/// Rows and columns of a tile.
pub(super) const TILE: usize = 12;
/// Numbers of a tile.
pub(super) const TILE_LEN: usize = TILE * TILE;
/// Columns of a tile that are updated together, so that their sums stay in registers: with four,
/// all sixteen of AVX2 are in use, and compilers at times spill one in the innermost loop.
const COLUMNS: usize = 3;
/// The same with vectors of eight numbers, of which there are 32.
const WIDE_COLUMNS: usize = 6;
/// Columns of the factors that are read at once, so that they stay in the first cache.
const DEPTH: usize = 120;

/// `c -= a b^T` for a tile c and rows of tiles a and b. `WIDE` says whether vectors have eight
/// numbers; the bits are the same.
#[inline(always)]
pub(super) fn subtract_product<const FUSED: bool, const WIDE: bool>(
    c: &mut [f64; TILE_LEN],
    a: &[f64],
    b: &[f64],
) {
    let a = a.chunks(DEPTH * TILE);
    let b = b.chunks(DEPTH * TILE);
    for (a, b) in a.zip(b) {
        let (a, b) = (a.as_chunks::<TILE>().0, b.as_chunks::<TILE>().0);
        if WIDE {
            subtract_columns::<FUSED, WIDE, WIDE_COLUMNS, { WIDE_COLUMNS * TILE }>(c, a, b);
        } else {
            subtract_columns::<FUSED, WIDE, COLUMNS, { COLUMNS * TILE }>(c, a, b);
        }
    }
}

/// The same for parts of the rows, `N` columns of c at once.
#[inline(always)]
fn subtract_columns<const FUSED: bool, const WIDE: bool, const N: usize, const LEN: usize>(
    c: &mut [f64; TILE_LEN],
    a: &[[f64; TILE]],
    b: &[[f64; TILE]],
) {
    for (q, c) in c.as_chunks_mut::<LEN>().0.iter_mut().enumerate() {
        let mut sums = [[0.0; TILE]; N];
        if WIDE {
            // Eight rows and four, because compilers would make three vectors of four.
            let (mut upper, mut lower) = ([[0.0; 8]; N], [[0.0; 4]; N]);
            for (a, b) in a.iter().zip(b) {
                for j in 0..N {
                    let s = b[N * q + j];
                    for i in 0..8 {
                        upper[j][i] = multiply_add::<FUSED>(a[i], s, upper[j][i]);
                    }
                    for i in 0..4 {
                        lower[j][i] = multiply_add::<FUSED>(a[8 + i], s, lower[j][i]);
                    }
                }
            }
            for ((sum, upper), lower) in sums.iter_mut().zip(upper).zip(lower) {
                sum[..8].copy_from_slice(&upper);
                sum[8..].copy_from_slice(&lower);
            }
        } else {
            for (a, b) in a.iter().zip(b) {
                for (j, sum) in sums.iter_mut().enumerate() {
                    let s = b[N * q + j];
                    for (sum, a) in sum.iter_mut().zip(a) {
                        *sum = multiply_add::<FUSED>(*a, s, *sum);
                    }
                }
            }
        }
        for (c, sum) in c.iter_mut().zip(sums.as_flattened()) {
            *c -= sum;
        }
    }
}

/// Replaces a tile by its Cholesky factor, with the inverses on the diagonal and zeros above it;
/// returns false if it is not positive definite.
#[inline(always)]
pub(super) fn factor_tile<const FUSED: bool>(c: &mut [f64; TILE_LEN]) -> bool {
    let (columns, _) = c.as_chunks_mut::<TILE>();
    for j in 0..TILE {
        let (done, rest) = columns.split_at_mut(j);
        let Some(column) = rest.first_mut() else {
            return false;
        };
        let mut sum = *column;
        for done in &*done {
            let s = -done[j];
            for (sum, x) in sum.iter_mut().zip(done) {
                *sum = multiply_add::<FUSED>(*x, s, *sum);
            }
        }
        let pivot = sum[j];
        // Also false for NaN.
        if !(pivot > 0.0 && pivot < f64::INFINITY) {
            return false;
        }
        let inverse = 1.0 / pivot.sqrt();
        for (i, (x, sum)) in column.iter_mut().zip(&sum).enumerate() {
            *x = if i < j { 0.0 } else { sum * inverse };
        }
        column[j] = inverse;
    }
    true
}

/// Replaces a tile x by `x l^-T` with a factored tile l.
#[inline(always)]
pub(super) fn solve_tile<const FUSED: bool>(x: &mut [f64; TILE_LEN], l: &[f64; TILE_LEN]) {
    let (columns, _) = x.as_chunks_mut::<TILE>();
    let (l, _) = l.as_chunks::<TILE>();
    for first in (0..TILE).step_by(COLUMNS) {
        let (done, rest) = columns.split_at_mut(first);
        let Some(own) = rest.first_chunk_mut::<COLUMNS>() else {
            return;
        };
        // Several columns at once, so that sums do not wait for each other.
        let mut sums = *own;
        for (done, l) in done.iter().zip(l) {
            for (j, sum) in sums.iter_mut().enumerate() {
                subtract_scaled::<FUSED>(sum, l[first + j], done);
            }
        }
        for j in 0..COLUMNS {
            let l = &l[first + j];
            let (solved, others) = sums.split_at_mut(j + 1);
            let solved = &mut solved[j];
            for x in &mut *solved {
                *x *= l[first + j];
            }
            for (k, sum) in others.iter_mut().enumerate() {
                subtract_scaled::<FUSED>(sum, l[first + j + 1 + k], solved);
            }
        }
        *own = sums;
    }
}

/// `y -= s x`.
#[inline(always)]
fn subtract_scaled<const FUSED: bool>(y: &mut [f64; TILE], s: f64, x: &[f64; TILE]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = multiply_add::<FUSED>(*x, -s, *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_vectors_give_the_same_bits() {
        // Eleven tiles, which take two passes.
        let numbers = |first: usize, len: usize| -> Vec<f64> {
            (first..first + len).map(|i| (i as f64).sin()).collect()
        };
        let (a, b) = (numbers(0, 11 * TILE_LEN), numbers(7, 11 * TILE_LEN));
        let subtract = |f: fn(&mut [f64; TILE_LEN], &[f64], &[f64])| {
            let mut c = [1.0; TILE_LEN];
            f(&mut c, &a, &b);
            c
        };
        let short = subtract(subtract_product::<true, false>);
        assert_eq!(subtract(subtract_product::<true, true>), short);
        let short = subtract(subtract_product::<false, false>);
        assert_eq!(subtract(subtract_product::<false, true>), short);
    }
}
