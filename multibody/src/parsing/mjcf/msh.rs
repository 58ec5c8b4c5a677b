//! MSH, MuJoCo's own mesh files.
//!
//! "XML Reference" of MuJoCo's documentation, `asset/mesh`: the numbers of vertices, normals,
//! texture coordinates and faces (little-endian 32-bit integers), then 3, 3 and 2 floats and 3
//! indices for each.

use crate::document::input::read_file;
use std::fmt::Write;
use std::path::Path;
use tarragon_geometry::{InMemoryMesh, MemoryFile};

/// Reads the vertices and faces of an MSH file as an OBJ file in memory; the error is a message.
pub(super) fn read(path: &Path) -> Result<InMemoryMesh, String> {
    let bytes = read_file(path).map_err(|e| format!("'{}': {e}", path.display()))?;
    let obj = to_obj(&bytes).map_err(|why| format!("'{}': {why}", path.display()))?;
    let name = path.display().to_string();
    Ok(InMemoryMesh::new(MemoryFile::new(obj, ".obj", name)))
}

fn to_obj(bytes: &[u8]) -> Result<String, String> {
    let (words, rest) = bytes.as_chunks::<4>();
    let [nvert, nnormal, ntexcoord, nface, data @ ..] = words else {
        return Err("the header of 16 bytes is incomplete".into());
    };
    let [nvert, nnormal, ntexcoord, nface] = [nvert, nnormal, ntexcoord, nface].map(|word| {
        let n = i32::from_le_bytes(*word);
        u64::try_from(n).map_err(|_| {
            format!(
                "the counts in the header must not be negative, got \
                                              {n}"
            )
        })
    });
    let (nvert, nface) = (nvert?, nface?);
    let floats = 3 * (nvert + nnormal?) + 2 * ntexcoord?;
    if data.len() as u64 != floats + 3 * nface || !rest.is_empty() {
        return Err(format!(
            "there must be {1} bytes after the header for {nvert} vertices and {nface} faces, got \
             {0}",
            bytes.len() - 16,
            4 * (floats + 3 * nface)
        ));
    }
    if nface == 0 {
        return Err("there are no faces".into());
    }
    let mut obj = String::new();
    let (vertices, faces) = (&data[..3 * nvert as usize], &data[floats as usize..]);
    for vertex in vertices.as_chunks::<3>().0 {
        let [x, y, z] = vertex.map(|word| f64::from(f32::from_le_bytes(word)));
        // Writing to a string does not fail.
        let _ = writeln!(obj, "v {x} {y} {z}");
    }
    for face in faces.as_chunks::<3>().0 {
        let [a, b, c] = face.map(|word| i64::from(i32::from_le_bytes(word)) + 1);
        if [a, b, c].iter().any(|i| !(1..=nvert as i64).contains(i)) {
            return Err(format!(
                "a face refers to the vertices {}, {} and {}, but there are {nvert} vertices, \
                 counted from 0",
                a - 1,
                b - 1,
                c - 1
            ));
        }
        let _ = writeln!(obj, "f {a} {b} {c}");
    }
    Ok(obj)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(counts: [i32; 4], floats: &[f32], faces: &[i32]) -> Vec<u8> {
        let mut bytes: Vec<u8> = counts.iter().flat_map(|n| n.to_le_bytes()).collect();
        bytes.extend(floats.iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend(faces.iter().flat_map(|n| n.to_le_bytes()));
        bytes
    }

    #[test]
    fn vertices_and_faces_are_read_and_the_rest_is_skipped() {
        let floats = [0.0, 0.5, 1.0, 2.0, -3.0, 4.0, 9.0, 9.0, 9.0, 8.0, 8.0];
        let obj = to_obj(&file([2, 1, 1, 1], &floats, &[0, 1, 0])).unwrap();
        assert_eq!(obj, "v 0 0.5 1\nv 2 -3 4\nf 1 2 1\n");
    }

    #[test]
    fn broken_files_are_errors() {
        let vertex = [0.0; 3];
        for (bytes, word) in [
            (vec![0; 15], "incomplete"),
            (file([-1, 0, 0, 0], &[], &[]), "negative"),
            (file([i32::MAX; 4], &[], &[]), "bytes after the header"),
            (
                file([1, 0, 0, 1], &vertex, &[0, 0]),
                "bytes after the header",
            ),
            (file([1, 0, 0, 0], &vertex, &[]), "no faces"),
            (
                file([1, 0, 0, 1], &vertex, &[0, 0, 1]),
                "vertices 0, 0 and 1",
            ),
            (
                file([1, 0, 0, 1], &vertex, &[0, 0, -1]),
                "vertices 0, 0 and -1",
            ),
            (
                [file([1, 0, 0, 1], &vertex, &[0; 3]), vec![0]].concat(),
                "bytes after the header",
            ),
        ] {
            let error = to_obj(&bytes).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }
}
