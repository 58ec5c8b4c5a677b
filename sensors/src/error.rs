//! The error type of this crate.

use std::path::{Path, PathBuf};

/// Result with this crate's [`Error`].
///
/// ```
/// use std::path::Path;
/// use tarragon_sensors::{ImageFileFormat, Result};
/// fn is_png(file: &str) -> Result<bool> {
///     Ok(ImageFileFormat::of_path(Path::new(file))? == ImageFileFormat::Png)
/// }
/// assert!(is_png("a.PNG")? && !is_png("a.tif")?);
/// assert!(is_png("a.gif").is_err());
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
pub type Result<V, E = Error> = std::result::Result<V, E>;

/// Error of this crate. The message says what went wrong, where, and how to fix it; the type is
/// opaque.
///
/// ```
/// use std::path::Path;
/// let error = tarragon_sensors::ImageFileFormat::of_path(Path::new("a.gif")).unwrap_err();
/// assert_eq!(error.to_string(), "a.gif: image files end in .png, .jpg, .jpeg, .tiff or .tif");
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
    /// A file that an image library cannot write or read.
    #[error("{path}: {source}")]
    Codec {
        path: PathBuf,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// Creates an error described by one complete sentence.
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
    /// Returns true if the operating system could not read or write a file.
    pub(crate) fn is_io(&self) -> bool {
        matches!(*self.0, ErrorKind::Io { .. })
    }
}

impl From<ErrorKind> for Error {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

/// Lets calc functions return this error with `?`; the framework adds the path of the system.
impl From<Error> for tarragon_framework::Error {
    #[cold]
    fn from(error: Error) -> Self {
        Self::custom(error)
    }
}
