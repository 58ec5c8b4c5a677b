//! Fetching of remote packages into the cache.
//!
//! An archive is downloaded and unpacked in a temporary folder within the cache, which gets its
//! final name when it is complete. A visible package is therefore always complete, even if other
//! processes are running or were killed. A file next to it is locked meanwhile. A second process
//! waits for the lock instead of downloading the same archive, and the holder of the lock may
//! remove what a killed process left.

use super::archive;
use super::download::download;
use super::remote::RemotePackage;
use super::settings::RemoteSettings;
use crate::{Error, ErrorKind, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

impl RemotePackage {
    /// Returns the folder of the package in the cache, after fetching the package if need be.
    pub(super) fn folder(&self, name: &str, settings: &RemoteSettings) -> Result<PathBuf> {
        let cache = settings.cache_directory().ok_or_else(|| {
            Error::state(format!(
                "package '{name}' cannot be fetched: there is no cache directory; set \
                 TARRAGON_PACKAGE_CACHE, or cache_directory of the package map's RemoteSettings"
            ))
        })?;
        let folder = cache.join(self.cache_key());
        if folder.is_dir() {
            return Ok(folder);
        }
        // The mutex guards no data, so a panic cannot leave any inconsistent.
        let _fetching = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        if folder.is_dir() {
            Ok(())
        } else {
            self.fetch(&cache, &folder, settings)
        }
        .map(|()| folder)
        .map_err(|e| e.at(format!("package '{name}' cannot be fetched")))
    }

    fn fetch(&self, cache: &Path, folder: &Path, settings: &RemoteSettings) -> Result<()> {
        fs::create_dir_all(cache).map_err(|e| Error::io(cache, e))?;
        let key = self.cache_key();
        let temporary = format!(".{key}.tmp-");
        let lock = cache.join(format!(".{key}.lock"));
        let lock = File::create(&lock).map_err(|e| Error::io(&lock, e))?;
        // Some network file systems do not support locks; two processes may then both do the work.
        if lock.lock().is_ok() {
            if folder.is_dir() {
                return Ok(());
            }
            remove_starting_with(cache, &temporary);
        }
        let work = tempfile::Builder::new()
            .prefix(&temporary)
            .tempdir_in(cache);
        let work = work.map_err(|e| Error::io(cache, e))?;
        let packed = work.path().join("archive");
        download(self, settings, &packed)?;
        let unpacked = work.path().join("content");
        fs::create_dir(&unpacked).map_err(|e| Error::io(&unpacked, e))?;
        let packed = File::open(&packed).map_err(|e| Error::io(&packed, e))?;
        let url = &self.params().urls[0];
        archive::unpack(packed, self.kind(), self.prefix(), &unpacked, settings).map_err(
            |what| Error::new(ErrorKind::Parse, what).at(format!("the archive of '{url}'")),
        )?;
        match fs::rename(&unpacked, folder) {
            // Another process may have been faster.
            Err(error) if !folder.is_dir() => Err(Error::io(folder, error)),
            _ => Ok(()),
        }
    }
}

/// Removes what a killed process left; logs a warning for entries that it cannot remove.
fn remove_starting_with(cache: &Path, start: &str) {
    for entry in fs::read_dir(cache).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(start)
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!("{}: {error}", entry.path().display());
        }
    }
}
