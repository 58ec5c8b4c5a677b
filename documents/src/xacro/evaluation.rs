//! Evaluation of texts: `${...}` and `$(...)`, with the properties of a scope.

use super::expander::{XacroError, XacroExpander, XacroResult, literal_value};
use super::interpolation::{PieceKind, pieces};
use super::scopes::{Binding, ScopeIndex};
use super::symbols;
use super::tree::PlacedText;
use crate::expression::{
    Budget, CallArguments, Host, PyError, PyErrorKind, PyNamespace, PyResult, PyValue, evaluate,
    text_of,
};
use crate::names;
use crate::xml::OriginPlace;

/// Names that an expression sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeenNames {
    /// Properties, and the names that are known without a definition.
    Properties,
    /// Only names that are known without a definition.
    Global,
    /// Arguments, in `$(eval ...)`.
    Arguments,
}

/// The names that expressions of one place see.
pub(super) struct ScopeHost<'e, 'a> {
    pub(super) expander: &'e mut XacroExpander<'a>,
    pub(super) scope: ScopeIndex,
    pub(super) place: OriginPlace,
    pub(super) seen: SeenNames,
    /// An error that has its own place.
    pub(super) failure: Option<Box<XacroError>>,
}

impl XacroExpander<'_> {
    /// Evaluates a text. A single expression keeps its type; several pieces are joined to a text.
    pub(super) fn evaluate(
        &mut self,
        text: &PlacedText,
        scope: ScopeIndex,
    ) -> XacroResult<PyValue> {
        if !text.text.contains('$') {
            return Ok(PyValue::str(&text.text));
        }
        let found = pieces(&text.text).map_err(|at| {
            let message = format!(
                "'$' must start ${{...}}, $(...) or $$ as its escape, got '{}'",
                shortened(text.text.chars().skip(at))
            );
            self.error(text.place_at(at), message)
        })?;
        let counted = self.spend(1 + text.text.len() / 16);
        counted.map_err(|e| self.error(text.place, e.message))?;
        let mut values = vec![];
        let parts = text.parts(found.iter().map(|piece| (piece.text, piece.at)));
        for (piece, part) in found.iter().zip(parts) {
            values.push(match piece.kind {
                PieceKind::Plain => PyValue::str(piece.text),
                PieceKind::Expression => self.expression(&part, scope)?,
                PieceKind::Command => {
                    let inner = self.evaluate(&part, scope)?;
                    let inner = self.text(&inner, part.place)?;
                    PyValue::str(self.command(&inner, &part, scope)?)
                }
            });
        }
        match <[PyValue; 1]>::try_from(values) {
            Ok([value]) => Ok(value),
            Err(values) => {
                let mut joined = String::new();
                for value in &values {
                    joined.push_str(&self.text(value, text.place)?);
                    self.check_length(joined.len(), text.place)?;
                }
                Ok(PyValue::str(joined))
            }
        }
    }

    /// Evaluates a text to a text.
    pub(super) fn evaluate_text(
        &mut self,
        text: &PlacedText,
        scope: ScopeIndex,
    ) -> XacroResult<String> {
        let value = self.evaluate(text, scope)?;
        self.text(&value, text.place)
    }

    /// Returns the text of a value.
    pub(super) fn text(&mut self, value: &PyValue, place: OriginPlace) -> XacroResult<String> {
        let text = text_of(value).map_err(|e| self.error(place, e.message))?;
        let counted = self.spend(text.len() / 16);
        counted.map_err(|e| self.error(place, e.message))?;
        Ok(text)
    }

    fn check_length(&self, bytes: usize, place: OriginPlace) -> XacroResult<()> {
        let limit = crate::expression::MAX_TEXT;
        if bytes <= limit {
            Ok(())
        } else {
            Err(self.error(
                place,
                format!("a text must have at most {limit} bytes, got {bytes}"),
            ))
        }
    }

    fn expression(&mut self, part: &PlacedText, scope: ScopeIndex) -> XacroResult<PyValue> {
        let inner = self.evaluate(part, scope)?;
        let inner = self.text(&inner, part.place)?;
        let shown = PlacedText {
            // Columns are known only if nothing was replaced.
            exact: part.exact && inner == part.text,
            text: inner,
            place: part.place,
        };
        self.run(&shown, scope, false)
    }

    /// Runs an expression.
    pub(super) fn run(
        &mut self,
        text: &PlacedText,
        scope: ScopeIndex,
        is_command: bool,
    ) -> XacroResult<PyValue> {
        let expression = text.text.trim();
        let skipped = text.text.chars().take_while(|c| c.is_whitespace()).count();
        let mut host = ScopeHost {
            expander: self,
            scope,
            place: text.place,
            seen: if is_command {
                SeenNames::Arguments
            } else {
                SeenNames::Properties
            },
            failure: None,
        };
        let result = evaluate(expression, &mut host);
        let failure = host.failure.take();
        result.map_err(|error| match (error.kind, failure) {
            (PyErrorKind::Host, Some(failure)) => failure,
            _ => {
                let shown = shortened(expression.chars());
                let shown = if is_command {
                    format!("$(eval {shown})")
                } else {
                    format!("${{{shown}}}")
                };
                let place = text.place_at(skipped + error.at.unwrap_or(0));
                self.error(place, format!("{shown}: {}", error.message))
            }
        })
    }

    /// Returns the value of a property, which is evaluated at its first use.
    pub(super) fn property(
        &mut self,
        scope: ScopeIndex,
        name: &str,
        place: OriginPlace,
    ) -> XacroResult<Option<PyValue>> {
        let Some(owner) = self.scopes.owner(scope, name) else {
            return Ok(None);
        };
        let text = match self.scopes.scope(owner).bindings.get(name) {
            Some(Binding::Value(value)) => return Ok(Some(value.clone())),
            Some(Binding::Lazy(text)) => text.clone(),
            Some(Binding::Evaluating) => {
                let mut chain = self.evaluating.clone();
                chain.push(name.into());
                let message = format!(
                    "property '{name}' must not depend on itself, got {}; if an earlier value is \
                     meant, set lazy_eval=\"false\"",
                    chain.join(" -> ")
                );
                return Err(self.error(place, message));
            }
            Some(Binding::Block(_)) | None => return Ok(None),
        };
        let bind = |expander: &mut Self, binding| {
            let bindings = &mut expander.scopes.scope_mut(owner).bindings;
            bindings.insert(name.into(), binding);
        };
        self.check_chain(place)?;
        bind(self, Binding::Evaluating);
        self.evaluating.push(name.into());
        let value = self.nested(place, |expander| expander.evaluate(&text, owner));
        let value = value
            .and_then(|value| literal_value(value).map_err(|e| self.error(text.place, e.message)));
        self.evaluating.pop();
        // An optional include may go on after an error, so that the property is used again.
        bind(
            self,
            match &value {
                Ok(value) => Binding::Value(value.clone()),
                Err(_) => Binding::Lazy(text),
            },
        );
        value.map(Some)
    }
}

