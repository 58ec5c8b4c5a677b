//! Vertices of a cluster on the image.

use crate::render::cpu::simd::BLOCK;
use crate::render::cpu::store::VERTEX_BLOCKS;
use nalgebra::Vector3;
use wide::{f32x4, f32x8};

/// A corner of a triangle on the image.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScreenCorner {
    /// Pixels, whole at pixel centres.
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) w: f32,
    /// Snapped.
    pub(crate) sx: i32,
    pub(crate) sy: i32,
}

/// As many as a byte tells apart.
const VERTICES: usize = 256;

/// ClusterVertices of a cluster on the image and in the camera frame; kept to be reused.
pub(crate) struct ClusterVertices {
    /// x and y snapped, in subpixels, whole numbers; then in pixels, not snapped.
    pub(super) at: [f32x4; VERTICES],
    pub(super) w: [f32; VERTICES],
    pub(super) positions: [[f32x8; 3]; VERTEX_BLOCKS],
}

impl ClusterVertices {
    pub(crate) fn new() -> Self {
        Self {
            at: [f32x4::ZERO; VERTICES],
            w: [0.0; VERTICES],
            positions: [[f32x8::ZERO; 3]; VERTEX_BLOCKS],
        }
    }
    /// Snapped x and y (subpixels), then x and y (pixels).
    pub(crate) fn at(&self, i: u8) -> f32x4 {
        self.at[usize::from(i)]
    }
    /// Inverse depth.
    pub(crate) fn w(&self, i: u8) -> f32 {
        self.w[usize::from(i)]
    }
    pub(crate) fn corner(&self, i: u8) -> ScreenCorner {
        let [sx, sy, x, y] = self.at(i).to_array();
        ScreenCorner {
            x,
            y,
            w: self.w(i),
            sx: sx as i32,
            sy: sy as i32,
        }
    }
    pub(crate) fn position(&self, i: u8) -> Vector3<f64> {
        let (block, lane) = (usize::from(i) / BLOCK, usize::from(i) % BLOCK);
        let [x, y, z] = self.positions[block].map(|v| f64::from(v.as_array()[lane]));
        Vector3::new(x, y, z)
    }
}
