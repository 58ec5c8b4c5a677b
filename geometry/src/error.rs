//! The error type of this crate.

use std::path::{Path, PathBuf};

/// Result type with this crate's [`Error`].
///
/// ```
/// use tarragon_geometry::{Capsule, Result};
/// fn finger(length: f64) -> Result<Capsule> {
///     Capsule::new(0.01, length)
/// }
/// assert_eq!(finger(0.05)?.length(), 0.05);
/// assert!(finger(-0.05).is_err());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub type Result<V, E = Error> = std::result::Result<V, E>;

/// Error of this crate. Its message says where it happened, what is wrong and how to fix it; the
/// type is opaque, so read it with `Display`.
///
/// ```
/// let error = tarragon_geometry::Sphere::new(-1.0).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "Sphere: radius must be positive and finite, got -1.0 m"
/// );
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<ErrorKind>);

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ErrorKind {
    /// A value outside its domain. The message names the place, the condition and the value.
    #[error("{0}")]
    Invalid(String),
    /// A file that cannot be opened or read.
    #[error("{path}: {source}")]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A file with invalid content at a known line.
    #[error("{path}:{line}: {message}")]
    Parse {
        path: PathBuf,
        line: usize,
        message: String,
    },
    /// An error together with the object or file that it concerns.
    #[error("{place}: {source}")]
    At { place: String, source: Error },
    /// An error of the systems framework.
    #[error(transparent)]
    Framework(#[from] tarragon_framework::Error),
}

impl Error {
    /// Creates an error from its complete message.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        ErrorKind::Invalid(message.into()).into()
    }
    /// Prefixes the error with `place`, the object or file that it concerns.
    #[cold]
    pub(crate) fn at(self, place: &str) -> Self {
        ErrorKind::At {
            place: place.into(),
            source: self,
        }
        .into()
    }
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        ErrorKind::Io {
            path: path.into(),
            source,
        }
        .into()
    }
    pub(crate) fn parse(path: &Path, line: usize, message: impl Into<String>) -> Self {
        ErrorKind::Parse {
            path: path.into(),
            line,
            message: message.into(),
        }
        .into()
    }
}

impl<E: Into<ErrorKind>> From<E> for Error {
    #[cold]
    fn from(kind: E) -> Self {
        Self(Box::new(kind.into()))
    }
}

/// Lets the calc functions of systems return this crate's errors: the framework's error adds the
/// place.
impl From<Error> for tarragon_framework::Error {
    #[cold]
    fn from(error: Error) -> Self {
        match *error.0 {
            ErrorKind::Framework(error) => error,
            _ => Self::custom(error),
        }
    }
}

/// Makes a word from a file fit for a message: at most 40 characters, none of them control
/// characters.
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
