//! Corners of contact surfaces with derivatives.
//!
//! Which planes meet in a corner is decided without derivatives. The corner then moves as they do.

use nalgebra::{Matrix3, Vector3};
use tarragon_framework::Scalar;

/// Factor by which a corner may at most move farther than its planes do.
const MOST_SLANTED: f64 = 1e6;

/// A plane through a corner: its normal, of any length, and the height of the corner above it times
/// that length, whose value counts as 0.
pub(super) type PlaneAt<T> = (Vector3<f64>, T);

/// Returns the plane through three points above which a corner may be.
pub(super) fn plane_of<T: Scalar>(points: &[Vector3<T>; 3], corner: &Vector3<f64>) -> PlaneAt<T> {
    let [a, b, c] = points;
    plane_along(a, &(b - a).cross(&(c - a)), corner)
}

/// Returns the plane through a point with a normal.
pub(super) fn plane_along<T: Scalar>(
    point: &Vector3<T>,
    normal: &Vector3<T>,
    corner: &Vector3<f64>,
) -> PlaneAt<T> {
    let above = corner.map(T::from) - point;
    (normal.map(|x| x.re()), above.dot(normal))
}

/// Returns a corner with derivatives, in which three planes meet; `None` if they do not meet in a
/// point but for rounding.
pub(super) fn meet<T: Scalar>(
    corner: &Vector3<f64>,
    planes: &[PlaneAt<T>; 3],
) -> Option<Vector3<T>> {
    let unit = planes.each_ref().map(|(normal, _)| normal.normalize());
    let inverse = Matrix3::from_rows(&unit.map(|n| n.transpose())).try_inverse()?;
    if !inverse.iter().all(|x| x.abs() <= MOST_SLANTED) {
        return None;
    }
    let moved = Vector3::from_fn(|i, _| {
        let (normal, height) = &planes[i];
        (*height - height.re()) / T::from(normal.norm())
    });
    Some(corner.map(T::from) - inverse.map(T::from) * moved)
}
