//! The map from package names to directories.

use super::location::{PackageLocation, directory_of};
use super::manifest::PackageManifest;
use super::remote::{RemotePackage, RemoteParams};
use super::settings::RemoteSettings;
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tarragon_framework::warnings::warn;

/// Environment variable that names the folder `share` of an installation of Drake.
pub(super) const DRAKE_ROOT: &str = "DRAKE_RESOURCE_ROOT";

/// Map from ROS package names to directories (Drake's `PackageMap`).
///
/// A package may be remote: an archive that is downloaded, checked and unpacked into a cache when
/// its path is first requested, never earlier. A map can be shared between threads; a thread that
/// requests a package that another thread is fetching waits for it. Clones share fetched packages.
///
/// # Default packages
/// As in Drake, a map knows `drake_models`, the remote package of the models that Drake 1.51.1
/// refers to; it is downloaded when something in it is requested. If the environment variable
/// `DRAKE_RESOURCE_ROOT`, which Drake reads as well, names the folder `share` of an installation of
/// Drake, the map also knows `drake`, the files of that installation. Unlike in Drake, a default
/// package is replaced by a package of the same name that is added or found.
/// [`make_empty`](Self::make_empty) creates a map without default packages.
///
/// ```
/// use tarragon_documents::PackageMap;
/// let folder = tempfile::tempdir().unwrap();
/// std::fs::write(folder.path().join("arm.obj"), "").unwrap();
/// let mut packages = PackageMap::new();
/// packages.add("my_robot", folder.path())?;
/// let path = packages.resolve_url("package://my_robot/arm.obj")?;
/// assert_eq!(path, folder.path().join("arm.obj"));
/// let error = packages.resolve_url("package://your_robot/arm.obj").unwrap_err();
/// assert!(error.to_string().contains("my_robot"));
/// # Ok::<(), tarragon_documents::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PackageMap {
    pub(super) packages: BTreeMap<String, PackageLocation>,
    /// Names of default packages that have not been added explicitly.
    pub(super) defaults: BTreeSet<String>,
    settings: Arc<RemoteSettings>,
}

impl PartialEq for PackageMap {
    /// Returns true if both maps have the same packages at the same locations and the same remote
    /// settings.
    fn eq(&self, other: &Self) -> bool {
        self.packages == other.packages && self.settings == other.settings
    }
}

impl Eq for PackageMap {}

impl PackageMap {
    /// Creates a map without packages (Drake's `MakeEmpty`).
    pub fn make_empty() -> Self {
        Self {
            packages: BTreeMap::new(),
            defaults: BTreeSet::new(),
            settings: Arc::default(),
        }
    }

    /// Sets how remote packages of this map are fetched from now on.
    ///
    /// ```
    /// use tarragon_documents::{PackageMap, RemoteSettings};
    /// let mut packages = PackageMap::new();
    /// let offline = RemoteSettings { allow_network: false, ..RemoteSettings::default() };
    /// packages.set_remote_settings(offline.clone());
    /// assert_eq!(packages.remote_settings(), &offline);
    /// ```
    pub fn set_remote_settings(&mut self, settings: RemoteSettings) {
        self.settings = Arc::new(settings);
    }
    /// Returns the settings of [`Self::set_remote_settings`].
    pub fn remote_settings(&self) -> &RemoteSettings {
        &self.settings
    }

    /// Adds a package and its directory. The same package may be added again.
    ///
    /// # Errors
    /// Returns an error if the directory does not exist, or the package is known already with
    /// another directory or as a remote one.
    pub fn add(&mut self, name: impl Into<String>, path: impl Into<PathBuf>) -> Result<()> {
        self.add_local(name.into(), path.into(), None)
    }

    fn add_local(
        &mut self,
        name: String,
        folder: PathBuf,
        deprecation: Option<String>,
    ) -> Result<()> {
        if !folder.is_dir() {
            return Err(Error::not_found(format!(
                "package '{name}': the path must be a directory, got '{}'",
                folder.display()
            )));
        }
        let package = PackageLocation::Local {
            folder,
            deprecation,
        };
        self.merge(name, package)
    }

