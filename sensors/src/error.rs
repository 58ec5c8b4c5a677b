//! The error type of this crate.

use std::path::{Path, PathBuf};

/// Result with this crate's [`Error`].
pub type Result<V, E = Error> = std::result::Result<V, E>;

/// What went wrong, where, and how to mend it. Opaque: read it with `Display`.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<ErrorKind>);

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ErrorKind {
    #[error("{0}")]
    Invalid(String),
    #[error("{path}: {source}")]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A file that an image library can not write or read.
    #[error("{path}: {source}")]
    Codec {
        path: PathBuf,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// An error described by one complete sentence.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        ErrorKind::Invalid(message.into()).into()
    }
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        let path = path.into();
        ErrorKind::Io { path, source }.into()
    }
    pub(crate) fn codec(
        path: &Path,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let (path, source) = (path.into(), source.into());
        ErrorKind::Codec { path, source }.into()
    }
}

impl From<ErrorKind> for Error {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}
