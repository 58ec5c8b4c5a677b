//! Searching folders for packages.

use super::location::{PackageLocation, directory_of};
use super::manifest::PackageManifest;
use super::package_map::PackageMap;
use crate::{Error, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tarragon_framework::warnings::warn;

/// Maximum depth of a search below the crawled folder.
const MAX_DEPTH: usize = 64;

const ROS_PACKAGE_PATH: &str = "ROS_PACKAGE_PATH";

const GZ_SIM_RESOURCE_PATH: &str = "GZ_SIM_RESOURCE_PATH";

/// File that describes a model of Gazebo, in the folder that gives the model its name.
const MODEL_CONFIG: &str = "model.config";

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

/// Returns the folders in a folder whose names do not start with a dot. A folder that cannot be
/// read holds none for us.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let hidden = |e: &fs::DirEntry| e.file_name().as_encoded_bytes().starts_with(b".");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let entries = entries.filter(|e| !hidden(e)).map(|e| e.path());
    let mut folders: Vec<PathBuf> = entries.filter(|p| p.is_dir()).collect();
    // Makes the result independent of the file system's order.
    folders.sort();
    folders
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

    /// Adds the models of Gazebo in the folders that `GZ_SIM_RESOURCE_PATH` lists: every folder in
    /// them is the model of its name, so that `model://NAME/file` and `package://NAME/file` are
    /// files in it. As in Gazebo, the first of several folders with a name counts. Folders that do
    /// not exist hold no models, and packages that are known already stay.
    pub fn populate_from_gz_resource_path(&mut self) {
        let list = std::env::var_os(GZ_SIM_RESOURCE_PATH).unwrap_or_default();
        for folder in std::env::split_paths(&list) {
            for model in folders_in(&folder) {
                self.add_model_if_new(&model);
            }
        }
    }

    /// Searches a folder and everything below it as [`Self::populate_from_folder`] does, and adds
    /// every folder with a file `model.config` as a package named after the folder, as Gazebo does.
    /// If both define a name, `package.xml` takes precedence.
    ///
    /// # Errors
    /// Returns the errors of [`Self::populate_from_folder`].
    pub fn populate_from_folder_with_models(&mut self, folder: impl AsRef<Path>) -> Result<()> {
        let folder = folder.as_ref();
        self.populate_from_folder(folder)?;
        let mut seen = BTreeSet::new();
        let mut waiting = vec![(folder.to_path_buf(), 0)];
        while let Some((folder, depth)) = waiting.pop() {
            // Links may lead back to a folder above.
            let new = folder.canonicalize().is_ok_and(|c| seen.insert(c));
            if !new {
                continue;
            }
            if folder.join(MODEL_CONFIG).is_file() {
                self.add_model_if_new(&folder);
            }
            if depth < MAX_DEPTH {
                // The first folder is popped first.
                let inside = folders_in(&folder).into_iter().rev();
                waiting.extend(inside.map(|folder| (folder, depth + 1)));
            }
        }
        Ok(())
    }

    /// Adds a folder as the package of its name, unless there is one.
    fn add_model_if_new(&mut self, folder: &Path) {
        let absolute = folder.canonicalize();
        // The name of a link counts, not the name of the folder that it leads to.
        let name = match folder.file_name() {
            Some(name) => Some(name.to_os_string()),
            None => absolute.ok().and_then(|f| Some(f.file_name()?.into())),
        };
        let Some(name) = name.and_then(|name| name.into_string().ok()) else {
            return;
        };
        let package = PackageLocation::Local {
            folder: folder.into(),
            deprecation: None,
        };
        self.give_way(&name, &package);
        self.packages.entry(name).or_insert(package);
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
        if depth < MAX_DEPTH {
            for folder in folders_in(folder) {
                self.crawl(&folder, crawl, depth + 1, seen)?;
            }
        }
        Ok(())
    }

    /// Adds the packages whose `package.xml` lies in a directory above `file`. This makes
    /// `package://` work for a model within its own package. Unusable `package.xml` files cause a
    /// warning and are skipped.
    pub fn populate_upstream(&mut self, file: &Path) {
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
