//! Axis-aligned boxes.

use nalgebra::Vector3;

/// A box with edges along the axes of some frame (Drake's `Aabb`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    center: Vector3<f64>,
    half_width: Vector3<f64>,
}

impl Aabb {
    /// From centre and half edge lengths (m).
    pub fn new(center: Vector3<f64>, half_width: Vector3<f64>) -> Self {
        Self { center, half_width }
    }
    /// Centre (m).
    pub fn center(&self) -> &Vector3<f64> {
        &self.center
    }
    /// Half edge lengths (m).
    pub fn half_width(&self) -> &Vector3<f64> {
        &self.half_width
    }
    /// Corner with the smallest coordinates (m).
    pub fn lower(&self) -> Vector3<f64> {
        self.center - self.half_width
    }
    /// Corner with the largest coordinates (m).
    pub fn upper(&self) -> Vector3<f64> {
        self.center + self.half_width
    }
    /// The smallest box that holds both.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        let lower = self.lower().inf(&other.lower());
        let upper = self.upper().sup(&other.upper());
        Self::new((lower + upper) / 2.0, (upper - lower) / 2.0)
    }
}
