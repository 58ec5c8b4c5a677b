//! Rays.

use crate::error::{Error, Result};
use crate::values::value_of;
use nalgebra::Vector3;
use tarragon_framework::Scalar;

/// A half line.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::Ray;
/// let down = Ray::new(Vector3::new(0.0, 0.0, 2.0), -Vector3::z());
/// assert_eq!(down.origin_w + down.direction_w * 2.0, Vector3::zeros());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray<T: Scalar = f64> {
    /// Origin of the ray, in the world (m).
    pub origin_w: Vector3<T>,
    /// Direction of the ray, in the world; it may have any nonzero length.
    pub direction_w: Vector3<T>,
}

impl<T: Scalar> Ray<T> {
    /// Creates a ray from a point (m) in a direction of any nonzero length.
    pub fn new(origin_w: Vector3<T>, direction_w: Vector3<T>) -> Self {
        Self {
            origin_w,
            direction_w,
        }
    }

    /// Returns the ray with a direction of unit length.
    ///
    /// # Errors
    /// Returns an error if the origin or the direction is not finite, or if the direction has
    /// length zero. `name` is the name of the ray in the message.
    pub(crate) fn normalized(&self, name: impl Fn() -> String) -> Result<Self> {
        let (origin, direction) = (value_of(&self.origin_w), value_of(&self.direction_w));
        if !origin.iter().all(|x| x.is_finite()) {
            return Err(Error::invalid(format!(
                "{} must have an origin with finite coordinates (m), got {:?}",
                name(),
                origin.as_slice()
            )));
        }
        // Scaled first, because the square of a short direction would underflow to zero.
        let size = direction.amax();
        if !size.is_normal() {
            return Err(Error::invalid(format!(
                "{} must have a finite direction of nonzero length, got {:?}",
                name(),
                direction.as_slice()
            )));
        }
        let scaled = self.direction_w.map(|x| x / T::from(size));
        let length = scaled.norm_squared().sqrt();
        Ok(Self::new(self.origin_w, scaled / length))
    }
}
