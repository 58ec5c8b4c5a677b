//! Signed distance of two shapes without properties.

use super::answer::PairDistance;
use super::dispatch::NEVER;
use super::pieces::{Body, closest_of};
use super::shape_core::{UNKNOWN, rank};
use crate::error::Result;
use crate::shape::Shape;
use nalgebra::Isometry3;
use tarragon_framework::Scalar;

/// Returns the signed distance of shape `a` at the pose `x_wa` and shape `b` at `x_wb`.
///
/// # Errors
/// Returns an error if the pair is not supported (see [`is_supported`]), or if the shapes are more
/// than 1e150 m apart.
///
/// ```
/// use nalgebra::{Isometry3, Translation3, Vector3};
/// use tarragon_geometry::{BoxShape, Sphere, proximity};
/// let ball = Sphere::new(0.5)?.into();
/// let block = BoxShape::new(2.0, 2.0, 2.0)?.into();
/// let x_wa: Isometry3<f64> = Translation3::new(0.0, 0.0, 1.75).into();
/// let d = proximity::signed_distance(&ball, &x_wa, &block, &Isometry3::identity())?;
/// assert_eq!((d.distance, d.nhat_ba_w), (0.25, Vector3::z()));
/// assert_eq!((d.p_wca.z, d.p_wcb.z), (1.25, 1.0));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub fn signed_distance<T: Scalar>(
    a: &Shape,
    x_wa: &Isometry3<T>,
    b: &Shape,
    x_wb: &Isometry3<T>,
) -> Result<PairDistance<T>> {
    Ok(signed_distance_within(a, x_wa, b, x_wb, f64::INFINITY)?.expect(NEVER))
}

/// Same as [`signed_distance`], but returns `None` if the distance is above `max_distance` (m),
/// which is often detected early. With `max_distance` 0 this is a penetration query; with a
/// negative one it finds penetrations of at least that depth.
///
/// # Errors
/// Returns an error if the pair is not supported: see [`is_supported`].
pub fn signed_distance_within<T: Scalar>(
    a: &Shape,
    x_wa: &Isometry3<T>,
    b: &Shape,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<PairDistance<T>>> {
    closest_of(Body::of(a), x_wa, Body::of(b), x_wb, max_distance)
}

/// Returns true if [`signed_distance`] supports this pair of shape types. It supports all pairs
/// except those of two half spaces, which either overlap without bound or are not comparable, and
/// those with a cone, which is for visualizers only.
pub fn is_supported(a: &Shape, b: &Shape) -> bool {
    let known = |s: &Shape| rank(s) < UNKNOWN;
    let half_spaces = matches!((a, b), (Shape::HalfSpace(_), Shape::HalfSpace(_)));
    known(a) && known(b) && !half_spaces
}
