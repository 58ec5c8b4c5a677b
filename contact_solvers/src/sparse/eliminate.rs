//! Elimination of the pivots of one dense front.

use super::fronts::{Front, PRODUCTS_PER_TASK, triangle};
use super::tile::{self, TILE_LEN};
use rayon::prelude::*;
use std::ops::Range;
use tarragon_framework::simd::{WideKernel, dispatch_wide};

/// Rows of tiles that are computed together, so that each row of the factor is read once for all.
const BATCH: usize = 4;

/// Eliminates the pivots of a front; returns false if they are not positive definite.
pub(super) fn eliminate_pivots(
    front: &Front,
    parallel: bool,
    pivots: &mut [f64],
    border: &mut [f64],
    update: &mut [f64],
) -> bool {
    let n = front.pivot_rows;
    let many = n * n * n / 6 > PRODUCTS_PER_TASK;
    let factored = if parallel && many {
        factor_in_tasks(0..n, pivots)
    } else {
        dispatch_wide(PivotFactorization { rows: 0..n, pivots })
    };
    if !factored {
        return false;
    }
    if n == 0 || border.is_empty() {
        return true;
    }
    let pivots = &*pivots;
    let many = front.border_rows * n * n / 2 > PRODUCTS_PER_TASK;
    let rows_len = BATCH * n * TILE_LEN;
    if parallel && many {
        border
            .par_chunks_mut(rows_len)
            .for_each(|rows| dispatch_wide(BorderRows { n, pivots, rows }))
    } else {
        dispatch_wide(BorderRows {
            n,
            pivots,
            rows: border,
        })
    }
    let many = triangle(front.border_rows) * n > PRODUCTS_PER_TASK;
    let task = UpdateRows {
        n,
        border,
        rows: 0..front.border_rows,
        update,
    };
    if parallel && many {
        task.in_tasks()
    } else {
        dispatch_wide(task)
    }
    true
}

/// Factors some rows of the pivots' triangle, whose tiles before the first of these columns are
/// done, like all rows above.
fn factor_in_tasks(rows: Range<usize>, pivots: &mut [f64]) -> bool {
    let middle = rows.start.midpoint(rows.end);
    let products = (rows.end - middle) * (middle - rows.start) * middle / 2;
    if products <= PRODUCTS_PER_TASK {
        return dispatch_wide(PivotFactorization { rows, pivots });
    }
    if !factor_in_tasks(rows.start..middle, pivots) {
        return false;
    }
    let (above, below) = pivots.split_at_mut(triangle(middle) * TILE_LEN);
    let task = PivotRows {
        columns: rows.start..middle,
        rows: middle..rows.end,
        above,
        below: &mut below[..(triangle(rows.end) - triangle(middle)) * TILE_LEN],
    };
    task.in_tasks();
    factor_in_tasks(middle..rows.end, pivots)
}

/// Some tiles of some rows of the pivots' triangle, given the rows above.
struct PivotRows<'a> {
    columns: Range<usize>,
    rows: Range<usize>,
    above: &'a [f64],
    below: &'a mut [f64],
}

impl PivotRows<'_> {
    /// The same in parallel tasks.
    fn in_tasks(self) {
        let Self {
            columns,
            rows,
            above,
            ..
        } = self;
        let products = rows.len() * columns.len() * columns.end / 2;
        if products <= PRODUCTS_PER_TASK || rows.len() < 2 * BATCH {
            dispatch_wide(Self {
                columns,
                rows,
                above,
                below: self.below,
            });
            return;
        }
        let middle = rows.start.midpoint(rows.end);
        let len = (triangle(middle) - triangle(rows.start)) * TILE_LEN;
        let (first, second) = self.below.split_at_mut(len);
        let first = PivotRows {
            columns: columns.clone(),
            rows: rows.start..middle,
            above,
            below: first,
        };
        let second = PivotRows {
            columns,
            rows: middle..rows.end,
            above,
            below: second,
        };
        rayon::join(|| first.in_tasks(), || second.in_tasks());
    }
}

impl WideKernel for PivotRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) {
        let mut rest = self.below;
        let mut start = self.rows.start;
        while start < self.rows.end {
            let end = self.rows.end.min(start + BATCH);
            let len = (triangle(end) - triangle(start)) * TILE_LEN;
            let (batch, others) = rest.split_at_mut(len);
            finish_columns::<FUSED, WIDE>(self.above, self.columns.clone(), batch, start..end);
            rest = others;
            start = end;
        }
    }
}

