//! Objects of OBJ files.

use std::path::Path;
use tarragon_geometry::{FileSource, InMemoryMesh, MemoryFile, MeshSource};

/// The first object of an OBJ file with several.
pub(crate) struct FirstObject {
    pub(crate) mesh: MeshSource,
    pub(crate) name: String,
    /// Number of faces of the other objects.
    pub(crate) left_out: usize,
}

/// Returns an OBJ file without the faces of all objects and groups after the first one that has
/// faces, because MuJoCo reads only these; it keeps all vertices. `None` if there are no others.
pub(crate) fn first_object(path: &Path, obj: &[u8]) -> Option<FirstObject> {
    let (mut name, mut has_faces, mut is_first) = (String::new(), false, true);
    let mut others = vec![];
    let mut mesh = InMemoryMesh::new(MemoryFile::new([], ".obj", ""));
    let mut start = 0;
    for line in obj.split_inclusive(|byte| *byte == b'\n') {
        let place = start..start + line.len();
        start = place.end;
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        match words.next() {
            Some(b"o" | b"g") => {
                if let Some(word) = words.next() {
                    is_first &= !has_faces;
                    if is_first {
                        name = String::from_utf8_lossy(word).into_owned();
                    }
                }
            }
            // Others are no faces, for MuJoCo as for our reader.
            Some(b"f") if words.nth(2).is_some() => {
                if is_first {
                    has_faces = true;
                } else {
                    others.push(place);
                }
            }
            Some(b"mtllib") => {
                let file = String::from_utf8_lossy(&line.trim_ascii()["mtllib".len()..]);
                let file = file.trim();
                let folder = path.parent().unwrap_or(Path::new(""));
                let source = FileSource::Path(folder.join(file.replace('\\', "/")));
                mesh.supporting_files.insert(file.into(), source);
            }
            _ => {}
        }
    }
    if others.is_empty() {
        return None;
    }
    // Blanks keep the numbers of lines.
    let mut text = obj.to_vec();
    for place in &others {
        let face = &mut text[place.clone()];
        face.iter_mut()
            .filter(|byte| **byte != b'\n')
            .for_each(|byte| *byte = b' ');
    }
    mesh.mesh_file = MemoryFile::new(text, ".obj", path.display().to_string());
    Some(FirstObject {
        mesh: mesh.into(),
        name,
        left_out: others.len(),
    })
}
