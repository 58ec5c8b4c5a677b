//! Meshes from numbers as OBJ files in memory.

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
        let _ = match coordinates.is_empty() {
            true => writeln!(obj, "f {a} {b} {c}"),
            false => writeln!(obj, "f {a}/{a} {b}/{b} {c}/{c}"),
        };
    }
    InMemoryMesh::new(MemoryFile::new(obj, ".obj", name.to_owned())).into()
}
