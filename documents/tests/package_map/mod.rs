//! Remote packages: archives of all types, failing servers, malicious archives.

mod archives;
mod fetch;
mod hostile;
mod server;

use archives::{Archive, sha256};
use std::fs;
use std::path::{Path, PathBuf};
use tarragon_documents::{ArchiveType, PackageMap, RemoteParams, RemoteSettings};
use tempfile::TempDir;

/// A folder for archives, with its own package cache.
struct Place {
    dir: TempDir,
    settings: RemoteSettings,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let settings = RemoteSettings {
            cache_directory: Some(dir.path().join("cache")),
            ..RemoteSettings::default()
        };
        Self { dir, settings }
    }

    /// Writes an archive; returns the parameters of its package.
    fn archive(&self, name: &str, bytes: &[u8]) -> RemoteParams {
        let path = self.dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        RemoteParams {
            urls: vec![format!("file://{}", path.display())],
            sha256: sha256(bytes),
            ..RemoteParams::default()
        }
    }

    /// A map with one package `p`.
    fn map(&self, params: RemoteParams) -> PackageMap {
        let mut map = PackageMap::make_empty();
        map.set_remote_settings(self.settings.clone());
        map.add_remote("p", params).unwrap();
        map
    }

    /// Unpacks an archive as a package; returns the package's folder or the error message.
    fn unpacked(&self, kind: ArchiveType, bytes: &[u8]) -> Result<PathBuf, String> {
        let mut params = self.archive("unnamed", bytes);
        params.archive_type = Some(kind);
        self.map(params).path("p").map_err(|e| e.to_string())
    }

    /// Names of the entries of the cache, without locks.
    fn cached(&self) -> Vec<String> {
        let cache = self.dir.path().join("cache");
        let entries = fs::read_dir(cache).into_iter().flatten();
        let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
        names.filter(|n| !n.ends_with(".lock")).collect()
    }
}

/// All files below a folder, with their content.
fn files(folder: &Path) -> Vec<(String, String)> {
    fn visit(root: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    let mut found = vec![];
    visit(folder, folder, &mut found);
    found.sort();
    found
}

/// A small package in a folder `robot-1.0`, and a file next to that folder.
fn robot() -> Archive {
    Archive::new()
        .folder("robot-1.0/")
        .file(
            "robot-1.0/package.xml",
            "<package><name>robot</name></package>",
        )
        .file("robot-1.0/meshes/arm.obj", "v 1 2 3\n")
        .file("LICENSE", "free\n")
}
