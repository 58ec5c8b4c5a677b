//! The schema of SDFormat: its elements and attributes, and the types of their values.

use super::element::{Element, Report, pose, reading, truth, words};
use super::ignored::has_no_effect;
use std::collections::HashMap;
use std::sync::OnceLock;
use tarragon_documents::ParsedNumbers;
use tarragon_documents::names::{self, FormatName};

/// Table of the schema, in a notation that is explained in its first lines.
const TABLE: &str = include_str!("schema.txt");

/// Type of the text of an element or an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ValueType {
    Text,
    Flag,
    Number { lower: f64, upper: f64 },
    Integer,
    Unsigned,
    Numbers(usize),
    Color,
    Pose,
}

/// One element of the format.
#[derive(Debug)]
pub(super) struct ElementRule {
    required: bool,
    deprecated: bool,
    kind: Option<ValueType>,
    attributes: Vec<(&'static str, bool, ValueType)>,
    /// Whether any content is allowed.
    open: bool,
    /// Rules of children by name.
    children: HashMap<&'static str, usize>,
}

/// Names in URDF and in old versions of the format, and those that they have now.
const ELSEWHERE: [(&str, &str); 4] = [
    ("filename", "uri"),
    ("frame", "relative_to"),
    ("origin", "pose"),
    ("use_parent_model_frame", "xyz"),
];

/// All elements of the format.
struct SdfSchema {
    rules: Vec<ElementRule>,
    /// Rules of elements that several others have as children.
    shared: HashMap<&'static str, usize>,
}

fn schema() -> &'static SdfSchema {
    static SCHEMA: OnceLock<SdfSchema> = OnceLock::new();
    SCHEMA.get_or_init(SdfSchema::read)
}

impl SdfSchema {
    fn read() -> Self {
        let mut schema = Self {
            rules: vec![],
            shared: HashMap::new(),
        };
        // Indices of the rules from the top level down to the last one read.
        let mut path: Vec<usize> = vec![];
        let mut references: Vec<(usize, &'static str)> = vec![];
        for line in TABLE.lines().filter(|l| !l.starts_with('#')) {
            let depth = line.len() - line.trim_start().len();
            let mut words = line.split_whitespace();
            let Some(head) = words.next() else { continue };
            let index = schema.rules.len();
            let (name, rule) = ElementRule::read(head);
            schema.rules.push(rule);
            path.truncate(depth);
            match path.last() {
                Some(parent) => schema.rules[*parent].children.insert(name, index),
                None => schema.shared.insert(name, index),
            };
            path.push(index);
            for word in words {
                if let Some(attribute) = word.strip_prefix('@') {
                    schema.rules[index]
                        .attributes
                        .push(read_attribute(attribute));
                } else if let Some(child) = word.strip_prefix('>') {
                    references.push((index, child));
                } else {
                    schema.rules[index].open = true;
                }
            }
        }
        for (parent, child) in references {
            if let Some(rule) = schema.shared.get(child) {
                schema.rules[parent].children.insert(child, *rule);
            }
        }
        schema
    }
}

impl ElementRule {
    /// Parses `name[!][-][:type]`.
    fn read(head: &'static str) -> (&'static str, Self) {
        let (name, kind) = match head.split_once(':') {
            Some((name, kind)) => (name, Some(ValueType::read(kind))),
            None => (head, None),
        };
        let deprecated = name.ends_with('-');
        let required = name.ends_with('!');
        let rule = Self {
            required,
            deprecated,
            kind,
            attributes: vec![],
            open: false,
            children: HashMap::new(),
        };
        (name.trim_end_matches(['!', '-']), rule)
    }
}

fn read_attribute(word: &'static str) -> (&'static str, bool, ValueType) {
    let (name, kind) = word.split_once(':').unwrap_or((word, "text"));
    let required = name.ends_with('!');
    (name.trim_end_matches('!'), required, ValueType::read(kind))
}

impl ValueType {
    fn read(word: &str) -> Self {
        let (word, range) = word.split_once('[').unwrap_or((word, ","));
        let (lower, upper) = range
            .trim_end_matches(']')
            .split_once(',')
            .unwrap_or_default();
        let number = || Self::Number {
            lower: lower.parse().unwrap_or(f64::NEG_INFINITY),
            upper: upper.parse().unwrap_or(f64::INFINITY),
        };
        match word {
            "bool" => Self::Flag,
            "num" => number(),
            "int" => Self::Integer,
            "uint" => Self::Unsigned,
            "time" | "vector2d" => Self::Numbers(2),
            "vector3" => Self::Numbers(3),
            "color" => Self::Color,
            "pose" => Self::Pose,
            _ => Self::Text,
        }
    }

