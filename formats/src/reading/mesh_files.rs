//! Supported formats of mesh files.

use std::path::Path;
use tarragon_geometry::mesh::MESH_SUFFIXES;

/// Returns the reason for leaving a mesh file out of a model; `None` if its format is supported.
pub(crate) fn refusal(path: &Path) -> Option<String> {
    let suffix = path.extension().map(|s| s.to_string_lossy().to_lowercase());
    let known = suffix.is_some_and(|s| MESH_SUFFIXES.contains(&&*s));
    let [others @ .., last] = MESH_SUFFIXES;
    (!known).then(|| {
        format!(
            "only .{} and .{last} meshes are supported; this geometry is left out",
            others.join(", .")
        )
    })
}
