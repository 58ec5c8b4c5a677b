//! A mesh of `<asset>` as geoms use it.

use super::mesh_inertia::{self, MeshInertia, UnitSolid};
use super::principal_axes::principal_axes;
use super::tree::ElementRef;
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::cell::OnceCell;
use tarragon_documents::read_file;
use tarragon_documents::xml::Parsed;
use tarragon_framework::math;
use tarragon_geometry::Mesh;
use tarragon_geometry::mesh::read_source;

/// A mesh as geoms use it.
#[derive(Clone, Debug)]
pub(super) struct MeshAsset {
    pub(super) mesh: Mesh,
    /// Pose of the mesh in the frame of a geom: the inverse of `refpos` and `refquat`.
    pub(super) x_gm: Isometry3<f64>,
    pub(super) inertia: MeshInertia,
    /// Whether a plugin made the mesh.
    pub(super) is_generated: bool,
    /// Whether the file has texture coordinates, once a texture asks.
    has_coordinates: OnceCell<bool>,
    /// Pose of the principal axes in the frame of a geom, once a texture asks.
    principal_pose: OnceCell<Isometry3<f64>>,
}

impl MeshAsset {
    pub(super) fn new(mesh: Mesh, x_gm: Isometry3<f64>, inertia: MeshInertia) -> Self {
        Self {
            mesh,
            x_gm,
            inertia,
            is_generated: false,
            has_coordinates: OnceCell::new(),
            principal_pose: OnceCell::new(),
        }
    }

    /// Computes the mass properties at density 1 in the frame of a geom.
    pub(super) fn solid(&self, node: ElementRef<'_>) -> Parsed<UnitSolid> {
        let solid = mesh_inertia::of_mesh(node, &self.mesh, self.inertia)?;
        if !self.is_generated {
            return Ok(solid.moved(&self.x_gm));
        }
        // MuJoCo computes the principal moments of the mesh of a plugin, but leaves the mesh where
        // it is: the moments act about the axes of the geom, the largest about x.
        let (moments, _) = principal_axes(&solid.inertia);
        Ok(UnitSolid {
            size: solid.size,
            center: Vector3::zeros(),
            inertia: Matrix3::from_diagonal(&moments.into()),
        })
    }

    /// Same as [`Self::solid`], in the frame of the mesh.
    pub(super) fn solid_in_mesh(&self, node: ElementRef<'_>) -> Parsed<UnitSolid> {
        if self.is_generated {
            Ok(self.solid(node)?.moved(&self.x_gm.inverse()))
        } else {
            mesh_inertia::of_mesh(node, &self.mesh, self.inertia)
        }
    }

    /// Returns the pose in the frame of a geom of the centre of mass and the principal axes, which
    /// are the frame of the mesh in MuJoCo.
    pub(super) fn principal_pose(&self, node: ElementRef<'_>) -> Parsed<Isometry3<f64>> {
        if let Some(known) = self.principal_pose.get() {
            return Ok(*known);
        }
        let solid = self.solid(node)?;
        let (_, turn) = principal_axes(&solid.inertia);
        Ok(*self
            .principal_pose
            .get_or_init(|| math::pose(turn, solid.center)))
    }

    /// Returns true if the mesh has texture coordinates.
    pub(super) fn has_coordinates(&self) -> bool {
        *self.has_coordinates.get_or_init(|| {
            let source = self.mesh.source();
            if source.extension() != ".obj" {
                return read_source(source).is_ok_and(|mesh| !mesh.triangle_uvs.is_empty());
            }
            // A search is faster than a parser, and the file may be large.
            match (source.path(), source.in_memory()) {
                (Some(path), _) => read_file(path).is_ok_and(|bytes| has_statement(&bytes, "vt")),
                (None, Some(mesh)) => has_statement(mesh.mesh_file.contents(), "vt"),
                (None, None) => false,
            }
        })
    }
}

/// Returns true if a line of an OBJ file starts with `key`.
pub(super) fn has_statement(obj: &[u8], key: &str) -> bool {
    obj.split(|byte| *byte == b'\n').any(|line| {
        let rest = line.trim_ascii_start().strip_prefix(key.as_bytes());
        rest.is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))
    })
}
