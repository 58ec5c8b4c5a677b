//! The sections and functions that `<asset>` is read with.

use super::compiler::CompilerOptions;
use super::defaults::DefaultClasses;
use super::tree::ElementRef;
use std::path::PathBuf;

/// The sections that assets are read with.
pub(super) struct AssetContext<'a> {
    /// Compilers of the documents, by number.
    pub(super) compilers: &'a [CompilerOptions],
    pub(super) defaults: &'a DefaultClasses,
    /// Whether geometry with meshes is added; otherwise, a mesh file is needed for a mass only.
    pub(super) mesh_geometry: bool,
    /// Finds the file of a path or a URL.
    pub(super) resolve: &'a dyn Fn(&str) -> Result<PathBuf, String>,
}

impl AssetContext<'_> {
    pub(super) fn compiler(&self, node: ElementRef<'_>) -> &CompilerOptions {
        &self.compilers[node.document()]
    }
}
