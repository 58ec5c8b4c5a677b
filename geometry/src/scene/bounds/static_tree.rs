//! Tree of the boxes of geometry that does not move.

use super::boundary_plane::BoundaryPlane;
use super::local_bound::LocalBound;
use crate::accel::bvh::{Box32, Bvh};
use crate::shape::{HeightField, Shape};
use nalgebra::{Isometry3, Vector3};

/// The anchored geometries with the proximity role.
#[derive(Default)]
pub(in crate::scene) struct StaticTree {
    pub(in crate::scene) bvh: Bvh,
    /// Geometry number of each item.
    pub(in crate::scene) geometries: Vec<u32>,
    pub(in crate::scene) boxes: Vec<Box32>,
    pub(in crate::scene) planes: Vec<BoundaryPlane>,
    terrains: Vec<Terrain>,
}

/// A height field, most of whose box is empty.
struct Terrain {
    geometry: u32,
    /// Pose of the world in the frame of the field.
    x_gw: Isometry3<f64>,
    shape: HeightField,
}

impl StaticTree {
    /// Creates the tree from the numbers, the bounds, the poses `X_WG` and the shapes of the
    /// geometries.
    pub(in crate::scene) fn new<'a>(
        geometries: impl Iterator<Item = (u32, LocalBound, &'a Isometry3<f64>, &'a Shape)>,
    ) -> Self {
        let mut this = Self::default();
        for (number, bound, x_wg, shape) in geometries {
            if let Shape::HeightField(shape) = shape {
                // Else the first contact would wait for the index, in the middle of a simulation.
                shape.indexed_surface();
                this.terrains.push(Terrain {
                    geometry: number,
                    x_gw: x_wg.inverse(),
                    shape: shape.clone(),
                });
            }
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

    /// Returns true if a geometry is a height field that is certainly more than `margin` (m) below
    /// a box.
    #[inline]
    pub(in crate::scene) fn is_terrain_below(&self, geometry: u32, b: &Box32, margin: f32) -> bool {
        let mut terrains = self.terrains.iter();
        terrains.any(|terrain| terrain.geometry == geometry && terrain.is_below(b, margin))
    }
}

impl Terrain {
    fn is_below(&self, b: &Box32, margin: f32) -> bool {
        let corner = |of: &[f32; 4]| Vector3::new(of[0], of[1], of[2]).map(f64::from);
        let (lower, upper) = (corner(&b.lower), corner(&b.upper));
        let turn = self.x_gw.rotation.to_rotation_matrix().into_inner();
        let center = turn * (0.5 * (lower + upper)) + self.x_gw.translation.vector;
        let half = turn.abs() * (0.5 * (upper - lower));
        let grid = self.shape.grid();
        grid.is_below(&(center - half), &(center + half), f64::from(margin))
    }
}
