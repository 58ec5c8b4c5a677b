//! The error type of this crate.

use crate::diagnostic::Diagnostic;
use std::fmt;
use std::path::{Path, PathBuf};

/// Result with this crate's [`Error`].
///
/// ```
/// use tarragon_multibody::{MultibodyPlant, Parser, Result};
/// fn load(urdf: &str) -> Result<MultibodyPlant> {
///     let mut plant = MultibodyPlant::new(0.001)?;
///     Parser::new(&mut plant).add_models_from_string(urdf, "urdf")?;
///     plant.finalize()?;
///     Ok(plant)
/// }
/// assert_eq!(load("<robot name='a'><link name='b'/></robot>")?.num_bodies(), 2);
/// assert!(load("<robot").is_err());
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
pub type Result<V, E = Error> = std::result::Result<V, E>;

/// A problem, its place and its cure. Opaque: read it with `Display`.
///
/// ```
/// use tarragon_multibody::MultibodyPlant;
/// let mut plant = MultibodyPlant::new(0.001)?;
/// plant.add_model_instance("arm")?;
/// let error = plant.add_model_instance("arm").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "model instance 'arm' exists already; names of model instances must be unique"
/// );
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
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
    /// The first error of a model file; the others are in the parser's diagnostics.
    #[error("{first}{}", and_more(*.more))]
    Parse { first: Diagnostic, more: usize },
    /// An error of the geometry crate.
    #[error(transparent)]
    Geometry(#[from] tarragon_geometry::Error),
    /// An error of the systems framework.
    #[error(transparent)]
    Framework(#[from] tarragon_framework::Error),
}

fn and_more(n: usize) -> String {
    match n {
        0 => String::new(),
        1 => " (and 1 more error, see `Parser::diagnostics`)".into(),
        n => format!(" (and {n} more errors, see `Parser::diagnostics`)"),
    }
}

impl Error {
    /// Creates an error described by one complete sentence.
    #[cold]
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        ErrorKind::Invalid(message.into()).into()
    }
    #[cold]
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        ErrorKind::Io {
            path: path.into(),
            source,
        }
        .into()
    }
    #[cold]
    pub(crate) fn parse(first: Diagnostic, more: usize) -> Self {
        ErrorKind::Parse { first, more }.into()
    }
}

impl<E: Into<ErrorKind>> From<E> for Error {
    #[cold]
    fn from(kind: E) -> Self {
        Self(Box::new(kind.into()))
    }
}

/// Converts for calc functions of systems: they return the framework's error, which adds the place.
impl From<Error> for tarragon_framework::Error {
    #[cold]
    fn from(error: Error) -> Self {
        match *error.0 {
            ErrorKind::Framework(error) => error,
            _ => Self::custom(error),
        }
    }
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

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}
