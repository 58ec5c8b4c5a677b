//! Normals of meshes that were sent without them.
//!
//! VTK's exporter, which Drake uses, writes positions and texture coordinates but no normals. Only
//! the vertices remain of them: corners that shared a normal share a vertex, and others do not.

use nalgebra::{Point3, Vector3};
use std::collections::HashMap;
use tarragon_geometry::mesh::RenderMesh;

/// Cosine of the angle up to which triangles on both sides of a seam of texture coordinates share a
/// normal: VTK's feature angle of 30 degrees.
const COS_FEATURE: f64 = 0.866_025_403_784_438_6;
/// Number of corners at a point above which seams are not smoothed, because comparing all pairs
/// takes too long.
const MOST_AROUND: usize = 512;

/// Corner of a triangle, with the triangle's normal.
#[derive(Clone, Copy)]
struct Corner {
    vertex: u32,
    uv: [f64; 2],
    /// Unit normal of the triangle.
    unit: Vector3<f64>,
    /// The same, weighted by the angle at the corner.
    weighted: Vector3<f64>,
}

/// Gives smooth normals to a mesh. Triangles share a normal where they share a vertex, and across
/// seams, where vertices differ in texture coordinates only, if they are nearly parallel.
pub(super) fn restore_normals(mesh: &mut RenderMesh) {
    let corners: Vec<Corner> = (0..mesh.triangles.len())
        .flat_map(|t| corners_of(mesh, t))
        .collect();
    let mut sums = vec![Vector3::zeros(); mesh.positions.len()];
    let mut at_points: HashMap<[u64; 3], Vec<usize>> = HashMap::with_capacity(sums.len());
    for (i, corner) in corners.iter().enumerate() {
        sums[corner.vertex as usize] += corner.weighted;
        // Adding zero makes both zeros equal.
        let [x, y, z] = mesh.positions[corner.vertex as usize].coords.into();
        let key = [x, y, z].map(|x: f64| (x + 0.0).to_bits());
        at_points.entry(key).or_default().push(i);
    }
    let mut normals: Vec<Vector3<f64>> = corners.iter().map(|c| sums[c.vertex as usize]).collect();
    for around in at_points.values().filter(|a| is_seam(&corners, a)) {
        for i in around {
            let own = corners[*i];
            let across = around.iter().map(|j| corners[*j]).filter(|other| {
                other.vertex != own.vertex && other.unit.dot(&own.unit) >= COS_FEATURE
            });
            normals[*i] += across.map(|other| other.weighted).sum::<Vector3<f64>>();
        }
    }
    for (normal, corner) in normals.iter_mut().zip(&corners) {
        *normal = normal.try_normalize(1e-12).unwrap_or(corner.unit);
    }
    mesh.normals = normals;
    mesh.triangle_normals = (0..mesh.triangles.len() as u32)
        .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
        .collect();
}

/// Returns true if several vertices are at a point, and all differ in texture coordinates. Vertices
/// that agree in them were split because their normals differ.
fn is_seam(corners: &[Corner], around: &[usize]) -> bool {
    let first = corners[around[0]].vertex;
    let is_single = around.iter().all(|i| corners[*i].vertex == first);
    if is_single || around.len() > MOST_AROUND {
        return false;
    }
    around.iter().map(|i| corners[*i]).all(|a| {
        let others = around.iter().map(|j| corners[*j]);
        others
            .into_iter()
            .all(|b| a.vertex == b.vertex || a.uv != b.uv)
    })
}

/// Returns the corners of a triangle. The normal of one without area is +z; no pixel shows it.
fn corners_of(mesh: &RenderMesh, t: usize) -> [Corner; 3] {
    let triangle = mesh.triangles[t];
    let points: [Point3<f64>; 3] = triangle.map(|v| mesh.positions[v as usize]);
    let cross = (points[1] - points[0]).cross(&(points[2] - points[0]));
    let normal = cross.try_normalize(0.0);
    let unit = normal.unwrap_or_else(Vector3::z);
    std::array::from_fn(|k| {
        let (a, b) = (
            points[(k + 1) % 3] - points[k],
            points[(k + 2) % 3] - points[k],
        );
        let angle = a.cross(&b).norm().atan2(a.dot(&b));
        let uv = mesh.triangle_uvs.get(t).map(|uvs| uvs[k]);
        let uv = uv.and_then(|i| mesh.uvs.get(i as usize));
        Corner {
            vertex: triangle[k],
            uv: uv.copied().unwrap_or_default(),
            unit,
            weighted: normal.map_or(Vector3::zeros(), |n| n * angle),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates two squares that meet in an edge along y at an angle (rad), with a vertex for each
    /// corner and equal or different texture coordinates.
    fn fold(angle: f64, is_shared: bool, same_uv: bool) -> RenderMesh {
        let (c, s) = (angle.cos(), angle.sin());
        let left = [[-1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let right = [[0.0, 0.0, 0.0], [c, 0.0, -s], [0.0, 1.0, 0.0]];
        let positions = left.into_iter().chain(right).map(Point3::from).collect();
        let other = if same_uv { 0.0 } else { 0.5 };
        let mut mesh = RenderMesh {
            positions,
            triangles: vec![[0, 1, 2], [3, 4, 5]],
            uvs: vec![[0.0; 2], [other; 2]],
            triangle_uvs: vec![[0; 3], [1; 3]],
            ..RenderMesh::default()
        };
        if is_shared {
            mesh.triangles[1] = [1, 4, 2];
        }
        restore_normals(&mut mesh);
        mesh
    }

    /// Returns true if the normals at the common edge are equal.
    fn is_smooth(mesh: &RenderMesh) -> bool {
        (mesh.normals[1] - mesh.normals[3]).norm() < 1e-12
    }

    #[test]
    fn shared_vertices_are_smooth_at_any_angle() {
        assert!(is_smooth(&fold(1.5, true, true)) && is_smooth(&fold(0.1, true, false)));
    }

    #[test]
    fn split_vertices_with_equal_texture_coordinates_are_edges() {
        assert!(!is_smooth(&fold(0.1, false, true)));
    }

    #[test]
    fn seams_are_smooth_below_the_feature_angle() {
        assert!(is_smooth(&fold(0.5, false, false)) && !is_smooth(&fold(0.55, false, false)));
    }

    #[test]
    fn normals_have_unit_length_and_agree_with_the_winding() {
        let mesh = fold(0.4, false, false);
        for (t, normals) in mesh.triangle_normals.iter().enumerate() {
            for i in normals {
                let n = mesh.normals[*i as usize];
                assert!((n.norm() - 1.0).abs() < 1e-14);
                assert!(n.dot(&corners_of(&mesh, t)[0].unit) > 0.9);
            }
        }
    }
}
