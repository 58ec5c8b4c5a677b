//! A mesh of `<asset>` as geoms use it.

use super::mesh_inertia::{self, MeshInertia, UnitSolid};
use super::tree::ElementRef;
use crate::document::xml::Parsed;
use nalgebra::Isometry3;
use tarragon_geometry::Mesh;

/// A mesh as geoms use it.
#[derive(Clone, Debug)]
pub(super) struct MeshAsset {
    pub(super) mesh: Mesh,
    /// Pose of the mesh in the frame of a geom: the inverse of `refpos` and `refquat`.
    pub(super) x_gm: Isometry3<f64>,
    pub(super) inertia: MeshInertia,
}

impl MeshAsset {
    /// Computes the mass properties at density 1 in the frame of a geom.
    pub(super) fn solid(&self, node: ElementRef<'_>) -> Parsed<UnitSolid> {
        let solid = mesh_inertia::of_mesh(node, &self.mesh, self.inertia)?;
        Ok(solid.moved(&self.x_gm))
    }
}
