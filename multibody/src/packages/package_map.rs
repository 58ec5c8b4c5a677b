//! The map from package names to directories.

use super::location::{PackageLocation, directory_of};
use super::manifest::PackageManifest;
use super::remote::{RemotePackage, RemoteParams};
use super::settings::RemoteSettings;
use crate::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tarragon_framework::warnings::warn;

/// The environment variable that names the folder `share` of an installation of Drake.
pub(super) const DRAKE_ROOT: &str = "DRAKE_RESOURCE_ROOT";

/// ROS package names and the directories they stand for (Drake's `PackageMap`).
///
/// A package may be remote: an archive that is downloaded, checked and unpacked into a cache when
/// its path is asked for first, never earlier. A map can be shared between threads; whoever asks
/// for a package that another thread is fetching waits for it. Clones share what is fetched.
///
/// # Default packages
/// As in Drake, a map knows `drake_models`, the remote package of the models that Drake 1.51.1
/// refers to; it is downloaded when something in it is asked for. It knows `drake`, the files of an
/// installation of Drake, where the environment variable `DRAKE_RESOURCE_ROOT` names the folder
/// `share` of one, as Drake itself reads it. Unlike in Drake, a default package gives way: to one
/// that is added under its name, and to one that is found. [`make_empty`](Self::make_empty) knows
/// none.
///
/// ```
/// use tarragon_multibody::PackageMap;
/// let folder = tempfile::tempdir().unwrap();
/// std::fs::write(folder.path().join("arm.obj"), "").unwrap();
/// let mut packages = PackageMap::new();
/// packages.add("my_robot", folder.path())?;
/// let path = packages.resolve_url("package://my_robot/arm.obj")?;
/// assert_eq!(path, folder.path().join("arm.obj"));
/// let error = packages.resolve_url("package://your_robot/arm.obj").unwrap_err();
/// assert!(error.to_string().contains("my_robot"));
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PackageMap {
    pub(super) packages: BTreeMap<String, PackageLocation>,
    /// Names of packages that nobody has added.
    pub(super) defaults: BTreeSet<String>,
    settings: Arc<RemoteSettings>,
}

impl PartialEq for PackageMap {
    /// True if both know the same packages in the same places and fetch them alike.
    fn eq(&self, other: &Self) -> bool {
        self.packages == other.packages && self.settings == other.settings
    }
}

impl Eq for PackageMap {}

impl PackageMap {
    /// A map without packages (Drake's `MakeEmpty`).
    pub fn make_empty() -> Self {
        Self {
            packages: BTreeMap::new(),
            defaults: BTreeSet::new(),
            settings: Arc::default(),
        }
    }

    /// How remote packages of this map are fetched from now on.
    ///
    /// ```
    /// use tarragon_multibody::{PackageMap, RemoteSettings};
    /// let mut packages = PackageMap::new();
    /// let offline = RemoteSettings { allow_network: false, ..RemoteSettings::default() };
    /// packages.set_remote_settings(offline.clone());
    /// assert_eq!(packages.remote_settings(), &offline);
    /// ```
    pub fn set_remote_settings(&mut self, settings: RemoteSettings) {
        self.settings = Arc::new(settings);
    }
    /// See [`Self::set_remote_settings`].
    pub fn remote_settings(&self) -> &RemoteSettings {
        &self.settings
    }

