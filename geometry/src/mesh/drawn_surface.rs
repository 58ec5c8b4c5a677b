//! Surfaces without materials, made ready to be drawn.

use super::material::MaterialGroup;
use super::normals::{self, Smoothing};
use super::render_mesh::RenderMesh;
use super::surface::{PolygonSurfaceMesh, TriangleSurfaceMesh};

/// What can be seen of a hull: flat faces without a material.
pub(crate) fn render_mesh_of_hull(hull: &PolygonSurfaceMesh) -> RenderMesh {
    // Triangles of one face lie in one plane, so that flat shading shows the face.
    render_mesh_of_surface(&hull.to_triangles(), Smoothing::Flat)
}

/// A surface without a material.
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
