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
    /// Where it starts, in the world (m).
    pub origin_w: Vector3<T>,
    /// Where it goes, in the world; of any length but zero.
    pub direction_w: Vector3<T>,
}

impl<T: Scalar> Ray<T> {
    /// From a point (m) in a direction of any length but zero.
    pub fn new(origin_w: Vector3<T>, direction_w: Vector3<T>) -> Self {
        Self {
            origin_w,
            direction_w,
        }
    }

    /// The ray with a direction of length one.
    ///
    /// # Errors
    /// If the origin or the direction is not finite or the direction has no length; `name` is what
    /// the message calls the ray.
    pub(crate) fn normalized(&self, name: impl Fn() -> String) -> Result<Self> {
        let (origin, direction) = (value_of(&self.origin_w), value_of(&self.direction_w));
        if !origin.iter().all(|x| x.is_finite()) {
            return Err(Error::invalid(format!(
                "{} starts at {:?}, finite coordinates in metres are expected",
                name(),
                origin.as_slice()
            )));
        }
        // Scaled first: the square of a short direction would be zero.
        let size = direction.amax();
        if !size.is_normal() {
            return Err(Error::invalid(format!(
                "{} has the direction {:?}, a finite one of nonzero length is expected",
                name(),
                direction.as_slice()
            )));
        }
        let scaled = self.direction_w.map(|x| x / T::from(size));
        let length = scaled.norm_squared().sqrt();
        Ok(Self::new(self.origin_w, scaled / length))
    }
}
