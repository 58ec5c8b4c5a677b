//! Convex hulls: around their centroids.

use super::tessellation::TessellationBuilder;
use crate::mesh::PolygonSurfaceMesh;
use nalgebra::Vector3;

/// Returns the tetrahedra between the triangles of a hull and the centroid of its volume.
pub(in crate::hydro) fn hull(hull: &PolygonSurfaceMesh) -> TessellationBuilder {
    let surface = hull.to_triangles();
    let vertices = surface.vertices();
    let reference = vertices[0];
    let (mut volume, mut moment) = (0.0, Vector3::zeros());
    for triangle in surface.triangles() {
        let [a, b, c] = triangle
            .vertices()
            .map(|v| vertices[v as usize] - reference);
        let part = a.cross(&b).dot(&c);
        volume += part;
        moment += (a + b + c) * part;
    }
    let mut mesh = TessellationBuilder::default();
    for vertex in vertices {
        mesh.add_outside(*vertex);
    }
    let centroid = mesh.add_inside(reference + moment / (4.0 * volume));
    for triangle in surface.triangles() {
        let [a, b, c] = triangle.vertices();
        mesh.add([a, b, c, centroid]);
    }
    mesh
}
