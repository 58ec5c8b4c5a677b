//! Convex hulls: around their centroids.

use super::tessellation::{Tessellation, TessellationBuilder};
use crate::error::{Error, Result};
use crate::mesh::{PolygonSurfaceMesh, convex_hull};
use nalgebra::Vector3;

/// Threshold, relative to the cube of the size, below which a volume is mere rounding.
const LEAST_VOLUME: f64 = 1e-14;

/// Returns the tetrahedra between the triangles of a hull and the centroid of its volume, and the
/// distance of the centroid from the surface (m).
///
/// # Errors
/// Returns an error if the hull has no volume.
pub(in crate::hydro) fn hull(hull: &PolygonSurfaceMesh) -> Result<(Tessellation, f64)> {
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
    let size = hull.calc_bounding_box().1.norm();
    if volume <= LEAST_VOLUME * size.powi(3) {
        return Err(Error::invalid(format!(
            "the convex hull of a compliant geometry must have a volume, got {:?} m^3 within a box of \
             size {size:?} m; make the geometry rigid",
            volume / 6.0
        )));
    }
    let centroid = reference + moment / (4.0 * volume);
    let mut mesh = TessellationBuilder::default();
    for vertex in vertices {
        mesh.add_outside(*vertex);
    }
    let inside = mesh.add_inside(centroid);
    for triangle in surface.triangles() {
        let [a, b, c] = triangle.vertices();
        mesh.add([a, b, c, inside]);
    }
    // From inside, the nearest point of a convex surface is on the nearest plane of a face.
    let depths = (0..hull.num_faces()).map(|f| distance_inside(hull, f, &centroid));
    Ok((mesh.finish()?, depths.fold(f64::INFINITY, f64::min)))
}

/// Returns the distance of a point from the plane of a face, positive inside.
fn distance_inside(hull: &PolygonSurfaceMesh, face: usize, p: &Vector3<f64>) -> f64 {
    let normal = hull.face_normal(face);
    normal.dot(&(hull.element_centroid(face) - p))
}

/// Returns the polyhedron whose faces are those of a hull with a volume, moved outwards by a margin
/// (m).
///
/// A face `n . x <= d` about a point inside is the point `n / d` of the dual polyhedron, whose
/// faces are the vertices of the result (J. Gallier and J. Quaintance, "Aspects of convex
/// geometry", 2022, proposition 5.6). A vertex where more than three faces meet becomes
/// several vertices, unless the moved faces still have a common point.
///
/// # Errors
/// Returns an error if a coordinate overflows.
pub(in crate::hydro) fn offset_hull(
    hull: &PolygonSurfaceMesh,
    margin: f64,
) -> Result<PolygonSurfaceMesh> {
    let inside = hull.vertices().iter().sum::<Vector3<f64>>() / hull.num_vertices() as f64;
    let dual_point = |face: usize| {
        let distance = distance_inside(hull, face, &inside) + margin;
        hull.face_normal(face) / distance
    };
    let points: Vec<Vector3<f64>> = (0..hull.num_faces()).map(dual_point).collect();
    let dual = PolygonSurfaceMesh::from_hull(convex_hull(&points)?)?;
    let vertex = |face: usize| {
        let normal = dual.face_normal(face);
        inside + normal / normal.dot(&dual.element_centroid(face))
    };
    let vertices: Vec<Vector3<f64>> = (0..dual.num_faces()).map(vertex).collect();
    PolygonSurfaceMesh::from_hull(convex_hull(&vertices)?)
}
