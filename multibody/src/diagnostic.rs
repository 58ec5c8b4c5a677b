//! What a parser has to say about a file.

use std::fmt;

/// How bad it is.
///
/// ```
/// use tarragon_multibody::Severity;
/// assert!(Severity::Warning < Severity::Error);
/// assert_eq!(Severity::Warning.to_string(), "warning");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The model was loaded, something in it was left out or replaced.
    Warning,
    /// The model was not loaded.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A message with its place in a file. Displays as `file:line:column: severity: message`.
///
/// ```
/// use tarragon_multibody::{MultibodyPlant, Parser, Severity};
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let mut parser = Parser::new(&mut plant);
/// assert!(parser.add_models_from_string("<robot name='a'><link/></robot>", "urdf").is_err());
/// let first = &parser.diagnostics()[0];
/// assert_eq!((first.severity, first.line, first.column), (Severity::Error, 1, 17));
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file, or `<literal>` for models given as text.
    pub file: String,
    /// Line, from 1; 0 when the message is about the whole file.
    pub line: u32,
    /// Column in characters, from 1; 0 when the message is about the whole file.
    pub column: u32,
    /// What was found, what was expected, what to do.
    pub message: String,
}

impl Diagnostic {
    /// An error about a file as a whole.
    pub(crate) fn of_file(file: &str, message: impl fmt::Display) -> Self {
        Self {
            severity: Severity::Error,
            file: file.into(),
            line: 0,
            column: 0,
            message: message.to_string(),
        }
    }
    pub(crate) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            severity,
            file,
            line,
            column,
            message,
        } = self;
        if *line == 0 {
            write!(f, "{file}: {severity}: {message}")
        } else {
            write!(f, "{file}:{line}:{column}: {severity}: {message}")
        }
    }
}
