//! The result of writing a model.

use crate::{Error, Result};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tarragon_documents::Diagnostic;

/// A model file as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenModel {
    /// Content of the file.
    pub text: String,
    /// Warnings about everything that the format cannot express and that is left out, renamed or
    /// replaced. Reading the text back gives the same plant except for these.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that the text refers to, and that [`Self::save`] writes next to it.
    pub files: Vec<WrittenFile>,
}

/// A file next to a model file, such as a mesh in a format that the reader knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    /// Name in the folder of the model file.
    pub name: String,
    /// Content of the file.
    pub text: String,
}

impl WrittenModel {
    /// Writes the model file and the files next to it. Each file is written completely or not at
    /// all. After an error, existing files are unchanged and no new ones are left.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let mut pending = PendingFiles::default();
        for file in &self.files {
            pending.write(&path.with_file_name(&file.name), &file.text)?;
        }
        pending.write(path, &self.text)?;
        pending.rename()
    }
}

/// Files under temporary names, which are removed unless all of them were renamed.
#[derive(Default)]
struct PendingFiles {
    /// Temporary names, names, and whether there was no file of the name.
    files: Vec<(PathBuf, PathBuf, bool)>,
}

impl PendingFiles {
    fn write(&mut self, path: &Path, content: &str) -> Result<()> {
        // Links stay links; their targets are replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.into());
        let number = self.files.len();
        let name = format!(".tarragon-{}-{number}.tmp", std::process::id());
        let temporary = target.with_file_name(name);
        let is_new = !target.exists();
        let write = || -> io::Result<()> {
            if target.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            fs::File::create(&temporary)?.write_all(content.as_bytes())
        };
        let written = write();
        self.files.push((temporary, target, is_new));
        written.map_err(|e| Error::io(path, e))
    }

    fn rename(mut self) -> Result<()> {
        let mut renamed = vec![];
        for (temporary, target, is_new) in &self.files {
            if let Err(e) = fs::rename(temporary, target) {
                for target in renamed {
                    let _ = fs::remove_file(target);
                }
                return Err(Error::io(target, e));
            }
            renamed.extend(is_new.then_some(target));
        }
        self.files.clear();
        Ok(())
    }
}

impl Drop for PendingFiles {
    fn drop(&mut self) {
        for (temporary, ..) in &self.files {
            let _ = fs::remove_file(temporary);
        }
    }
}
