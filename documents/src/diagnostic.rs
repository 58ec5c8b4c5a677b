//! Diagnostics: warnings and errors of the parsers, with their places in the files.

use crate::names::FormatName;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use tarragon_framework::{Error, FileLocation};

/// Severity of a diagnostic.
///
/// ```
/// use tarragon_documents::Severity;
/// assert!(Severity::Warning < Severity::Error);
/// assert_eq!(Severity::Warning.to_string(), "warning");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The model was loaded, but something in it was left out or replaced.
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
/// use tarragon_documents::{Diagnostic, Severity};
/// let error = Diagnostic::of_file("arm.urdf", "arm.urdf:1:17: <link> must have a name");
/// assert_eq!((error.severity, error.line, error.column), (Severity::Error, 1, 17));
/// assert_eq!(error.to_string(), "arm.urdf:1:17: error: <link> must have a name");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Severity of the message.
    pub severity: Severity,
    /// Name of the file, or `<literal>.FORMAT` for a model given as text.
    pub file: String,
    /// Line, counted from 1; 0 if the message concerns the whole file.
    pub line: u32,
    /// Column in characters, counted from 1; 0 if the message concerns the whole file.
    pub column: u32,
    /// Text of the message: the problem, the offending value and, where known, the cure.
    pub message: String,
}

impl Diagnostic {
    /// Creates an error about a file. If the message begins with a place in this file (`file:line:`
    /// or `file:line:column:`), the error is about that place.
    pub fn of_file(file: &str, message: impl fmt::Display) -> Self {
        let message = message.to_string();
        let located = message.strip_prefix(file);
        let ((line, column), message) = match located.and_then(|rest| rest.split_once(": ")) {
            Some(("", rest)) => ((0, 0), rest),
            Some((place, rest)) => match line_and_column(place) {
                Some(place) => (place, rest),
                None => ((0, 0), &*message),
            },
            None => ((0, 0), &*message),
        };
        Self {
            severity: Severity::Error,
            file: file.into(),
            line,
            column,
            message: message.into(),
        }
    }

    /// Turns the message into an error with its place.
    #[cold]
    pub fn into_error(self) -> Error {
        let Self {
            severity,
            file,
            line,
            column,
            message,
        } = self;
        let place = FileLocation { file, line, column };
        Error::parse(place, format!("{severity}: {message}"))
    }

    /// Returns `file:line:column`, without the parts that are unknown.
    fn place(&self) -> String {
        let Self {
            file, line, column, ..
        } = self;
        match (line, column) {
            (0, _) => file.clone(),
            (_, 0) => format!("{file}:{line}"),
            _ => format!("{file}:{line}:{column}"),
        }
    }

    /// Returns the place and the message.
    pub fn without_severity(&self) -> String {
        format!("{}: {}", self.place(), self.message)
    }

    /// Returns true for an error, false for a warning.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, severity, message) = (self.place(), self.severity, &self.message);
        write!(f, "{place}: {severity}: {message}")
    }
}

/// Parses `:line` or `:line:column`.
fn line_and_column(place: &str) -> Option<(u32, u32)> {
    let mut numbers = place.strip_prefix(':')?.split(':').map(str::parse);
    let line = numbers.next()?.ok()?;
    let column = numbers.next().map_or(Some(0), Result::ok)?;
    numbers.next().is_none().then_some((line, column))
}

/// Warnings that may be repeated: the first one of a file with a text is reported, and the others
/// are counted in it.
#[derive(Debug, Default)]
pub struct WarningGroups {
    groups: BTreeMap<(String, String), WarningGroup>,
    /// Names that misspelt elements would have defined, each with the index of the warning about
    /// its element.
    undefined: BTreeMap<String, usize>,
    /// Correct names that are missing because of misspellings, by the place (file, line, column) of
    /// each enclosing element.
    missing: BTreeMap<(String, u32, u32), Vec<MissingName>>,
    /// Number of names in `missing`.
    num_missing: usize,
}

