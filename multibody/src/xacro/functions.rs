//! Functions of xacro that expressions call: `xacro.load_yaml(...)`, `arg(...)` and others.

use super::character_set::CharacterSet;
use super::evaluation::{ScopeHost, SeenNames};
use super::symbols::converted;
use super::tree::PlacedText;
use super::yaml;
use crate::document::input::read_file;
use crate::expression::{CallArguments, PyError, PyResult, PyValue, joined, text_of};

impl ScopeHost<'_, '_> {
    pub(super) fn call_function(
        &mut self,
        function: &'static str,
        arguments: CallArguments,
    ) -> PyResult {
        if matches!(function, "error" | "message" | "print_location" | "warning") {
            return self.message(function, &arguments);
        }
        if function == "fatal" {
            return Err(PyError::new(joined(&arguments.plain, self)?));
        }
        if function == "tokenize" {
            return self.tokenize(&arguments);
        }
        let text = |i: usize| {
            let value = arguments.plain.get(i);
            let value = value.ok_or_else(|| {
                PyError::new(format!("{function}() must have an argument, got none"))
            })?;
            match value {
                PyValue::Str(text) => Ok(text.to_string()),
                other => Err(PyError::new(format!(
                    "{function}() must have a text, got a {}",
                    other.type_name()
                ))),
            }
        };
        let at = PlacedText {
            place: self.place,
            ..PlacedText::default()
        };
        match function {
            "abs_filename" => {
                let path = self.expander.beside(&text(0)?);
                Ok(PyValue::str(path.display().to_string()))
            }
            "arg" => {
                let found = self.expander.argument(&text(0)?, &at);
                self.keep(found).map(PyValue::str)
            }
            "eval_arg" => {
                let found = self.expander.argument(&text(0)?, &at);
                self.keep(found).map(|text| converted(&text))
            }
            "dirname" => Ok(PyValue::str(self.expander.folder())),
            "env" => {
                let found = self.expander.environment(&text(0)?, &at);
                self.keep(found).map(PyValue::str)
            }
            "find" => {
                let found = self.expander.find(&text(0)?, &at);
                self.keep(found).map(PyValue::str)
            }
            "optenv" => {
                let default = arguments.plain.get(1).map_or(Ok(String::new()), text_of)?;
                Ok(PyValue::str(std::env::var(text(0)?).unwrap_or(default)))
            }
            "dotify" => match arguments.plain.first() {
                Some(dict @ PyValue::Dict(_)) => Ok(dict.clone().dotted()),
                Some(other) => Err(PyError::new(format!(
                    "dotify() must have a dict, got a {}",
                    other.type_name()
                ))),
                None => Err(PyError::new("dotify() must have a dict, got none")),
            },
            "load_yaml" => {
                let name = text(0)?;
                self.load_yaml(&name)
            }
            other => Err(PyError::new(format!("{other}() is unsupported"))),
        }
    }

    fn load_yaml(&mut self, name: &str) -> PyResult {
        let path = self.expander.beside(name);
        let shown = path.display().to_string();
        // A number with a unit is an expression, which may load this file again.
        if let Some(message) = self.expander.nested_too_deep(&path) {
            return Err(PyError::limit(message));
        }
        let bytes =
            read_file(&path).map_err(|e| PyError::new(format!("'{shown}' cannot be read: {e}")))?;
        self.spend_bytes(bytes.len())?;
        self.expander.add_dependency(&path);
        let text = String::from_utf8_lossy(&bytes);
        self.expander.open.push(path);
        // As in xacro, numbers with units see no properties.
        let seen = std::mem::replace(&mut self.seen, SeenNames::Global);
        let loaded = yaml::load(&text, self);
        self.seen = seen;
        self.expander.open.pop();
        let value = loaded.map_err(|mut error| {
            // A place in the expression would be misread as one in the YAML file.
            error.at = None;
            error.message = format!("{shown}:{}", error.message);
            error
        })?;
        Ok(value.dotted())
    }

    fn spend_bytes(&mut self, bytes: usize) -> PyResult<()> {
        self.expander.spend(bytes / 4)
    }

    /// Reports a message of the file. An error of this kind lets the expansion go on.
    fn message(&mut self, function: &str, arguments: &CallArguments) -> PyResult {
        let text = joined(&arguments.plain, self)?;
        match function {
            "message" => self.expander.messages.push(text),
            "print_location" => {
                let location = self.expander.location(self.place);
                self.spend_bytes(location.len())?;
                self.expander.messages.push(location);
            }
            "error" => self
                .expander
                .warn(self.place, format!("the file reports an error: {text}")),
            _ => self.expander.warn(self.place, text),
        }
        Ok(PyValue::str(""))
    }

    fn tokenize(&mut self, arguments: &CallArguments) -> PyResult {
        let take = |i: usize, name: &str| {
            let named = arguments.named.iter().find(|(n, _)| n == name);
            named
                .map(|(_, v)| v.clone())
                .or_else(|| arguments.plain.get(i).cloned())
        };
        let Some(PyValue::Str(text)) = take(0, "s") else {
            return Err(PyError::new("tokenize() must have a text"));
        };
        let separators = match take(1, "sep") {
            Some(PyValue::Str(separators)) => separators.to_string(),
            _ => ",; ".into(),
        };
        let skip_empty = take(2, "skip_empty").is_none_or(|v| v.truth());
        self.spend_bytes(text.len() * 8)?;
        let separators = CharacterSet::parse(&separators)?;
        let parts = text.split(|c| separators.contains(c));
        let parts = parts.filter(|p| !skip_empty || !p.is_empty());
        Ok(PyValue::list(parts.map(PyValue::str).collect()))
    }
}
