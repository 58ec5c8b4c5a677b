//! The packages of a parser, including those above the model files that it reads.

use crate::Result;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tarragon_documents::PackageMap;
use tarragon_geometry::{MeshPath, MeshSource};

/// A package map to which the packages above model files belong as well.
///
/// Most models refer to no package, and a search asks every folder above the file for a
/// `package.xml`. So the folders are searched when the map is first needed.
#[derive(Default)]
pub(crate) struct ParserPackages {
    map: PackageMap,
    /// Absolute paths of the model files above which no search was made, in the order of reading.
    /// Searching takes 15 µs, longer than reading a small file, and most models name no package.
    unsearched: Vec<PathBuf>,
    /// The map with the packages above those files.
    searched: OnceLock<PackageMap>,
    /// The map for meshes, which outlive the parser.
    shared: OnceLock<Arc<LazyPackages>>,
}

/// The packages of a parser at one time.
struct LazyPackages {
    map: PackageMap,
    unsearched: Vec<PathBuf>,
    searched: OnceLock<PackageMap>,
}

impl LazyPackages {
    fn map(&self) -> &PackageMap {
        self.searched
            .get_or_init(|| with_upstream(&self.map, &self.unsearched))
    }
}

/// Adds the packages above some files to a map.
fn with_upstream(map: &PackageMap, files: &[PathBuf]) -> PackageMap {
    let mut map = map.clone();
    for file in files {
        map.populate_upstream(file);
    }
    map
}

impl ParserPackages {
    /// Includes the packages above a model file.
    pub(crate) fn include_upstream(&mut self, file: &Path) {
        let file = if file.is_absolute() {
            file.to_path_buf()
        } else {
            match std::path::absolute(file) {
                Ok(file) => file,
                Err(_) => return,
            }
        };
        self.shared.take();
        self.keep_searched();
        let last = self.unsearched.last();
        if last.is_none_or(|last| last.parent() != file.parent()) {
            self.unsearched.push(file);
        }
    }

    /// Returns the map of all packages.
    pub(crate) fn map(&self) -> &PackageMap {
        if self.unsearched.is_empty() {
            return &self.map;
        }
        self.searched
            .get_or_init(|| with_upstream(&self.map, &self.unsearched))
    }

    /// Returns the source of a mesh file, whose materials may refer to the packages.
    pub(crate) fn mesh_source(&self, path: PathBuf) -> MeshSource {
        // Other formats than OBJ have no such references.
        if !path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("obj"))
        {
            return path.into();
        }
        let packages = self.shared.get_or_init(|| {
            Arc::new(LazyPackages {
                map: self.map.clone(),
                unsearched: self.unsearched.clone(),
                searched: OnceLock::new(),
            })
        });
        let packages = packages.clone();
        let lookup = move |uri: &str| Some(packages.map().resolve(uri).ok()?.path);
        MeshSource::Path(MeshPath::new(path).with_packages(lookup))
    }

    /// Returns the map of all packages for modification.
    pub(crate) fn map_mut(&mut self) -> &mut PackageMap {
        self.map();
        self.shared.take();
        self.keep_searched();
        &mut self.map
    }

    /// Keeps the result of a search that was made.
    fn keep_searched(&mut self) {
        if let Some(map) = self.searched.take() {
            self.map = map;
            self.unsearched.clear();
        }
    }

    /// Resolves a URI, or a path relative to `directory`, to a file.
    pub(crate) fn resolve_file(
        &self,
        uri: &str,
        directory: Option<&Path>,
    ) -> Result<PathBuf, String> {
        // Only URLs name packages.
        let map = if uri.contains("://") {
            self.map()
        } else {
            &self.map
        };
        map.resolve_file(uri, directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_above_all_models_are_found_in_the_order_of_reading() {
        let folder = tempfile::tempdir().unwrap();
        let package = |folder: PathBuf, name: &str| {
            std::fs::create_dir_all(&folder).unwrap();
            let manifest = format!("<package><name>{name}</name></package>");
            std::fs::write(folder.join("package.xml"), manifest).unwrap();
            folder
        };
        let first = package(folder.path().join("first"), "arm");
        let second = package(folder.path().join("second"), "arm");
        let inner = package(second.join("hand"), "hand");
        let mut packages = ParserPackages::default();
        packages.include_upstream(&first.join("arm.urdf"));
        packages.include_upstream(&inner.join("hand.urdf"));
        assert_eq!(packages.map().path("arm").unwrap(), first);
        assert_eq!(packages.map().path("hand").unwrap(), inner);
        let third = package(folder.path().join("third"), "leg");
        packages.include_upstream(&third.join("leg.urdf"));
        assert_eq!(packages.map().path("leg").unwrap(), third);
        packages.map_mut().remove("arm").unwrap();
        assert!(!packages.map().contains("arm"), "not searched twice");
        assert!(packages.map().contains("leg"));
    }
}
