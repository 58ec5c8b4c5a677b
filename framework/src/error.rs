//! The error type of the whole workspace.

use std::error::Error as StdError;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Result with tarragon's [`Error`].
///
/// ```
/// use tarragon_framework::{Error, Result};
/// fn root(x: f64) -> Result<f64> {
///     if x < 0.0 {
///         return Err(Error::invalid(format!("root: x must not be negative, got {x:?}")));
///     }
///     Ok(x.sqrt())
/// }
/// assert_eq!(root(9.0)?, 3.0);
/// assert!(root(-1.0).is_err());
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub type Result<V, E = Error> = std::result::Result<V, E>;

/// Category of an [`Error`], for callers that react to errors instead of only showing them.
///
/// ```
/// use tarragon_framework::{ErrorKind, prelude::*};
///
/// let mut b = DiagramBuilder::new();
/// let gain = b.add_f64("gain", tarragon_framework::primitives::Gain::new(1, 2.0));
/// let ctx = b.build()?.default_context();
/// assert_eq!(ctx.eval(gain.y).unwrap_err().kind(), ErrorKind::Unconnected);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value outside its domain, or arguments that do not fit together.
    InvalidArgument,
    /// A call at the wrong moment, such as a plant that is registered with two scenes.
    InvalidState,
    /// A name, an index or an id of nothing that exists.
    NotFound,
    /// A name or an id that is taken.
    AlreadyExists,
    /// A valid request that this implementation cannot fulfil; the caller may fall back.
    Unsupported,
    /// Text or bytes that break their format; [`Error::location`] tells the place.
    Parse,
    /// The operating system refused to open, read or write; [`Error::cause`] is its error.
    Io,
    /// A socket, a peer or a download failed.
    Network,
    /// An iteration does not converge, or a matrix is singular.
    NumericalFailure,
    /// A handle, an id or a context of another diagram, scene or plant.
    ForeignHandle,
    /// An input port without a connection and without a fixed value.
    Unconnected,
    /// Outputs that depend on each other without a delay.
    AlgebraicLoop,
    /// An error of a user's function.
    Other,
}

/// Place in a file. Displays as `file:line:column`.
///
/// ```
/// use tarragon_framework::FileLocation;
/// let whole = FileLocation { file: "arm.urdf".into(), line: 0, column: 0 };
/// assert_eq!(whole.to_string(), "arm.urdf");
/// assert_eq!(FileLocation { line: 3, column: 7, ..whole }.to_string(), "arm.urdf:3:7");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileLocation {
    /// The file, or a name such as `<literal>` for text in memory.
    pub file: String,
    /// Line, from 1; 0 for the file as a whole.
    pub line: u32,
    /// Column in characters, from 1; 0 for the line as a whole.
    pub column: u32,
}

impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
            if self.column > 0 {
                write!(f, ":{}", self.column)?;
            }
        }
        Ok(())
    }
}

/// The error of all of tarragon's crates: a kind to match, and a message that names the place, the
/// value found, the condition that it must meet, and the cure.
///
/// `Display` shows everything: place, message and cause, each once. [`StdError::source`] therefore
/// returns nothing, so that reporters that walk the chain of sources do not repeat the cause;
/// [`cause`](Self::cause) returns it for downcasting. Other libraries' types stay out of the public
/// API, so that their versions may change; hence one opaque struct instead of a public enum.
///
/// One word wide, so that `Result<&V>` travels in two registers; clones share one allocation.
/// Calc functions and event handlers return it, or turn an error of their own into it with
/// [`Error::custom`]; the framework then adds the path of the system.
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
#[derive(Clone)]
pub struct Error(Arc<Parts>);

#[derive(Clone)]
struct Parts {
    kind: ErrorKind,
    /// Callers' places, outermost first, joined by `: `.
    place: String,
    location: Option<FileLocation>,
    message: String,
    cause: Option<Arc<dyn StdError + Send + Sync>>,
    /// Whether the message already names the system, so that the framework adds nothing.
    located: bool,
    /// The system of the diagram that failed, if the framework knows it.
    system: Option<usize>,
    /// The output or fixed input with the first NaN, if the failed system has read one.
    origin_of_nan: Option<String>,
}

