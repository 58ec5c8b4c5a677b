//! Functions of xacro that expressions call: `xacro.load_yaml(...)`, `arg(...)` and others.

use super::character_set::CharacterSet;
use super::evaluation::{ScopeHost, SeenNames};
use super::symbols::converted;
use super::tree::PlacedText;
use super::yaml;
use crate::expression::{CallArguments, PyError, PyResult, PyValue, joined, text_of};
use crate::input::read_file;

impl ScopeHost<'_, '_> {
    pub(super) fn call_function(
        &mut self,
        function: &'static str,
        mut arguments: CallArguments,
    ) -> PyResult {
        if matches!(function, "error" | "message" | "print_location" | "warning") {
            return self.message(function, arguments);
        }
        let names: &[&str] = match function {
            "abs_filename" => &["filename_spec"],
            "load_yaml" => &["filename"],
            "find" => &["pkg"],
            "arg" | "eval_arg" | "env" => &["name"],
            "optenv" => &["name", "default"],
            _ => &[],
        };
        arguments.place(names);
        let shown = function.strip_prefix("eval_").unwrap_or(function);
        match function {
            "fatal" => {
                arguments.check(shown, 0, usize::MAX)?;
                return Err(PyError::new(joined(&arguments.plain, self)?));
            }
            "tokenize" => return self.tokenize(arguments),
            "dirname" => arguments.check(shown, 0, 0)?,
            "optenv" => arguments.check(shown, 1, 2)?,
            _ => arguments.check(shown, 1, 1)?,
        }
        let text = |i: usize| match arguments.plain.get(i) {
            Some(PyValue::Str(text)) => Ok(text.to_string()),
            other => {
                let found = other.map_or("none".into(), PyValue::a_type);
                Err(PyError::new(format!(
                    "{shown}() must have a text, got {found}"
                )))
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
                self.keep(found).and_then(|text| converted(&text))
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
                    "dotify() must have a dict, got {}",
                    other.a_type()
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
        let text = str::from_utf8(&bytes).map_err(|e| {
            let at = e.valid_up_to();
            PyError::new(format!("'{shown}' must be UTF-8, byte {at} is not"))
        })?;
        self.expander.open.push(path);
        // As in xacro, numbers with units see no properties.
        let seen = std::mem::replace(&mut self.seen, SeenNames::Global);
        let loaded = yaml::load(text, self);
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
    fn message(&mut self, function: &str, mut arguments: CallArguments) -> PyResult {
        // How a message is shown is left to the caller.
        for name in ["alt_text", "color", "file"] {
            arguments.take(name);
        }
        let located = arguments.take("print_location").is_some_and(|l| l.truth());
        arguments.check(function, 0, usize::MAX)?;
        let text = joined(&arguments.plain, self)?;
        match function {
            "message" => self.expander.messages.push(text),
            "print_location" => {}
            "error" => self
                .expander
                .warn(self.place, format!("the file reports an error: {text}")),
            _ => self.expander.warn(self.place, text),
        }
        // Warnings have a place anyway.
        if function == "print_location" || (function == "message" && located) {
            let location = self.expander.location(self.place);
            self.spend_bytes(location.len())?;
            self.expander.messages.push(location);
        }
        Ok(PyValue::str(""))
    }

    fn tokenize(&mut self, mut arguments: CallArguments) -> PyResult {
        arguments.place(&["s"]);
        let [separators, skip_empty] = ["sep", "skip_empty"].map(|name| arguments.take(name));
        arguments.check("tokenize", 1, 3)?;
        let mut plain = arguments.plain.into_iter();
        let Some(PyValue::Str(text)) = plain.next() else {
            return Err(PyError::new("tokenize() must have a text"));
        };
        let (separators, skip_empty) = (plain.next().or(separators), plain.next().or(skip_empty));
        let separators = match separators {
            None => ",; ".into(),
            Some(PyValue::Str(separators)) => separators.to_string(),
            Some(other) => {
                let found = other.a_type();
                let message = format!("the separators of tokenize() must be a text, got {found}");
                return Err(PyError::new(message));
            }
        };
        let skip_empty = skip_empty.is_none_or(|v| v.truth());
        self.spend_bytes(text.len() * 8)?;
        let separators = CharacterSet::parse(&separators)?;
        let parts = text.split(|c| separators.contains(c));
        let parts = parts.filter(|p| !skip_empty || !p.is_empty());
        Ok(PyValue::list(parts.map(PyValue::str).collect()))
    }
}
