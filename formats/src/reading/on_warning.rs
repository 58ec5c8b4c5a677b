//! Handling of warnings about models.

use tarragon_documents::{Diagnostic, Severity};
use tarragon_framework::warnings::warn;

/// Handling of warnings by a parser; see [`Parser::on_warning`](crate::parser::Parser::on_warning).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnWarning {
    /// Reports each warning once and keeps it (the default). The warning goes to the
    /// [collector](tarragon_framework::warnings::collect) of the thread, else to the `tracing`
    /// subscriber, else to standard error.
    #[default]
    Print,
    /// Keeps warnings in [`Parser::diagnostics`](crate::Parser::diagnostics) and prints nothing.
    Collect,
    /// Turns warnings into errors, so the model is not loaded.
    Fail,
    /// Neither prints nor keeps warnings.
    Ignore,
}

impl OnWarning {
    /// Handles the diagnostics of one load. The parser keeps the remaining ones.
    pub(crate) fn handle(self, diagnostics: &mut Vec<Diagnostic>) {
        match self {
            Self::Print => {
                let warnings = diagnostics.iter().filter(|d| !d.is_error());
                warnings.for_each(|warning| warn(warning.without_severity()));
            }
            Self::Collect => {}
            Self::Fail => diagnostics
                .iter_mut()
                .for_each(|d| d.severity = Severity::Error),
            Self::Ignore => diagnostics.retain(Diagnostic::is_error),
        }
    }
}
