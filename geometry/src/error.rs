//! Errors of mesh files.

use std::path::Path;
use tarragon_framework::FileLocation;
pub use tarragon_framework::{Error, ErrorKind, Result};

/// Error in line `line` of a mesh file; 0 stands for the file as a whole.
#[cold]
pub(crate) fn parse_error(path: &Path, line: usize, message: impl Into<String>) -> Error {
    let (file, line) = (
        path.display().to_string(),
        line.try_into().unwrap_or(u32::MAX),
    );
    Error::parse(
        FileLocation {
            file,
            line,
            column: 0,
        },
        message,
    )
}

/// A word that fits into a message, whatever the file contains.
pub(crate) fn short(word: &str) -> String {
    let mut s: String = word
        .chars()
        .take(40)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    if word.chars().nth(40).is_some() {
        s.push_str("...");
    }
    s
}
