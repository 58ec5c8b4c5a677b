//! A mesh file and the files that it refers to, read within a budget of bytes.

use crate::{Error, Result};
use bytes::Bytes;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use tarragon_geometry::{FileSource, MeshSource};

/// Maximum size in bytes of a mesh with all files that it refers to, limited by browsers.
pub(crate) const MAX_BYTES: u64 = 1 << 30;

/// Checks that the mesh file can be read to its end. Devices and pipes are rejected: they may be
/// endless or block.
pub(super) fn check(source: &MeshSource) -> Result<()> {
    match source {
        MeshSource::Path(path) => check_size(path, file_size(path)?, MAX_BYTES),
        MeshSource::InMemory(mesh) => {
            let size = mesh.mesh_file.contents().len() as u64;
            check_size(Path::new(&source.description()), size, MAX_BYTES)
        }
    }
}

fn file_size(path: &Path) -> Result<u64> {
    let metadata = path.metadata().map_err(|e| Error::io(path, e))?;
    if metadata.is_file() {
        return Ok(metadata.len());
    }
    let what = if metadata.is_dir() {
        "a folder"
    } else {
        "a device or a pipe"
    };
    Err(Error::invalid(format!(
        "{}: must be a file, got {what}",
        path.display()
    )))
}

fn check_size(path: &Path, size: u64, left: u64) -> Result<()> {
    if size <= left {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{}: the file must have at most {left} bytes, got {size}; a mesh and the files that it refers to \
         may have {MAX_BYTES} bytes together",
        path.display()
    )))
}

/// A mesh file and the files that it refers to.
pub(super) struct Files<'a> {
    source: &'a MeshSource,
    /// Number of bytes that may still be read.
    left: u64,
}

impl<'a> Files<'a> {
    pub(super) fn new(source: &'a MeshSource) -> Self {
        Self {
            source,
            left: MAX_BYTES,
        }
    }
    /// Returns the content of the mesh file itself.
    pub(super) fn mesh_file(&mut self) -> Result<Bytes> {
        match self.source {
            MeshSource::Path(path) => self.read_path(path),
            MeshSource::InMemory(mesh) => self.read(&FileSource::Memory(mesh.mesh_file.clone())),
        }
    }
    /// Returns the file that `name` refers to in the file `by`; `relative` is the same reference as
    /// a path. The error says why there is no such file.
    pub(super) fn find(&self, by: &Path, name: &str, relative: &str) -> Result<FileSource, String> {
        let mesh = match self.source {
            MeshSource::InMemory(mesh) => mesh,
            MeshSource::Path(path) => {
                let folder = by.parent().unwrap_or(Path::new(""));
                let packaged = path.file_in_package(name);
                return Ok(packaged.unwrap_or_else(|| folder.join(relative)).into());
            }
        };
        let files = &mesh.supporting_files;
        files.get(name).cloned().ok_or_else(|| {
            let known: Vec<_> = files.keys().take(8).map(|k| format!("'{k}'")).collect();
            let known = if known.is_empty() {
                "none".into()
            } else {
                known.join(", ")
            };
            format!(
                "it is not among the supporting files of this mesh in memory, which are: {known}"
            )
        })
    }
    /// Returns the content of a file.
    pub(super) fn read(&mut self, file: &FileSource) -> Result<Bytes> {
        match file {
            FileSource::Path(path) => self.read_path(path),
            FileSource::Memory(file) => {
                let size = file.contents().len() as u64;
                check_size(Path::new(file.filename_hint()), size, self.left)?;
                self.left -= size;
                Ok(Bytes::from_owner(file.contents().clone()))
            }
        }
    }
    fn read_path(&mut self, path: &Path) -> Result<Bytes> {
        let content = read_within(path, self.left)?;
        self.left -= content.len() as u64;
        Ok(content)
    }
}

/// Returns the content of an image that belongs to no file.
pub(super) fn read_image(path: &Path) -> Result<Bytes> {
    read_within(path, MAX_BYTES)
}

/// Returns the content of a file of at most `left` bytes.
fn read_within(path: &Path, left: u64) -> Result<Bytes> {
    check_size(path, file_size(path)?, left)?;
    let io = |e| Error::io(path, e);
    let mut content = Vec::new();
    // The file may have grown since its size was checked.
    let file = File::open(path).map_err(io)?.take(left + 1);
    { file }.read_to_end(&mut content).map_err(io)?;
    check_size(path, content.len() as u64, left)?;
    Ok(content.into())
}

/// Shortens a word of a file so that it fits into a message, whatever the file contains.
pub(super) fn short(word: &str) -> String {
    let printable = |c: char| if c.is_control() { '?' } else { c };
    let mut text: String = word.chars().take(60).map(printable).collect();
    if word.chars().nth(60).is_some() {
        text.push_str("...");
    }
    text
}

/// Returns the media type of an image.
pub(super) fn media_type(content: &[u8]) -> &'static str {
    if content.starts_with(b"\xff\xd8\xff") {
        "image/jpeg"
    } else {
        // Browsers detect the actual format from the content.
        "image/png"
    }
}
