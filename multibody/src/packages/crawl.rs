//! Searching folders for packages.

use super::location::{PackageLocation, directory_of};
use super::manifest::PackageManifest;
use super::package_map::PackageMap;
use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tarragon_framework::warnings::warn;

/// Maximum depth of a search below the crawled folder.
const MAX_DEPTH: usize = 64;

const ROS_PACKAGE_PATH: &str = "ROS_PACKAGE_PATH";

/// Files that exclude a folder from ROS's search.
const IGNORE_MARKERS: [&str; 3] = ["AMENT_IGNORE", "CATKIN_IGNORE", "COLCON_IGNORE"];

/// Rules for the folders that a search for packages visits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CrawlRules {
    /// Every folder whose name does not start with a dot.
    Everything,
    /// The same, except folders below a package and folders with an ignore marker.
    Ros,
}

impl PackageMap {
    /// Searches a folder and everything below it for `package.xml` files and adds their packages.
    /// Folders whose names start with a dot are skipped; links are followed, and no folder is
    /// searched twice. If a package is known already, it keeps its directory, unless it is a
    /// default package, and a `tracing` warning says so. A `folder` that does not exist or cannot
    /// be read also causes a warning.
    ///
    /// # Errors
    /// Returns an error if a `package.xml` cannot be read or names no package; nothing is added in
    /// that case.
    pub fn populate_from_folder(&mut self, folder: impl AsRef<Path>) -> Result<()> {
        self.crawl_all([folder.as_ref().to_path_buf()], CrawlRules::Everything)
    }

    /// Calls [`Self::populate_from_folder`] for every folder that an environment variable lists,
    /// separated as in `PATH`. An unset variable lists none.
    ///
    /// # Errors
    /// Returns the errors of [`Self::populate_from_folder`], and an error if the variable is
    /// `ROS_PACKAGE_PATH`, which has its own rules: see [`Self::populate_from_ros_package_path`].
    pub fn populate_from_environment(&mut self, variable: &str) -> Result<()> {
        if variable == ROS_PACKAGE_PATH {
            return Err(Error::invalid(format!(
                "the environment variable must not be {ROS_PACKAGE_PATH}; call \
                 `populate_from_ros_package_path` instead"
            )));
        }
        self.populate_from_list(variable, CrawlRules::Everything)
    }

    /// Searches the folders that `ROS_PACKAGE_PATH` lists, by ROS's rules: anything below a package
    /// or a folder with a file `AMENT_IGNORE`, `CATKIN_IGNORE` or `COLCON_IGNORE` is not searched.
    ///
    /// # Errors
    /// Returns the errors of [`Self::populate_from_folder`].
    pub fn populate_from_ros_package_path(&mut self) -> Result<()> {
        self.populate_from_list(ROS_PACKAGE_PATH, CrawlRules::Ros)
    }

    fn populate_from_list(&mut self, variable: &str, crawl: CrawlRules) -> Result<()> {
        // No variable can have such a name, and some systems abort on it.
        if variable.is_empty() || variable.contains(['=', '\0']) {
            return Err(Error::invalid(format!(
                "the name of an environment variable must not be empty or contain '=' or a zero \
                 byte, got '{variable}'"
            )));
        }
        let list = std::env::var_os(variable).unwrap_or_default();
        let folders = std::env::split_paths(&list);
        self.crawl_all(folders.filter(|f| !f.as_os_str().is_empty()), crawl)
    }

    pub(super) fn crawl_all(
        &mut self,
        folders: impl IntoIterator<Item = PathBuf>,
        crawl: CrawlRules,
    ) -> Result<()> {
        let mut found = self.clone();
        for folder in folders {
            if let Err(error) = fs::read_dir(&folder) {
                let folder = folder.display();
                warn(format!("'{folder}' is not searched for packages: {error}"));
                continue;
            }
            found.crawl(&folder, crawl, 0, &mut BTreeSet::new())?;
        }
        *self = found;
        Ok(())
    }

    fn crawl(
        &mut self,
        folder: &Path,
        crawl: CrawlRules,
        depth: usize,
        seen: &mut BTreeSet<PathBuf>,
    ) -> Result<()> {
        // Links may lead back to a folder above.
        let new = folder.canonicalize().is_ok_and(|c| seen.insert(c));
        if !new {
            return Ok(());
        }
        let ignored = |marker: &&str| folder.join(marker).exists();
        if crawl == CrawlRules::Ros && IGNORE_MARKERS.iter().any(ignored) {
            return Ok(());
        }
        let manifest = folder.join("package.xml");
        if manifest.is_file() {
            self.add_if_new(&manifest)?;
            if crawl == CrawlRules::Ros {
                return Ok(());
            }
        }
        // Folders that cannot be read hold no packages for us.
        let Ok(entries) = fs::read_dir(folder) else {
            return Ok(());
        };
        let hidden = |e: &fs::DirEntry| e.file_name().as_encoded_bytes().starts_with(b".");
        let mut folders: Vec<PathBuf> = entries
            .flatten()
            .filter(|e| !hidden(e))
            .map(|e| e.path())
            .filter(|p| p.is_dir())
            .collect();
        // Makes the result independent of the file system's order.
        folders.sort();
        if depth < MAX_DEPTH {
            for folder in folders {
                self.crawl(&folder, crawl, depth + 1, seen)?;
            }
        }
        Ok(())
    }

    /// Adds the packages whose `package.xml` lies in a directory above `file`. This makes
    /// `package://` work for a model within its own package. Unusable `package.xml` files cause a
    /// warning and are skipped.
    pub(crate) fn populate_upstream(&mut self, file: &Path) {
        let Ok(file) = std::path::absolute(file) else {
            return;
        };
        for folder in file.ancestors().skip(1) {
            let manifest = folder.join("package.xml");
            if manifest.is_file()
                && let Err(error) = self.add_if_new(&manifest)
            {
                warn(error.to_string());
            }
        }
    }

    fn add_if_new(&mut self, manifest: &Path) -> Result<()> {
        let PackageManifest { name, deprecation } = PackageManifest::read(manifest)?;
        let package = PackageLocation::Local {
            folder: directory_of(manifest).into(),
            deprecation,
        };
        self.give_way(&name, &package);
        match self.packages.get(&name) {
            Some(known) if !known.is_same_place(&package) => warn(format!(
                "package '{name}' is found again {}; it stays {}",
                package.describe(),
                known.describe()
            )),
            Some(_) => {}
            None => {
                self.packages.insert(name, package);
            }
        }
        Ok(())
    }
}
