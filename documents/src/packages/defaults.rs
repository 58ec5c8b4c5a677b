//! The default packages of a map.

use super::location::PackageLocation;
use super::package_map::{DRAKE_ROOT, PackageMap};
use super::remote::{RemotePackage, RemoteParams};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The commit of Drake's models that Drake 1.51.1 refers to, and the checksum of its archive.
const MODELS: (&str, &str) = (
    "deee02d4d79937e112cb428e638e7ee44d51305f",
    "9f5bc1b923e4de584a030d17c1fcfedfc1ca29e805c453156cab297e6bb89054",
);

/// Mirrors of that archive, in Drake's order.
const MIRRORS: [&str; 3] = [
    "https://github.com/RobotLocomotion/models/archive",
    "https://drake-mirror.csail.mit.edu/github/RobotLocomotion/models",
    "https://s3.amazonaws.com/drake-mirror/github/RobotLocomotion/models",
];

/// Returns the package of Drake's models, whose parameters are checked once.
fn models_package() -> Option<Arc<RemotePackage>> {
    static PACKAGE: OnceLock<Option<Arc<RemotePackage>>> = OnceLock::new();
    let package = || {
        RemotePackage::new("drake_models", models())
            .ok()
            .map(Arc::new)
    };
    PACKAGE.get_or_init(package).clone()
}

/// Returns the parameters of Drake's models, an archive of a few hundred megabytes.
fn models() -> RemoteParams {
    let (commit, sha256) = MODELS;
    RemoteParams {
        urls: MIRRORS.map(|m| format!("{m}/{commit}.tar.gz")).into(),
        sha256: sha256.into(),
        archive_type: None,
        strip_prefix: Some(format!("models-{commit}")),
    }
}

impl PackageMap {
    /// Creates a map of the default packages.
    pub fn new() -> Self {
        let root = std::env::var_os(DRAKE_ROOT);
        let root = root.filter(|root| !root.is_empty()).map(PathBuf::from);
        Self::with_defaults(root.as_deref())
    }

    /// Creates a map of the default packages, including `drake` if `root` has it.
    pub(super) fn with_defaults(root: Option<&Path>) -> Self {
        let mut map = Self::make_empty();
        if let Some(models) = models_package() {
            map.add_default("drake_models", PackageLocation::Remote(models));
        }
        let drake = root.map(|root| root.join("drake"));
        if let Some(folder) = drake.filter(|folder| folder.join("package.xml").is_file()) {
            let deprecation = None;
            let local = PackageLocation::Local {
                folder,
                deprecation,
            };
            map.add_default("drake", local);
        }
        map
    }

    fn add_default(&mut self, name: &str, package: PackageLocation) {
        self.packages.insert(name.into(), package);
        self.defaults.insert(name.into());
    }
}

impl Default for PackageMap {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(map: &PackageMap) -> Vec<&str> {
        map.package_names().collect()
    }

    #[test]
    fn default_packages_are_drakes_as_far_as_available() {
        assert!(PackageMap::make_empty().is_empty());
        assert!(PackageMap::new().contains("drake_models"));
        assert!(PackageMap::default().contains("drake_models"));
        let root = tempfile::tempdir().unwrap();
        assert_eq!(names(&PackageMap::with_defaults(None)), ["drake_models"]);
        assert_eq!(
            names(&PackageMap::with_defaults(Some(root.path()))),
            ["drake_models"],
            "the folder has no package"
        );
        let drake = root.path().join("drake");
        std::fs::create_dir(&drake).unwrap();
        let manifest = "<package><name>drake</name></package>";
        std::fs::write(drake.join("package.xml"), manifest).unwrap();
        let map = PackageMap::with_defaults(Some(root.path()));
        assert_eq!(names(&map), ["drake", "drake_models"]);
        assert_eq!(map.path("drake").unwrap(), drake);
        let error = PackageMap::with_defaults(None).path("drake").unwrap_err();
        assert!(error.to_string().contains(DRAKE_ROOT), "{error}");
    }

    #[test]
    fn default_packages_give_way_to_others() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("own");
        std::fs::create_dir(&own).unwrap();
        let manifest = "<package><name>drake_models</name></package>";
        std::fs::write(own.join("package.xml"), manifest).unwrap();
        let default = PackageMap::with_defaults(None);
        let path = |map: &PackageMap| map.path("drake_models").unwrap();

        let mut added = default.clone();
        added.add("drake_models", &own).unwrap();
        assert_eq!(path(&added), own);
        assert!(added.add("drake_models", dir.path()).is_err(), "only once");

        let mut crawled = default.clone();
        crawled.populate_from_folder(dir.path()).unwrap();
        assert_eq!(path(&crawled), own);
        let mut upstream = default.clone();
        upstream.populate_upstream(&own.join("arm.urdf"));
        assert_eq!(path(&upstream), own);

        // Merging maps ignores the defaults of both.
        let mut merged = default.clone();
        merged.add_map(&added).unwrap();
        assert_eq!(path(&merged), own);
        added.add_map(&default).unwrap();
        assert_eq!(path(&added), own);

        // A package that was added explicitly is no longer a default and stays.
        let mut again = default.clone();
        again.add_remote("drake_models", models()).unwrap();
        assert_eq!(again, default);
        assert!(again.add("drake_models", &own).is_err());
        again.remove("drake_models").unwrap();
        assert!(again.is_empty() && again.add("drake_models", &own).is_ok());
    }
}
