//! Volume meshes with a margin around them.

use super::displacement::shortest_displacement;
use super::tessellation::Tessellation;
use super::volume::without_inverted;
use crate::error::{Error, Result};
use crate::mesh::{BoundaryFace, VolumeMesh, boundary_faces};
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns a mesh whose boundary is outside that of another by at least a margin (m). Tetrahedra
/// must have positive volumes.
///
/// A vertex on the boundary moves by the shortest vector that leads out of all its faces by the
/// margin. Where there is none, such as where tetrahedra only touch, the faces of each tetrahedron
/// get a vertex of their own with the same pressure. Tetrahedra that this turns inside out are left
/// out. Vertices and tetrahedra are those of Drake 1.51.
///
/// # Errors
/// Returns an error if a tetrahedron is too flat to have such a vertex or if none is left.
pub(in crate::hydro) fn inflate(mesh: Tessellation, margin: f64) -> Result<Tessellation> {
    let Tessellation {
        volume,
        mut pressures,
    } = mesh;
    let mut vertices = volume.vertices().to_vec();
    let mut tetrahedra: Vec<[u32; 4]> = volume.tetrahedra().iter().map(|t| t.vertices()).collect();
    let mut faces_at: BTreeMap<u32, Vec<BoundaryFace>> = BTreeMap::new();
    for face in boundary_faces(volume.tetrahedra()) {
        for v in face.vertices {
            faces_at.entry(v).or_default().push(face);
        }
    }
    for (v, faces) in faces_at {
        let position = volume.vertices()[v as usize];
        if let Some(u) = way_out(&volume, &faces) {
            vertices[v as usize] += margin * u;
            continue;
        }
        // Faces are in the order of their tetrahedra. The first keeps the vertex.
        for (i, faces) in faces
            .chunk_by(|f, g| f.tetrahedron == g.tetrahedron)
            .enumerate()
        {
            let tetrahedron = faces[0].tetrahedron;
            let u = way_out(&volume, faces).ok_or_else(|| {
                Error::invalid(format!(
                    "tetrahedron {tetrahedron} must have a volume for a margin, got faces that turn \
                     away from each other at its vertex {v} at {:?} m; remove the tetrahedron or \
                     set the margin to 0",
                    position.as_slice()
                ))
            })?;
            let moved = position + margin * u;
            if i == 0 {
                vertices[v as usize] = moved;
                continue;
            }
            let own = vertices.len() as u32;
            vertices.push(moved);
            pressures.push(pressures[v as usize]);
            for corner in &mut tetrahedra[tetrahedron] {
                if *corner == v {
                    *corner = own;
                }
            }
        }
    }
    let volume = without_inverted(Arc::new(VolumeMesh::new(tetrahedra, vertices)?))?;
    Ok(Tessellation { volume, pressures })
}

/// Returns the shortest displacement out of all of these faces, per margin.
fn way_out(volume: &VolumeMesh, faces: &[BoundaryFace]) -> Option<Vector3<f64>> {
    let normals = faces
        .iter()
        .map(|f| -volume.inward_normal(f.tetrahedron, f.opposite));
    // A face without area bounds nothing.
    let normals: Vec<Vector3<f64>> = normals.filter(|n| *n != Vector3::zeros()).collect();
    shortest_displacement(&normals)
}