    /// Adds a package that is downloaded when its path is first requested. The same package may be
    /// added again.
    ///
    /// ```
    /// use tarragon_documents::{PackageMap, RemoteParams};
    /// let mut packages = PackageMap::new();
    /// packages.add_remote(
    ///     "my_robot",
    ///     RemoteParams {
    ///         urls: vec!["https://example.com/my_robot-1.0.tar.gz".into()],
    ///         sha256: "0d".repeat(32),
    ///         archive_type: None, // told by the suffix
    ///         strip_prefix: Some("my_robot-1.0".into()),
    ///     },
    /// )?;
    /// assert!(packages.contains("my_robot")); // nothing was downloaded
    /// # Ok::<(), tarragon_documents::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no URL, a URL has a scheme other than `http`, `https` or
    /// `file`, the checksum is not 64 hexadecimal digits, the type of the archive is neither given
    /// nor clear from a suffix, the prefix is not a relative path, or the package is known already
    /// with other parameters or as a local one.
    pub fn add_remote(&mut self, name: impl Into<String>, params: RemoteParams) -> Result<()> {
        let name = name.into();
        let remote = RemotePackage::new(&name, params)?;
        self.merge(name, PackageLocation::Remote(Arc::new(remote)))
    }

    /// Adds packages as an argument on a command line names them: `NAME=DIR` is one package, `DIR`
    /// stands for all packages (`package.xml`) and models of Gazebo (`model.config`) in this
    /// directory and below it; see
    /// [`populate_from_folder_with_models`](Self::populate_from_folder_with_models).
    ///
    /// ```
    /// use tarragon_documents::PackageMap;
    /// let mut packages = PackageMap::make_empty();
    /// packages.add_argument("here=.")?;
    /// assert!(packages.contains("here"));
    /// assert!(packages.add_argument("no/such/directory").is_err());
    /// assert!(packages.add_argument("=.").is_err());
    /// # Ok::<(), tarragon_documents::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`add`](Self::add) and
    /// [`populate_from_folder`](Self::populate_from_folder), and an error if there is no such
    /// directory.
    pub fn add_argument(&mut self, argument: &str) -> Result<()> {
        match argument.split_once('=') {
            Some((name, _)) if name.trim().is_empty() => Err(Error::invalid(format!(
                "the name of the package must not be empty, got '{argument}'; give NAME=DIR"
            ))),
            Some((name, folder)) => self.add(name, folder),
            None if Path::new(argument).is_dir() => {
                self.populate_from_folder_with_models(argument)?;
                if !self.packages.values().any(|p| p.is_in(argument.as_ref())) {
                    warn(format!(
                        "'{argument}' has no package: no folder in it has a package.xml or a \
                         model.config; give NAME=DIR"
                    ));
                }
                Ok(())
            }
            None => Err(Error::not_found(format!(
                "there is no directory '{argument}'; give a directory to search for \
                 package.xml and model.config files, or NAME=DIR"
            ))),
        }
    }

    /// Adds all packages of another map. This map keeps its own remote settings.
    ///
    /// # Errors
    /// Returns an error if a package is known already with another directory or other parameters;
    /// nothing changes in that case.
    pub fn add_map(&mut self, other: &Self) -> Result<()> {
        let mut merged = self.clone();
        for (name, package) in &other.packages {
            if !other.defaults.contains(name) {
                merged.merge(name.clone(), package.clone())?;
            } else if !self.packages.contains_key(name) {
                merged.packages.insert(name.clone(), package.clone());
                merged.defaults.insert(name.clone());
            }
        }
        *self = merged;
        Ok(())
    }

    /// Adds the package that a `package.xml` names, at the directory of the file; returns the name.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or names no package, or the package is known
    /// already with another directory.
    pub fn add_package_xml(&mut self, file: impl AsRef<Path>) -> Result<String> {
        let file = file.as_ref();
        let PackageManifest { name, deprecation } = PackageManifest::read(file)?;
        self.add_local(name.clone(), directory_of(file).into(), deprecation)?;
        Ok(name)
    }