/// Factorization of some rows of the pivots' triangle, like [`factor_in_tasks`].
struct PivotFactorization<'a> {
    rows: Range<usize>,
    pivots: &'a mut [f64],
}

impl WideKernel for PivotFactorization<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) -> bool {
        let mut start = self.rows.start;
        while start < self.rows.end {
            let end = self.rows.end.min(start + BATCH);
            let (above, rest) = self.pivots.split_at_mut(triangle(start) * TILE_LEN);
            let batch = &mut rest[..(triangle(end) - triangle(start)) * TILE_LEN];
            if !factor_rows::<FUSED, WIDE>(above, self.rows.start, batch, start..end) {
                return false;
            }
            start = end;
        }
        true
    }
}

/// Rows of the border by the factored triangle of the pivots.
struct BorderRows<'a> {
    n: usize,
    pivots: &'a [f64],
    rows: &'a mut [f64],
}

impl WideKernel for BorderRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) {
        for batch in self.rows.chunks_mut(BATCH * self.n * TILE_LEN) {
            for j in 0..self.n {
                let l = &self.pivots[triangle(j) * TILE_LEN..triangle(j + 1) * TILE_LEN];
                for row in batch.chunks_exact_mut(self.n * TILE_LEN) {
                    finish_tile::<FUSED, WIDE>(row, l, j);
                }
            }
        }
    }
}

/// Rows of the update matrix, from which the products of the border's rows are subtracted.
struct UpdateRows<'a> {
    n: usize,
    border: &'a [f64],
    rows: Range<usize>,
    update: &'a mut [f64],
}

impl UpdateRows<'_> {
    /// The same in parallel tasks.
    fn in_tasks(self) {
        let Self {
            n, border, rows, ..
        } = self;
        let products = (triangle(rows.end) - triangle(rows.start)) * n;
        if products <= PRODUCTS_PER_TASK || rows.len() < 2 * BATCH {
            dispatch_wide(Self {
                n,
                border,
                rows,
                update: self.update,
            });
            return;
        }
        // Rows become longer: two thirds of them have about half of the tiles.
        let share = if rows.start == 0 { 0.7 } else { 0.55 };
        let middle = rows.start + (rows.len() as f64 * share) as usize;
        let len = (triangle(middle) - triangle(rows.start)) * TILE_LEN;
        let (above, below) = self.update.split_at_mut(len);
        let first = UpdateRows {
            n,
            border,
            rows: rows.start..middle,
            update: above,
        };
        let second = UpdateRows {
            n,
            border,
            rows: middle..rows.end,
            update: below,
        };
        rayon::join(|| first.in_tasks(), || second.in_tasks());
    }
}

impl WideKernel for UpdateRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) {
        update_rows::<FUSED, WIDE>(self.n, self.border, self.rows, self.update);
    }
}

/// Computes tile j of a row from those before it and row j of the factor.
#[inline(always)]
fn finish_tile<const FUSED: bool, const WIDE: bool>(row: &mut [f64], l: &[f64], j: usize) {
    let (before, tile) = row.split_at_mut(j * TILE_LEN);
    let (l, diagonal) = l.split_at(j * TILE_LEN);
    if let (Some(tile), Some(diagonal)) = (tile.first_chunk_mut(), diagonal.first_chunk()) {
        tile::subtract_product::<FUSED, WIDE>(tile, before, l);
        tile::solve_tile::<FUSED>(tile, diagonal);
    }
}

/// Computes some tiles of some rows of the pivots from the rows above.
#[inline(always)]
fn finish_columns<const FUSED: bool, const WIDE: bool>(
    above: &[f64],
    columns: Range<usize>,
    batch: &mut [f64],
    rows: Range<usize>,
) {
    let place = |i: usize| (triangle(i) - triangle(rows.start)) * TILE_LEN;
    for j in columns {
        let l = &above[triangle(j) * TILE_LEN..triangle(j + 1) * TILE_LEN];
        for i in rows.clone() {
            finish_tile::<FUSED, WIDE>(&mut batch[place(i)..place(i + 1)], l, j);
        }
    }
}

