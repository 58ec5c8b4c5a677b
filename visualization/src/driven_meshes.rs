//! Surfaces of deformable geometry and skins, as both visualizers show them.

use crate::Result;
use nalgebra::Vector3;
use std::sync::Arc;
use tarragon_framework::Scalar;
use tarragon_geometry::mesh::RenderMesh;
use tarragon_geometry::{GeometryId, QueryObject, Role, SceneGraphInspector};

/// A mesh that a deformable geometry or a skin drives in a role.
#[derive(Clone, Debug)]
pub(crate) struct DrivenMesh {
    pub(crate) geometry: GeometryId,
    role: Role,
    /// Index among the meshes of the geometry.
    index: usize,
    /// The mesh in the reference configuration.
    pub(crate) mesh: Arc<RenderMesh>,
}

/// Returns the meshes that geometries with a role drive, in order of registration.
pub(crate) fn driven_meshes(
    inspector: &SceneGraphInspector<'_>,
    role: Role,
) -> Result<Vec<DrivenMesh>> {
    let mut found = vec![];
    for geometry in inspector.all_driven_geometry_ids() {
        if inspector.properties(geometry, role)?.is_none() {
            continue;
        }
        let meshes = inspector.driven_render_meshes(geometry, role)?;
        let meshes = meshes.into_iter().enumerate();
        found.extend(meshes.map(|(index, mesh)| DrivenMesh {
            geometry,
            role,
            index,
            mesh,
        }));
    }
    Ok(found)
}

impl DrivenMesh {
    /// Returns the current vertices (m) in the world; for dual numbers, their real parts.
    pub(crate) fn vertices<T: Scalar>(&self, query: &QueryObject<T>) -> Result<Vec<Vector3<f64>>> {
        let meshes = query.driven_mesh_configurations_in_world(self.geometry, self.role)?;
        let coordinates = meshes
            .get(self.index)
            .map_or(&[][..], |mesh| mesh.as_slice());
        let (vertices, _) = coordinates.as_chunks::<3>();
        Ok(vertices
            .iter()
            .map(|p| Vector3::from(p.each_ref().map(T::re)))
            .collect())
    }
}
