//! Half space (A) against any other shape (B): the lowest point of B decides.

use crate::proximity::features::FeaturePair;
use crate::proximity::rounding::{PARALLEL, is_beyond};
use nalgebra::{Isometry3, Vector3};

/// Returns the features of the half space z <= 0 and a core with half extents `h` along the axes of
/// B (a box; a segment along z and a point have zeros), or `None` beyond `reach`.
///
/// Where an edge or a face of B is parallel to the plane, its centre is the witness.
// Without inlining, the features pass through memory, as in `sphere_sphere_distance`.
#[inline(always)]
pub(in crate::proximity) fn half_space_features(
    h: &Vector3<f64>,
    x_ab: &Isometry3<f64>,
    reach: f64,
) -> Option<FeaturePair> {
    // The row of R_AB that gives the height of B's points above the plane.
    let up_b = x_ab.rotation.inverse() * Vector3::z();
    let p_b = up_b.zip_map(h, |up, h| {
        if h == 0.0 || up.abs() <= PARALLEL {
            0.0
        } else {
            -h * up.signum()
        }
    });
    let height = x_ab.translation.z + up_b.dot(&p_b);
    if height > 0.0 && is_beyond(height * height, reach) {
        return None;
    }
    Some(FeaturePair::PlanePoint {
        normal_a: Vector3::z(),
        offset: 0.0,
        p_b,
    })
}
