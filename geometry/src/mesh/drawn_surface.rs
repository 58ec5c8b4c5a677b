//! Conversion of surfaces without materials to render meshes.

use super::material::MaterialGroup;
use super::normals::{self, Smoothing};
use super::render_mesh::RenderMesh;
use super::surface::{PolygonSurfaceMesh, TriangleSurfaceMesh};

/// Converts a convex hull to a render mesh with flat faces and no material.
pub(crate) fn render_mesh_of_hull(hull: &PolygonSurfaceMesh) -> RenderMesh {
    // The triangles of a face are coplanar, so flat shading shows whole faces.
    render_mesh_of_surface(&hull.to_triangles(), Smoothing::Flat)
}

/// Converts a surface to a render mesh without a material.
pub(super) fn render_mesh_of_surface(
    surface: &TriangleSurfaceMesh,
    smoothing: Smoothing,
) -> RenderMesh {
    let n = surface.num_triangles();
    let mut mesh = RenderMesh {
        positions: surface.vertices().iter().map(|v| (*v).into()).collect(),
        triangles: surface.triangles().iter().map(|t| t.vertices()).collect(),
        triangle_normals: vec![[0; 3]; n],
        groups: vec![MaterialGroup {
            material: None,
            triangles: 0..n,
        }],
        ..RenderMesh::default()
    };
    let all: Vec<_> = (0..n).map(|t| (t, smoothing)).collect();
    normals::add_missing(&mut mesh, &all);
    mesh
}
