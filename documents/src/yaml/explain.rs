//! Messages about mistakes in a YAML text, in the words of YAML.

use super::YamlError;
use super::outline::{Node, Outline, YamlKind};
use crate::names::{FormatName, meant};
use granit_parser::ScalarStyle;
use serde_saphyr::{Error, MessageFormatter, UserMessageFormatter};

/// Longest piece of a text that a message shows (characters).
const LONGEST: usize = 60;

/// Translates an error of the parser.
pub(super) fn explain(text: &str, error: &Error) -> YamlError {
    // An error behind an alias is in the anchor's node, which is where it must be mended.
    let error = original(error);
    let at = error.location();
    let place = at.map_or((0, 0), |at| (at.line() as u32, at.column() as u32));
    let outline = Outline::of(text);
    let mistake = Mistake {
        text,
        outline: &outline,
        place,
    };
    YamlError {
        line: place.0,
        column: place.1,
        message: mistake.message(error),
    }
}

fn original(error: &Error) -> &Error {
    match error {
        Error::AliasError { error, .. } | Error::WithSnippet { error, .. } => original(error),
        error => error,
    }
}

/// A mistake with the text around it.
struct Mistake<'a> {
    text: &'a str,
    outline: &'a Outline,
    place: (u32, u32),
}

impl Mistake<'_> {
    fn message(&self, error: &Error) -> String {
        match error {
            Error::InvalidScalar { ty, .. } => self.scalar(ty),
            Error::InvalidBooleanStrict { .. } => self.scalar("boolean"),
            Error::NullIntoString { .. } | Error::InvalidCharNull { .. } => self.value(
                "text",
                "; write a text (in quotes if it is the word null), or leave out the key",
            ),
            Error::Unexpected { expected, .. } => self.value(kind_of_node(expected), ""),
            Error::UnexpectedValueForUnit { .. }
            | Error::UnexpectedValueForUnitEnumVariant { .. } => self.value("without a value", ""),
            Error::ExternallyTaggedEnumExpectedScalarOrMapping { .. } => {
                self.value("a name, or a map with one key", "")
            }
            Error::TaggedScalarCannotDeserializeIntoString { .. } => {
                self.value("text without a tag", "")
            }
            Error::SerdeInvalidType { expected, .. }
            | Error::SerdeInvalidValue { expected, .. } => match &**expected {
                "f32" | "f64" => self.scalar("floating point"),
                ty if is_integer(ty) => self.scalar(ty),
                other => self.value(&kind_of_value(other), ""),
            },
            Error::SerdeInvalidLength { len, expected, .. } => self.within(format!(
                "must be {}, got {len} elements",
                kind_of_value(expected)
            )),
            Error::SerdeUnknownField {
                field, expected, ..
            } => self.unknown("field", field, expected),
            Error::SerdeUnknownVariant {
                variant, expected, ..
            } => self.unknown("variant", variant, expected),
            Error::SerdeMissingField { field, .. } => {
                let map = self.node(|node| node.kind == YamlKind::Map);
                let path = map.map_or("", |node| &node.path);
                let place = place_in(path);
                format!("missing field `{field}`{place}; add the key '{field}'")
            }
            Error::DuplicateMappingKey { .. } => self.repeated_key(),
            Error::MultipleDocuments { .. } => {
                "the text must be one YAML document, got a second one; remove \
                 it and the line '---' before it, or put it into a file"
                    .into()
            }
            Error::Eof { .. } => {
                "the text must be a YAML document, got nothing; add the keys".into()
            }
            Error::ExternalMessage { msg, .. } => self.syntax(msg),
            Error::UnknownAnchor { .. } => {
                let alias = self.rest_of_line();
                let name = alias.split([' ', ',', ']', '}']).next().unwrap_or("");
                format!(
                    "the alias must name an anchor above it, got {}; write &NAME before the value that it \
                     repeats",
                    shown(name)
                )
            }
            Error::TaggedEnumMismatch { tagged, .. } => {
                self.within(format!("the tag is not known here, got !{tagged}"))
            }
            Error::Message { msg, .. } if msg.starts_with("data did not match any variant") => self
                .value(
                    "of a kind that this key takes",
                    "; see the description of the key",
                ),
            Error::Message { msg, .. } => self.within(msg.clone()),
            error => self.within(UserMessageFormatter.format_message(error).into_owned()),
        }
    }

    /// A number or a boolean that cannot be read as the Rust type `ty`.
    fn scalar(&self, ty: &str) -> String {
        let (condition, is_whole) = match ty {
            "floating point" => ("a number".to_owned(), false),
            "boolean" => ("true or false".to_owned(), false),
            ty => (whole_number(ty), true),
        };
        let found = self.node(|node| matches!(node.kind, YamlKind::Scalar(_) | YamlKind::Key));
        let found = found.map_or("", |node| &node.text);
        let cure = match ty {
            "boolean" => String::new(),
            _ => number_cure(found, is_whole),
        };
        self.value(&condition, &cure)
    }

    /// A value that does not fit, with its text.
    fn value(&self, condition: &str, cure: &str) -> String {
        let node = self.node(|_| true);
        let found = node.map_or_else(|| "nothing".to_owned(), found);
        let path = node.map_or("", |node| &node.path);
        format!("{}must be {condition}, got {found}{cure}", start(path))
    }

    /// A message of a type about its value.
    fn within(&self, message: String) -> String {
        let path = self.node(|_| true).map_or("", |node| &node.path);
        format!("{}{message}", start(path))
    }

    /// An unknown key, or an unknown name of a value.
    fn unknown(&self, kind: &str, name: &str, known: &[&str]) -> String {
        let node = self.node(|node| match node.kind {
            YamlKind::Key | YamlKind::Scalar(_) => node.text == name,
            _ => false,
        });
        let path = node.map_or("", |node| match node.kind {
            YamlKind::Key => parent(&node.path),
            _ => &node.path,
        });
        let place = place_in(path);
        let expected = match known {
            [] => "; there must be none".to_owned(),
            [one] => format!(", expected `{one}`"),
            known => format!(", expected one of `{}`", known.join("`, `")),
        };
        let near = meant(name, known.iter().map(|known| FormatName::Attribute(known)));
        let cure = near.map_or(String::new(), |near| {
            format!("; did you mean `{}`?", near.text())
        });
        format!("unknown {kind} `{name}`{place}{expected}{cure}")
    }

    fn repeated_key(&self) -> String {
        let is_key = |node: &&Node| node.kind == YamlKind::Key;
        let again = self.node(|node| node.kind == YamlKind::Key);
        let path = again.map_or("", |node| &node.path);
        let mut keys = self.outline.nodes.iter().filter(is_key);
        let first = keys
            .find(|node| node.path == path)
            .map_or(0, |node| node.place.0);
        format!(
            "{path}: the key must be given once, got it again after line {first}; remove one of them"
        )
    }

    /// A text that is not YAML.
    fn syntax(&self, message: &str) -> String {
        let line = self.line();
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
        let found = match self.rest_of_line().trim_end() {
            "" => "the end of the line".to_owned(),
            rest => shown(rest),
        };
        format!("the text must be YAML, got {found}: {message}{cure}")
    }

    fn node(&self, suits: impl Fn(&Node) -> bool) -> Option<&Node> {
        self.outline.find(self.place, suits)
    }
    fn line(&self) -> &str {
        let line = (self.place.0 as usize).saturating_sub(1);
        self.text.lines().nth(line).unwrap_or("")
    }
    fn rest_of_line(&self) -> &str {
        let line = self.line();
        let column = (self.place.1 as usize).saturating_sub(1);
        let start = line.char_indices().nth(column).map_or(line.len(), |c| c.0);
        &line[start..]
    }
}

/// Start of a message about the value at a path.
fn start(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!("{path}: "),
    }
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
        YamlKind::List => "a list".into(),
        YamlKind::Map => "a map".into(),
        YamlKind::Alias => "an alias".into(),
        YamlKind::Scalar(ScalarStyle::Plain) if node.text.is_empty() => "nothing".into(),
        YamlKind::Scalar(ScalarStyle::Plain) | YamlKind::Key => shown(&node.text),
        YamlKind::Scalar(_) => format!("'{}'", shown(&node.text)),
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

/// The parser's name of a kind of node.
fn kind_of_node(expected: &str) -> &str {
    match expected {
        "scalar" | "string scalar" => "a single value",
        "sequence start" => "a list",
        "mapping start" => "a map of keys and values",
        "empty mapping start" | "empty mapping end" => "an empty map",
        "mapping end" => "a map with one key",
        other => other,
    }
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

fn is_integer(ty: &str) -> bool {
    ["8", "16", "32", "64", "128", "size"].contains(&ty.trim_start_matches(['u', 'i']))
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
