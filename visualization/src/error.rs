//! The error type of this crate.

use std::path::{Path, PathBuf};

/// Result with this crate's [`Error`].
///
/// ```
/// use tarragon_visualization::{Meshcat, Result};
/// fn steer(meshcat: &Meshcat) -> Result<f64> {
///     meshcat.slider_value("steering")
/// }
/// ```
pub type Result<V, E = Error> = std::result::Result<V, E>;

/// Description of a failure: what went wrong, where, and how to mend it. Opaque: read it with
/// `Display`.
///
/// ```
/// use tarragon_visualization::{Meshcat, MeshcatParams};
/// let error = Meshcat::new(MeshcatParams { port: Some(80), ..Default::default() }).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "MeshcatParams: port must be 0 (any free port) or at least 1024, got 80"
/// );
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
    #[error(transparent)]
    Geometry(#[from] tarragon_geometry::Error),
    #[error(transparent)]
    Framework(#[from] tarragon_framework::Error),
    #[error(transparent)]
    Multibody(#[from] tarragon_multibody::Error),
    #[error(transparent)]
    Sensors(#[from] tarragon_sensors::Error),
    #[error(transparent)]
    Lcm(#[from] tarragon_lcm::Error),
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
}

impl From<ErrorKind> for Error {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

macro_rules! from_crate {
    ($($t:ty),*) => {$(
        impl From<$t> for Error {
            fn from(error: $t) -> Self {
                ErrorKind::from(error).into()
            }
        }
    )*};
}
from_crate!(
    tarragon_geometry::Error,
    tarragon_framework::Error,
    tarragon_multibody::Error,
    tarragon_sensors::Error,
    tarragon_lcm::Error
);

/// Calc functions of systems return the framework's error, which adds the place.
impl From<Error> for tarragon_framework::Error {
    #[cold]
    fn from(error: Error) -> Self {
        match *error.0 {
            ErrorKind::Framework(error) => error,
            _ => Self::custom(error),
        }
    }
}
