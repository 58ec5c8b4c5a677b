//! Where one package is.

use super::remote::RemotePackage;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where one package is.
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
            // Whether it is fetched already is no part of what it is.
            (Self::Remote(a), Self::Remote(b)) => a.params() == b.params(),
            _ => false,
        }
    }
}

impl Eq for PackageLocation {}

impl PackageLocation {
    /// Where it is, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Local { folder, .. } => format!("at '{}'", folder.display()),
            Self::Remote(remote) => format!("the remote package {}", remote.params().to_json()),
        }
    }
    pub(super) fn is_same_place(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local { folder: a, .. }, Self::Local { folder: b, .. }) => same_place(a, b),
            _ => self == other,
        }
    }
}

/// The directory of a file.
pub(super) fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// True if two paths lead to one directory, also by way of links.
fn same_place(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