/// Factors some rows of the pivots, after those above and the tiles before a column.
#[inline(always)]
fn factor_rows<const FUSED: bool, const WIDE: bool>(
    above: &[f64],
    column: usize,
    batch: &mut [f64],
    rows: Range<usize>,
) -> bool {
    let first = rows.start;
    let place = |i: usize| (triangle(i) - triangle(first)) * TILE_LEN;
    finish_columns::<FUSED, WIDE>(above, column..first, batch, rows.clone());
    for i in rows {
        let (done, row) = batch.split_at_mut(place(i));
        for j in first..i {
            finish_tile::<FUSED, WIDE>(row, &done[place(j)..place(j + 1)], j);
        }
        let (before, diagonal) = row.split_at_mut(i * TILE_LEN);
        let Some(diagonal) = diagonal.first_chunk_mut() else {
            return false;
        };
        tile::subtract_product::<FUSED, WIDE>(diagonal, before, before);
        if !tile::factor_tile::<FUSED>(diagonal) {
            return false;
        }
    }
    true
}

/// Subtracts the products of the border's rows from some rows of the update matrix.
#[inline(always)]
fn update_rows<const FUSED: bool, const WIDE: bool>(
    n: usize,
    border: &[f64],
    of_update: Range<usize>,
    update: &mut [f64],
) {
    let rows = border.chunks_exact((n * TILE_LEN).max(1));
    let mut rest = update;
    let mut g = of_update.start;
    while g < of_update.end && n > 0 {
        let end = of_update.end.min(g + BATCH);
        let place = |i: usize| (triangle(i) - triangle(g)) * TILE_LEN;
        let (batch, others) = rest.split_at_mut(place(end));
        for (h, b) in rows.clone().take(end).enumerate() {
            for (i, a) in rows.clone().enumerate().take(end).skip(g.max(h)) {
                let at = place(i) + h * TILE_LEN;
                if let Some(tile) = batch[at..].first_chunk_mut() {
                    tile::subtract_product::<FUSED, WIDE>(tile, a, b);
                }
            }
        }
        rest = others;
        g = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_factor_the_same_triangle() {
        // Enough products for several tasks; not a power of two, nor whole batches.
        let n = 67;
        let len = triangle(n) * TILE_LEN;
        let mut start: Vec<f64> = (0..len).map(|i| (i as f64).sin()).collect();
        for i in 0..n {
            let diagonal = &mut start[(triangle(i) + i) * TILE_LEN..][..TILE_LEN];
            // Larger than the sum of a row.
            diagonal
                .iter_mut()
                .step_by(13)
                .for_each(|x| *x = 2.0 * len as f64);
        }
        let (mut one, mut many) = (start.clone(), start);
        assert!(dispatch_wide(PivotFactorization {
            rows: 0..n,
            pivots: &mut one,
        }));
        assert!(factor_in_tasks(0..n, &mut many));
        assert_eq!(one, many);
        // The last pivot is negative: that reaches the end of all tasks.
        many.fill(0.0);
        for i in 0..n {
            let diagonal = &mut many[(triangle(i) + i) * TILE_LEN..][..TILE_LEN];
            diagonal.iter_mut().step_by(13).for_each(|x| *x = 1.0);
        }
        many[len - 1] = -1.0;
        assert!(!factor_in_tasks(0..n, &mut many));
    }

    #[test]
    fn tasks_subtract_the_same_products() {
        // Enough products for several tasks, which begin and end within batches of rows.
        for (n, border_rows) in [(64, 41), (64, 50), (128, 33), (40, 71)] {
            assert!(triangle(border_rows) * n > 2 * PRODUCTS_PER_TASK);
            let len = border_rows * n * TILE_LEN;
            let border: Vec<f64> = (0..len).map(|i| (i as f64).sin()).collect();
            let start = vec![1.0; triangle(border_rows) * TILE_LEN];
            let (mut one, mut many) = (start.clone(), start);
            let task = |update| UpdateRows {
                n,
                border: &border,
                rows: 0..border_rows,
                update,
            };
            dispatch_wide(task(&mut one));
            task(&mut many).in_tasks();
            assert_eq!(one, many, "{n} {border_rows}");
        }
    }
}
