//! Reading JSON so that every message names the place.

use serde_json::{Map, Value};

/// A JSON object that is read field by field; a field that nobody has asked for is an error.
pub(super) struct Fields {
    /// What stands before the name of a field in messages.
    place: String,
    fields: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Fields {
    /// The fields of `value`, which is called `what`; the names of fields follow `place` in
    /// messages.
    pub(super) fn new(value: Value, what: &str, place: impl Into<String>) -> Result<Self, String> {
        match value {
            Value::Object(fields) => Ok(Self {
                place: place.into(),
                fields,
                known: vec![],
            }),
            other => Err(wrong(what, "an object is", &other)),
        }
    }
    /// Changes what stands before the names of fields.
    pub(super) fn set_place(&mut self, place: String) {
        self.place = place;
    }
    /// The name of a field with its place.
    pub(super) fn path(&self, key: &str) -> String {
        format!("{}{key}", self.place)
    }
    /// A field that may be absent or null.
    pub(super) fn optional(&mut self, key: &'static str) -> Option<Value> {
        self.known.push(key);
        self.fields.remove(key).filter(|value| !value.is_null())
    }
    /// A field that must be there.
    pub(super) fn required(&mut self, key: &'static str) -> Result<Value, String> {
        self.known.push(key);
        self.fields.remove(key).ok_or_else(|| {
            // A misspelt name is among those that nobody has asked for yet.
            let rest: Vec<&str> = self.fields.keys().map(String::as_str).collect();
            let rest = match rest.as_slice() {
                [] => String::new(),
                rest => format!("; there is also {}", rest.join(", ")),
            };
            format!("{}: this field is missing{rest}", self.path(key))
        })
    }
    /// A text that must be there.
    pub(super) fn text(&mut self, key: &'static str) -> Result<String, String> {
        match self.required(key)? {
            Value::String(text) => Ok(text),
            other => Err(wrong(&self.path(key), "a string is", &other)),
        }
    }
    /// A number that must be there.
    pub(super) fn number(&mut self, key: &'static str) -> Result<f64, String> {
        let value = self.required(key)?;
        number(&value, &self.path(key))
    }
    /// Numbers that must be there.
    pub(super) fn numbers<const N: usize>(
        &mut self,
        key: &'static str,
    ) -> Result<[f64; N], String> {
        let value = self.required(key)?;
        numbers(&value, &self.path(key))
    }
    /// Everything has been asked for.
    pub(super) fn finish(self) -> Result<(), String> {
        match self.fields.keys().next() {
            None => Ok(()),
            Some(key) => Err(format!(
                "{}: unknown field, expected are {}",
                self.path(key),
                self.known.join(", ")
            )),
        }
    }
}

/// What is wrong with a value, and how it begins.
pub(super) fn wrong(path: &str, expected: &str, found: &Value) -> String {
    let text = found.to_string();
    let mut shown: String = text.chars().take(60).collect();
    if shown.len() < text.len() {
        shown += "...";
    }
    format!("{path}: {expected} expected, found {shown}")
}

/// A number, which in JSON is finite.
pub(super) fn number(value: &Value, path: &str) -> Result<f64, String> {
    value
        .as_f64()
        .ok_or_else(|| wrong(path, "a number is", value))
}

/// An array of `N` numbers.
pub(super) fn numbers<const N: usize>(value: &Value, path: &str) -> Result<[f64; N], String> {
    let expected = format!("an array of {N} numbers is");
    let items = value
        .as_array()
        .filter(|items| items.len() == N)
        .ok_or_else(|| wrong(path, &expected, value))?;
    let mut numbers = [0.0; N];
    for (i, item) in items.iter().enumerate() {
        numbers[i] = number(item, &format!("{path}[{i}]"))?;
    }
    Ok(numbers)
}

/// An array of anything.
pub(super) fn array(value: Value, path: &str) -> Result<Vec<Value>, String> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(wrong(path, "an array is", &other)),
    }
}
