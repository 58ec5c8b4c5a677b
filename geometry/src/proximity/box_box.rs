//! Box against box.

use super::capsule_box::closest;
use super::features::Features;
use super::separating_axis::Generators;
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
    let tolerance = NEGLIGIBLE * (ha.sum() + hb.sum());
    if axis.margin <= tolerance {
        if let Some(touching) = pair.touching_features(&axis) {
            return Some(touching);
        }
    } else {
        let supports = pair.supports(&axis, PARALLEL, false);
        if supports.facing {
            return Some(pair.features(&axis, &supports));
        }
    }
    let nearest = nearest_edge(ha, hb, c, &r_ab);
    if is_beyond(nearest.d2, reach) {
        return None;
    }
    if nearest.d2 > tolerance * tolerance {
        return Some(nearest.features);
    }
    // Closer than rounding: the difference of the points has no direction, the axis has one.
    Some(Features::PointPoint {
        p_a: nearest.p_a,
        p_b: nearest.p_b,
        fixed_a: Some(axis.n),
    })
}

/// An edge of one box and the other box: squared distance, features, closest points.
struct Nearest {
    d2: f64,
    features: Features,
    p_a: Vector3<f64>,
    p_b: Vector3<f64>,
}

/// The nearest of all edges of B to A and of A to B.
fn nearest_edge(
    ha: &Vector3<f64>,
    hb: &Vector3<f64>,
    c: &Vector3<f64>,
    r_ab: &Matrix3<f64>,
) -> Nearest {
    let r_ba = r_ab.transpose();
    let mut best = edge(ha, hb, c, r_ab, 0);
    for k in 1..12 {
        let candidate = edge(ha, hb, c, r_ab, k);
        if candidate.d2 < best.d2 {
            best = candidate;
        }
    }
    let a_in_b = -(r_ba * c);
    for k in 0..12 {
        let candidate = edge(hb, ha, &a_in_b, &r_ba, k);
        if candidate.d2 < best.d2 {
            best = Nearest {
                d2: candidate.d2,
                features: candidate.features.swapped(),
                p_a: candidate.p_b,
                p_b: candidate.p_a,
            };
        }
    }
    best
}

/// Edge `k` of the second box (centre `c`, axes the columns of `r`) against the first.
fn edge(
    first: &Vector3<f64>,
    second: &Vector3<f64>,
    c: &Vector3<f64>,
    r: &Matrix3<f64>,
    k: usize,
) -> Nearest {
    let (k, corner) = (k / 4, k % 4);
    let (k1, k2) = ((k + 1) % 3, (k + 2) % 3);
    let mut middle = Vector3::zeros();
    middle[k1] = if corner & 1 == 0 {
        -second[k1]
    } else {
        second[k1]
    };
    middle[k2] = if corner & 2 == 0 {
        -second[k2]
    } else {
        second[k2]
    };
    let (from, u) = (c + r * middle, r.column(k).into_owned());
    let near = closest(first, &from, &u, second[k]);
    let dir = Vector3::ith(k, 1.0);
    Nearest {
        d2: near.excess.norm_squared(),
        features: near.features(first, (&from, &u), (&middle, &dir), second[k]),
        p_a: near.on_box(&from, &u),
        p_b: middle + dir * near.t,
    }
}