/// A misspelt name of an element or an attribute.
#[derive(Debug)]
pub struct Misspelling<'n> {
    /// The name in the file.
    pub written: FormatName<'n>,
    /// The name that is probably meant.
    pub meant: FormatName<'n>,
    /// Lines and columns of the enclosing elements, innermost first.
    pub around: Vec<(u32, u32)>,
    /// Names that the element and its descendants would have defined.
    pub names: Vec<&'n str>,
}

/// The correct name for a misspelt one.
#[derive(Debug)]
struct MissingName {
    name: String,
    /// Text for errors about it.
    cause: String,
}

/// Maximum number of entries in [`WarningGroups::missing`]. A misspelling adds one entry per
/// enclosing element.
const MAX_MISSING: usize = 1000;

/// Warnings of one file with the same text.
#[derive(Debug)]
struct WarningGroup {
    /// Index of the first one in the list of diagnostics.
    first: usize,
    places: BTreeSet<(u32, u32)>,
}

impl WarningGroups {
    /// Adds a warning about a misspelt name as [`Self::add`] does. [`Self::finish`] names the
    /// misspelling in the errors that it causes.
    pub fn add_misspelling(
        &mut self,
        warning: Diagnostic,
        misspelling: &Misspelling<'_>,
        list: &mut Vec<Diagnostic>,
    ) {
        let Misspelling { written, meant, .. } = misspelling;
        let (file, line) = (warning.file.clone(), warning.line);
        for &(row, column) in &misspelling.around {
            if self.num_missing < MAX_MISSING {
                let missing = MissingName {
                    name: meant.text().into(),
                    cause: format!(
                        " ({written} in line {line} is probably a misspelling of {meant})"
                    ),
                };
                let place = (file.clone(), row, column);
                self.missing.entry(place).or_default().push(missing);
                self.num_missing += 1;
            }
        }
        let first = self.add(warning, list);
        for name in &misspelling.names {
            self.undefined.entry((*name).into()).or_insert(first);
        }
    }

    /// Adds a warning to the list if it is the first with its text, else to the count. Returns the
    /// index of the first one.
    pub fn add(&mut self, warning: Diagnostic, list: &mut Vec<Diagnostic>) -> usize {
        let place = (warning.line, warning.column);
        let key = (warning.file.clone(), warning.message.clone());
        let group = self.groups.entry(key).or_insert_with(|| {
            list.push(warning);
            WarningGroup {
                first: list.len() - 1,
                places: BTreeSet::new(),
            }
        });
        group.places.insert(place);
        group.first
    }

    /// Appends the counts to the warnings of the list, and empties the groups. An error at an
    /// element that encloses a misspelling mentions it if the message contains the correct name. If
    /// an error quotes a name that a misspelt element would have defined, the warning about the
    /// misspelling becomes an error and moves to the front.
    pub fn finish(&mut self, list: &mut [Diagnostic]) {
        for group in std::mem::take(&mut self.groups).into_values() {
            let others = group.places.len() - 1;
            if others > 0 {
                let places = if others == 1 { "place" } else { "places" };
                let more = format!(" (and at {others} more {places} of this file)");
                list[group.first].message.push_str(&more);
            }
        }
        let missing = std::mem::take(&mut self.missing);
        self.num_missing = 0;
        for error in list
            .iter_mut()
            .filter(|d| d.is_error() && !missing.is_empty())
        {
            let place = (error.file.clone(), error.line, error.column);
            let lacking = missing.get(&place).into_iter().flatten();
            if let Some(found) = { lacking }.find(|m| has_word(&error.message, &m.name)) {
                error.message.push_str(&found.cause);
            }
        }
        let undefined = std::mem::take(&mut self.undefined);
        if undefined.is_empty() {
            return;
        }
        let errors = list.iter().filter(|d| d.is_error());
        let quoted = errors.flat_map(|error| error.message.split('\'').skip(1).step_by(2));
        let culprits: BTreeSet<usize> = quoted
            .filter_map(|name| undefined.get(name).copied())
            .collect();
        for (place, index) in culprits.into_iter().enumerate() {
            list[index].severity = Severity::Error;
            list[place..=index].rotate_right(1);
        }
    }
}

/// Returns true if a text contains a name as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    text.match_indices(name).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + name.len()..]);
        !before.ends_with(in_word) && !after.starts_with(in_word)
    })
}
