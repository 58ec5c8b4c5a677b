//! Where `package://` URLs lead.

use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Directories deeper than this below a crawled folder are not searched.
const MAX_DEPTH: usize = 32;

const ROS_PACKAGE_PATH: &str = "ROS_PACKAGE_PATH";

/// Files that keep ROS from searching a folder.
const IGNORE_MARKERS: [&str; 3] = ["AMENT_IGNORE", "CATKIN_IGNORE", "COLCON_IGNORE"];

/// Where a search for packages goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Crawl {
    /// Every folder.
    Everything,
    /// Not below packages and folders marked to be ignored.
    Ros,
}

/// ROS package names and the directories they stand for (Drake's `PackageMap`).
///
/// ```
/// use tarragon_multibody::PackageMap;
/// let mut packages = PackageMap::new();
/// packages.add("my_robot", std::env::temp_dir())?;
/// let path = packages.resolve_url("package://my_robot/meshes/arm.obj")?;
/// assert!(path.ends_with("meshes/arm.obj"));
/// let error = packages.resolve_url("package://your_robot/arm.obj").unwrap_err();
/// assert!(error.to_string().contains("my_robot"));
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageMap {
    packages: BTreeMap<String, PathBuf>,
}

impl PackageMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a package and its directory. The same package may be added again.
    ///
    /// # Errors
    /// If the directory does not exist, or the package is known with another directory.
    pub fn add(&mut self, name: impl Into<String>, path: impl Into<PathBuf>) -> Result<()> {
        let (name, path) = (name.into(), path.into());
        if !path.is_dir() {
            return Err(Error::invalid(format!(
                "package '{name}': '{}' is not a directory",
                path.display()
            )));
        }
        match self.packages.get(&name) {
            Some(known) if !same_place(known, &path) => Err(Error::invalid(format!(
                "package '{name}' is at '{}' already and can not be at '{}' too",
                known.display(),
                path.display()
            ))),
            _ => {
                self.packages.insert(name, path);
                Ok(())
            }
        }
    }

    /// Adds all packages of another map.
    ///
    /// # Errors
    /// If a package is known with another directory; nothing is changed then.
    pub fn add_map(&mut self, other: &Self) -> Result<()> {
        let mut merged = self.clone();
        for (name, path) in &other.packages {
            merged.add(name, path)?;
        }
        *self = merged;
        Ok(())
    }

    /// Adds the package that a `package.xml` names, at the directory of the file; returns the name.
    ///
    /// # Errors
    /// If the file can not be read or names no package, or the package is known with another
    /// directory.
    pub fn add_package_xml(&mut self, file: impl AsRef<Path>) -> Result<String> {
        let file = file.as_ref();
        let name = package_name(file)?;
        self.add(&name, directory_of(file))?;
        Ok(name)
    }

    /// Searches a folder and everything below it for `package.xml` files and adds their packages.
    /// Where a package is known already, the known directory stays (and a `tracing` warning tells);
    /// links to directories are not followed.
    ///
    /// # Errors
    /// If the folder can not be read or a `package.xml` names no package.
    pub fn populate_from_folder(&mut self, folder: impl AsRef<Path>) -> Result<()> {
        let folder = folder.as_ref();
        self.crawl(folder, Crawl::Everything, 0)
    }

    /// [`Self::populate_from_folder`] for every folder that an environment variable lists, separated
    /// as in `PATH`. An unset variable lists none.
    ///
    /// # Errors
    /// As [`Self::populate_from_folder`], and for `ROS_PACKAGE_PATH`, which has its own rules:
    /// [`Self::populate_from_ros_package_path`].
    pub fn populate_from_environment(&mut self, variable: &str) -> Result<()> {
        if variable == ROS_PACKAGE_PATH {
            return Err(Error::invalid(format!(
                "{ROS_PACKAGE_PATH} is read by `populate_from_ros_package_path`"
            )));
        }
        self.populate_from_list(variable, Crawl::Everything)
    }

    /// Searches the folders that `ROS_PACKAGE_PATH` lists by ROS's rules: what is below a package or
    /// a folder with a file `AMENT_IGNORE`, `CATKIN_IGNORE` or `COLCON_IGNORE` is not searched.
    ///
    /// # Errors
    /// As [`Self::populate_from_folder`].
    pub fn populate_from_ros_package_path(&mut self) -> Result<()> {
        self.populate_from_list(ROS_PACKAGE_PATH, Crawl::Ros)
    }

    fn populate_from_list(&mut self, variable: &str, crawl: Crawl) -> Result<()> {
        let list = std::env::var_os(variable).unwrap_or_default();
        let folders = std::env::split_paths(&list);
        for folder in folders.filter(|f| !f.as_os_str().is_empty()) {
            self.crawl(&folder, crawl, 0)?;
        }
        Ok(())
    }

    fn crawl(&mut self, folder: &Path, crawl: Crawl, depth: usize) -> Result<()> {
        let ignored = |marker: &&str| folder.join(marker).exists();
        if crawl == Crawl::Ros && IGNORE_MARKERS.iter().any(ignored) {
            return Ok(());
        }
        let manifest = folder.join("package.xml");
        if manifest.is_file() {
            self.add_if_new(&manifest)?;
            if crawl == Crawl::Ros {
                return Ok(());
            }
        }
        if depth == 0 {
            fs::read_dir(folder).map_err(|e| Error::io(folder, e))?;
        }
        // What can not be read below the folder holds no packages for us.
        let Ok(entries) = fs::read_dir(folder) else {
            return Ok(());
        };
        let is_folder = |e: &fs::DirEntry| e.file_type().is_ok_and(|t| t.is_dir());
        let mut folders: Vec<PathBuf> = entries
            .filter_map(|e| e.ok().filter(is_folder).map(|e| e.path()))
            .collect();
        // Independent of the order that the file system gives.
        folders.sort();
        if depth < MAX_DEPTH {
            for folder in folders {
                self.crawl(&folder, crawl, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Adds the packages whose `package.xml` lies in a directory above `file`: what makes
    /// `package://` work for a model that lies within its own package. Unusable `package.xml` files
    /// are passed over.
    pub(crate) fn populate_upstream(&mut self, file: &Path) {
        let Ok(file) = std::path::absolute(file) else {
            return;
        };
        for folder in file.ancestors().skip(1) {
            let manifest = folder.join("package.xml");
            if manifest.is_file()
                && let Err(error) = self.add_if_new(&manifest)
            {
                tracing::warn!("{error}");
            }
        }
    }

    fn add_if_new(&mut self, manifest: &Path) -> Result<()> {
        let name = package_name(manifest)?;
        let folder = directory_of(manifest);
        match self.packages.get(&name) {
            Some(known) if !same_place(known, folder) => tracing::warn!(
                "package '{name}' is found at '{}' again; '{}' is kept",
                folder.display(),
                known.display()
            ),
            Some(_) => {}
            None => {
                self.packages.insert(name, folder.into());
            }
        }
        Ok(())
    }

    /// Forgets a package.
    ///
    /// # Errors
    /// If it is not known.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        match self.packages.remove(name) {
            Some(_) => Ok(()),
            None => Err(self.unknown(name)),
        }
    }

    /// True if the package is known.
    pub fn contains(&self, name: &str) -> bool {
        self.packages.contains_key(name)
    }
    /// The directory of a package.
    ///
    /// # Errors
    /// If it is not known; the message lists the known ones.
    pub fn get_path(&self, name: &str) -> Result<&Path> {
        let path = self.packages.get(name).map(PathBuf::as_path);
        path.ok_or_else(|| self.unknown(name))
    }
    /// Names of all packages, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
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

    /// The path that a `package://name/path`, `model://name/path` or `file:///path` URL stands for;
    /// whether it exists is not checked.
    ///
    /// # Errors
    /// If the scheme is another one, a package is not known, or a file URL is not absolute.
    pub fn resolve_url(&self, url: &str) -> Result<PathBuf> {
        let (scheme, rest) = url.split_once("://").ok_or_else(|| {
            Error::invalid(format!(
                "'{url}' is not a URL, package://, model:// or file:// is expected"
            ))
        })?;
        match scheme {
            "file" if rest.starts_with('/') => Ok(rest.into()),
            "file" => Err(Error::invalid(format!(
                "'{url}': an absolute path (file:///...) is expected"
            ))),
            "package" | "model" => {
                // Some exporters write package:///name, and ROS's tools read it.
                let rest = rest.trim_start_matches('/');
                let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
                let folder = self
                    .get_path(name)
                    .map_err(|e| Error::invalid(format!("'{url}': {e}")))?;
                Ok(folder.join(path.trim_start_matches('/')))
            }
            _ => Err(Error::invalid(format!(
                "'{url}': the scheme '{scheme}' is not supported; package://, model:// or file:// is \
                 expected"
            ))),
        }
    }

    fn unknown(&self, name: &str) -> Error {
        let known: Vec<&str> = self.names().collect();
        let known = if known.is_empty() {
            "no packages are known".into()
        } else {
            format!("known packages are: {}", known.join(", "))
        };
        Error::invalid(format!(
            "there is no package '{name}'; {known}. Add it to the parser's package map"
        ))
    }
}

fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// True if two paths lead to one directory, also by way of links.
fn same_place(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The text of `<package><name>`.
fn package_name(manifest: &Path) -> Result<String> {
    let text = fs::read_to_string(manifest).map_err(|e| Error::io(manifest, e))?;
    let name = roxmltree::Document::parse(&text).ok().and_then(|document| {
        let root = document.root_element();
        let mut names = root.children().filter(|c| c.has_tag_name("name"));
        let name = names.next()?.text()?.trim().to_string();
        (root.has_tag_name("package") && !name.is_empty()).then_some(name)
    });
    name.ok_or_else(|| {
        Error::invalid(format!(
            "{}: no package name is found, <package><name>...</name></package> is expected",
            manifest.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(root: &Path, folder: &str, name: &str) -> PathBuf {
        let folder = root.join(folder);
        fs::create_dir_all(&folder).unwrap();
        let text = format!("<?xml version='1.0'?><package><name> {name} </name></package>");
        fs::write(folder.join("package.xml"), text).unwrap();
        folder
    }

    #[test]
    fn folders_are_crawled_downwards_and_upwards() {
        let dir = tempfile::tempdir().unwrap();
        let b = package(dir.path(), "x/y/b", "b");
        package(dir.path(), "a", "a");
        let inner = package(dir.path(), "a/deep/inner", "inner");
        let mut map = PackageMap::new();
        map.populate_from_folder(dir.path()).unwrap();
        assert_eq!(map.names().collect::<Vec<_>>(), ["a", "b", "inner"]);
        assert_eq!(map.get_path("b").unwrap(), b);

        fs::write(dir.path().join("x/COLCON_IGNORE"), "").unwrap();
        let mut map = PackageMap::new();
        map.crawl(dir.path(), Crawl::Ros, 0).unwrap();
        assert_eq!(map.names().collect::<Vec<_>>(), ["a"]);
        assert!(map.populate_from_environment("ROS_PACKAGE_PATH").is_err());

        let mut map = PackageMap::new();
        map.populate_upstream(&inner.join("urdf").join("robot.urdf"));
        assert_eq!(map.names().collect::<Vec<_>>(), ["a", "inner"]);
        assert!(
            map.populate_from_folder(dir.path().join("nowhere"))
                .is_err()
        );
    }

    #[test]
    fn conflicts_and_unknown_names_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (package(dir.path(), "a", "p"), package(dir.path(), "b", "p"));
        let mut map = PackageMap::new();
        map.add("p", &a).unwrap();
        map.add("p", dir.path().join("b/../a")).unwrap();
        assert!(map.add("p", &b).is_err());
        assert!(map.add_package_xml(b.join("package.xml")).is_err());
        assert!(map.add("q", dir.path().join("nowhere")).is_err());
        assert!(
            map.get_path("q")
                .unwrap_err()
                .to_string()
                .contains("known packages are: p")
        );
        map.remove("p").unwrap();
        assert!(map.is_empty() && map.remove("p").is_err());
    }

    #[test]
    fn urls() {
        let mut map = PackageMap::new();
        map.add("p", "/").unwrap();
        for (url, path) in [
            ("package://p/a/b.obj", "/a/b.obj"),
            ("model://p//b.obj", "/b.obj"),
            ("file:///tmp/x", "/tmp/x"),
            ("package://p", "/"),
            ("package:///p/x", "/x"),
        ] {
            assert_eq!(map.resolve_url(url).unwrap(), Path::new(path), "{url}");
        }
        for url in ["x.obj", "http://p/x", "file://x", "package://"] {
            assert!(map.resolve_url(url).is_err(), "{url}");
        }
    }
}