    /// Adds a package and its directory. The same package may be added again.
    ///
    /// # Errors
    /// Returns an error if the directory does not exist, or the package is known with another
    /// directory or as a remote one.
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
            return Err(Error::invalid(format!(
                "package '{name}': '{}' is not a directory",
                folder.display()
            )));
        }
        let package = PackageLocation::Local {
            folder,
            deprecation,
        };
        self.merge(name, package)
    }

    /// Adds a package that is downloaded when its path is asked for first. The same package may be
    /// added again.
    ///
    /// ```
    /// use tarragon_multibody::{PackageMap, RemoteParams};
    /// let mut packages = PackageMap::new();
    /// packages.add_remote(
    ///     "my_robot",
    ///     RemoteParams {
    ///         urls: vec!["https://example.com/my_robot-1.0.tar.gz".into()],
    ///         sha256: "0d".repeat(32),
    ///         archive_type: None, // the suffix tells
    ///         strip_prefix: Some("my_robot-1.0".into()),
    ///     },
    /// )?;
    /// assert!(packages.contains("my_robot")); // nothing was downloaded
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no URL or one of another scheme than `http`, `https` or `file`,
    /// the checksum is not 64 hexadecimal digits, the type of the archive can not be told, the
    /// prefix is not a relative path, or the package is known with other parameters or as a local
    /// one.
    pub fn add_remote(&mut self, name: impl Into<String>, params: RemoteParams) -> Result<()> {
        let name = name.into();
        let remote = RemotePackage::new(&name, params)?;
        self.merge(name, PackageLocation::Remote(Arc::new(remote)))
    }

    /// Adds all packages of another map. What they are fetched with stays this map's.
    ///
    /// # Errors
    /// Returns an error if a package is known with another directory or other parameters; nothing
    /// is changed then.
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
    /// Returns an error if the file can not be read or names no package, or the package is known
    /// with another directory.
    pub fn add_package_xml(&mut self, file: impl AsRef<Path>) -> Result<String> {
        let file = file.as_ref();
        let PackageManifest { name, deprecation } = PackageManifest::read(file)?;
        self.add_local(name.clone(), directory_of(file).into(), deprecation)?;
        Ok(name)
    }

    /// Adds a package that may be known in the same place; the newer one has a say about
    /// deprecation.
    fn merge(&mut self, name: String, package: PackageLocation) -> Result<()> {
        self.give_way(&name, &package);
        match self.packages.get_mut(&name) {
            None => {
                self.packages.insert(name, package);
            }
            Some(known) if !known.is_same_place(&package) => {
                return Err(Error::invalid(format!(
                    "package '{name}' is {} already and can not be {} too; remove it first",
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
            // It may be fetched already.
            Some(PackageLocation::Remote(_)) => {}
        }
        Ok(())
    }

    /// Forgets a default package if another one is to be known under its name.
    pub(super) fn give_way(&mut self, name: &str, package: &PackageLocation) {
        let known = self.packages.get(name);
        if self.defaults.remove(name) && known.is_some_and(|known| !known.is_same_place(package)) {
            self.packages.remove(name);
        }
    }

    /// Forgets a package. What was downloaded for it stays in the cache.
    ///
    /// # Errors
    /// Returns an error if it is not known.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        self.defaults.remove(name);
        match self.packages.remove(name) {
            Some(_) => Ok(()),
            None => Err(self.unknown(name)),
        }
    }

    /// True if the package is known.
    pub fn contains(&self, name: &str) -> bool {
        self.packages.contains_key(name)
    }

    /// The directory of a package; fetches a remote one that is not in the cache. A package that is
    /// deprecated is [warned of](tarragon_framework::warnings).
    ///
    /// # Errors
    /// Returns an error if it is not known (the message lists the known ones) or can not be fetched
    /// (the message says why for every URL).
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        if let Some(message) = self.deprecation(name)? {
            warn(format!("package '{name}' is deprecated: {message}"));
        }
        self.folder(name)
    }

    /// Why a package is deprecated, if its `package.xml` says so by `<export><deprecated>`.
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

    /// [`Self::path`] without the warning.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf> {
        match self.packages.get(name) {
            Some(PackageLocation::Local { folder, .. }) => Ok(folder.clone()),
            Some(PackageLocation::Remote(remote)) => remote.folder(name, &self.settings),
            None => Err(self.unknown(name)),
        }
    }

    /// Names of all packages, sorted.
    pub fn package_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.packages.keys().map(String::as_str)
    }
    /// Number of packages.
    pub fn len(&self) -> usize {
        self.packages.len()
    }
    /// True without packages.
    pub fn is_empty(&self) -> bool {
        self.packages.is_empty()
    }

    fn unknown(&self, name: &str) -> Error {
        let known: Vec<&str> = self.package_names().collect();
        let known = if known.is_empty() {
            "no packages are known".into()
        } else {
            format!("known packages are: {}", known.join(", "))
        };
        let cure = match name {
            "drake" => format!(
                "Add it to the parser's package map, or set {} to the folder 'share' of an installation \
                 of Drake",
                DRAKE_ROOT
            ),
            _ => "Add it to the parser's package map".into(),
        };
        Error::invalid(format!("there is no package '{name}'; {known}. {cure}"))
    }
}
