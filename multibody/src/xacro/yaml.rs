//! YAML files as values of expressions: scalars as in YAML 1.1, which PyYAML reads, and numbers
//! with units.

use crate::expression::{
    Host, PyEntries, PyError, PyResult, PyValue, evaluate, parse_float, parse_int,
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
/// Maximum number of values, those behind aliases counted each time.
const MAX_VALUES: usize = 100_000;

/// A list or a dictionary that is being read.
enum OpenCollection {
    List(Vec<PyValue>),
    Dict {
        entries: PyEntries,
        /// Entries of dictionaries under `<<`, which those of the dictionary itself replace.
        merged: PyEntries,
        key: Option<PyValue>,
        merges: bool,
    },
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
            PyError::new(format!("{}:{}: {error}", at.line(), at.col() + 1))
        })?;
        line = line.max(span.start.line());
        loader
            .event(event)
            .map_err(|e| PyError::new(format!("{line}: {}", e.message)))?;
    }
    Ok(loader.done.unwrap_or(PyValue::None))
}

struct YamlLoader<'h> {
    open: Vec<(OpenCollection, usize)>,
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
                self.add(value, size, 0)
            }
            Event::Scalar(text, style, anchor, tag) => {
                let merges = style == ScalarStyle::Plain && text == "<<" && tag.is_none();
                let value = self.scalar(&text, style, tag.as_deref())?;
                if merges
                    && let Some((OpenCollection::Dict { key, merges, .. }, _)) =
                        self.open.last_mut()
                    && key.is_none()
                {
                    *merges = true;
                    *key = Some(PyValue::None);
                    return Ok(());
                }
                self.add(value, 1, anchor)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open_collection(OpenCollection::List(vec![]), anchor)
            }
            Event::MappingStart(_, anchor, _) => {
                let open = OpenCollection::Dict {
                    entries: PyEntries::default(),
                    merged: PyEntries::default(),
                    key: None,
                    merges: false,
                };
                self.open_collection(open, anchor)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some((closed, anchor)) = self.open.pop() else {
                    return Ok(());
                };
                let value = match closed {
                    OpenCollection::List(items) => PyValue::list(items),
                    OpenCollection::Dict {
                        entries,
                        mut merged,
                        ..
                    } => {
                        for (key, value) in entries.iter() {
                            merged.insert(key.clone(), value.clone())?;
                        }
                        PyValue::dict(merged)
                    }
                };
                let size = 1 + size(&value);
                self.add(value, size, anchor)
            }
            _ => Ok(()),
        }
    }

    fn open_collection(&mut self, open: OpenCollection, anchor: usize) -> PyResult<()> {
        if self.open.len() == MAX_DEPTH {
            let message = format!("lists and dictionaries are nested deeper than {MAX_DEPTH}");
            return Err(PyError::limit(message));
        }
        self.open.push((open, anchor));
        Ok(())
    }

    /// Adds a value to the innermost list or dictionary.
    fn add(&mut self, value: PyValue, size: usize, anchor: usize) -> PyResult<()> {
        self.count = self.count.saturating_add(size);
        if self.count > MAX_VALUES {
            let message = format!("the file must have at most {MAX_VALUES} values");
            return Err(PyError::limit(message));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), size));
        }
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some((OpenCollection::List(items), _)) => items.push(value),
            Some((
                OpenCollection::Dict {
                    entries,
                    merged,
                    key,
                    merges,
                },
                _,
            )) => match key.take() {
                None => *key = Some(value),
                Some(_) if std::mem::take(merges) => merge(merged, &value)?,
                Some(known) => entries.insert(known, value)?,
            },
        }
        Ok(())
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>) -> PyResult {
        let Some(tag) = tag else {
            return match style {
                ScalarStyle::Plain => plain(text),
                _ => Ok(PyValue::str(text)),
            };
        };
        if let Some(kind) = tag.core_suffix() {
            return match kind {
                "str" => Ok(PyValue::str(text)),
                "float" => match plain(text)? {
                    value @ (PyValue::Int(_) | PyValue::Float(_)) => {
                        Ok(PyValue::Float(value.as_float().unwrap_or(f64::NAN)))
                    }
                    _ => parse_float(text).map(PyValue::Float).ok_or_else(|| {
                        PyError::new(format!("'!!float' must have a number, got '{text}'"))
                    }),
                },
                _ => plain(text),
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
            .map_err(|e| PyError::new(format!("!{name} {text}: {}", e.message)))?;
        let number = match &value {
            PyValue::Str(text) => parse_float(text),
            value => value.as_float(),
        };
        let number = number
            .ok_or_else(|| PyError::new(format!("'!{name}' must have a number, got '{text}'")))?;
        Ok(PyValue::Float(number * size))
    }
}

fn merge(merged: &mut PyEntries, value: &PyValue) -> PyResult<()> {
    match value {
        PyValue::Dict(dict) => {
            for (key, value) in dict.entries.borrow().iter() {
                if merged.get(&key.key()?).is_none() {
                    merged.insert(key.clone(), value.clone())?;
                }
            }
            Ok(())
        }
        PyValue::List(list) => list
            .items
            .borrow()
            .iter()
            .try_for_each(|v| merge(merged, v)),
        _ => Err(PyError::new(
            "'<<' must have a dictionary or a list of them",
        )),
    }
}

/// Number of values in a list or a dictionary, without those further down.
fn size(value: &PyValue) -> usize {
    match value {
        PyValue::List(list) => list.items.borrow().len(),
        PyValue::Dict(dict) => dict.entries.borrow().len(),
        _ => 0,
    }
}

/// Returns the value of a plain scalar, as in YAML 1.1.
fn plain(text: &str) -> PyResult {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => PyValue::None,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            PyValue::Bool(true)
        }
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            PyValue::Bool(false)
        }
        text => match number(text) {
            Some(number) => number?,
            None => PyValue::str(text),
        },
    })
}

