//! Errors of plants and model files.

pub use tarragon_framework::{Error, ErrorKind, Result};
