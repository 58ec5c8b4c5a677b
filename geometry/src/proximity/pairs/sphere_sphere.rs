//! Sphere against sphere.

use crate::proximity::PairDistance;
use crate::proximity::rounding::{NEGLIGIBLE, is_beyond};
use crate::proximity::shape_core::precedes;
use crate::shape::Sphere;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// Returns the signed distance of two spheres, or `None` beyond `max_distance`.
///
/// For concentric spheres, the normal from B to A is the x axis of B's frame if (A, B) is the
/// canonical order (the smaller sphere first), and minus the x axis of A's frame otherwise, so
/// swapping the spheres swaps the witnesses here too.
// Without inlining, the result passes through memory, and a pair takes one and a half times as
// long.
#[inline(always)]
pub(in crate::proximity) fn sphere_sphere_distance<T: Scalar>(
    a: &Sphere,
    x_wa: &Isometry3<T>,
    b: &Sphere,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Option<PairDistance<T>> {
    let (p_wao, p_wbo) = (&x_wa.translation.vector, &x_wb.translation.vector);
    let radii = a.radius() + b.radius();
    // The common case of a miss is decided on values alone, without a square root.
    let d2 = (p_wao.x.re() - p_wbo.x.re()).powi(2)
        + (p_wao.y.re() - p_wbo.y.re()).powi(2)
        + (p_wao.z.re() - p_wbo.z.re()).powi(2);
    if is_beyond(d2, (radii + max_distance) * (1.0 + NEGLIGIBLE)) {
        return None;
    }
    let q = p_wao - p_wbo;
    let (nhat_ba_w, d) = if d2 > (NEGLIGIBLE * radii).powi(2) {
        let d = q.norm_squared().sqrt();
        (q / d, d)
    } else {
        let n: Vector3<T> = if precedes(&[a.radius()], x_wa, &[b.radius()], x_wb) {
            x_wb.rotation * Vector3::x()
        } else {
            -(x_wa.rotation * Vector3::x())
        };
        (n, n.dot(&q))
    };
    Some(PairDistance {
        distance: d - T::from(radii),
        nhat_ba_w,
        p_wca: p_wao - nhat_ba_w * T::from(a.radius()),
        p_wcb: p_wbo + nhat_ba_w * T::from(b.radius()),
    })
}
