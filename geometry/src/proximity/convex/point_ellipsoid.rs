//! Point against ellipsoid: ellipsoid with sphere, and the distance of a point to an ellipsoid.

use super::active::ActiveFeatures;
use super::core::ConvexCore;
use crate::proximity::rounding::is_beyond;
use nalgebra::Vector3;

/// Returns the features of the ellipsoid with semi-axes `a` (A) and the point `p` (B), or `None`
/// beyond `reach`.
///
/// The surface point x with outward normal (x_i / a_i^2) nearest to p satisfies `p_i = x_i (1 + t /
/// a_i^2)`, so `n_i` is parallel to `p_i / (t + a_i^2)`. Here t is the largest root of `sum (a_i
/// p_i / (t + a_i^2))^2 = 1` (Eberly, Distance from a Point to an Ellipse, an Ellipsoid, or a
/// Hyperellipsoid, 2013). To the right of its last pole, the sum is convex and decreasing, so
/// Newton's method converges monotonically from the left. Where several points are nearest (on a
/// plane of symmetry, deep inside), the one on the positive side of the shortest axis is taken.
pub(in crate::proximity) fn point_ellipsoid_features(
    a: &Vector3<f64>,
    p: &Vector3<f64>,
    reach: f64,
) -> Option<ActiveFeatures> {
    // The ellipsoid is not nearer than its bounding box.
    let outside = (p.abs() - a).sup(&Vector3::zeros());
    if is_beyond(outside.norm_squared(), reach) {
        return None;
    }
    let n = normal(a, p);
    Some(ActiveFeatures::against_point(n, &ConvexCore::Ellipsoid(*a)))
}

/// Returns the outward normal at the surface point nearest to `p`.
fn normal(a: &Vector3<f64>, p: &Vector3<f64>) -> Vector3<f64> {
    // Lengths are in units of the shortest axis; s = t + 1 is the distance from the last pole.
    let shortest = a.imin();
    let unit = a[shortest];
    let (a, p) = (a / unit, p / unit);
    let shift = a.map(|a| (a - 1.0) * (a + 1.0));
    let ap = a.component_mul(&p);
    // Every single term gives a lower bound of the root.
    let s0 = ap.abs() - shift;
    let mut s = s0.max();
    let sum = |s: f64| (ap.component_div(&shift.add_scalar(s))).norm_squared();
    if s <= 0.0 || !sum(s).is_finite() {
        // The point is on the plane of symmetry of the shortest axis.
        let x = ap.zip_map(
            &shift,
            |ap, shift| if shift > 0.0 { ap / shift } else { 0.0 },
        );
        let rest = 1.0 - x.norm_squared();
        if rest >= 0.0 {
            // The nearest points are off this plane, symmetric to it.
            let mut n = x.component_div(&a);
            n[shortest] = rest.sqrt();
            return n.normalize();
        }
        s = f64::MIN_POSITIVE;
    }
    for _ in 0..60 {
        let q = ap.component_div(&shift.add_scalar(s));
        let f = q.norm_squared() - 1.0;
        let slope = -2.0
            * q.component_mul(&q)
                .component_div(&shift.add_scalar(s))
                .sum();
        let step = -f / slope;
        if step.is_nan() || step <= 4.0 * f64::EPSILON * s {
            break;
        }
        s += step;
    }
    p.component_div(&shift.add_scalar(s)).normalize()
}
