//! Substitution with the factor of one front.

use super::fronts::{Front, Fronts, TILE_VERTICES, triangle};
use super::tile::{self, TILE, TILE_LEN};

/// The numbers from `at`, as many as there are, as a tile's vector.
#[inline(always)]
fn load(x: &[f64], at: usize) -> [f64; TILE] {
    if let Some(full) = x[at..].first_chunk() {
        return *full;
    }
    let mut y = [0.0; TILE];
    y[..x.len() - at].copy_from_slice(&x[at..]);
    y
}

#[inline(always)]
fn store(y: &[f64; TILE], x: &mut [f64], at: usize) {
    let n = TILE.min(x.len() - at);
    x[at..at + n].copy_from_slice(&y[..n]);
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
pub(super) fn solve_forward<const FUSED: bool>(
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
        let mut y = load(own, TILE * j);
        tile::subtract_vector::<FUSED>(&mut y, left, &own[..TILE * j]);
        tile::forward::<FUSED>(diagonal, &mut y);
        store(&y, own, TILE * j);
    }
    if front.pivot_rows == 0 {
        return;
    }
    // The last tile of pivots may be partly used.
    let whole = TILE * (front.pivot_rows - 1);
    let last = load(own, whole);
    let rows = values[front.pivots_len()..].chunks_exact(front.pivot_rows * TILE_LEN);
    let borders = fronts.borders[front.border.clone()].chunks(TILE_VERTICES);
    for (row, border) in rows.zip(borders) {
        let mut y = [0.0; TILE];
        tile::subtract_vector::<FUSED>(&mut y, &row[..whole * TILE], &own[..whole]);
        tile::subtract_vector::<FUSED>(&mut y, &row[whole * TILE..], &last);
        for (b, y) in border.iter().zip(y.as_chunks::<3>().0) {
            let at = 3 * (b.rank as usize - front.pivots.end);
            for (x, y) in later[at..at + 3].iter_mut().zip(y) {
                *x += y;
            }
        }
    }
}

/// Replaces the right sides of the pivots by the solution, that of the border being known.
#[inline(always)]
pub(super) fn solve_backward<const FUSED: bool>(
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
        tile::subtract_transposed::<FUSED>(own, row, &y);
    }
    for j in (0..front.pivot_rows).rev() {
        let Some((left, diagonal)) = pivot_row(values, j) else {
            return;
        };
        let mut y = load(own, TILE * j);
        tile::backward::<FUSED>(diagonal, &mut y);
        store(&y, own, TILE * j);
        tile::subtract_transposed::<FUSED>(&mut own[..TILE * j], left, &y);
    }
}
