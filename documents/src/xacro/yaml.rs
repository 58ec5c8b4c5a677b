//! YAML files as values of expressions, with numbers that have units.

use super::yaml_scalar;
use crate::expression::{
    Host, PyEntries, PyError, PyErrorKind, PyResult, PyValue, evaluate, parse_float,
};
use granit_parser::{Event, Parser, ScalarStyle, Tag};
use std::collections::HashMap;

/// Units of numbers, and their size in the base unit.
const UNITS: [(&str, f64); 6] = [
    ("radians", 1.0),
    ("degrees", std::f64::consts::PI / 180.0),
    ("meters", 1.0),
    ("millimeters", 0.001),
    ("foot", 0.3048),
    ("inches", 0.0254),
];
/// Maximum depth of nested lists and dictionaries.
const MAX_DEPTH: usize = 100;
/// Maximum number of values; those behind an alias or a merge count each time that they are used.
const MAX_VALUES: usize = 100_000;

/// A list or a dictionary that is being read.
struct OpenCollection {
    content: OpenContent,
    anchor: usize,
    /// Number of values in it so far, those further down and behind aliases included.
    size: usize,
}

enum OpenContent {
    List(Vec<PyValue>),
    Dict {
        entries: PyEntries,
        /// Entries of dictionaries under `<<`, which those of the dictionary itself replace.
        merged: PyEntries,
        key: OpenKey,
    },
}

/// Role of the next value of a dictionary.
enum OpenKey {
    /// A key.
    Missing,
    /// The value of this key.
    Known(PyValue),
    /// The value of the key `<<`.
    Merge,
}

/// Reads a text.
pub(super) fn load(text: &str, host: &mut dyn Host) -> PyResult {
    let mut loader = YamlLoader {
        open: vec![],
        anchors: HashMap::new(),
        done: None,
        count: 0,
        host,
    };
    let mut line = 1;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let at = error.marker();
            PyError::new(format!("{}:{}: {}", at.line(), at.col() + 1, error.info()))
        })?;
        line = line.max(span.start.line());
        loader
            .event(event)
            .map_err(|e| within(e, &format!("{line}: ")))?;
    }
    Ok(loader.done.unwrap_or(PyValue::None))
}

/// Tells where an error is. One of the host loses its place, which is that of the expression that
/// loads the file.
fn within(error: PyError, place: &str) -> PyError {
    PyError {
        at: None,
        kind: match error.kind {
            PyErrorKind::Host => PyErrorKind::Python,
            kind => kind,
        },
        message: format!("{place}{}", error.message),
    }
}

struct YamlLoader<'h> {
    open: Vec<OpenCollection>,
    /// Values with anchors, and their sizes.
    anchors: HashMap<usize, (PyValue, usize)>,
    done: Option<PyValue>,
    count: usize,
    host: &'h mut dyn Host,
}

