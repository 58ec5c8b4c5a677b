//! Register of the files that this process writes as logs.
//!
//! Two writers of one file would overwrite each other's events. Buses are not systems of a diagram,
//! so the check runs when a file is opened.

use crate::{Error, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Identity of a file, whatever the path that led to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Identity(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] PathBuf);

/// Open files, each with the path that its writer was given.
static OPEN: Mutex<BTreeMap<Identity, PathBuf>> = Mutex::new(BTreeMap::new());

/// The right to write a file, until it is dropped.
#[derive(Debug)]
pub(super) struct OpenFile {
    identity: Identity,
}

impl OpenFile {
    /// Registers a file that was opened for writing.
    ///
    /// # Errors
    /// Returns an error if the file has a writer already.
    pub(super) fn register(path: &Path, file: &File) -> Result<Self> {
        let identity = identity(path, file).map_err(|error| Error::io(path, error))?;
        let mut open = lock();
        if let Some(first) = open.get(&identity) {
            return Err(Error::exists(format!(
                "{}: a log must have one writer, got a second one while '{}' is open; choose \
                 another file, or share one bus",
                path.display(),
                first.display()
            )));
        }
        open.insert(identity.clone(), path.into());
        Ok(Self { identity })
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        lock().remove(&self.identity);
    }
}

/// Locks the register, even if a holder of the lock panicked: each change is a single operation.
fn lock() -> MutexGuard<'static, BTreeMap<Identity, PathBuf>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns device and inode, which links share.
#[cfg(unix)]
fn identity(_: &Path, file: &File) -> std::io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    Ok(Identity((metadata.dev(), metadata.ino())))
}

#[cfg(not(unix))]
fn identity(path: &Path, _: &File) -> std::io::Result<Identity> {
    path.canonicalize().map(Identity)
}
