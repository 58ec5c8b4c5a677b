//! Half space against any core.

use super::active::{ActiveFeatures, RelativePose};
use super::core::Core;
use super::local::LocalFeature;
use super::region::{LEVEL, facing};
use nalgebra::{Isometry3, Vector3};

/// The active features of the half space z <= 0 (A) and a core, or `None` beyond `reach`.
pub(in crate::proximity) fn half_space_convex_features(
    b: &Core<'_>,
    x_ab: &Isometry3<f64>,
    reach: f64,
) -> Option<ActiveFeatures> {
    let n = Vector3::z();
    let x_ab = RelativePose::new(x_ab);
    let n_b = -x_ab.in_b(&n);
    let height = |p: &Vector3<f64>| x_ab.point(p).z;
    if height(&b.support(&n_b)) > reach {
        return None;
    }
    let active = ActiveFeatures {
        n,
        a: LocalFeature::face(Vector3::zeros(), n),
        b: b.local(&n_b, LEVEL),
    };
    // The middle of the part that touches first.
    let middle = middle_of_support(b, &n_b);
    Some(active.settled(&x_ab, &Vector3::zeros(), &middle))
}

/// The middle of the points of a core that are farthest along the unit vector `n`.
pub(in crate::proximity) fn middle_of_support(core: &Core<'_>, n: &Vector3<f64>) -> Vector3<f64> {
    let region = core.region(n, LEVEL * core.extent());
    facing(&region, &region, n).b
}
