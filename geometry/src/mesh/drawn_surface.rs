//! Conversion of surfaces without materials to render meshes.

use super::height_grid::HeightGrid;
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

/// Converts a height field to a render mesh without a material, with flat faces. The texture
/// coordinates of the heights are those of an image that covers the field; the others have none.
pub(crate) fn render_mesh_of_heights(grid: &HeightGrid) -> RenderMesh {
    let (vertices, triangles) = grid.vertices_and_triangles();
    let [nx, ny] = grid.cells();
    let (points, of_heights) = (grid.heights.len(), 2 * nx * ny);
    let uv = |i: usize| {
        let (row, column) = (i / grid.columns, i % grid.columns);
        [column as f64 / nx as f64, row as f64 / ny as f64]
    };
    let count = triangles.len();
    let normal = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| vertices[v as usize]);
        (b - a).cross(&(c - a)).normalize()
    };
    let with_uvs = |(i, t): (usize, &[u32; 3])| {
        if i < of_heights {
            *t
        } else {
            [RenderMesh::NO_UV; 3]
        }
    };
    RenderMesh {
        normals: triangles.iter().map(normal).collect(),
        uvs: (0..points).map(uv).collect(),
        triangle_normals: (0..count as u32).map(|i| [i; 3]).collect(),
        triangle_uvs: triangles.iter().enumerate().map(with_uvs).collect(),
        positions: vertices.iter().map(|v| (*v).into()).collect(),
        groups: vec![MaterialGroup {
            material: None,
            triangles: 0..count,
        }],
        triangles,
        ..RenderMesh::default()
    }
}
