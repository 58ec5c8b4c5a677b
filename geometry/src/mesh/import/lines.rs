//! Words of a text file with their positions.

use crate::error::{Error, Result, parse_error};
use std::path::Path;

/// Position of a logical line of a text file, for messages.
#[derive(Clone, Copy)]
pub(super) struct LineOrigin<'a> {
    pub(super) path: &'a Path,
    pub(super) line: usize,
}

impl LineOrigin<'_> {
    pub(super) fn error(self, message: impl Into<String>) -> Error {
        parse_error(self.path, self.line, message)
    }
    /// Parses a finite number.
    pub(super) fn number(self, word: Option<&str>, what: &str) -> Result<f64> {
        finite_number(word, what).map_err(|why| self.error(why))
    }
    /// Parses three finite numbers.
    pub(super) fn numbers3<'w>(
        self,
        words: &mut impl Iterator<Item = &'w str>,
        what: &str,
    ) -> Result<[f64; 3]> {
        finite_numbers3(words, what).map_err(|why| self.error(why))
    }
}

/// Parses a finite number; the error is a message without a place.
fn finite_number(word: Option<&str>, what: &str) -> Result<f64, String> {
    let word = word.ok_or_else(|| format!("{what} is missing"))?;
    let value = word.parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| {
        let found = crate::error::short(word);
        format!("{what} must be a finite number, got '{found}'")
    })
}

/// Parses three finite numbers; the error is a message without a place.
pub(super) fn finite_numbers3<'w>(
    words: &mut impl Iterator<Item = &'w str>,
    what: &str,
) -> Result<[f64; 3], String> {
    let mut values = [0.0; 3];
    for (value, axis) in values.iter_mut().zip(["x", "y", "z"]) {
        *value = finite_number(words.next(), &format!("{axis} of {what}"))?;
    }
    Ok(values)
}

/// Returns true if no words follow a line, which counts from 1.
pub(super) fn is_last_line(bytes: &[u8], line: usize) -> bool {
    let text = String::from_utf8_lossy(without_byte_order_mark(bytes));
    lines(text.trim_end()).count() <= line
}

/// Removes the byte order mark with which some editors begin UTF-8.
pub(super) fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Splits text at LF, CR LF or CR.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.split('\n');
    lines.flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// Calls `each` with every line that has words, after removing comments and joining lines that end
/// in a backslash. Text after the first word keeps its spaces, because file names may contain them.
pub(super) fn for_each_line<'p, E>(
    path: &'p Path,
    bytes: &[u8],
    mut each: impl FnMut(LineOrigin<'p>, &str, &str) -> Result<(), E>,
) -> Result<(), E> {
    let text = String::from_utf8_lossy(without_byte_order_mark(bytes));
    let mut joined = String::new();
    // An extra empty line, in case the last line ends in a backslash.
    for (i, line) in lines(&text).chain([""]).enumerate() {
        let place = LineOrigin { path, line: i + 1 };
        let line = line.split('#').next().unwrap_or_default().trim_end();
        if let Some(start) = line.strip_suffix('\\') {
            joined.push_str(start);
            joined.push(' ');
            continue;
        }
        let whole = if joined.is_empty() {
            line
        } else {
            joined.push_str(line);
            joined.as_str()
        };
        let whole = whole.trim_start();
        if let Some(key) = whole.split_whitespace().next() {
            each(place, key, whole[key.len()..].trim())?;
        }
        joined.clear();
    }
    Ok(())
}
