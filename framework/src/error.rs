//! The error type of this crate.

use std::fmt;

/// Result with this crate's [`Error`].
pub type Result<V, E = Error> = std::result::Result<V, E>;

/// What went wrong; the message first names the place. One word wide, so that `Result<&V>` travels
/// in two registers. Clones share one allocation.
#[derive(Clone)]
pub struct Error(std::sync::Arc<ErrorKind>);
#[derive(Debug, thiserror::Error)]
pub(crate) enum ErrorKind {
    #[error("{0}")]
    Invalid(String),
}
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
impl std::error::Error for Error {}
