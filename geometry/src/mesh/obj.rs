//! Wavefront OBJ.
use super::RenderMesh;
use crate::error::{Error, Result};
use std::path::Path;
/// Reads the content of an OBJ file.
///
/// # Errors
/// Always, for now.
pub fn parse_obj(path: &Path, _bytes: &[u8]) -> Result<RenderMesh> {
    Err(Error::parse(path, 1, "not read yet"))
}
