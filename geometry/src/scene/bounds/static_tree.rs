//! Tree of the boxes of geometry that does not move.

use super::boundary_plane::BoundaryPlane;
use super::local_bound::LocalBound;
use crate::accel::bvh::{Box32, Bvh};
use nalgebra::Isometry3;

/// The anchored geometries with the proximity role.
#[derive(Default)]
pub(in crate::scene) struct StaticTree {
    pub(in crate::scene) bvh: Bvh,
    /// Geometry number of each item.
    pub(in crate::scene) geometries: Vec<u32>,
    pub(in crate::scene) boxes: Vec<Box32>,
    pub(in crate::scene) planes: Vec<BoundaryPlane>,
}

impl StaticTree {
    /// Creates the tree from the numbers, the bounds and the poses `X_WG` of the geometries.
    pub(in crate::scene) fn new<'a>(
        geometries: impl Iterator<Item = (u32, LocalBound, &'a Isometry3<f64>)>,
    ) -> Self {
        let mut this = Self::default();
        for (number, bound, x_wg) in geometries {
            match bound.box_in_world(x_wg) {
                Some(b) => {
                    this.geometries.push(number);
                    this.boxes.push(b);
                }
                None => this.planes.push(BoundaryPlane::new(number, x_wg)),
            }
        }
        this.bvh = Bvh::new(&this.boxes);
        this
    }
}
