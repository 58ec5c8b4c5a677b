//! Remote packages: archives of all types, servers that misbehave, archives that mean harm.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy does not recognise outside of test functions"
)]

mod archives;
mod fetch;
mod hostile;
mod server;

use archives::{Archive, sha256};
use std::fs;
use std::path::{Path, PathBuf};
use tarragon_multibody::{ArchiveType, PackageMap, RemoteParams, RemoteSettings};
use tempfile::TempDir;

/// A cache of its own and a folder for archives.
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

    /// Puts an archive down; returns what a map has to know.
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

    /// What unpacking an archive gives.
    fn unpacked(&self, kind: ArchiveType, bytes: &[u8]) -> Result<PathBuf, String> {
        let mut params = self.archive("unnamed", bytes);
        params.archive_type = Some(kind);
        self.map(params).path("p").map_err(|e| e.to_string())
    }

    /// Names in the cache that are not locks.
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

/// A small package in a folder `robot-1.0`, and something beside it.
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
