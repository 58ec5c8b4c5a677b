//! Files that appear under their name only when they are complete.

use crate::{Error, ErrorKind, Result};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that is being written under a temporary name in its directory. If it is dropped
/// unfinished, it is removed.
#[derive(Debug)]
pub(crate) struct UnfinishedFile {
    pub(crate) file: File,
    temporary: Option<PathBuf>,
    path: PathBuf,
}

impl UnfinishedFile {
    /// Opens the temporary file. A path that is not a regular file, such as a pipe or
    /// `/dev/stdout`, cannot be replaced and is written to directly.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.file_name().is_none() {
            return Err(Error::invalid(format!(
                "{}: the path must end with the name of a file",
                path.display()
            )));
        }
        // Follow links, so that a link stays a link and its target is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.into());
        let kind = fs::metadata(&target).map(|m| m.file_type()).ok();
        if kind.is_some_and(|k| k.is_dir()) {
            return Err(Error::exists(format!(
                "{}: a directory has this name; choose another",
                path.display()
            )));
        }
        let temporary = match kind {
            Some(kind) if !kind.is_file() => None,
            _ => Some(target.with_file_name(temporary_name())),
        };
        let file = match &temporary {
            Some(temporary) => File::create_new(temporary),
            None => File::options().write(true).open(&target),
        };
        Ok(Self {
            file: file.map_err(|e| cannot_write(path, e))?,
            temporary,
            path: path.into(),
        })
    }
    /// Returns the final path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
    /// Returns false for pipes and devices, where written bytes cannot be changed.
    pub(crate) fn is_regular(&self) -> bool {
        self.temporary.is_some()
    }
    /// Renames the complete file to its final path.
    pub(crate) fn finish(mut self) -> Result<()> {
        if let Some(temporary) = &self.temporary {
            let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
            fs::rename(temporary, target).map_err(|e| cannot_write(&self.path, e))?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Returns a unique name, which is short so that it fits wherever the final name does.
fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(".tarragon-{}-{count}.tmp", std::process::id())
}

/// Writes a complete file.
pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    let mut file = UnfinishedFile::create(path)?;
    file.file
        .write_all(content)
        .map_err(|e| cannot_write(path, e))?;
    file.finish()
}

/// Returns the error for a failed write, with advice on how to fix it.
pub(crate) fn cannot_write(path: &Path, e: io::Error) -> Error {
    let advice = match e.kind() {
        io::ErrorKind::NotFound => "; create its directory first",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; change the permissions of its directory or choose another"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space or choose another disk"
        }
        _ => "",
    };
    let path = path.display();
    Error::new(ErrorKind::Io, format!("{path}: cannot be written{advice}")).with_cause(e)
}

/// Checks that the directory of a file exists and accepts new files.
pub(crate) fn check_directory(place: &str, path: &Path) -> Result<()> {
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let what = |why: &str| {
        let directory = directory.display();
        format!("{place}: the directory '{directory}' {why}")
    };
    let fail = |why: &str, cause: io::Error| Error::new(ErrorKind::Io, what(why)).with_cause(cause);
    let metadata =
        fs::metadata(directory).map_err(|e| fail("cannot be used; create it first", e))?;
    if !metadata.is_dir() {
        return Err(Error::invalid(what("is a file; choose another")));
    }
    let probe = directory.join(temporary_name());
    File::create_new(&probe)
        .and_then(|_| fs::remove_file(&probe))
        .map_err(|e| {
            fail(
                "cannot be written to; change its permissions or choose another",
                e,
            )
        })
}
