//! Mistakes in a YAML text, in the words of YAML.

use super::YamlError;
use super::tree::{Failure, FailureKind, Node, NodeKind, Tree};
use crate::names::{FormatName, meant};
use granit_parser::ScalarStyle;
use serde::de::{Error, Expected, Unexpected};
use std::fmt::{Display, Formatter};

/// Longest piece of a text that a message shows (characters).
const LONGEST: usize = 60;

/// A mistake in the node of a text, which is known once the reader of the node has seen the
/// mistake.
#[derive(Debug)]
pub(super) struct Mistake(Box<(MistakeKind, Option<usize>)>);

#[derive(Debug)]
pub(super) enum MistakeKind {
    /// A value that must be something else, and the cure.
    Value(String, &'static str),
    /// A number of a Rust type.
    Number(&'static str),
    /// A list with the wrong number of elements, and what it must be.
    Length(usize, String),
    UnknownKey(String, &'static [&'static str]),
    UnknownVariant(String, &'static [&'static str]),
    MissingKey(&'static str),
    /// A key that was given before, in this line.
    Repeated(u32),
    /// A message about the value.
    Within(String),
}

impl Mistake {
    pub(super) fn new(kind: MistakeKind) -> Self {
        Self(Box::new((kind, None)))
    }
    /// Gives the mistake its node, unless it has one.
    pub(super) fn at(mut self, node: usize) -> Self {
        self.0.1.get_or_insert(node);
        self
    }
    pub(super) fn explain(self, tree: &Tree) -> YamlError {
        let (kind, node) = *self.0;
        let node = node.map(|node| &tree.nodes[node]);
        let (line, column) = node.map_or((0, 0), |node| node.place);
        YamlError {
            line,
            column,
            message: message(kind, node),
        }
    }
}

impl Display for Mistake {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0.0)
    }
}

impl std::error::Error for Mistake {}

impl Error for Mistake {
    fn custom<T: Display>(message: T) -> Self {
        let message = message.to_string();
        Self::new(if message.starts_with("data did not match any variant") {
            let cure = "; see the description of the key";
            MistakeKind::Value("of a kind that this key takes".into(), cure)
        } else {
            MistakeKind::Within(message)
        })
    }
    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        Self::new(match NUMBERS.iter().find(|ty| **ty == expected) {
            Some(ty) => MistakeKind::Number(ty),
            None => MistakeKind::Value(kind_of_value(&expected), ""),
        })
    }
    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }
    fn invalid_length(len: usize, expected: &dyn Expected) -> Self {
        Self::new(MistakeKind::Length(
            len,
            kind_of_value(&expected.to_string()),
        ))
    }
    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Self {
        Self::new(MistakeKind::UnknownVariant(name.into(), known))
    }
    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        Self::new(MistakeKind::UnknownKey(name.into(), known))
    }
    fn missing_field(name: &'static str) -> Self {
        Self::new(MistakeKind::MissingKey(name))
    }
}

const NUMBERS: [&str; 13] = [
    "f32", "f64", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "isize",
];

fn message(kind: MistakeKind, node: Option<&Node>) -> String {
    let path = node.map_or("", |node| &node.path);
    let text = node.map_or("", |node| &node.text);
    let found = node.map_or_else(|| "nothing".to_owned(), found);
    let start = match path {
        "" => String::new(),
        path => format!("{path}: "),
    };
    match kind {
        MistakeKind::Value(condition, cure) => {
            format!("{start}must be {condition}, got {found}{cure}")
        }
        MistakeKind::Number(ty) => {
            let is_whole = !ty.starts_with('f');
            let condition = if is_whole {
                whole_number(ty)
            } else {
                "a number".into()
            };
            let cure = number_cure(text, is_whole);
            format!("{start}must be {condition}, got {found}{cure}")
        }
        MistakeKind::Length(len, expected) => {
            format!("{start}must be {expected}, got {len} elements")
        }
        MistakeKind::UnknownKey(name, known) => unknown("field", &name, parent(path), known),
        MistakeKind::UnknownVariant(name, known) => unknown("variant", &name, path, known),
        MistakeKind::MissingKey(name) => {
            format!(
                "missing field `{name}`{}; add the key '{name}'",
                place_in(path)
            )
        }
        MistakeKind::Repeated(line) => format!(
            "{path}: the key must be given once, got it again after line {line}; remove one of them"
        ),
        MistakeKind::Within(message) => format!("{start}{message}"),
    }
}

/// An unknown key, or an unknown name of a value, in the value at a path.
fn unknown(kind: &str, name: &str, path: &str, known: &[&str]) -> String {
    let expected = match known {
        [] => "; there must be none".to_owned(),
        [one] => format!(", expected `{one}`"),
        known => format!(", expected one of `{}`", known.join("`, `")),
    };
    let near = meant(name, known.iter().map(|known| FormatName::Attribute(known)));
    let cure = near.map_or(String::new(), |near| {
        format!("; did you mean `{}`?", near.text())
    });
    format!("unknown {kind} `{name}`{}{expected}{cure}", place_in(path))
}

impl Failure {
    /// A text that is not YAML, or asks for too much.
    pub(super) fn explain(&self, text: &str) -> YamlError {
        let (line, column) = self.place;
        let whole_line = text.lines().nth((line as usize).saturating_sub(1));
        let whole_line = whole_line.unwrap_or("");
        let before = (column as usize).saturating_sub(1);
        let start = whole_line.char_indices().nth(before);
        let rest = &whole_line[start.map_or(whole_line.len(), |c| c.0)..];
        let message = match &self.kind {
            FailureKind::Syntax(message) => syntax(message, whole_line, rest),
            FailureKind::UnknownAnchor => {
                let name = rest.split([' ', ',', ']', '}']).next().unwrap_or("");
                format!(
                    "the alias must name an anchor above it, got {}; write &NAME before the value \
                     that it repeats",
                    shown(name)
                )
            }
            FailureKind::Recursion => {
                "an alias must not stand for a list or map that it is in; write out the value"
                    .into()
            }
            FailureKind::Depth => {
                "lists and maps must be at most 200 deep in each other, got more".into()
            }
        };
        YamlError {
            line,
            column,
            message,
        }
    }
}

