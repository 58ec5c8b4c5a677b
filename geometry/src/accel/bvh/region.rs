//! Traversal by convex regions.

use super::box32::Box32;
use super::build::MAX_DEPTH;
use super::tree::Bvh;
use nalgebra::Vector3;
use wide::f32x4;

/// Bound on the rounding of a height, relative to the largest coordinate: seven operations.
const ROUNDING: f64 = 8.0 * f32::EPSILON as f64;

/// The half space below a plane, in single precision.
#[derive(Clone, Copy)]
pub(crate) struct HalfSpace32 {
    /// The normal, and 0.
    normal: f32x4,
    offset: f32,
}

impl HalfSpace32 {
    /// Creates the half space of all points `x` with `normal · x <= offset`, padded for
    /// coordinates up to `reach`.
    #[inline]
    pub(crate) fn new(normal: &Vector3<f64>, offset: f64, reach: f64) -> Self {
        let padded = offset + ROUNDING * (offset.abs() + 3.0 * reach);
        Self {
            normal: f32x4::new([normal.x as f32, normal.y as f32, normal.z as f32, 0.0]),
            offset: super::up(padded),
        }
    }

    /// Returns true if the box may have a point in the half space.
    #[inline]
    fn meets(&self, b: &Box32) -> bool {
        let (lower, upper) = b.lanes();
        // The fourth lanes of boxes may hold anything, even NaN.
        let [x, y, z, _] = (self.normal * lower)
            .fast_min(self.normal * upper)
            .to_array();
        x + y + z <= self.offset
    }
}

impl Bvh {
    /// Calls `f` with every item whose box meets `b` and, at each half space, has a point in it.
    /// These may be some items more than those that meet the intersection of all.
    #[inline]
    pub(crate) fn for_each_in(
        &self,
        b: &Box32,
        half_spaces: &[HalfSpace32],
        mut f: impl FnMut(u32),
    ) {
        let mut stack = [0_u32; MAX_DEPTH];
        let mut top = usize::from(!self.nodes.is_empty());
        while top > 0 {
            top -= 1;
            let mut node = stack[top] as usize;
            loop {
                let bounds = &self.nodes[node];
                if !bounds.meets(b) || !half_spaces.iter().all(|h| h.meets(bounds)) {
                    break;
                }
                let right = bounds.right();
                if right == 0 {
                    f(bounds.item());
                    break;
                }
                stack[top] = right;
                top += 1;
                node += 1;
            }
        }
    }
}