    /// Parses the numbers of a text with the text after them; the error is a message.
    fn check(self, text: &str) -> Result<ParsedNumbers<'_>, String> {
        match self {
            Self::Text | Self::Pose => Ok(ParsedNumbers::default()),
            Self::Flag => truth(text)
                .map(|_| ParsedNumbers::default())
                .ok_or_else(|| format!("the value must be true or false, got '{text}'")),
            Self::Number { lower, upper } => {
                let reading = reading::<1>(text)?;
                match reading.numbers[0] {
                    x if x < lower || x > upper => Err(format!(
                        "the value must be between {lower:?} and {upper:?}, got {x:?}"
                    )),
                    _ => Ok(reading),
                }
            }
            // Bit masks are written in hexadecimal.
            Self::Integer | Self::Unsigned if is_hexadecimal(text) => Ok(ParsedNumbers::default()),
            // Published files also write counts as `640.0`.
            Self::Integer => reading::<1>(text),
            Self::Unsigned => {
                let reading = reading::<1>(text)?;
                match reading.numbers[0] {
                    x if x < 0.0 => Err(format!("the value must not be negative, got {x:?}")),
                    _ => Ok(reading),
                }
            }
            Self::Numbers(2) => reading::<2>(text),
            Self::Numbers(_) => reading::<3>(text),
            Self::Color => color(text).map(|(_, reading)| reading),
        }
    }
}

fn is_hexadecimal(text: &str) -> bool {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    digits.is_some_and(|d| !d.is_empty() && d.chars().all(|c| c.is_ascii_hexdigit()))
}

/// Parses red, green, blue and opacity, each between 0 and 1, with the text after them; the opacity
/// is 1 if it is absent.
pub(super) fn color(text: &str) -> Result<([f64; 4], ParsedNumbers<'_>), String> {
    let reading = words(text)?;
    let rgba = match *reading.numbers.as_slice() {
        [r, g, b] => [r, g, b, 1.0],
        [r, g, b, a] => [r, g, b, a],
        _ => {
            let found = reading.numbers.len();
            return Err(format!(
                "a colour must have 3 or 4 numbers, got {found} in '{text}'"
            ));
        }
    };
    if rgba.iter().all(|x| (0.0..=1.0).contains(x)) {
        Ok((rgba, reading))
    } else {
        Err(format!(
            "the numbers of a colour must be from 0 to 1, got '{text}'"
        ))
    }
}

/// Returns the rule of the root of a document.
pub(super) fn root_rule(root: &Element) -> Option<&'static ElementRule> {
    let schema = schema();
    let rule = schema.shared.get(root.tag.as_str())?;
    Some(&schema.rules[*rule])
}

impl ElementRule {
    pub(super) fn child(&self, name: &str) -> Option<&'static ElementRule> {
        let index = self.children.get(name)?;
        Some(&schema().rules[*index])
    }
    pub(super) fn has_attribute(&self, name: &str) -> bool {
        self.attributes.iter().any(|(known, ..)| *known == name)
    }
    /// Returns true if elements have a text with a meaning.
    pub(super) fn has_text(&self) -> bool {
        self.kind.is_some()
    }
    /// Returns the name that an unknown child or attribute probably stands for.
    fn meant_by(&self, written: FormatName<'_>) -> Option<FormatName<'static>> {
        let name = written.text();
        let children = self.children.keys();
        let children = children.map(|known| FormatName::Element(known));
        let attributes = self.attributes.iter();
        let attributes = attributes.map(|(known, ..)| FormatName::Attribute(known));
        let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == name);
        let known = children.clone().chain(attributes.clone());
        let own = elsewhere.and_then(|(_, own)| names::exact(own, known));
        own.or_else(|| match written {
            FormatName::Element(_) => names::meant_among(name, children, attributes),
            FormatName::Attribute(_) => names::meant_among(name, attributes, children),
        })
    }
}

/// Reports everything in a document that is not SDFormat 1.12.
pub(super) fn check(root: &Element, report: &Report) {
    if let Some(rule) = root_rule(root) {
        SchemaCheck { report, acts: true }.element(root, rule);
    }
}

/// Check of an element and its descendants, whose depth was limited when the document was read.
#[derive(Clone, Copy)]
struct SchemaCheck<'r> {
    report: &'r Report,
    /// Whether the model depends on the element.
    acts: bool,
}

