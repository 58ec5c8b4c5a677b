//! The location of one package.

use super::remote::RemotePackage;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The location of one package.
#[derive(Clone, Debug)]
pub(super) enum PackageLocation {
    Local {
        folder: PathBuf,
        deprecation: Option<String>,
    },
    Remote(Arc<RemotePackage>),
}

impl PartialEq for PackageLocation {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Local {
                    folder,
                    deprecation,
                },
                Self::Local {
                    folder: other_folder,
                    deprecation: other_deprecation,
                },
            ) => folder == other_folder && deprecation == other_deprecation,
            // Whether a remote package is fetched already does not matter.
            (Self::Remote(a), Self::Remote(b)) => a.params() == b.params(),
            _ => false,
        }
    }
}

impl Eq for PackageLocation {}

impl PackageLocation {
    /// Describes the location for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Local { folder, .. } => format!("at '{}'", folder.display()),
            Self::Remote(remote) => format!("the remote package {}", remote.params().to_json()),
        }
    }
    /// Returns true if the package is a folder or lies in it.
    pub(super) fn is_in(&self, outer: &Path) -> bool {
        matches!(self, Self::Local { folder, .. } if folder.starts_with(outer))
    }
    pub(super) fn is_same_place(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local { folder: a, .. }, Self::Local { folder: b, .. }) => same_place(a, b),
            _ => self == other,
        }
    }
}

/// Returns the directory of a file.
pub(super) fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns true if two paths lead to the same directory, possibly through links.
fn same_place(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
