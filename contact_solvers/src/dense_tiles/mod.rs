//! Cholesky factorization and products of large dense blocks, stored column by column.
//!
//! Each tile of a result stays in registers until all products are subtracted from it. Every
//! element subtracts its products in the same order whatever the size of its tile, so that bits do
//! not depend on the length of vectors.

use std::ops::Range;
use tarragon_framework::simd::{WideKernel, dispatch_wide, multiply_add};

/// Columns of a tile, and the fewest rows. Products of matrices need as many rows.
const COLUMNS: usize = 4;
/// Rows of most tiles: eight registers, with which a processor hides the time of an addition.
const ROWS: usize = 8;
/// The same with vectors of eight numbers.
const WIDE_ROWS: usize = 16;

/// Returns whether a matrix that is solved for, or a product, has enough elements for tiles to be
/// faster.
#[inline]
pub(super) fn has_tiles(rows: usize, columns: usize) -> bool {
    rows.min(columns) >= COLUMNS && rows * columns > 36
}

/// Replaces a matrix, of which the lower triangle is read, by its Cholesky factor with the inverses
/// on the diagonal; returns false if it is not positive definite. What is above the diagonal has no
/// meaning.
pub(super) fn factor(n: usize, a: &mut [f64]) -> bool {
    dispatch_wide(DenseFactorization { n, a })
}

/// Solves `X L^T = B` in place for the factor of n columns of another matrix.
pub(super) fn solve_columns(n: usize, l: &[f64], b: &mut [f64]) {
    dispatch_wide(DenseSolution { n, l, b });
}

/// Subtracts `X Y^T`, where both have n columns.
pub(super) fn subtract_product(n: usize, x: &[f64], y: &[f64], out: &mut [f64]) {
    dispatch_wide(Products {
        n,
        x,
        y,
        part: ProductPart::All,
        out,
    });
}

/// Subtracts the lower triangle of `X X^T`, and possibly others of its elements.
pub(super) fn subtract_square(n: usize, x: &[f64], out: &mut [f64]) {
    dispatch_wide(Products {
        n,
        x,
        y: x,
        part: ProductPart::Lower,
        out,
    });
}

/// Columns of some rows.
type Tile<const R: usize> = [[f64; R]; COLUMNS];

#[inline(always)]
fn load<const R: usize>(columns: &[f64], stride: usize, first: usize) -> Tile<R> {
    let mut tile = [[0.0; R]; COLUMNS];
    for (tile, column) in tile.iter_mut().zip(columns.chunks_exact(stride)) {
        if let Some(rows) = column[first..].first_chunk() {
            *tile = *rows;
        }
    }
    tile
}

/// Stores a tile in place of elements, without its first rows and columns, which are skipped.
#[inline(always)]
fn store<const R: usize>(
    tile: &Tile<R>,
    skip_rows: usize,
    skip_columns: usize,
    columns: &mut [f64],
    stride: usize,
    first: usize,
) {
    let columns = columns.chunks_exact_mut(stride);
    for (tile, column) in tile.iter().zip(columns).skip(skip_columns) {
        let Some(rows) = column[first..].first_chunk_mut::<R>() else {
            return;
        };
        match skip_rows {
            0 => *rows = *tile,
            skip => rows[skip..].copy_from_slice(&tile[skip..]),
        }
    }
}

/// Rows of a matrix from one of them on.
#[derive(Clone, Copy)]
struct RowsFrom<'a> {
    first: usize,
    columns: &'a [f64],
    /// Number of all rows.
    stride: usize,
}

/// Subtracts `X Y^T` from a tile.
#[inline(always)]
fn subtract<const FUSED: bool, const R: usize>(
    tile: Tile<R>,
    x: RowsFrom<'_>,
    y: RowsFrom<'_>,
) -> Tile<R> {
    // Loops over arrays of arrays would keep them in memory at times.
    let [mut t0, mut t1, mut t2, mut t3] = tile;
    let columns = x.columns.chunks_exact(x.stride);
    for (x_column, y_column) in columns.zip(y.columns.chunks_exact(y.stride)) {
        let (Some(x), Some(y)) = (
            x_column[x.first..].first_chunk::<R>(),
            y_column[y.first..].first_chunk::<COLUMNS>(),
        ) else {
            break;
        };
        let [y0, y1, y2, y3] = *y;
        subtract_multiple::<FUSED, R>(&mut t0, x, y0);
        subtract_multiple::<FUSED, R>(&mut t1, x, y1);
        subtract_multiple::<FUSED, R>(&mut t2, x, y2);
        subtract_multiple::<FUSED, R>(&mut t3, x, y3);
    }
    [t0, t1, t2, t3]
}

