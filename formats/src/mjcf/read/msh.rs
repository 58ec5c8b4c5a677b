//! MSH, MuJoCo's own mesh files.
//!
//! "XML Reference" of MuJoCo's documentation, `asset/mesh`: the numbers of vertices, normals,
//! texture coordinates and faces (little-endian 32-bit integers), then 3, 3 and 2 floats and 3
//! indices for each.

use super::obj_text::to_obj;
use nalgebra::Vector3;
use std::path::Path;
use tarragon_documents::read_file;
use tarragon_geometry::MeshSource;

/// Part of a file that meshes use.
#[derive(Debug, PartialEq)]
struct Content {
    vertices: Vec<Vector3<f64>>,
    faces: Vec<[u32; 3]>,
    /// Texture coordinates of the vertices, if each has some.
    coordinates: Vec<[f64; 2]>,
}

/// Reads an MSH file, without its normals, as an OBJ file in memory; the error is a message.
pub(super) fn read(path: &Path) -> Result<MeshSource, String> {
    let name = path.display().to_string();
    let bytes = read_file(path).map_err(|e| format!("'{name}': {e}"))?;
    let content = parse(&bytes).map_err(|why| format!("'{name}': {why}"))?;
    let Content {
        vertices,
        faces,
        coordinates,
    } = content;
    Ok(to_obj(&vertices, &faces, &coordinates, &name))
}

fn parse(bytes: &[u8]) -> Result<Content, String> {
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
    let (nvert, nface, ntexcoord) = (nvert?, nface?, ntexcoord?);
    let first_coordinate = 3 * (nvert + nnormal?);
    let floats = first_coordinate + 2 * ntexcoord;
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
    let float = |word: [u8; 4]| f64::from(f32::from_le_bytes(word));
    let (numbers, indices) = data.split_at(floats as usize);
    let vertices = numbers[..3 * nvert as usize].as_chunks::<3>().0.iter();
    let coordinates = numbers[first_coordinate as usize..].as_chunks::<2>().0;
    let has_all = ntexcoord == nvert;
    let mut faces = Vec::with_capacity(nface as usize);
    for face in indices.as_chunks::<3>().0 {
        let [a, b, c] = face.map(i32::from_le_bytes);
        if [a, b, c]
            .iter()
            .any(|i| !(0..nvert as i64).contains(&i64::from(*i)))
        {
            return Err(format!(
                "a face refers to the vertices {a}, {b} and {c}, but there are {nvert} vertices, \
                 counted from 0"
            ));
        }
        faces.push([a, b, c].map(|i| i as u32));
    }
    Ok(Content {
        vertices: vertices.map(|v| v.map(float).into()).collect(),
        faces,
        coordinates: coordinates
            .iter()
            .filter(|_| has_all)
            .map(|uv| uv.map(float))
            .collect(),
    })
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
    fn vertices_faces_and_coordinates_are_read() {
        let floats = [
            0.0, 0.5, 1.0, 2.0, -3.0, 4.0, 9.0, 9.0, 9.0, 0.25, 0.5, 0.75, 1.0,
        ];
        let content = parse(&file([2, 1, 2, 1], &floats, &[0, 1, 0])).unwrap();
        let expected = Content {
            vertices: vec![Vector3::new(0.0, 0.5, 1.0), Vector3::new(2.0, -3.0, 4.0)],
            faces: vec![[0, 1, 0]],
            coordinates: vec![[0.25, 0.5], [0.75, 1.0]],
        };
        assert_eq!(content, expected);
        // Coordinates that are not those of all vertices are left out.
        let one = parse(&file([2, 1, 1, 1], &floats[..11], &[0, 1, 0])).unwrap();
        assert_eq!((one.vertices, one.coordinates), (expected.vertices, vec![]));
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
            let error = parse(&bytes).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }
}