impl Error {
    /// An error of `kind`; the message is `PLACE: WHAT must be CONDITION, got VALUE; CURE`.
    ///
    /// ```
    /// use tarragon_framework::{Error, ErrorKind};
    /// let e = Error::new(ErrorKind::Unsupported, "Gripper: suction cups are not supported");
    /// assert_eq!(e.kind(), ErrorKind::Unsupported);
    /// ```
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        let (place, location, cause, located, system) = Default::default();
        Self(Arc::new(Parts {
            kind,
            place,
            location,
            message,
            cause,
            located,
            system,
            origin_of_nan: None,
        }))
    }

    /// An error of kind [`InvalidArgument`](ErrorKind::InvalidArgument).
    #[cold]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    /// An error of kind [`InvalidState`](ErrorKind::InvalidState).
    #[cold]
    pub fn state(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidState, message)
    }

    /// An error of kind [`NotFound`](ErrorKind::NotFound).
    #[cold]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// An error of kind [`AlreadyExists`](ErrorKind::AlreadyExists).
    #[cold]
    pub fn exists(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::AlreadyExists, message)
    }

    /// An error of kind [`Unsupported`](ErrorKind::Unsupported).
    #[cold]
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// An error of kind [`ForeignHandle`](ErrorKind::ForeignHandle).
    #[cold]
    pub fn foreign(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ForeignHandle, message)
    }

    /// An error of kind [`NumericalFailure`](ErrorKind::NumericalFailure).
    #[cold]
    pub fn numerical(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NumericalFailure, message)
    }

    /// An error of kind [`Parse`](ErrorKind::Parse) at a place in a file.
    ///
    /// ```
    /// use tarragon_framework::{Error, FileLocation};
    /// let place = FileLocation { file: "ball.obj".into(), line: 4, column: 0 };
    /// let e = Error::parse(place, "a vertex must have three coordinates, got 2");
    /// assert_eq!(e.to_string(), "ball.obj:4: a vertex must have three coordinates, got 2");
    /// assert_eq!(e.location().map(|l| l.line), Some(4));
    /// ```
    #[cold]
    pub fn parse(location: FileLocation, message: impl Into<String>) -> Self {
        let mut error = Self::new(ErrorKind::Parse, message);
        error.parts().location = Some(location);
        error
    }

    /// An error of kind [`Io`](ErrorKind::Io) at a file or folder. If nothing is at a relative
    /// path, the error shows the working directory, too.
    ///
    /// ```
    /// use tarragon_framework::Error;
    /// let cause = std::io::Error::from(std::io::ErrorKind::NotFound);
    /// let e = Error::io("/models/arm.urdf", cause);
    /// assert_eq!(e.to_string(), "/models/arm.urdf: entity not found");
    /// ```
    #[cold]
    pub fn io(path: impl AsRef<Path>, cause: std::io::Error) -> Self {
        let path = path.as_ref();
        let mut place = path.display().to_string();
        if cause.kind() == std::io::ErrorKind::NotFound
            && path.is_relative()
            && let Ok(folder) = std::env::current_dir()
        {
            place += &format!(" in {}", folder.display());
        }
        Self::new(ErrorKind::Io, place).with_cause(cause)
    }

    /// Wraps an error or a message of a user's calc function or event handler, with kind
    /// [`Other`](ErrorKind::Other). The framework adds the path of the system.
    ///
    /// ```
    /// let e = tarragon_framework::Error::custom("the valve is stuck");
    /// assert_eq!(e.to_string(), "the valve is stuck");
    /// ```
    #[cold]
    pub fn custom(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        match cause.into().downcast::<Self>() {
            Ok(error) => *error,
            Err(cause) => {
                let mut error = Self::new(ErrorKind::Other, String::new());
                error.parts().cause = Some(cause.into());
                error
            }
        }
    }

    /// Adds the error of another library that led to this one.
    ///
    /// ```
    /// use tarragon_framework::Error;
    /// let cause = "x1".parse::<f64>().unwrap_err();
    /// let e = Error::invalid("'x1' must be a number").with_cause(cause);
    /// assert_eq!(e.to_string(), "'x1' must be a number: invalid float literal");
    /// assert!(e.cause().is_some_and(|c| c.is::<std::num::ParseFloatError>()));
    /// ```
    #[cold]
    #[must_use]
    pub fn with_cause(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.parts().cause = Some(cause.into().into());
        self
    }

    /// Puts the thing that the error happened to in front of the message.
    ///
    /// ```
    /// use tarragon_framework::Error;
    /// let e = Error::invalid("mass must be positive, got -1.0 kg");
    /// let e = e.at("body 'hand'").at("arm.urdf");
    /// assert_eq!(e.to_string(), "arm.urdf: body 'hand': mass must be positive, got -1.0 kg");
    /// ```
    #[cold]
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        let parts = self.parts();
        parts.place = if parts.place.is_empty() {
            place.to_string()
        } else {
            format!("{place}: {}", parts.place)
        };
        self
    }

    /// The category, for callers that react to it.
    ///
    /// ```
    /// use tarragon_framework::{Error, ErrorKind};
    /// let retry = |e: &Error| matches!(e.kind(), ErrorKind::Io | ErrorKind::Network);
    /// assert!(!retry(&Error::invalid("Gain: size must be positive, got 0")));
    /// ```
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The place in a file, of errors of readers and parsers.
    pub fn location(&self) -> Option<&FileLocation> {
        self.0.location.as_ref()
    }

    /// The error of another library or of a user that led to this one. `Display` includes it.
    pub fn cause(&self) -> Option<&(dyn StdError + 'static)> {
        self.0
            .cause
            .as_deref()
            .map(|cause| cause as &(dyn StdError + 'static))
    }

    /// Adds the failed system and the place, unless an inner call has already added them.
    #[cold]
    pub(crate) fn locate(mut self, system: Option<usize>, place: impl FnOnce() -> String) -> Self {
        if self.0.system.is_none() {
            self.parts().system = system;
        }
        if self.0.located {
            return self;
        }
        self.located().at(place())
    }

    /// Returns the system of the diagram that failed, if the framework knows it.
    pub(crate) fn system(&self) -> Option<usize> {
        self.0.system
    }

    /// Adds the origin of the first NaN that the failed system has read.
    pub(crate) fn with_origin(mut self, origin: String) -> Self {
        let parts = self.parts();
        parts.system = None;
        parts.origin_of_nan = Some(origin);
        self
    }

    /// Marks the message as one that names the system already.
    pub(crate) fn located(mut self) -> Self {
        self.parts().located = true;
        self
    }

    fn parts(&mut self) -> &mut Parts {
        Arc::make_mut(&mut self.0)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts {
            place,
            location,
            message,
            cause,
            ..
        } = &*self.0;
        let mut text = String::new();
        let mut add = |part: &str| {
            // Some libraries repeat their source in their own message.
            if !part.is_empty() && !text.ends_with(part) {
                text.push_str(if text.is_empty() { "" } else { ": " });
                text.push_str(part);
            }
        };
        add(place);
        if let Some(location) = location {
            add(&location.to_string());
        }
        add(message);
        let mut next: Option<&dyn StdError> = cause.as_deref().map(|cause| cause as _);
        while let Some(cause) = next {
            add(&cause.to_string());
            next = cause.source();
        }
        f.write_str(&text)?;
        match &self.0.origin_of_nan {
            Some(origin) => write!(f, "; the first NaN is in {origin}"),
            None => Ok(()),
        }
    }
}

/// Shows the message and the kind, because `main` and `unwrap` print errors by `Debug`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} [{:?}]", self.kind())
    }
}

