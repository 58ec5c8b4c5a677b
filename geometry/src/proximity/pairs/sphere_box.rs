//! Point against box: box with sphere, and the distance of a point to a box.

use crate::proximity::features::FeaturePair;
use crate::proximity::rounding::{NEGLIGIBLE, is_beyond};
use nalgebra::Vector3;

/// Returns the features of the box with half edges `h` (A) and the point `p` (B), or `None` beyond
/// `reach`.
///
/// Inside, the nearest face decides; among equally near faces it is the one of the first axis (x,
/// y, z), and of the two faces of an axis the positive one. On an edge or a corner, the normal is
/// the mean of the normals of the adjacent faces. These are Drake's choices for the distance to a
/// point.
// Without inlining, the features pass through memory, as in `sphere_sphere_distance`.
#[inline(always)]
pub(in crate::proximity) fn sphere_box_features(
    h: &Vector3<f64>,
    p: &Vector3<f64>,
    reach: f64,
) -> Option<FeaturePair> {
    let clamped = p.zip_map(h, |p, h| p.clamp(-h, h));
    let excess = p - clamped;
    let d2 = excess.norm_squared();
    if is_beyond(d2, reach) {
        return None;
    }
    let p_b = Vector3::zeros();
    let tolerance = NEGLIGIBLE * h.amax();
    if d2 > tolerance * tolerance {
        let outside = excess.map(|e| e != 0.0);
        return Some(match outside.iter().filter(|o| **o).count() {
            1 => face(
                h,
                p,
                if outside.x {
                    0
                } else {
                    1 + usize::from(outside.z)
                },
            ),
            2 => FeaturePair::LinePoint {
                p_a: clamped,
                dir_a: outside.map(|o| if o { 0.0 } else { 1.0 }),
                p_b,
                fixed_a: None,
            },
            _ => FeaturePair::PointPoint {
                p_a: clamped,
                p_b,
                fixed_a: None,
            },
        });
    }
    let depth = h - p.abs();
    let on_surface = depth.map(|d| d <= tolerance);
    if on_surface.iter().filter(|o| **o).count() >= 2 {
        let toward = Vector3::from_fn(|i, _| if on_surface[i] { side(p[i]) } else { 0.0 });
        return Some(FeaturePair::PointPoint {
            p_a: Vector3::from_fn(|i, _| {
                if on_surface[i] {
                    side(p[i]) * h[i]
                } else {
                    p[i]
                }
            }),
            p_b,
            fixed_a: Some(toward.normalize()),
        });
    }
    let mut axis = 0;
    for i in 1..3 {
        if depth[i] < depth[axis] {
            axis = i;
        }
    }
    Some(face(h, p, axis))
}

/// Returns the face of `axis` on the side of `p`.
fn face(h: &Vector3<f64>, p: &Vector3<f64>, axis: usize) -> FeaturePair {
    FeaturePair::PlanePoint {
        normal_a: Vector3::ith(axis, side(p[axis])),
        offset: h[axis],
        p_b: Vector3::zeros(),
    }
}

/// Returns the sign of `x`; zero counts as positive.
fn side(x: f64) -> f64 {
    if x < 0.0 { -1.0 } else { 1.0 }
}
