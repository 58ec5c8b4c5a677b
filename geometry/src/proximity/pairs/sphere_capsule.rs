//! Point against segment: capsule with sphere, and the distance of a point to a capsule.

use crate::proximity::features::FeaturePair;
use crate::proximity::rounding::{NEGLIGIBLE, is_beyond};
use nalgebra::Vector3;

/// Returns the features of the segment `|z| <= h` (A) and the point `p` (B), or `None` beyond
/// `reach`.
///
/// For a point on the segment the normal is A's x axis, as in Drake's distance to a point.
// Without inlining, the features pass through memory, as in `sphere_sphere_distance`.
#[inline(always)]
pub(in crate::proximity) fn sphere_capsule_features(
    h: f64,
    p: &Vector3<f64>,
    reach: f64,
) -> Option<FeaturePair> {
    let z = p.z.clamp(-h, h);
    let q = Vector3::new(p.x, p.y, p.z - z);
    let d2 = q.norm_squared();
    if is_beyond(d2, reach) {
        return None;
    }
    let tolerance = NEGLIGIBLE * h.max(p.amax());
    let fixed_a = (d2 <= tolerance * tolerance).then(Vector3::x);
    let p_a = Vector3::new(0.0, 0.0, z);
    let p_b = Vector3::zeros();
    Some(if p.z.abs() < h {
        FeaturePair::LinePoint {
            p_a,
            dir_a: Vector3::z(),
            p_b,
            fixed_a,
        }
    } else {
        FeaturePair::PointPoint { p_a, p_b, fixed_a }
    })
}
