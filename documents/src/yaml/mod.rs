//! YAML into values, with errors for the authors of files.
//!
//! Every reader of YAML goes through [`read_yaml`], so that all say the same about a mistake: its
//! line and column, the path of keys that leads to it, what was found, what it must be, and the
//! cure.

mod explain;
mod outline;

use explain::explain;
use outline::Outline;
use serde::de::DeserializeOwned;
use serde_saphyr::{Error, Options, options};

/// A mistake in a YAML text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// Line, from 1; 0 if it is unknown.
    pub line: u32,
    /// Column, from 1; 0 if it is unknown.
    pub column: u32,
    /// Path of the keys, what is wrong, and the cure.
    pub message: String,
}

impl std::fmt::Display for YamlError {
    /// Writes `LINE:COLUMN: MESSAGE`, without a place that is unknown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(f, "{line}: ")?,
            (line, column) => write!(f, "{line}:{column}: ")?,
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for YamlError {}

/// Reads one YAML document.
///
/// Numbers have no underscores: `1_000` is a number in YAML 1.1 only, and neither in YAML 1.2 nor
/// for Drake. As text, such as a name, it is accepted.
///
/// ```
/// use tarragon_documents::yaml::read_yaml;
/// use std::collections::BTreeMap;
/// let error = read_yaml::<BTreeMap<String, f64>>("near: 0.1\nfar: inf").unwrap_err();
/// assert_eq!((error.line, error.column), (2, 6));
/// assert!(error.to_string().starts_with("2:6: far: must be a number"));
/// assert_eq!(error.message, "far: must be a number, got inf; YAML writes infinity as .inf");
/// ```
///
/// # Errors
/// Returns an error if the text is not YAML, is not one document, repeats a key, or does not fit
/// the type.
pub fn read_yaml<V: DeserializeOwned>(text: &str) -> Result<V, YamlError> {
    if let Some(masked) = without_underscored_numbers(text)
        && let Err(error) = parse::<V>(&masked)
        && is_number_error(&error)
    {
        return Err(explain(text, &error));
    }
    parse(text).map_err(|error| explain(text, &error))
}

/// Returns line and column of the value at a path of keys, such as `cameras.left.fps`, for messages
/// about values that are checked after they are read.
pub fn place_of(text: &str, path: &str) -> Option<(u32, u32)> {
    let outline = Outline::of(text);
    // The key comes first, and its value next.
    let mut nodes = outline.nodes.iter().rev();
    nodes.find(|node| node.path == path).map(|node| node.place)
}

fn parse<V: DeserializeOwned>(text: &str) -> Result<V, Error> {
    let options: Options = options! {
        with_snippet: false,
        underscored_numbers_as_strings: true,
    };
    serde_saphyr::from_str_with_options(text, options)
}

fn is_number_error(error: &Error) -> bool {
    match error {
        Error::AliasError { error, .. } | Error::WithSnippet { error, .. } => {
            is_number_error(error)
        }
        error => matches!(error, Error::InvalidScalar { .. }),
    }
}

/// Returns the text with a letter in place of each underscore of a plain scalar that looks like a
/// number, or `None` if it has none. Whether such a scalar is a number or a text, only the type
/// knows that is read; as a text it still is one, and as a number it is refused.
fn without_underscored_numbers(text: &str) -> Option<String> {
    if !has_underscored_number(text.as_bytes()) {
        return None;
    }
    let mut masked = text.as_bytes().to_vec();
    let outline = Outline::of(text);
    for node in &outline.nodes {
        let is_number = node.is_plain()
            && node.text.contains('_')
            && node
                .text
                .starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
            && node
                .text
                .chars()
                .all(|c| c.is_ascii_hexdigit() || "_.+-xob".contains(c));
        let bytes = node.bytes.clone();
        if is_number && let Some(scalar) = masked.get_mut(bytes) {
            scalar
                .iter_mut()
                .filter(|b| **b == b'_')
                .for_each(|b| *b = b'x');
        }
    }
    let masked = String::from_utf8(masked).ok()?;
    (masked != text).then_some(masked)
}

/// Returns whether there may be such a scalar: characters of a number before an underscore, after
/// something that can come before a scalar.
fn has_underscored_number(bytes: &[u8]) -> bool {
    let underscores = bytes.iter().enumerate().filter(|(_, b)| **b == b'_');
    let mut ends = underscores.map(|(at, _)| at);
    ends.any(|end| {
        let number = |b: &&u8| b.is_ascii_hexdigit() || b"+-.xob".contains(b);
        let length = bytes[..end].iter().rev().take_while(number).count();
        let first = bytes[end - length];
        let before = bytes[..end - length].last();
        length > 0
            && (first.is_ascii_digit() || b"+-.".contains(&first))
            && before.is_none_or(|b| b.is_ascii_whitespace() || b"[{,:".contains(b))
    })
}

#[cfg(test)]
mod tests;
