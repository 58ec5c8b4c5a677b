//! Point against cylinder: cylinder with sphere, and the distance of a point to a cylinder.

use super::active::ActiveFeatures;
use super::core::ConvexCore;
use crate::proximity::rounding::{NEGLIGIBLE, is_beyond};
use nalgebra::Vector3;

/// Returns the features of the cylinder (A, radius `r`, `|z| <= h`) and the point `p` (B), or
/// `None` beyond `reach`.
///
/// Inside, the nearer of side and cap decides; if both are equally near, the side. On the axis the
/// normal of the side is A's x axis; in the plane z = 0 the normal of the cap is +z.
pub(in crate::proximity) fn point_cylinder_features(
    r: f64,
    h: f64,
    p: &Vector3<f64>,
    reach: f64,
) -> Option<ActiveFeatures> {
    let rho = p.xy().norm();
    let (across, along) = (rho - r, p.z.abs() - h);
    let outside = Vector3::new(across.max(0.0), along.max(0.0), 0.0);
    if is_beyond(outside.norm_squared(), reach) {
        return None;
    }
    let radial = if rho > NEGLIGIBLE * r {
        Vector3::new(p.x / rho, p.y / rho, 0.0)
    } else {
        Vector3::x()
    };
    let up = Vector3::new(0.0, 0.0, if p.z < 0.0 { -1.0 } else { 1.0 });
    let n = if across > 0.0 && along > 0.0 {
        (radial * across + up * along).normalize()
    } else if across >= along {
        radial
    } else {
        up
    };
    // Only the features that support exactly this direction.
    let core = ConvexCore::Cylinder { radius: r, half: h };
    Some(ActiveFeatures::against_point(n, &core))
}
