//! The error type of this crate.

use std::path::{Path, PathBuf};

/// Result with this crate's [`Error`].
///
/// ```
/// use tarragon_lcm::{Lcm, Result};
/// fn hear(lcm: &Lcm) -> Result<usize> {
///     lcm.handle_subscriptions(std::time::Duration::ZERO)
/// }
/// assert_eq!(hear(&Lcm::with_url("memq://")?)?, 0);
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
pub type Result<V, E = Error> = std::result::Result<V, E>;

/// An error of this crate: what went wrong, where, and how to fix it. Opaque: read it with
/// `Display`.
///
/// ```
/// let error = tarragon_lcm::Lcm::with_url("http://here").unwrap_err();
/// assert!(error.to_string().starts_with("LCM URL 'http://here': "), "{error}");
/// ```
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
    /// A socket that cannot be set up or used.
    #[error("LCM URL '{url}': {what}: {source}")]
    Socket {
        url: String,
        what: String,
        source: std::io::Error,
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
    pub(crate) fn socket(url: &str, what: impl Into<String>, source: std::io::Error) -> Self {
        let (url, what) = (url.into(), what.into());
        ErrorKind::Socket { url, what, source }.into()
    }
}

impl From<ErrorKind> for Error {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

/// Calc functions of systems return the framework's error, which adds the system's path.
impl From<Error> for tarragon_framework::Error {
    #[cold]
    fn from(error: Error) -> Self {
        Self::custom(error)
    }
}
