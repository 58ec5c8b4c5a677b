//! Surfaces of deformable geometry, as both visualizers show them.

use crate::Result;
use nalgebra::Vector3;
use std::sync::Arc;
use tarragon_framework::Scalar;
use tarragon_geometry::mesh::RenderMesh;
use tarragon_geometry::{GeometryId, QueryObject, Role, SceneGraphInspector};

/// Returns the meshes that deformable geometries drive in a role, in order of registration. The
/// positions in them are those of the reference configuration.
pub(crate) fn driven_meshes(
    inspector: &SceneGraphInspector<'_>,
    role: Role,
) -> Result<Vec<(GeometryId, Arc<RenderMesh>)>> {
    let mut found = vec![];
    for id in inspector.all_deformable_geometry_ids() {
        if inspector.properties(id, role)?.is_some() {
            let meshes = inspector.driven_render_meshes(id, role)?;
            found.extend(meshes.into_iter().map(|mesh| (id, mesh)));
        }
    }
    Ok(found)
}

/// Calls `with` with the current vertices (m), in the world, of each mesh that [`driven_meshes`]
/// returns. For dual numbers, these are the real parts.
pub(crate) fn for_each_driven_mesh<T: Scalar>(
    query: &QueryObject<T>,
    role: Role,
    mut with: impl FnMut(&mut dyn ExactSizeIterator<Item = Vector3<f64>>) -> Result<()>,
) -> Result<()> {
    let inspector = query.inspector();
    for id in inspector.all_deformable_geometry_ids() {
        if inspector.properties(id, role)?.is_some() {
            for mesh in query.driven_mesh_configurations_in_world(id, role)? {
                let vertices = mesh.as_slice().chunks_exact(3);
                let real = |p: &[T]| Vector3::new(p[0].re(), p[1].re(), p[2].re());
                with(&mut vertices.map(real))?;
            }
        }
    }
    Ok(())
}