/// Returns the start of a text, for messages.
fn shortened(chars: impl Iterator<Item = char>) -> String {
    let mut text: String = chars.take(81).collect();
    if text.chars().count() > 80 {
        text = text.chars().take(77).collect::<String>() + "...";
    }
    text
}

impl ScopeHost<'_, '_> {
    /// Returns the cure for a name that only an element further down defines.
    fn defined_later(&self, tag: &str, name: &str) -> Option<String> {
        let cure = self.expander.defined_later(tag, name, self.place)?;
        Some(format!("; {cure}"))
    }

    /// Keeps an error that has its own place.
    pub(super) fn keep<V>(&mut self, result: XacroResult<V>) -> PyResult<V> {
        result.map_err(|failure| {
            // A file that is read by an expression reports the reason at a place of its own.
            let message = self.expander.reason(&failure);
            self.failure = Some(failure);
            PyError {
                kind: PyErrorKind::Host,
                ..PyError::new(message)
            }
        })
    }
}

impl Budget for ScopeHost<'_, '_> {
    fn spend(&mut self, work: usize) -> PyResult<()> {
        self.expander.spend(work)
    }
}

impl Host for ScopeHost<'_, '_> {
    fn name(&mut self, name: &str) -> PyResult<Option<PyValue>> {
        match self.seen {
            SeenNames::Arguments => {
                let found = symbols::of_command(name, &self.expander.arguments)?;
                return match found {
                    Some(_) => Ok(found),
                    None => match self.defined_later("xacro:arg", name) {
                        Some(cure) => {
                            Err(PyError::new(format!("name '{name}' is not defined{cure}")))
                        }
                        None => Ok(None),
                    },
                };
            }
            SeenNames::Properties => {
                let scopes = self.expander.scopes.outwards(self.scope).count();
                self.expander.spend(scopes / 16)?;
                let found = self.expander.property(self.scope, name, self.place);
                if let Some(value) = self.keep(found)? {
                    return Ok(Some(value));
                }
            }
            SeenNames::Global => {}
        }
        if let Some(value) = symbols::global(name) {
            return Ok(Some(value));
        }
        let cure = match symbols::of_python(name) {
            true => format!("; write python.{name}"),
            false if self.seen == SeenNames::Global => {
                "; a number with a unit must not use properties".into()
            }
            false => match self.defined_later("xacro:property", name) {
                Some(cure) => cure,
                None => {
                    let known = self.expander.scopes.property_names(self.scope);
                    match names::similar(name, known.into_iter()) {
                        Some(known) => format!("; there are: {known}"),
                        None => "; there are no properties".into(),
                    }
                }
            },
        };
        Err(PyError::new(format!("name '{name}' is not defined{cure}")))
    }

    fn attribute(&mut self, namespace: u32, name: &str) -> PyResult<Option<PyValue>> {
        match namespace {
            symbols::XACRO => Ok(symbols::of_xacro(name)),
            scope => {
                let found = self.expander.property(scope, name, self.place);
                match self.keep(found)? {
                    Some(value) => Ok(Some(value)),
                    None => Ok(symbols::global(name)),
                }
            }
        }
    }

    fn call(&mut self, function: &'static str, arguments: CallArguments) -> PyResult {
        self.call_function(function, arguments)
    }

    fn total_depth(&mut self) -> &mut usize {
        &mut self.expander.evaluation_depth
    }
}

impl XacroExpander<'_> {
    /// Returns the value of a namespace.
    pub(super) fn namespace(scope: ScopeIndex) -> PyValue {
        PyValue::Namespace(PyNamespace::Host(scope))
    }
}
