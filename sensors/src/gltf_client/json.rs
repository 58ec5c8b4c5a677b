//! Pieces of JSON text.

use std::fmt;

/// Numbers as a JSON array, with the digits that are needed to read the same values again.
pub(super) struct Numbers<'a, T>(pub(super) &'a [T]);

impl<T: fmt::Debug> fmt::Display for Numbers<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, x) in self.0.iter().enumerate() {
            f.write_str(if i == 0 { "[" } else { "," })?;
            write!(f, "{x:?}")?;
        }
        f.write_str(if self.0.is_empty() { "[]" } else { "]" })
    }
}

/// Elements of a JSON array that is being written.
#[derive(Debug, Default)]
pub(super) struct Elements {
    /// The elements, separated by commas.
    pub(super) text: String,
    /// Number of elements.
    pub(super) count: usize,
}

impl Elements {
    /// Appends an element; returns its index.
    pub(super) fn push(&mut self, element: impl fmt::Display) -> usize {
        if self.count > 0 {
            self.text.push(',');
        }
        self.text += &element.to_string();
        self.count += 1;
        self.count - 1
    }
}
