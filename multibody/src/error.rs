//! Errors of model files.

use crate::diagnostic::Diagnostic;
use tarragon_framework::FileLocation;
pub use tarragon_framework::{Error, ErrorKind, Result};

/// The first error of a model file; `more` others are in the parser's diagnostics.
#[cold]
pub(crate) fn parse_error(first: Diagnostic, more: usize) -> Error {
    let Diagnostic {
        severity,
        file,
        line,
        column,
        message,
    } = first;
    let more = match more {
        0 => String::new(),
        1 => " (and 1 more error, see `Parser::diagnostics`)".into(),
        n => format!(" (and {n} more errors, see `Parser::diagnostics`)"),
    };
    Error::parse(
        FileLocation { file, line, column },
        format!("{severity}: {message}{more}"),
    )
}
