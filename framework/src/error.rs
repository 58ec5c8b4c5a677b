//! The error type of this crate.

use std::error::Error as StdError;
use std::sync::Arc;

/// Result with this crate's [`Error`].
///
/// ```
/// use tarragon_framework::{Error, Result};
/// fn root(x: f64) -> Result<f64> {
///     if x < 0.0 {
///         return Err(Error::custom(format!("{x} has no real root")));
///     }
///     Ok(x.sqrt())
/// }
/// assert_eq!(root(9.0)?, 3.0);
/// assert!(root(-1.0).is_err());
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub type Result<V, E = Error> = std::result::Result<V, E>;

/// Error with a message that first names the place.
///
/// One word wide, so that `Result<&V>` travels in two registers; clones share one allocation. Calc
/// functions and event handlers convert their own errors into it with [`Error::custom`]; the
/// framework then adds the path of the system.
///
/// ```
/// use tarragon_framework::{Error, prelude::*, primitives::VectorSystem};
///
/// let mut b = DiagramBuilder::new();
/// let stuck = VectorSystem::new(0, 1, |_, _, _, _| Err(Error::custom("the valve is stuck")));
/// let valve = b.add_f64("valve", stuck);
/// let ctx = b.build()?.default_context();
/// let error = ctx.eval(valve.y).unwrap_err();
/// assert_eq!(error.to_string(), "computing 'valve.y0': the valve is stuck");
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Arc<ErrorKind>);

type Source = Box<dyn StdError + Send + Sync>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ErrorKind {
    #[error(
        "input port '{port}' is not connected and has no fixed value; connect it or call `Context::fix`"
    )]
    Unconnected { port: String },
    #[error("cannot connect '{from}' to '{to}': {why}")]
    Connection {
        from: String,
        to: String,
        why: String,
    },
    #[error("input port '{port}': {why}")]
    FixedInput { port: String, why: String },
    #[error(
        "algebraic loop: {path}; break it with a system whose output does not depend on its input, such as a ZeroOrderHold"
    )]
    AlgebraicLoop { path: String },
    #[error("system '{system}' does not support scalar {scalar}; it was added with `add_f64`")]
    NotConvertible {
        system: String,
        scalar: &'static str,
    },
    #[error("'{entry}' is out of date and the cache is frozen")]
    Frozen { entry: String },
    #[error(
        "{what} belongs to {owner} but was used with {used_with}; use the ports of the diagram that the context was made from"
    )]
    ForeignHandle {
        what: String,
        owner: String,
        used_with: String,
    },
    #[error("{0}")]
    Invalid(String),
    /// Error of a user's function, without its place.
    #[error("{0}")]
    Custom(Source),
    /// Error of a user's function with its place.
    #[error("{place}: {source}")]
    Located { place: String, source: Source },
}

impl Error {
    /// Wraps an error or a message of a calc function, an event handler or a library that builds on
    /// this crate. The framework adds where it happened.
    ///
    /// ```
    /// let e = tarragon_framework::Error::custom("the valve is stuck");
    /// assert_eq!(e.to_string(), "the valve is stuck");
    /// ```
    #[cold]
    pub fn custom(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        ErrorKind::Custom(source.into()).into()
    }

    #[cold]
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        ErrorKind::Invalid(message.into()).into()
    }

    /// Adds the place to an error that has none.
    #[cold]
    pub(crate) fn at(self, place: impl FnOnce() -> String) -> Self {
        match &*self.0 {
            ErrorKind::Custom(_) => ErrorKind::Located {
                place: place(),
                source: Box::new(self),
            }
            .into(),
            _ => self,
        }
    }
}

impl From<ErrorKind> for Error {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self(Arc::new(kind))
    }
}
