//! Surfaces that represent shapes in hydroelastic contact.

use crate::Result;
use std::sync::Arc;
use tarragon_geometry::mesh::TriangleSurfaceMesh;
use tarragon_geometry::{GeometryId, SceneGraphInspector};

/// Returns the surface of the hydroelastic mesh of a geometry, if it has one.
///
/// # Errors
/// Returns an error if there is no such geometry, or if a volume mesh has no boundary.
pub(crate) fn hydroelastic_surface(
    inspector: &SceneGraphInspector<'_>,
    id: GeometryId,
) -> Result<Option<TriangleSurfaceMesh>> {
    let mesh = inspector.maybe_get_hydroelastic_mesh(id)?;
    let surface = mesh.map(|mesh| mesh.surface()).transpose()?;
    Ok(surface.map(Arc::unwrap_or_clone))
}
