//! Projected vertices of a cluster.

use crate::render::cpu::simd::BLOCK;
use crate::render::cpu::store::VERTEX_BLOCKS;
use nalgebra::Vector3;
use wide::{f32x4, f32x8};

/// A projected corner of a triangle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScreenCorner {
    /// Position (pixels); pixel centres are whole numbers.
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) w: f32,
    /// Snapped position (subpixels).
    pub(crate) sx: i32,
    pub(crate) sy: i32,
}

/// Number of vertices that a byte can index.
const VERTICES: usize = 256;

/// Vertices of a cluster on the image and in the camera frame. The storage is reused.
pub(crate) struct ClusterVertices {
    /// Snapped x and y (whole subpixels), then unsnapped x and y (pixels).
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
    /// Returns the snapped x and y (whole subpixels), then the unsnapped x and y (pixels).
    pub(crate) fn at(&self, i: u8) -> f32x4 {
        self.at[usize::from(i)]
    }
    /// Returns the inverse depth of a vertex (1/m).
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
