//! Surfaces of meshes that collide as the union of convex pieces.

use crate::Result;
use tarragon_geometry::mesh::{SurfaceTriangle, TriangleSurfaceMesh};
use tarragon_geometry::{GeometryId, SceneGraphInspector};

/// Returns the surfaces of all convex pieces of a geometry, one after the other; `None` if it does
/// not collide as those.
pub(crate) fn pieces_to_show(
    inspector: &SceneGraphInspector<'_>,
    id: GeometryId,
) -> Result<Option<TriangleSurfaceMesh>> {
    let Some(pieces) = inspector.convex_pieces(id)? else {
        return Ok(None);
    };
    let (mut triangles, mut vertices) = (vec![], vec![]);
    for piece in pieces {
        let surface = piece.convex_hull()?.to_triangles();
        let first = vertices.len() as u32;
        let corners = surface.triangles().iter().map(SurfaceTriangle::vertices);
        triangles.extend(corners.map(|t| t.map(|v| first + v)));
        vertices.extend_from_slice(surface.vertices());
    }
    TriangleSurfaceMesh::new(triangles, vertices).map(Some)
}