#[inline(always)]
fn subtract_multiple<const FUSED: bool, const R: usize>(
    out: &mut [f64; R],
    x: &[f64; R],
    factor: f64,
) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = multiply_add::<FUSED>(*x, -factor, *out);
    }
}

#[inline(always)]
fn scale<const R: usize>(x: &mut [f64; R], factor: f64) {
    for x in x {
        *x *= factor;
    }
}

/// Part of a factor that belongs to the columns of a tile.
#[derive(Clone, Copy, Default)]
struct Triangle {
    /// Inverses of the diagonal.
    inverses: [f64; COLUMNS],
    /// Elements below the diagonal, by column.
    l0: [f64; 3],
    l1: [f64; 2],
    l2: f64,
}

impl Triangle {
    /// Reads a triangle whose first row is given.
    #[inline(always)]
    fn read(columns: &[f64], stride: usize, first: usize) -> Self {
        let [c0, c1, c2, c3] = load::<COLUMNS>(columns, stride, first);
        Self {
            inverses: [c0[0], c1[1], c2[2], c3[3]],
            l0: [c0[1], c0[2], c0[3]],
            l1: [c1[2], c1[3]],
            l2: c2[3],
        }
    }

    /// Replaces a tile T by `T L^-T`.
    #[inline(always)]
    fn solve<const FUSED: bool, const R: usize>(&self, tile: Tile<R>) -> Tile<R> {
        let [mut t0, mut t1, mut t2, mut t3] = tile;
        let ([i0, i1, i2, i3], [l10, l20, l30], [l21, l31]) = (self.inverses, self.l0, self.l1);
        scale(&mut t0, i0);
        subtract_multiple::<FUSED, R>(&mut t1, &t0, l10);
        subtract_multiple::<FUSED, R>(&mut t2, &t0, l20);
        subtract_multiple::<FUSED, R>(&mut t3, &t0, l30);
        scale(&mut t1, i1);
        subtract_multiple::<FUSED, R>(&mut t2, &t1, l21);
        subtract_multiple::<FUSED, R>(&mut t3, &t1, l31);
        scale(&mut t2, i2);
        subtract_multiple::<FUSED, R>(&mut t3, &t2, self.l2);
        scale(&mut t3, i3);
        [t0, t1, t2, t3]
    }
}

/// Factors a triangle whose first row is given; returns false if it is not positive definite.
/// Square roots wait until all pivots are known, because each would wait for the one before.
// Inlined, the compiler would split the tiles of its caller into single numbers.
#[inline(never)]
fn factor_triangle(columns: &mut [f64], stride: usize, first: usize) -> bool {
    let [a0, a1, a2, a3] = load::<COLUMNS>(columns, stride, first);
    let inverse = 1.0 / a0[0];
    let [m1, m2, m3] = [a0[1] * inverse, a0[2] * inverse, a0[3] * inverse];
    let (d1, a12, a13) = (a1[1] - m1 * a0[1], a1[2] - m1 * a0[2], a1[3] - m1 * a0[3]);
    let (d2, a23) = (a2[2] - m2 * a0[2], a2[3] - m2 * a0[3]);
    let d3 = a3[3] - m3 * a0[3];
    let inverse = 1.0 / d1;
    let [m2, m3] = [a12 * inverse, a13 * inverse];
    let (d2, a23) = (d2 - m2 * a12, a23 - m2 * a13);
    let d3 = (d3 - m3 * a13) - a23 * (a23 / d2);
    let pivots = [a0[0], d1, d2, d3];
    // Also false for NaN.
    if !pivots.iter().all(|d| *d > 0.0 && *d < f64::INFINITY) {
        return false;
    }
    let [i0, i1, i2, i3] = pivots.map(|d| 1.0 / d.sqrt());
    let factor = [
        [i0, a0[1] * i0, a0[2] * i0, a0[3] * i0],
        [0.0, i1, a12 * i1, a13 * i1],
        [0.0, 0.0, i2, a23 * i2],
        [0.0, 0.0, 0.0, i3],
    ];
    store(&factor, 0, 0, columns, stride, first);
    true
}