    /// Adds a package that may be known already at the same location; a deprecation message of the
    /// new one replaces that of the known one.
    fn merge(&mut self, name: String, package: PackageLocation) -> Result<()> {
        self.give_way(&name, &package);
        match self.packages.get_mut(&name) {
            None => {
                self.packages.insert(name, package);
            }
            Some(known) if !known.is_same_place(&package) => {
                return Err(Error::exists(format!(
                    "package '{name}' is {} already and cannot be {} too; remove it first",
                    known.describe(),
                    package.describe()
                )));
            }
            Some(PackageLocation::Local { deprecation, .. }) => {
                if let PackageLocation::Local {
                    deprecation: Some(message),
                    ..
                } = package
                {
                    *deprecation = Some(message);
                }
            }
            // The known package may be fetched already, so it is kept.
            Some(PackageLocation::Remote(_)) => {}
        }
        Ok(())
    }

    /// Removes a default package if another package of its name is about to be added.
    pub(super) fn give_way(&mut self, name: &str, package: &PackageLocation) {
        let known = self.packages.get(name);
        if self.defaults.remove(name) && known.is_some_and(|known| !known.is_same_place(package)) {
            self.packages.remove(name);
        }
    }

    /// Removes a package from the map. Its files stay in the cache.
    ///
    /// # Errors
    /// Returns an error if the package is not known.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        self.defaults.remove(name);
        match self.packages.remove(name) {
            Some(_) => Ok(()),
            None => Err(self.unknown(name)),
        }
    }

    /// Returns true if the package is known.
    pub fn contains(&self, name: &str) -> bool {
        self.packages.contains_key(name)
    }

    /// Returns the directory of a package, fetching a remote package that is not in the cache. A
    /// deprecated package causes a [warning](tarragon_framework::warnings).
    ///
    /// # Errors
    /// Returns an error if the package is not known (the message lists the known ones) or cannot be
    /// fetched (the message gives the reason for every URL).
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        if let Some(message) = self.deprecation(name)? {
            warn(format!("package '{name}' is deprecated: {message}"));
        }
        self.folder(name)
    }

    /// Returns the deprecation message of a package, if its `package.xml` has one in
    /// `<export><deprecated>`.
    ///
    /// # Errors
    /// Returns an error if the package is not known.
    pub fn deprecation(&self, name: &str) -> Result<Option<&str>> {
        match self.packages.get(name) {
            Some(PackageLocation::Local { deprecation, .. }) => Ok(deprecation.as_deref()),
            Some(PackageLocation::Remote(_)) => Ok(None),
            None => Err(self.unknown(name)),
        }
    }

    /// Same as [`Self::path`], without the warning.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf> {
        match self.packages.get(name) {
            Some(PackageLocation::Local { folder, .. }) => Ok(folder.clone()),
            Some(PackageLocation::Remote(remote)) => remote.folder(name, &self.settings),
            None => Err(self.unknown(name)),
        }
    }

    /// Returns the names of all packages, sorted.
    pub fn package_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.packages.keys().map(String::as_str)
    }
    /// Returns the number of packages.
    pub fn len(&self) -> usize {
        self.packages.len()
    }
    /// Returns true if there are no packages.
    pub fn is_empty(&self) -> bool {
        self.packages.is_empty()
    }

    fn unknown(&self, name: &str) -> Error {
        let known: Vec<&str> = self.package_names().collect();
        let known = if known.is_empty() {
            "there are no known packages".into()
        } else {
            format!("known packages are: {}", known.join(", "))
        };
        let cure = match name {
            "drake" => format!(
                "Add it to the parser's package map, give a command --package drake=DIR, or set \
                 {DRAKE_ROOT} to the folder 'share' of an installation of Drake"
            ),
            _ => format!(
                "Add it to the parser's package map, or give a command --package {name}=DIR, where \
                 DIR is its folder"
            ),
        };
        Error::not_found(format!("there is no package '{name}'; {known}. {cure}"))
    }
}
