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
    let (mut name, mut kept, mut left_out) = (String::new(), 0, 0);
    let mut is_first = true;
    let mut text = Vec::with_capacity(obj.len());
    let mut mesh = InMemoryMesh::new(MemoryFile::new([], ".obj", ""));
    for line in obj.split_inclusive(|byte| *byte == b'\n') {
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        match words.next() {
            Some(b"o" | b"g") => {
                if let Some(word) = words.next() {
                    is_first &= kept == 0;
                    if is_first {
                        name = String::from_utf8_lossy(word).into_owned();
                    }
                }
            }
            // Others are no faces, for MuJoCo as for our reader.
            Some(b"f") if words.count() >= 3 => {
                if !is_first {
                    left_out += 1;
                    // Keeps the numbers of lines.
                    text.push(b'\n');
                    continue;
                }
                kept += 1;
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
        text.extend(line);
    }
    if left_out == 0 {
        return None;
    }
    mesh.mesh_file = MemoryFile::new(text, ".obj", path.display().to_string());
    Some(FirstObject {
        mesh: mesh.into(),
        name,
        left_out,
    })
}