/// Work on some rows of a result, tile after tile.
trait Strips {
    /// Does the work for R rows from `first` on, of which the first `skip` are left as they are.
    fn strip<const R: usize>(&mut self, first: usize, skip: usize);
}

/// Does the work for a range of rows, at least [`COLUMNS`] from the first of all. Rows at the end
/// that make no whole tile are those of a tile that includes some rows before them.
#[inline(always)]
fn for_strips<const FUSED: bool, const WIDE: bool>(rows: Range<usize>, strips: &mut impl Strips) {
    let (mut first, end) = (rows.start, rows.end);
    while WIDE && first + WIDE_ROWS <= end {
        strips.strip::<WIDE_ROWS>(first, 0);
        first += WIDE_ROWS;
    }
    // Short vectors have no registers for so many rows.
    if FUSED {
        while first + ROWS <= end {
            strips.strip::<ROWS>(first, 0);
            first += ROWS;
        }
        if first + COLUMNS < end && end >= ROWS {
            strips.strip::<ROWS>(end - ROWS, first + ROWS - end);
            return;
        }
    }
    while first + COLUMNS <= end {
        strips.strip::<COLUMNS>(first, 0);
        first += COLUMNS;
    }
    if first < end {
        strips.strip::<COLUMNS>(end - COLUMNS, first + COLUMNS - end);
    }
}

/// Subtracts multiples of columns from another one, which follows them.
#[inline(always)]
fn subtract_columns<const FUSED: bool>(
    known: &[f64],
    column: &mut [f64],
    factors: impl Iterator<Item = f64>,
) {
    for (known, factor) in known.chunks_exact(column.len()).zip(factors) {
        for (x, known) in column.iter_mut().zip(known) {
            *x = multiply_add::<FUSED>(*known, -factor, *x);
        }
    }
}

/// Factorization of a matrix. Columns that make no whole tile are the first, which subtract the
/// fewest products.
struct DenseFactorization<'a> {
    n: usize,
    a: &'a mut [f64],
}

impl WideKernel for DenseFactorization<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) -> bool {
        let (n, a) = (self.n, self.a);
        for j in 0..n % COLUMNS {
            let (known, rest) = a.split_at_mut(j * n);
            let column = &mut rest[..n];
            let factors = known.chunks_exact(n).map(|known| known[j]);
            subtract_columns::<FUSED>(known, column, factors);
            let pivot = column[j];
            // Also false for NaN.
            if !(pivot > 0.0 && pivot < f64::INFINITY) {
                return false;
            }
            let inverse = 1.0 / pivot.sqrt();
            for x in &mut *column {
                *x *= inverse;
            }
            column[j] = inverse;
        }
        for j in (n % COLUMNS..n).step_by(COLUMNS) {
            let (known, rest) = a.split_at_mut(j * n);
            let columns = &mut rest[..COLUMNS * n];
            let mut strips = FactorProducts::<FUSED> {
                n,
                j,
                known,
                columns,
            };
            for_strips::<FUSED, WIDE>(j..n, &mut strips);
            if !factor_triangle(columns, n, j) {
                return false;
            }
            let triangle = Triangle::read(columns, n, j);
            let mut strips = FactorColumns::<FUSED> {
                n,
                j,
                triangle,
                columns,
            };
            for_strips::<FUSED, WIDE>(j..n, &mut strips);
        }
        true
    }
}

/// Subtraction of the products of known columns of a factor from those from j on.
struct FactorProducts<'a, const FUSED: bool> {
    n: usize,
    j: usize,
    known: &'a [f64],
    columns: &'a mut [f64],
}

impl<const FUSED: bool> Strips for FactorProducts<'_, FUSED> {
    #[inline(always)]
    fn strip<const R: usize>(&mut self, first: usize, _: usize) {
        let n = self.n;
        let known = |first| RowsFrom {
            first,
            columns: self.known,
            stride: n,
        };
        let tile = load::<R>(self.columns, n, first);
        let tile = subtract::<FUSED, R>(tile, known(first), known(self.j));
        store(&tile, 0, 0, self.columns, n, first);
    }
}

