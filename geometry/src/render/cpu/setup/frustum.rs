//! Poses of visuals in the camera frame, and the view frustum.

use crate::render::cpu::pixels::Pixels;
use nalgebra::{Isometry3, Matrix3, Vector3};

/// Pose of a visual in the camera frame.
pub(crate) struct PoseInCamera {
    /// `R_CG` and the position of G in C (m).
    pub(crate) r: Matrix3<f64>,
    pub(crate) p: Vector3<f64>,
}

impl PoseInCamera {
    pub(crate) fn new(x_cg: &Isometry3<f64>) -> Self {
        Self {
            r: x_cg.rotation.to_rotation_matrix().into_inner(),
            p: x_cg.translation.vector,
        }
    }
}

/// View frustum of an image: projection and clipping planes (m).
#[derive(Clone, Copy)]
pub(crate) struct Frustum {
    pub(crate) pixels: Pixels,
    pub(crate) near: f64,
    pub(crate) far: f64,
    /// True if every triangle has its own id and translucent surfaces are collected separately.
    pub(crate) by_triangle: bool,
}
