//! Directions of vectors.

use nalgebra::{Unit, Vector3};

/// Returns the direction of a vector; `None` if it is not longer than `least` or not finite.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_framework::math::direction;
/// assert_eq!(direction(Vector3::x() * 3e200, 1e-9).map(|d| d.x), Some(1.0));
/// assert_eq!(direction(Vector3::x() * 1e-10, 1e-9), None);
/// ```
pub fn direction(v: Vector3<f64>, least: f64) -> Option<Unit<Vector3<f64>>> {
    if v.iter().any(|x| !x.is_finite()) {
        return None;
    }
    // The squares of large coordinates overflow.
    if v.norm().is_infinite() {
        Unit::try_new(v / v.amax(), 0.0)
    } else {
        Unit::try_new(v, least)
    }
}
