//! Poses of visuals in the camera frame.

use nalgebra::{Isometry3, Matrix3, Vector3};

/// Pose of a visual in the camera frame.
pub struct PoseInCamera {
    /// `R_CG`.
    pub r: Matrix3<f64>,
    /// Position of G in C (m).
    pub p: Vector3<f64>,
}

impl PoseInCamera {
    /// Creates the pose from `X_CG`.
    pub fn new(x_cg: &Isometry3<f64>) -> Self {
        Self {
            r: x_cg.rotation.to_rotation_matrix().into_inner(),
            p: x_cg.translation.vector,
        }
    }
}
