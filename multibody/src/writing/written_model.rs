//! The result of writing a model.

use crate::diagnostic::Diagnostic;

/// A model file as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenModel {
    /// Content of the file.
    pub text: String,
    /// Warnings about what the format cannot say: what is left out, renamed or replaced. Read back,
    /// the text gives the same plant but for these.
    pub diagnostics: Vec<Diagnostic>,
}