fn syntax(message: &str, line: &str, rest: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let cure = match message {
        _ if line[..indent].contains('\t') => "; indent with spaces, not with tabs",
        m if m.contains("mapping values are not allowed") => {
            "; put a text that contains ': ' in quotes, and give each key its own line"
        }
        m if m.contains("bracket") || m.contains("flow") || m.contains("',' or") => {
            "; close every bracket and brace, and put commas between elements"
        }
        m if m.contains("quote") => "; close the quotes",
        m if m.contains("unexpected character") => {
            "; put a text that begins with this character in quotes"
        }
        _ => "; check the indentation, the quotes and the brackets here and above",
    };
    let found = match rest.trim_end() {
        "" => "the end of the line".to_owned(),
        rest => shown(rest),
    };
    format!("the text must be YAML, got {found}: {message}{cure}")
}

fn place_in(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!(" in {path}"),
    }
}

/// Path of the map that has a key.
fn parent(path: &str) -> &str {
    let path = match path.strip_suffix('\'') {
        Some(quoted) => quoted.rfind('\'').map_or("", |at| &path[..at]),
        None => path.rfind('.').map_or("", |at| &path[..at]),
    };
    path.strip_suffix('.').unwrap_or(path)
}

/// Text of a node for a message.
fn found(node: &Node) -> String {
    match node.kind {
        NodeKind::List(_) => "a list".into(),
        NodeKind::Map(_) => "a map".into(),
        NodeKind::Alias(_) => "an alias".into(),
        NodeKind::Scalar(ScalarStyle::Plain) if node.text.is_empty() => "nothing".into(),
        NodeKind::Scalar(ScalarStyle::Plain) => shown(&node.text),
        NodeKind::Scalar(_) => format!("'{}'", shown(&node.text)),
    }
}

/// A piece of a text on one line.
fn shown(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(LONGEST)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}

/// Serde's name of a kind of value.
fn kind_of_value(expected: &str) -> String {
    match expected {
        "a sequence" => "a list".into(),
        "a map" => "a map of keys and values".into(),
        "a string" | "string" => "text".into(),
        "a boolean" => "true or false".into(),
        other if other.starts_with("struct ") => "a map of keys and values".into(),
        other if other.starts_with("enum ") || other.starts_with("variant ") => {
            "a name, or a map with one key".into()
        }
        other => {
            let length = ["an array of length ", "a tuple of size "];
            match length.iter().find_map(|prefix| other.strip_prefix(prefix)) {
                Some(length) => format!("a list of {length} elements"),
                None => other.into(),
            }
        }
    }
}

/// Numbers that a Rust type holds.
fn whole_number(ty: &str) -> String {
    let range = match ty {
        "u8" => " from 0 to 255",
        "u16" => " from 0 to 65535",
        "u32" => " from 0 to 4294967295",
        "u64" | "usize" | "u128" => " of at least 0",
        "i8" => " from -128 to 127",
        "i16" => " from -32768 to 32767",
        "i32" => " from -2147483648 to 2147483647",
        _ => "",
    };
    format!("a whole number{range}")
}

/// How to write what a text means as a number, if that can be guessed.
fn number_cure(found: &str, is_whole: bool) -> String {
    let found = found.trim();
    let (sign, unsigned) = match found.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", found.strip_prefix('+').unwrap_or(found)),
    };
    let lower = unsigned.trim_start_matches('.').to_lowercase();
    match lower.as_str() {
        "" | "null" | "~" => return "; write the number, or leave out the key".into(),
        "inf" | "infinity" | "nan" if is_whole => return "; write a finite number".into(),
        // Only the reader of the key knows whether it allows them.
        "inf" | "infinity" => return format!("; YAML writes {sign}infinity as {sign}.inf"),
        "nan" => return "; YAML writes NaN as .nan".into(),
        _ => {}
    }
    if found.contains('_') {
        let plain = found.replace('_', "");
        return format!("; write {plain}, because numbers in YAML have no underscores");
    }
    if let Ok(value) = found.parse::<f64>() {
        if is_whole && value.is_finite() && value.fract() == 0.0 && value.abs() < 1e15 {
            return match format!("{value:.0}") {
                plain if plain == found => "".into(),
                plain => format!("; write {plain}"),
            };
        }
        if !value.is_finite() {
            return "; its exponent is too large for a number of 64 bits".into();
        }
        return String::new();
    }
    let without = |with: &str| found.replace(',', with);
    match (is_whole, found.matches(',').count()) {
        (true, 1..) if without("").parse::<i128>().is_ok() => {
            return format!("; write {}, without commas", without(""));
        }
        (false, 1) if without(".").parse::<f64>().is_ok() => {
            return format!("; write {}, with a point", without("."));
        }
        _ => {}
    }
    if let Some(hex) = lower.strip_prefix("0x") {
        let value = u64::from_str_radix(hex, 16).ok();
        return value.map_or_else(String::new, |value| format!("; write {sign}{value}"));
    }
    let digits = found.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c)));
    match digits.map(|at| found.split_at(at)) {
        Some((number, _)) if number.parse::<f64>().is_ok() => {
            format!("; write {number} without what follows it, if that is its unit")
        }
        _ => "; write digits".into(),
    }
}