impl YamlLoader<'_> {
    fn event(&mut self, event: Event<'_>) -> PyResult<()> {
        match event {
            Event::DocumentStart(..) if self.done.is_some() => {
                Err(PyError::new("the file must have one document, got more"))
            }
            Event::Alias(anchor) => {
                let found = self.anchors.get(&anchor).cloned();
                let (value, size) =
                    found.ok_or_else(|| PyError::new("an alias must not be within its anchor"))?;
                self.count_values(size)?;
                self.add(value, size, 0)
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.count_values(1)?;
                let is_plain = style == ScalarStyle::Plain && tag.is_none();
                let key = match self.open.last_mut().map(|open| &mut open.content) {
                    Some(OpenContent::Dict { key, .. }) if matches!(key, OpenKey::Missing) => {
                        Some(key)
                    }
                    _ => None,
                };
                match (&*text, key) {
                    ("<<", Some(key)) if is_plain => {
                        *key = OpenKey::Merge;
                        return Ok(());
                    }
                    ("=", None) if is_plain => {
                        let message = "'=' must be a key or in quotes, got it as a value";
                        return Err(PyError::new(message));
                    }
                    _ => {}
                }
                let value = self.scalar(&text, style, tag.as_deref())?;
                self.add(value, 1, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                check_tag(tag.as_deref(), "seq")?;
                self.open_collection(OpenContent::List(vec![]), anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                check_tag(tag.as_deref(), "map")?;
                let open = OpenContent::Dict {
                    entries: PyEntries::default(),
                    merged: PyEntries::default(),
                    key: OpenKey::Missing,
                };
                self.open_collection(open, anchor)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(closed) = self.open.pop() else {
                    return Ok(());
                };
                let value = match closed.content {
                    OpenContent::List(items) => PyValue::list(items),
                    OpenContent::Dict {
                        entries,
                        mut merged,
                        ..
                    } => {
                        for (key, value) in entries.iter() {
                            merged.insert(key.clone(), value.clone(), self.host)?;
                        }
                        PyValue::dict(merged)
                    }
                };
                self.add(value, closed.size.saturating_add(1), closed.anchor)
            }
            _ => Ok(()),
        }
    }

    fn count_values(&mut self, count: usize) -> PyResult<()> {
        self.count = self.count.saturating_add(count);
        if self.count <= MAX_VALUES {
            Ok(())
        } else {
            Err(PyError::limit(format!(
                "the file must have at most {MAX_VALUES} values, those behind aliases counted \
             each time"
            )))
        }
    }

    fn open_collection(&mut self, content: OpenContent, anchor: usize) -> PyResult<()> {
        if self.open.len() == MAX_DEPTH {
            let message = format!("lists and dictionaries are nested deeper than {MAX_DEPTH}");
            return Err(PyError::limit(message));
        }
        self.count_values(1)?;
        self.open.push(OpenCollection {
            content,
            anchor,
            size: 0,
        });
        Ok(())
    }

    /// Adds a value to the innermost list or dictionary.
    fn add(&mut self, value: PyValue, size: usize, anchor: usize) -> PyResult<()> {
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), size));
        }
        let Some(open) = self.open.last_mut() else {
            self.done = Some(value);
            return Ok(());
        };
        open.size = open.size.saturating_add(size);
        let (entries, merged, key) = match &mut open.content {
            OpenContent::List(items) => {
                items.push(value);
                return Ok(());
            }
            OpenContent::Dict {
                entries,
                merged,
                key,
            } => (entries, merged, key),
        };
        match std::mem::replace(key, OpenKey::Missing) {
            OpenKey::Missing => *key = OpenKey::Known(value),
            OpenKey::Known(known) => entries.insert(known, value, self.host)?,
            OpenKey::Merge => {
                let count = merge(merged, &value, self.host)?;
                self.count_values(count)?;
            }
        }
        Ok(())
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>) -> PyResult {
        let Some(tag) = tag else {
            return match style {
                ScalarStyle::Plain => yaml_scalar::plain(text),
                _ => Ok(PyValue::str(text)),
            };
        };
        if let Some(kind) = tag.core_suffix() {
            return match kind {
                "str" => Ok(PyValue::str(text)),
                "float" => yaml_scalar::real(text),
                "int" => yaml_scalar::whole(text),
                "null" => Ok(PyValue::None),
                "bool" => yaml_scalar::truth(text).map(PyValue::Bool).ok_or_else(|| {
                    PyError::new(format!("'!!bool' must have a truth value, got '{text}'"))
                }),
                other => Err(PyError::new(format!("the tag '!!{other}' is unsupported"))),
            };
        }
        let unit = UNITS.iter().find(|(name, _)| *name == tag.suffix());
        let Some((name, size)) = unit else {
            let known = UNITS.map(|(name, _)| format!("!{name}")).join(", ");
            let found = tag.original();
            return Err(PyError::new(format!(
                "a tag must be one of {known}, got '{found}'"
            )));
        };
        let value = evaluate(text.trim(), self.host)
            .map_err(|e| within(e, &format!("!{name} {text}: ")))?;
        let number = match &value {
            PyValue::Str(text) => parse_float(text),
            value => value.as_float(),
        };
        let number = number
            .ok_or_else(|| PyError::new(format!("'!{name}' must have a number, got '{text}'")))?;
        Ok(PyValue::Float(number * size))
    }
}

/// Checks the tag of a list or a dictionary, which only has the one of its kind.
fn check_tag(tag: Option<&Tag>, kind: &str) -> PyResult<()> {
    match tag {
        Some(tag) if tag.core_suffix() != Some(kind) => Err(PyError::new(format!(
            "a list or a dictionary must have no tag, got '{}'",
            tag.original()
        ))),
        _ => Ok(()),
    }
}

/// Adds the entries under `<<`; returns their number. The first dictionary with a key wins, as in
/// YAML and in PyYAML before 6.0.4.
fn merge(merged: &mut PyEntries, value: &PyValue, host: &mut dyn Host) -> PyResult<usize> {
    let mut count = 0;
    let mut add = |value: &PyValue| match value {
        PyValue::Dict(dict) => {
            let entries = dict.entries.borrow();
            count += entries.len();
            host.spend(4 * entries.len())?;
            entries
                .iter()
                .try_for_each(|(key, value)| match merged.get(&key.key(host)?) {
                    Some(_) => Ok(()),
                    None => merged.insert(key.clone(), value.clone(), host),
                })
        }
        other => Err(PyError::new(format!(
            "'<<' must have a dictionary or a list of them, got {}",
            other.a_type()
        ))),
    };
    match value {
        PyValue::List(list) => list.items.borrow().iter().try_for_each(add)?,
        other => add(other)?,
    }
    Ok(count)
}
