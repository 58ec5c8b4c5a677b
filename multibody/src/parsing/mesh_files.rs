//! Supported formats of mesh files.

use std::path::Path;

/// Suffixes of the mesh files that the geometry crate reads.
const SUFFIXES: [&str; 6] = ["obj", "stl", "gltf", "glb", "dae", "vtk"];

/// Returns the reason for leaving a mesh file out of a model; `None` if its format is supported.
pub(crate) fn refusal(path: &Path) -> Option<String> {
    let suffix = path.extension().map(|s| s.to_string_lossy().to_lowercase());
    let known = suffix.is_some_and(|s| SUFFIXES.contains(&&*s));
    (!known).then(|| {
        let list = SUFFIXES.map(|s| format!(".{s}"));
        let (last, others) = list.split_last().map_or(("", &[][..]), |(l, o)| (l, o));
        format!(
            "only {} and {last} meshes are supported; this geometry is left out",
            others.join(", ")
        )
    })
}