/// Reads a number of YAML 1.1.
fn number(text: &str) -> Option<PyResult> {
    let starts = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.');
    if !text.starts_with(starts) {
        return None;
    }
    let (negative, unsigned) = match text.strip_prefix(['+', '-']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let sign = if negative { -1 } else { 1 };
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {
            return Some(Ok(PyValue::Float(f64::INFINITY * f64::from(sign))));
        }
        ".nan" | ".NaN" | ".NAN" if text == unsigned => return Some(Ok(PyValue::Float(f64::NAN))),
        _ => {}
    }
    let digits = unsigned.replace('_', "");
    let radix = |digits: &str, radix| {
        let value = i128::from_str_radix(digits, radix).ok()?;
        Some(Ok(PyValue::Int(value * i128::from(sign))))
    };
    if let Some(hex) = digits.strip_prefix("0x") {
        return radix(hex, 16);
    }
    if let Some(binary) = digits.strip_prefix("0b") {
        return radix(binary, 2);
    }
    if digits.contains(':') {
        return sexagesimal(&digits, f64::from(sign));
    }
    let all_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if all_digits && digits.len() > 1 && digits.starts_with('0') {
        return match digits.bytes().all(|b| b < b'8') {
            true => radix(&digits, 8),
            false => None,
        };
    }
    if all_digits {
        return parse_int(&format!("{}{digits}", if negative { "-" } else { "" }))
            .map(|value| value.map(PyValue::Int));
    }
    // A number without a point is none, and the exponent must have a sign.
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (&*digits, None),
    };
    let (whole, fraction) = mantissa.split_once('.')?;
    let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let exponent_is_good = exponent.is_none_or(|e| {
        e.strip_prefix(['+', '-'])
            .is_some_and(|e| !e.is_empty() && is_digits(e))
    });
    let has_digit = !whole.is_empty() || !fraction.is_empty();
    let good = is_digits(whole) && is_digits(fraction) && has_digit && exponent_is_good;
    let value: f64 = good.then(|| digits.parse().ok()).flatten()?;
    Some(Ok(PyValue::Float(value * f64::from(sign))))
}

/// Reads numbers like `1:30`, whose parts count 60 of the next.
fn sexagesimal(digits: &str, sign: f64) -> Option<PyResult> {
    let parts: Vec<&str> = digits.split(':').collect();
    let (last, first) = parts.split_last()?;
    let is_digits = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let real = last.contains('.');
    let seconds: f64 = last.parse().ok()?;
    if !first.iter().all(is_digits) || seconds >= 60.0 || first.len() > 8 {
        return None;
    }
    let mut value = 0.0;
    for part in first {
        value = value * 60.0 + part.parse::<f64>().ok()?;
    }
    value = (value * 60.0 + seconds) * sign;
    Some(Ok(match real {
        true => PyValue::Float(value),
        false => PyValue::Int(value as i128),
    }))
}
