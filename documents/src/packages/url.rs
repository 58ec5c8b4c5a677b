//! Resolution of URLs to paths.

use super::file_url::local_file;
use super::package_map::PackageMap;
use crate::{Error, Result};
use std::path::{Component, Path, PathBuf};
use tarragon_framework::warnings::warn;

/// The path of a URL, with the deprecation of its package.
///
/// ```
/// use tarragon_documents::PackageMap;
/// let folder = tempfile::tempdir().unwrap();
/// let export = "<export><deprecated>Use new.</deprecated></export>";
/// let manifest = format!("<package><name>old</name>{export}</package>");
/// std::fs::write(folder.path().join("package.xml"), manifest).unwrap();
/// let mut packages = PackageMap::new();
/// packages.populate_from_folder(folder.path())?;
/// let resolved = packages.resolve("package://old/package.xml")?;
/// assert_eq!(resolved.path, folder.path().join("package.xml"));
/// assert_eq!(resolved.deprecation.unwrap(), "package 'old' is deprecated: Use new.");
/// # Ok::<(), tarragon_documents::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedUrl {
    /// The file or directory, which may not exist.
    pub path: PathBuf,
    /// A message about the package if its `package.xml` declares it deprecated.
    pub deprecation: Option<String>,
}

impl PackageMap {
    /// Returns the path of a `package://name/path`, `model://name/path` or `file:///path` URL;
    /// whether it exists is not checked. As in Drake, `.` and `..` are resolved textually; percent
    /// signs are taken literally. Fetches a remote package; a deprecated package causes a
    /// [warning](tarragon_framework::warnings).
    ///
    /// # Errors
    /// Returns an error if the scheme is another one, a package is not known or cannot be fetched,
    /// or a file URL is not absolute or names another machine.
    pub fn resolve_url(&self, url: &str) -> Result<PathBuf> {
        let resolved = self.resolve(url)?;
        if let Some(message) = &resolved.deprecation {
            warn(format!("'{url}': {message}"));
        }
        Ok(resolved.path)
    }

    /// Same as [`Self::resolve_url`], for callers that handle deprecated packages themselves:
    /// returns the message instead of warning.
    ///
    /// # Errors
    /// Returns the errors of [`Self::resolve_url`].
    pub fn resolve(&self, url: &str) -> Result<ResolvedUrl> {
        let at_url = |what: String| Error::invalid(format!("'{url}': {what}"));
        let (scheme, rest) = url.split_once("://").ok_or_else(|| {
            at_url("the URL must start with package://, model:// or file://".into())
        })?;
        match scheme {
            "file" => {
                let path = local_file(rest).map_err(at_url)?;
                Ok(ResolvedUrl {
                    path: normalize(Path::new(path)),
                    deprecation: None,
                })
            }
            "package" | "model" => {
                // Some exporters write package:///name, and ROS's tools read it.
                let rest = rest.trim_start_matches('/');
                let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
                let deprecation = self
                    .deprecation(name)
                    .map_err(|e| e.at(format!("'{url}'")))?
                    .map(|message| format!("package '{name}' is deprecated: {message}"));
                let folder = self.folder(name).map_err(|e| e.at(format!("'{url}'")))?;
                let path = folder.join(path.trim_start_matches('/'));
                Ok(ResolvedUrl {
                    path: normalize(&path),
                    deprecation,
                })
            }
            _ => {
                let cure = match scheme {
                    "http" | "https" => {
                        "; add its package with `PackageMap::add_remote`, and use a package:// URL"
                    }
                    _ => "",
                };
                Err(at_url(format!(
                    "the scheme must be package://, model:// or file://, got '{scheme}://'{cure}"
                )))
            }
        }
    }

    /// Returns the file of a URI, or of a path relative to the model file's directory.
    pub fn resolve_file(&self, uri: &str, directory: Option<&Path>) -> Result<PathBuf, String> {
        let path = if uri.contains("://") {
            self.resolve_url(uri).map_err(|e| e.to_string())?
        } else if let Some(directory) = directory {
            directory.join(uri)
        } else if Path::new(uri).is_absolute() {
            uri.into()
        } else {
            return Err(format!(
                "the path must be absolute because the model was given as text, got '{uri}'; use \
                 package:// or file://"
            ));
        };
        if path.is_file() {
            return Ok(path);
        }
        let hint = if uri.contains("://") {
            "correct the name, or the folder of the package (the parser's package map, or \
             --package NAME=DIR of a command)"
        } else {
            "names without package:// are relative to the model file; correct the name"
        };
        let path = path.display().to_string();
        Err(if path == uri {
            format!("'{uri}' does not exist; {hint}")
        } else {
            format!("'{uri}' resolves to '{path}', which does not exist; {hint}")
        })
    }
}

/// Removes `.`, and each `..` together with the part before it, if there is one.
fn normalize(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = vec![];
    for part in path.components() {
        match (part, parts.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                parts.pop();
            }
            // There is nothing above the root.
            (Component::ParentDir, Some(Component::RootDir)) => {}
            _ => parts.push(part),
        }
    }
    if parts.is_empty() {
        PathBuf::from(".")
    } else {
        parts.iter().collect()
    }
}