impl StdError for Error {}

/// Errors of the framework about systems and ports, which name them themselves.
pub(crate) enum WiringError {
    Unconnected {
        port: String,
    },
    Connection {
        from: String,
        to: String,
        why: String,
    },
    FixedInput {
        port: String,
        why: String,
    },
    AlgebraicLoop {
        path: String,
    },
    NotConvertible {
        system: String,
        scalar: &'static str,
    },
    Frozen {
        entry: String,
    },
    ForeignHandle {
        what: String,
        owner: String,
        used_with: String,
    },
}

/// A message becomes an error of kind [`Other`](ErrorKind::Other), so that `?` works on
/// `option.ok_or("MESSAGE")` and on libraries whose errors are texts.
///
/// ```
/// use tarragon_framework::{ErrorKind, Result};
/// fn first(x: &[f64]) -> Result<f64> {
///     Ok(*x.first().ok_or("there must be a number")?)
/// }
/// let error = first(&[]).unwrap_err();
/// assert_eq!(error.to_string(), "there must be a number");
/// assert_eq!(error.kind(), ErrorKind::Other);
/// ```
impl From<&str> for Error {
    #[cold]
    fn from(message: &str) -> Self {
        Self::custom(message)
    }
}

/// Same as the conversion of `&str`, for messages that are made by `format!`.
impl From<String> for Error {
    #[cold]
    fn from(message: String) -> Self {
        Self::custom(message)
    }
}

