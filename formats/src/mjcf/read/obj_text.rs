//! Meshes from numbers as OBJ files in memory, and vertices of OBJ files without faces.

use nalgebra::Vector3;
use std::fmt::Write;
use tarragon_geometry::{InMemoryMesh, MemoryFile, MeshSource};

/// Returns a mesh of given vertices and faces as an OBJ file in memory. `coordinates` are those of
/// the vertices in MuJoCo's textures, whose v grows downwards, or there are none.
pub(super) fn to_obj(
    vertices: &[Vector3<f64>],
    faces: &[[u32; 3]],
    coordinates: &[[f64; 2]],
    name: &str,
) -> MeshSource {
    let mut obj = String::new();
    for v in vertices {
        // Writing to a string does not fail.
        let _ = writeln!(obj, "v {:?} {:?} {:?}", v.x, v.y, v.z);
    }
    for [u, v] in coordinates {
        let _ = writeln!(obj, "vt {u:?} {:?}", 1.0 - v);
    }
    for face in faces {
        let [a, b, c] = face.map(|v| v + 1);
        let _ = if coordinates.is_empty() {
            writeln!(obj, "f {a} {b} {c}")
        } else {
            writeln!(obj, "f {a}/{a} {b}/{b} {c}/{c}")
        };
    }
    InMemoryMesh::new(MemoryFile::new(obj, ".obj", name.to_owned())).into()
}

/// Returns the vertices of an OBJ file, whatever else it has.
///
/// # Errors
/// Returns an error with the line of a vertex that does not have three finite numbers.
pub(super) fn vertices_of(obj: &[u8]) -> Result<Vec<Vector3<f64>>, String> {
    let text = String::from_utf8_lossy(obj);
    let lines = text.lines().zip(1..);
    let vertices = lines.filter_map(|(line, number)| {
        let mut words = line.split_whitespace();
        (words.next() == Some("v")).then_some((words, number))
    });
    vertices
        .map(|(mut words, number)| {
            let mut coordinate = || {
                let word = words.next().unwrap_or_default();
                let value = word.parse().ok().filter(|x: &f64| x.is_finite());
                value.ok_or_else(|| {
                    format!(
                        "line {number}: a vertex must have three finite numbers, got '{word:.40}'"
                    )
                })
            };
            Ok(Vector3::new(coordinate()?, coordinate()?, coordinate()?))
        })
        .collect()
}