/// Columns of a factor from j on, whose triangle is known.
struct FactorColumns<'a, const FUSED: bool> {
    n: usize,
    j: usize,
    triangle: Triangle,
    columns: &'a mut [f64],
}

impl<const FUSED: bool> Strips for FactorColumns<'_, FUSED> {
    #[inline(always)]
    fn strip<const R: usize>(&mut self, first: usize, _: usize) {
        let tile = load::<R>(self.columns, self.n, first);
        let tile = self.triangle.solve::<FUSED, R>(tile);
        let skip = if first == self.j { COLUMNS } else { 0 };
        store(&tile, skip, 0, self.columns, self.n, first);
    }
}

/// Solution of `X L^T = B`, in place of B.
struct DenseSolution<'a> {
    n: usize,
    l: &'a [f64],
    b: &'a mut [f64],
}

impl WideKernel for DenseSolution<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) {
        let (n, l) = (self.n, self.l);
        let m = self.b.len() / n;
        for j in 0..n % COLUMNS {
            let (known, rest) = self.b.split_at_mut(j * m);
            let column = &mut rest[..m];
            let factors = l.chunks_exact(n).map(|l| l[j]);
            subtract_columns::<FUSED>(known, column, factors);
            for x in column {
                *x *= l[j * n + j];
            }
        }
        let mut strips = SolutionStrips::<FUSED> { n, l, m, b: self.b };
        for_strips::<FUSED, WIDE>(0..m, &mut strips);
    }
}

/// Rows of a solution, of which the columns before the first whole tile are known.
struct SolutionStrips<'a, const FUSED: bool> {
    n: usize,
    l: &'a [f64],
    m: usize,
    b: &'a mut [f64],
}

impl<const FUSED: bool> Strips for SolutionStrips<'_, FUSED> {
    #[inline(always)]
    fn strip<const R: usize>(&mut self, first: usize, skip: usize) {
        let (n, m) = (self.n, self.m);
        for j in (n % COLUMNS..n).step_by(COLUMNS) {
            let (known, columns) = self.b.split_at_mut(j * m);
            let (before, of_triangle) = self.l.split_at(j * n);
            let x = RowsFrom {
                first,
                columns: known,
                stride: m,
            };
            let y = RowsFrom {
                first: j,
                columns: before,
                stride: n,
            };
            let tile = subtract::<FUSED, R>(load(columns, m, first), x, y);
            let tile = Triangle::read(of_triangle, n, j).solve::<FUSED, R>(tile);
            store(&tile, skip, 0, columns, m, first);
        }
    }
}

/// Elements of a product that are needed.
#[derive(Clone, Copy, PartialEq)]
enum ProductPart {
    All,
    Lower,
}

/// Subtraction of `X Y^T`, where both have n columns.
struct Products<'a> {
    n: usize,
    x: &'a [f64],
    y: &'a [f64],
    part: ProductPart,
    out: &'a mut [f64],
}

impl WideKernel for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) {
        let rows = 0..self.x.len() / self.n;
        for_strips::<FUSED, WIDE>(rows, &mut ProductStrips::<FUSED>(self));
    }
}

struct ProductStrips<'a, const FUSED: bool>(Products<'a>);

impl<const FUSED: bool> Strips for ProductStrips<'_, FUSED> {
    #[inline(always)]
    fn strip<const R: usize>(&mut self, first: usize, skip: usize) {
        let Products {
            n, x, y, part, out, ..
        } = &mut self.0;
        let (m, p) = (x.len() / *n, y.len() / *n);
        let end = match part {
            ProductPart::All => p,
            ProductPart::Lower => p.min(first + R),
        };
        for j in (0..end).step_by(COLUMNS) {
            // The last tile includes some columns before it.
            let first_column = j.min(p - COLUMNS);
            let columns = &mut out[first_column * m..];
            let x = RowsFrom {
                first,
                columns: x,
                stride: m,
            };
            let y = RowsFrom {
                first: first_column,
                columns: y,
                stride: p,
            };
            let tile = subtract::<FUSED, R>(load(columns, m, first), x, y);
            store(&tile, skip, j - first_column, columns, m, first);
        }
    }
}

#[cfg(test)]
mod tests;
