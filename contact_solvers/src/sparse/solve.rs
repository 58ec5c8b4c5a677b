//! Substitution with the factor of one front.

use super::fronts::{Front, Fronts, TILE_VERTICES, triangle};
use super::tile::{TILE, TILE_LEN};
use super::tile_vector::{self, load, load_column, numbers, store};
use tarragon_framework::simd::Pack;

/// The part of a vector of the system that a subtree of fronts needs, three numbers per vertex.
pub(super) struct SubtreeVector<'a> {
    /// Rank of the first vertex of the subtree, and the numbers of all of its vertices.
    pub(super) first: usize,
    pub(super) inner: &'a mut [f64],
    /// Rank of the first vertex of the numbers of later ones, which may begin after a gap.
    pub(super) outer_first: usize,
    pub(super) outer: &'a mut [f64],
}

impl SubtreeVector<'_> {
    /// Returns the numbers of the pivots of a front, and those of later vertices.
    #[inline(always)]
    fn split(&mut self, front: &Front) -> (&mut [f64], LaterVector<'_>) {
        let (own, inner) = self.inner.split_at_mut(3 * (front.pivots.end - self.first));
        let own = &mut own[3 * (front.pivots.start - self.first)..];
        let later = LaterVector {
            first: front.pivots.end,
            inner,
            outer_first: self.outer_first,
            outer: self.outer,
        };
        (own, later)
    }
}

/// The part of a vector after the pivots of a front.
struct LaterVector<'a> {
    first: usize,
    inner: &'a mut [f64],
    outer_first: usize,
    outer: &'a mut [f64],
}

impl LaterVector<'_> {
    #[inline(always)]
    fn of_rank(&mut self, rank: u32) -> &mut [f64] {
        let at = 3 * (rank as usize - self.first);
        if at < self.inner.len() {
            return &mut self.inner[at..at + 3];
        }
        let at = 3 * (rank as usize - self.outer_first);
        &mut self.outer[at..at + 3]
    }
}

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
    x: &mut SubtreeVector<'_>,
) {
    let values = &values[front.start..front.start + front.len()];
    let (own, mut later) = x.split(front);
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
            for (x, y) in later.of_rank(b.rank).iter_mut().zip(y) {
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
    x: &mut SubtreeVector<'_>,
) {
    let values = &values[front.start..front.start + front.len()];
    let (own, mut later) = x.split(front);
    if front.pivot_rows == 0 {
        return;
    }
    let rows = values[front.pivots_len()..].chunks_exact(front.pivot_rows * TILE_LEN);
    let borders = fronts.borders[front.border.clone()].chunks(TILE_VERTICES);
    for (row, border) in rows.zip(borders) {
        let mut y = [0.0; TILE];
        for (b, y) in border.iter().zip(y.as_chunks_mut::<3>().0) {
            y.copy_from_slice(later.of_rank(b.rank));
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
