//! Axis-aligned bounding boxes.

use nalgebra::Vector3;

/// Axis-aligned bounding box in some frame (Drake's `Aabb`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::Aabb;
/// let unit = Aabb::new(Vector3::zeros(), Vector3::repeat(1.0));
/// let far = Aabb::new(Vector3::new(4.0, 0.0, 0.0), Vector3::repeat(1.0));
/// let both = unit.merged(&far);
/// assert_eq!((both.lower().x, both.upper().x), (-1.0, 5.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    center: Vector3<f64>,
    half_width: Vector3<f64>,
}

impl Aabb {
    /// Creates a box from its centre and half edge lengths (m).
    pub fn new(center: Vector3<f64>, half_width: Vector3<f64>) -> Self {
        Self { center, half_width }
    }
    /// Returns the centre (m).
    pub fn center(&self) -> &Vector3<f64> {
        &self.center
    }
    /// Returns the half edge lengths (m).
    pub fn half_width(&self) -> &Vector3<f64> {
        &self.half_width
    }
    /// Returns the corner with the smallest coordinates (m).
    pub fn lower(&self) -> Vector3<f64> {
        self.center - self.half_width
    }
    /// Returns the corner with the largest coordinates (m).
    pub fn upper(&self) -> Vector3<f64> {
        self.center + self.half_width
    }
    /// Returns the smallest box that contains both boxes.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        let lower = self.lower().inf(&other.lower());
        let upper = self.upper().sup(&other.upper());
        Self::new((lower + upper) / 2.0, (upper - lower) / 2.0)
    }
}
