//! Box against box.

use super::capsule_box::closest;
use super::features::Features;
use super::separating_axis::{Axis, Generators, touching_features};
use super::{NEGLIGIBLE, PARALLEL, is_beyond};
use nalgebra::{Isometry3, Matrix3, Vector3};

/// Features of the boxes with half edges `ha` (A) and `hb` (B), or `None` beyond `reach`.
///
/// The best of the 15 separating axes is exact when the boxes overlap, and when they are separated
/// and the supporting features at that axis face each other (vertex over face, crossing edges).
/// Otherwise a vertex or an edge is closest to a vertex or an edge, and one of the two closest points
/// lies on an edge of its box: all edges of one box against the other box decide.
pub(super) fn features(
    ha: &Vector3<f64>,
    hb: &Vector3<f64>,
    x_ab: &Isometry3<f64>,
    reach: f64,
) -> Option<Features> {
    let c = &x_ab.translation.vector;
    let r_ab: Matrix3<f64> = x_ab.rotation.to_rotation_matrix().into_inner();
    let pair = Generators::boxes(ha, c, &r_ab, hb);
    let axis = pair.best_axis(reach)?;
    if axis.margin <= NEGLIGIBLE * (ha.sum() + hb.sum()) {
        return Some(touching_features(&pair, &axis));
    }
    let supports = pair.supports(&axis, PARALLEL, false);
    if supports.facing {
        return Some(pair.features(&axis, &supports));
    }
    separated(ha, hb, c, &r_ab, reach, &axis, &pair)
}

/// Features of separated boxes: the closest of all edges of one to the other.
fn separated(
    ha: &Vector3<f64>,
    hb: &Vector3<f64>,
    c: &Vector3<f64>,
    r_ab: &Matrix3<f64>,
    reach: f64,
    axis: &Axis,
    pair: &Generators,
) -> Option<Features> {
    let r_ba = r_ab.transpose();
    let a_in_b = -(r_ba * c);
    let mut best = (f64::INFINITY, None);
    nearest_edge(ha, hb, c, r_ab, false, &mut best);
    nearest_edge(hb, ha, &a_in_b, &r_ba, true, &mut best);
    let (d2, features) = best;
    if is_beyond(d2, reach) {
        return None;
    }
    // Closer than rounding: the difference of the points has no direction, the axis has one.
    let tolerance = NEGLIGIBLE * (ha.sum() + hb.sum());
    if d2 <= tolerance * tolerance {
        return Some(touching_features(pair, axis));
    }
    features
}

/// Improves `best` (squared distance, features) by the edges of the second box (centre `c`, axes
/// the columns of `r`) against the first.
fn nearest_edge(
    first: &Vector3<f64>,
    second: &Vector3<f64>,
    c: &Vector3<f64>,
    r: &Matrix3<f64>,
    swapped: bool,
    best: &mut (f64, Option<Features>),
) {
    for k in 0..3 {
        let u = r.column(k).into_owned();
        let (k1, k2) = ((k + 1) % 3, (k + 2) % 3);
        for (s1, s2) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
            let mut middle = Vector3::zeros();
            middle[k1] = s1 * second[k1];
            middle[k2] = s2 * second[k2];
            let from = c + r * middle;
            let near = closest(first, &from, &u, second[k]);
            let d2 = near.excess.norm_squared();
            if d2 < best.0 {
                let features = near.features(first, &from, &u, &middle, &Vector3::ith(k, 1.0));
                let features = if swapped {
                    features.swapped()
                } else {
                    features
                };
                *best = (d2, Some(features));
            }
        }
    }
}
