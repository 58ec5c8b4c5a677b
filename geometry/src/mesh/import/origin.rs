//! Lookup of the files that a mesh file refers to.

use crate::mesh::{FileSource, MeshPath};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Origin of a file: its name for messages and the location of its supporting files.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileOrigin<'a> {
    pub(super) path: &'a Path,
    /// Supporting files by the names that refer to them; `None` if they are in the folder of
    /// `path`.
    supporting: Option<&'a BTreeMap<String, FileSource>>,
    /// Mesh file with the packages that it knows.
    mesh: Option<&'a MeshPath>,
}

impl<'a> FileOrigin<'a> {
    pub(super) fn on_disk(path: &'a Path) -> Self {
        Self {
            path,
            supporting: None,
            mesh: None,
        }
    }
    pub(super) fn in_packages(mesh: &'a MeshPath) -> Self {
        Self {
            mesh: Some(mesh),
            ..Self::on_disk(mesh)
        }
    }
    pub(super) fn in_memory(path: &'a Path, supporting: &'a BTreeMap<String, FileSource>) -> Self {
        Self {
            path,
            supporting: Some(supporting),
            mesh: None,
        }
    }
    /// Returns the origin of a supporting file that refers to further files.
    pub(super) fn of(self, path: &'a Path) -> Self {
        Self { path, ..self }
    }

    /// Finds the file that `name` refers to, or returns the reason why there is none; `relative` is
    /// the same name as a path relative to the folder of this file.
    pub(super) fn find(self, name: &str, relative: &str) -> Result<FileSource, String> {
        let Some(supporting) = self.supporting else {
            if let Some((scheme, rest)) = name.split_once("://") {
                return self.find_uri(name, scheme, rest).map(FileSource::Path);
            }
            let folder = self.path.parent().unwrap_or(Path::new(""));
            return Ok(FileSource::Path(folder.join(relative)));
        };
        supporting.get(name).cloned().ok_or_else(|| {
            let known: Vec<String> = supporting
                .keys()
                .take(8)
                .map(|k| format!("'{k}'"))
                .collect();
            let known = if known.is_empty() {
                "none".into()
            } else {
                known.join(", ")
            };
            format!("is not among the supporting files of this mesh in memory, which are: {known}")
        })
    }
}

impl FileOrigin<'_> {
    /// Finds the file of a URI: `file://PATH`, or `package://NAME/PATH` and `model://NAME/PATH` in
    /// the packages that the mesh knows, else in the nearest folder above this file that has a
    /// subfolder of the name, or that is a package of the name.
    fn find_uri(self, uri: &str, scheme: &str, rest: &str) -> Result<PathBuf, String> {
        let rest = String::from_utf8_lossy(&percent(rest)).into_owned();
        if scheme == "file" {
            return Ok(rest.into());
        }
        let (package, relative) = rest.split_once('/').unwrap_or((&rest, ""));
        if !matches!(scheme, "package" | "model") || package.is_empty() {
            return Err(format!(
                "must be a path or a URI package://, model:// or file://, got {scheme}://{rest}"
            ));
        }
        let known = self.mesh.and_then(|mesh| mesh.file_in_package(uri));
        if let Some(file) = known {
            return Ok(file);
        }
        let path = std::path::absolute(self.path).unwrap_or_else(|_| self.path.into());
        let folders = path.ancestors().skip(1);
        let mut candidates = folders.flat_map(|folder| {
            let own = is_package(folder, package).then(|| folder.join(relative));
            own.into_iter().chain([folder.join(package).join(relative)])
        });
        candidates.find(|file| file.is_file()).ok_or_else(|| {
            format!(
                "cannot be found: no known package has it (a command takes --package {package}=DIR), no \
                 folder above '{}' has '{package}/{relative}' or is package \
                 '{package}'",
                self.path.display()
            )
        })
    }
}

/// Returns true if a folder is a package of a given name by its `package.xml`.
fn is_package(folder: &Path, name: &str) -> bool {
    let Ok(text) = std::fs::read_to_string(folder.join("package.xml")) else {
        return false;
    };
    let named = text
        .split_once("<name>")
        .and_then(|(_, rest)| rest.split_once("</name>"));
    named.is_some_and(|(found, _)| found.trim() == name)
}

/// Decodes percent escapes such as `%20`; invalid escapes are left as they are.
pub(super) fn percent(text: &str) -> Cow<'_, [u8]> {
    if !text.contains('%') {
        return Cow::Borrowed(text.as_bytes());
    }
    let digit = |b: Option<&u8>| b.and_then(|b| char::from(*b).to_digit(16));
    let mut bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    while let Some((&first, rest)) = bytes.split_first() {
        match (first, digit(rest.first()), digit(rest.get(1))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                bytes = &rest[2..];
            }
            _ => {
                out.push(first);
                bytes = rest;
            }
        }
    }
    Cow::Owned(out)
}