/// An error of the operating system becomes one of kind [`Io`](ErrorKind::Io) with the same
/// message, so that `?` works on the functions of [`std::fs`] and [`std::io`]. [`Error::io`] adds
/// the path of the file.
///
/// ```
/// use tarragon_framework::{ErrorKind, Result};
/// fn read() -> Result<String> {
///     Ok(std::fs::read_to_string("/no/such/file")?)
/// }
/// let error = read().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Io);
/// assert!(error.cause().is_some_and(|cause| cause.is::<std::io::Error>()));
/// ```
impl From<std::io::Error> for Error {
    #[cold]
    fn from(cause: std::io::Error) -> Self {
        // A writer of this workspace may have wrapped the error of another part.
        match cause.downcast::<Self>() {
            Ok(error) => error,
            Err(cause) => Self::new(ErrorKind::Io, String::new()).with_cause(cause),
        }
    }
}

impl From<WiringError> for Error {
    #[cold]
    fn from(error: WiringError) -> Self {
        use WiringError as W;
        let (kind, message) = match error {
            W::Unconnected { port } => (
                ErrorKind::Unconnected,
                format!(
                    "input port '{port}' is not connected and has no fixed value; connect it or \
                     call `Context::fix`"
                ),
            ),
            W::Connection { from, to, why } => (
                ErrorKind::InvalidArgument,
                format!("cannot connect '{from}' to '{to}': {why}"),
            ),
            W::FixedInput { port, why } => (
                ErrorKind::InvalidArgument,
                format!("input port '{port}': {why}"),
            ),
            W::AlgebraicLoop { path } => (
                ErrorKind::AlgebraicLoop,
                format!(
                    "algebraic loop: {path}; break it with a system whose output does not depend \
                     on its input, such as a ZeroOrderHold"
                ),
            ),
            W::NotConvertible { system, scalar } => (
                ErrorKind::Unsupported,
                format!(
                    "system '{system}' does not support scalar {scalar}; it was added with \
                     `add_f64`"
                ),
            ),
            W::Frozen { entry } => (
                ErrorKind::InvalidState,
                format!("'{entry}' is out of date and the cache is frozen"),
            ),
            W::ForeignHandle {
                what,
                owner,
                used_with,
            } => (
                ErrorKind::ForeignHandle,
                format!(
                    "{what} belongs to {owner} but was used with {used_with}; use the ports of \
                     the diagram that the context was made from"
                ),
            ),
        };
        Self::new(kind, message).located()
    }
}
