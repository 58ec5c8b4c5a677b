//! Files that an engine keeps for inspection.

use super::form::RequestName;
use super::reply;
use crate::images::io::file::write_file;
use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// Directory of the kept files.
#[derive(Debug)]
pub(super) struct KeptFiles(PathBuf);

impl KeptFiles {
    /// Creates a directory below that of temporary files, which nobody removes.
    pub(super) fn create() -> Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("tarragon-gltf-client-")
            .tempdir();
        match directory {
            Ok(directory) => Ok(Self(directory.keep())),
            Err(e) => Err(Error::io(std::env::temp_dir(), e)),
        }
    }
    pub(super) fn directory(&self) -> &Path {
        &self.0
    }
    /// Writes a scene to `NNN-color.gltf`.
    pub(super) fn write_scene(&self, name: RequestName, scene: &str) -> Result<()> {
        write_file(&self.0.join(name.file("gltf")), scene.as_bytes())
    }
    /// Writes a reply to `NNN-color.png` or `NNN-color.tiff`; to `NNN.curl` if it is neither.
    pub(super) fn write_reply(&self, name: RequestName, reply: &[u8]) -> Result<()> {
        let file = match reply::extension(reply) {
            Some(extension) => name.file(extension),
            None => format!("{:019}.curl", name.number),
        };
        write_file(&self.0.join(file), reply)
    }
}
