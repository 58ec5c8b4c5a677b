//! Affine transformations of scene nodes.

use crate::mesh::render_mesh::cofactors;
use nalgebra::{Matrix3, Vector3};

/// Affine transformation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Affine {
    pub(super) linear: Matrix3<f64>,
    pub(super) offset: Vector3<f64>,
}

impl Affine {
    /// Creates the scaling by `factor`.
    pub(super) fn scaling(factor: f64) -> Self {
        Self {
            linear: Matrix3::from_diagonal_element(factor),
            offset: Vector3::zeros(),
        }
    }
    pub(super) fn times(&self, inner: &Self) -> Self {
        Self {
            linear: self.linear * inner.linear,
            offset: self.linear * inner.offset + self.offset,
        }
    }
    /// Returns the matrix that transforms normals, up to a positive factor: the inverse transpose,
    /// computed from cofactors so that singular maps have one, too.
    pub(super) fn for_normals(&self) -> Matrix3<f64> {
        let cofactors = cofactors(&self.linear);
        if self.mirrors() {
            -cofactors
        } else {
            cofactors
        }
    }
    pub(super) fn mirrors(&self) -> bool {
        self.linear.determinant() < 0.0
    }
}

/// Normalises a vector; `None` if it has no direction.
pub(super) fn direction(v: Vector3<f64>) -> Option<Vector3<f64>> {
    // Scaling first keeps the squares from underflowing or overflowing.
    let largest = v.amax();
    let unit = (v / largest).try_normalize(0.0);
    unit.filter(|u| (u.norm_squared() - 1.0).abs() < 0.5)
}
