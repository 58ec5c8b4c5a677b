//! Substitution with the factor of one front.

use super::fronts::{Front, Fronts, TILE_VERTICES, triangle};
use super::lanes::Pack;
use super::tile::{TILE, TILE_LEN};
use super::tile_vector::{self, load, load_column, numbers, store};

/// Row j of a front's triangle without its diagonal, and the diagonal.
#[inline(always)]
fn pivot_row(values: &[f64], j: usize) -> Option<(&[f64], &[f64; TILE_LEN])> {
    let row = values.get(triangle(j) * TILE_LEN..triangle(j + 1) * TILE_LEN)?;
    let (left, diagonal) = row.split_at(j * TILE_LEN);
    Some((left, diagonal.first_chunk()?))
}

/// Eliminates the pivots of a front from the right side x.
#[inline(always)]
pub(super) fn solve_forward<P: Pack>(
    zero: P,
    fronts: &Fronts,
    front: &Front,
    values: &[f64],
    x: &mut [f64],
) {
    let values = &values[front.start..front.start + front.len()];
    let (own, later) = x.split_at_mut(3 * front.pivots.end);
    let own = &mut own[3 * front.pivots.start..];
    for j in 0..front.pivot_rows {
        let Some((left, diagonal)) = pivot_row(values, j) else {
            return;
        };
        let mut y = load(zero, own, TILE * j);
        tile_vector::subtract_vector(&mut y, left, &own[..TILE * j]);
        tile_vector::forward(diagonal, &mut y);
        store(&y, own, TILE * j);
    }
    if front.pivot_rows == 0 {
        return;
    }
    // The last tile of pivots may be partly used.
    let whole = TILE * (front.pivot_rows - 1);
    let last = numbers(&load(zero, own, whole));
    let rows = values[front.pivots_len()..].chunks_exact(front.pivot_rows * TILE_LEN);
    let borders = fronts.borders[front.border.clone()].chunks(TILE_VERTICES);
    for (row, border) in rows.zip(borders) {
        let mut y = [zero; 3];
        tile_vector::subtract_vector(&mut y, &row[..whole * TILE], &own[..whole]);
        tile_vector::subtract_vector(&mut y, &row[whole * TILE..], &last);
        for (b, y) in border.iter().zip(numbers(&y).as_chunks::<3>().0) {
            let at = 3 * (b.rank as usize - front.pivots.end);
            for (x, y) in later[at..at + 3].iter_mut().zip(y) {
                *x += y;
            }
        }
    }
}

/// Replaces the right sides of the pivots by the solution, that of the border being known.
#[inline(always)]
pub(super) fn solve_backward<P: Pack>(
    zero: P,
    fronts: &Fronts,
    front: &Front,
    values: &[f64],
    x: &mut [f64],
) {
    let values = &values[front.start..front.start + front.len()];
    let (own, later) = x.split_at_mut(3 * front.pivots.end);
    let own = &mut own[3 * front.pivots.start..];
    if front.pivot_rows == 0 {
        return;
    }
    let rows = values[front.pivots_len()..].chunks_exact(front.pivot_rows * TILE_LEN);
    let borders = fronts.borders[front.border.clone()].chunks(TILE_VERTICES);
    for (row, border) in rows.zip(borders) {
        let mut y = [0.0; TILE];
        for (b, y) in border.iter().zip(y.as_chunks_mut::<3>().0) {
            let at = 3 * (b.rank as usize - front.pivots.end);
            y.copy_from_slice(&later[at..at + 3]);
        }
        tile_vector::subtract_transposed(own, row, &load_column(zero, &y));
    }
    for j in (0..front.pivot_rows).rev() {
        let Some((left, diagonal)) = pivot_row(values, j) else {
            return;
        };
        let mut y = load(zero, own, TILE * j);
        tile_vector::backward(diagonal, &mut y);
        store(&y, own, TILE * j);
        tile_vector::subtract_transposed(&mut own[..TILE * j], left, &y);
    }
}
