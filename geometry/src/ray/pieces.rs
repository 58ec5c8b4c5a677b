//! Intersection of a ray with the union of convex pieces.

use super::crossing::{Crossing, Passage};
use super::polygons;
use crate::accel::Polytope;
use crate::values::values_of_pose;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// Gap between two pieces, relative to the size of the larger one, that counts as closed.
const GAP: f64 = 1e-8;

/// Returns the first crossing of a ray in the world with the boundary of a union of polytopes; see
/// [`first_crossing`](super::first_crossing). A ray that starts inside leaves where the last of the
/// pieces that overlap or touch along it ends.
pub(crate) fn first_crossing_of_pieces<'a, T: Scalar>(
    pieces: impl Iterator<Item = &'a Polytope>,
    x_wg: &Isometry3<T>,
    origin: &Vector3<f64>,
    direction: &Vector3<f64>,
    limit: f64,
) -> Option<Crossing> {
    let x = values_of_pose(x_wg);
    let o = x.rotation.inverse() * (origin - x.translation.vector);
    let d = x.rotation.inverse() * direction;
    let mut gap: f64 = 0.0;
    let passages = pieces.filter_map(|piece| {
        gap = gap.max(GAP * piece.extent());
        polygons::polytope(piece, &o, &d)
    });
    let mut passages: Vec<Passage> = passages
        .filter(|(_, leaves)| leaves.distance >= 0.0)
        .collect();
    passages.sort_by(|p, q| p.0.distance.total_cmp(&q.0.distance));
    let (enters, mut leaves) = *passages.first()?;
    let first = if enters.distance >= 0.0 {
        enters
    } else {
        for (next, end) in &passages {
            if next.distance <= leaves.distance + gap && end.distance > leaves.distance {
                leaves = *end;
            }
        }
        leaves
    };
    (first.distance <= limit && first.distance.is_finite()).then_some(first)
}
