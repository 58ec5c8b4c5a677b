//! The view frustum.

use crate::render::projection::Pixels;

/// View frustum of an image: projection and clipping planes (m).
#[derive(Clone, Copy)]
pub(crate) struct Frustum {
    pub(crate) pixels: Pixels,
    pub(crate) near: f64,
    pub(crate) far: f64,
    /// True if every triangle has its own id and translucent surfaces are collected separately.
    pub(crate) by_triangle: bool,
}