impl SchemaCheck<'_> {
    /// Reports a mistake: an error if the model would be wrong.
    fn mistake(self, element: &Element, message: String) {
        if self.acts {
            self.report.error(element, message);
        } else {
            self.report
                .warning_grouped(element, format!("{message}; it is ignored"))
        }
    }

    /// Reports something that SDFormat does not have. Files of other programs have much of that,
    /// but a name that differs by a few letters is a mistake.
    fn unknown(self, element: &Element, what: &str, meant: Option<&str>) {
        let why = format!("{what} is not in SDFormat");
        match meant {
            Some(meant) if self.acts => {
                let message = format!("{why}; did you mean {meant}?");
                self.report.error(element, message);
            }
            Some(meant) => {
                let message = format!("{why} and is ignored; did you mean {meant}?");
                self.report.warning_grouped(element, message);
            }
            None => self
                .report
                .warning_grouped(element, format!("{why} and is ignored")),
        }
    }

    fn element(mut self, element: &Element, rule: &ElementRule) {
        let report = self.report;
        let tag = &element.tag;
        self.acts &= !has_no_effect(tag);
        if rule.deprecated {
            report.warning(element, format!("<{tag}> is deprecated in SDFormat"));
        }
        for (name, value) in &element.attributes {
            // Prefixed attributes are foreign to SDFormat.
            if name.contains(':') || rule.open {
                continue;
            }
            let Some((_, required, kind)) = rule.attributes.iter().find(|(n, ..)| n == name) else {
                let what = format!("attribute '{name}' of <{tag}>");
                let is_text = rule.kind.is_some() && element.text.is_empty();
                let meant = rule.meant_by(FormatName::Attribute(name));
                let meant = meant.map(|meant| meant.to_string());
                let meant = meant.or(is_text.then(|| "text in the element".into()));
                self.unknown(element, &what, meant.as_deref());
                continue;
            };
            let value = value.trim();
            if value.is_empty() {
                if *required {
                    let message = format!("attribute '{name}' of <{tag}> must not be empty");
                    self.mistake(element, message);
                }
            } else {
                let what = format!("attribute '{name}' of <{tag}>");
                match kind.check(value) {
                    Ok(reading) => report.warn_of_rest(element, &reading, &what),
                    Err(why) => self.mistake(element, format!("{what}: {why}")),
                }
            }
        }
        for (name, required, _) in &rule.attributes {
            if *required && element.attribute(name).is_none() {
                self.mistake(element, format!("<{tag}> has no attribute '{name}'"));
            }
        }
        if let Some(kind) = rule.kind {
            let checked = match kind {
                ValueType::Pose => pose(element).map(|(_, reading)| reading),
                _ if element.text.is_empty() && rule.required => {
                    Err("the text must not be empty".into())
                }
                _ if element.text.is_empty() => Ok(ParsedNumbers::default()),
                _ => kind.check(&element.text),
            };
            let what = format!("<{tag}>");
            match checked {
                Ok(reading) => report.warn_of_rest(element, &reading, &what),
                Err(why) => self.mistake(element, format!("{what}: {why}")),
            }
        }
        if rule.open {
            return;
        }
        for child in &element.children {
            match rule.child(&child.tag) {
                Some(rule) => self.element(child, rule),
                // Prefixed elements are foreign to SDFormat.
                None if child.tag.contains(':') => {}
                None => {
                    let what = format!("<{}> in <{tag}>", child.tag);
                    let meant = rule.meant_by(FormatName::Element(&child.tag));
                    let meant = meant.map(|meant| meant.to_string());
                    self.unknown(child, &what, meant.as_deref());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_complete() {
        let schema = schema();
        for line in TABLE.lines().filter(|l| !l.starts_with('#')) {
            for word in line.split_whitespace().filter_map(|w| w.strip_prefix('>')) {
                assert!(schema.shared.contains_key(word), "{word}");
            }
        }
        let model = &schema.rules[schema.shared["model"]];
        assert_eq!(model.attributes[0].0, "name");
        assert_eq!(model.children["model"], schema.shared["model"]);
        let noise = &schema.rules[schema.shared["noise"]];
        let stddev = schema.rules[noise.children["stddev"]].kind;
        let upper = f64::INFINITY;
        assert_eq!(stddev, Some(ValueType::Number { lower: 0.0, upper }));
    }

    #[test]
    fn texts_are_checked_by_type() {
        assert!(ValueType::read("num[0,1]").check("1.5").is_err());
        assert!(ValueType::read("num").check("1.5 x").is_ok());
        assert!(ValueType::read("num").check("abc").is_err());
        assert!(ValueType::read("bool").check("TRUE").is_ok());
        assert!(ValueType::read("bool").check("yes").is_err());
        assert!(ValueType::read("uint").check("-1").is_err());
        assert!(ValueType::read("uint").check("0xAB").is_ok());
        assert!(ValueType::read("uint").check("x0").is_err());
        assert!(ValueType::read("vector3").check("1 2").is_err());
        assert_eq!(color("1 0 0").unwrap().0, [1.0, 0.0, 0.0, 1.0]);
        assert!(color("1 0").is_err() && color("2 0 0 1").is_err());
    }
}
