//! Distance of a union of convex pieces to a point.

use super::convex_pieces::{Bounds, ConvexPieces};
use crate::error::Result;
use crate::proximity::dispatch::NEVER;
use crate::proximity::distance_to_point::{PointDistance, distance_to_point};
use crate::values::{value_of, values_of_pose};
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// Returns the signed distance of the nearest piece to a point, as [`distance_to_point`] does.
/// Inside the union, that is minus the largest depth in one piece.
pub(crate) fn distance_to_pieces<T: Scalar>(
    pieces: &ConvexPieces,
    x_wg: &Isometry3<T>,
    p_wq: &Vector3<T>,
) -> Result<PointDistance<T>> {
    let x = values_of_pose(x_wg);
    let p_gq = Bounds {
        center: x.rotation.inverse() * (value_of(p_wq) - x.translation.vector),
        half: Vector3::zeros(),
    };
    let bounds = pieces.pieces.iter().enumerate();
    let bounds = bounds.map(|(i, piece)| (piece.bounds.distance(&p_gq), i));
    let mut order: Vec<(f64, usize)> = bounds.collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut best: Option<PointDistance<T>> = None;
    for (bound, i) in order {
        // The box of a piece is exact up to rounding, which decides only between equal distances.
        if best.as_ref().is_some_and(|best| bound > best.distance.re()) {
            break;
        }
        let found = distance_to_point(&pieces.pieces[i].shape, x_wg, p_wq)?;
        if best
            .as_ref()
            .is_none_or(|best| found.distance.re() < best.distance.re())
        {
            best = Some(found);
        }
    }
    Ok(best.expect(NEVER))
}
