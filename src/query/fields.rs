//! Reading JSON with errors that name the place.

use serde_json::{Map, Value};

/// A JSON object that is read field by field; a field that is never requested is an error.
pub(super) struct Fields {
    /// Prefix of field names in messages.
    place: String,
    fields: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Fields {
    /// Starts reading the fields of `value`. Messages call it `what`, and prefix field names with
    /// `place`.
    pub(super) fn new(value: Value, what: &str, place: impl Into<String>) -> Result<Self, String> {
        match value {
            Value::Object(fields) => Ok(Self {
                place: place.into(),
                fields,
                known: vec![],
            }),
            other => Err(wrong(what, "an object", &other)),
        }
    }
    /// Changes the prefix of field names in messages.
    pub(super) fn set_place(&mut self, place: String) {
        self.place = place;
    }
    /// The name of a field with its prefix.
    pub(super) fn path(&self, key: &str) -> String {
        format!("{}{key}", self.place)
    }
    /// Takes a field that may be absent or null.
    pub(super) fn optional(&mut self, key: &'static str) -> Option<Value> {
        self.known.push(key);
        self.fields.remove(key).filter(|value| !value.is_null())
    }
    /// Takes a required field.
    pub(super) fn required(&mut self, key: &'static str) -> Result<Value, String> {
        self.known.push(key);
        self.fields.remove(key).ok_or_else(|| {
            // The fields not yet requested may include a misspelt name.
            let rest: Vec<&str> = self.fields.keys().map(String::as_str).collect();
            let rest = match rest.as_slice() {
                [] => String::new(),
                rest => format!("; there is also {}", rest.join(", ")),
            };
            format!("{}: this field is missing{rest}", self.path(key))
        })
    }
    /// Takes a required string.
    pub(super) fn text(&mut self, key: &'static str) -> Result<String, String> {
        match self.required(key)? {
            Value::String(text) => Ok(text),
            other => Err(wrong(&self.path(key), "a string", &other)),
        }
    }
    /// Takes a required number.
    pub(super) fn number(&mut self, key: &'static str) -> Result<f64, String> {
        let value = self.required(key)?;
        number(&value, &self.path(key))
    }
    /// Takes a required array of numbers.
    pub(super) fn numbers<const N: usize>(
        &mut self,
        key: &'static str,
    ) -> Result<[f64; N], String> {
        let value = self.required(key)?;
        numbers(&value, &self.path(key))
    }
    /// Checks that all fields were requested.
    pub(super) fn finish(self) -> Result<(), String> {
        match self.fields.keys().next() {
            None => Ok(()),
            Some(key) => Err(format!(
                "{}: unknown field; known fields are {}",
                self.path(key),
                self.known.join(", ")
            )),
        }
    }
}

/// Error message for a value that is not what it must be; a long value is abbreviated.
pub(super) fn wrong(path: &str, expected: &str, found: &Value) -> String {
    let text = found.to_string();
    let mut shown: String = text.chars().take(60).collect();
    if shown.len() < text.len() {
        shown += "...";
    }
    format!("{path} must be {expected}, got {shown}")
}

/// Reads a number, which is always finite in JSON.
pub(super) fn number(value: &Value, path: &str) -> Result<f64, String> {
    value.as_f64().ok_or_else(|| wrong(path, "a number", value))
}

/// Reads an array of `N` numbers.
pub(super) fn numbers<const N: usize>(value: &Value, path: &str) -> Result<[f64; N], String> {
    let expected = format!("an array of {N} numbers");
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

/// Reads an array of any values.
pub(super) fn array(value: Value, path: &str) -> Result<Vec<Value>, String> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(wrong(path, "an array", &other)),
    }
}
