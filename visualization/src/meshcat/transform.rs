//! Transforms of scene tree nodes.

use nalgebra::{Isometry3, Matrix4};

/// Transform of a node relative to its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Transform {
    /// A pose: rotation and translation.
    Pose(Isometry3<f64>),
    /// A homogeneous transform, which may scale and shear.
    Matrix([f64; 16]),
}

impl Transform {
    /// Returns the elements of the homogeneous matrix, column by column.
    pub(crate) fn matrix(&self) -> [f64; 16] {
        match self {
            Self::Matrix(m) => *m,
            Self::Pose(x) => {
                let r = x.rotation.to_rotation_matrix();
                let (r, p) = (r.matrix(), &x.translation.vector);
                let column = |i: usize| [r[(0, i)], r[(1, i)], r[(2, i)], 0.0];
                let ([a, b, c, d], [e, f, g, h]) = (column(0), column(1));
                let [i, j, k, l] = column(2);
                [a, b, c, d, e, f, g, h, i, j, k, l, p.x, p.y, p.z, 1.0]
            }
        }
    }
}

impl From<&Isometry3<f64>> for Transform {
    fn from(x: &Isometry3<f64>) -> Self {
        Self::Pose(*x)
    }
}

impl From<&Matrix4<f64>> for Transform {
    fn from(m: &Matrix4<f64>) -> Self {
        let mut elements = [0.0; 16];
        elements.copy_from_slice(m.as_slice());
        Self::Matrix(elements)
    }
}
