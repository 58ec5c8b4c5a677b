//! STL.
use super::RenderMesh;
use crate::error::{Error, Result};
use std::path::Path;
/// Reads the content of an STL file.
///
/// # Errors
/// Always, for now.
pub fn parse_stl(path: &Path, _bytes: &[u8]) -> Result<RenderMesh> {
    Err(Error::parse(path, 1, "not read yet"))
}
