//! Planes, and angles between them.

use nalgebra::Vector3;

/// A plane: its unit normal and its offset along it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    pub(super) normal: Vector3<f64>,
    pub(super) offset: f64,
}

impl Plane {
    /// Returns the signed distance of a point (m). That of the opposite plane is the exact
    /// negative.
    #[inline]
    pub(super) fn height(&self, p: &Vector3<f64>) -> f64 {
        self.normal.dot(p) - self.offset
    }
    pub(super) fn opposite(&self) -> Self {
        Self {
            normal: -self.normal,
            offset: -self.offset,
        }
    }
}

/// Cosine of the largest angle, 5/8 π, between the normal of a face and the gradient of pressure,
/// as in Drake. Thus the back of a thin rigid shape does not count.
const LEAST_COSINE: f64 = -0.382_683_432_365_089_8;

/// Returns true if a normal of any length points along a gradient, or not too far from it.
#[inline]
pub(super) fn is_along(normal: &Vector3<f64>, gradient: &Vector3<f64>) -> bool {
    let along = normal.dot(gradient);
    along >= 0.0 || along > LEAST_COSINE * normal.norm() * gradient.norm()
}

/// Rounding (m) of coordinates up to some size, after a few operations.
pub(super) fn rounding_at(reach: f64) -> f64 {
    8.0 * f64::EPSILON * reach
}
