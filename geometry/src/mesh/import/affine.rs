//! Affine maps of the nodes of scenes.

use nalgebra::{Matrix3, Vector3};

/// An affine map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Affine {
    pub(super) linear: Matrix3<f64>,
    pub(super) offset: Vector3<f64>,
}

impl Affine {
    /// Multiplies by `factor`.
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
    /// What normals are multiplied by, up to a positive factor: the inverse transpose, written so
    /// that flattening maps have one, too.
    pub(super) fn for_normals(&self) -> Matrix3<f64> {
        let [a, b, c] = [0, 1, 2].map(|k| self.linear.column(k).into_owned());
        let cofactors = Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)]);
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

/// A vector of length 1, if a vector has a direction.
pub(super) fn direction(v: Vector3<f64>) -> Option<Vector3<f64>> {
    // Scaled first, so that squares neither vanish nor overflow.
    let largest = v.amax();
    let unit = (v / largest).try_normalize(0.0);
    unit.filter(|u| (u.norm_squared() - 1.0).abs() < 0.5)
}
