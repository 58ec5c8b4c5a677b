//! State of an evaluation, and the host that knows the names of an expression.

use super::operators::check_items;
use super::set_values::members;
use super::value::{Budget, PyError, PyResult, PyValue};

/// Maximum depth of an evaluation.
const MAX_DEPTH: usize = 150;
/// Maximum depth of all evaluations that wait for each other, which share a stack.
const MAX_TOTAL_DEPTH: usize = 8000;

/// Program that evaluates expressions: it knows names and has functions of its own.
pub(crate) trait Host: Budget {
    /// Returns the value of a name, or `None` if there is none.
    fn name(&mut self, name: &str) -> PyResult<Option<PyValue>>;
    /// Returns an attribute of a namespace of the host, or `None` if there is none.
    fn attribute(&mut self, namespace: u32, name: &str) -> PyResult<Option<PyValue>>;
    /// Calls a function of the host.
    fn call(&mut self, function: &'static str, arguments: CallArguments) -> PyResult;
    /// Depth of all evaluations that wait for each other; an evaluation counts its own depth here.
    fn total_depth(&mut self) -> &mut usize;
}

/// Arguments of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallArguments {
    pub(crate) plain: Vec<PyValue>,
    pub(crate) named: Vec<(String, PyValue)>,
}

/// Evaluates one expression.
pub(super) struct Evaluator<'h> {
    pub(super) host: &'h mut dyn Host,
    /// Variables of comprehensions, innermost last.
    pub(super) variables: Vec<(String, PyValue)>,
    depth: usize,
}

impl<'h> Evaluator<'h> {
    pub(super) fn new(host: &'h mut dyn Host) -> Self {
        Self {
            host,
            variables: vec![],
            depth: 0,
        }
    }

    /// Runs a part of the evaluation one level deeper.
    pub(super) fn nested<V>(&mut self, work: impl FnOnce(&mut Self) -> PyResult<V>) -> PyResult<V> {
        let total = *self.host.total_depth();
        if self.depth == MAX_DEPTH || total == MAX_TOTAL_DEPTH {
            let message = format!(
                "an evaluation must be nested at most {MAX_DEPTH} deep, and all that wait for each \
                 other {MAX_TOTAL_DEPTH}"
            );
            return Err(PyError::limit(message));
        }
        self.depth += 1;
        *self.host.total_depth() = total + 1;
        let value = self.host.spend(1).and_then(|()| work(self));
        self.depth -= 1;
        *self.host.total_depth() = total;
        value
    }

    /// Counts the work of making a value.
    pub(super) fn spend_on(&mut self, value: &PyValue) -> PyResult<()> {
        self.host.spend(match value {
            PyValue::Str(text) => text.len() / 16,
            PyValue::Tuple(items) | PyValue::View(_, items) => items.len(),
            PyValue::List(list) => list.items.borrow().len(),
            PyValue::Dict(dict) => 4 * dict.entries.borrow().len(),
            PyValue::Set(set) => 4 * set.entries.borrow().len(),
            _ => 0,
        })
    }

    /// Counts the work of copying the lists and dictionaries among the members of a dotted list.
    fn spend_on_copies(&mut self, items: &[PyValue]) -> PyResult<()> {
        items.iter().try_for_each(|item| match item {
            PyValue::List(_) | PyValue::Dict(_) => self.spend_on(item),
            _ => Ok(()),
        })
    }

    /// Returns the members of a value that can be iterated over.
    pub(super) fn items(&mut self, value: &PyValue) -> PyResult<Vec<PyValue>> {
        let items: Vec<PyValue> = match value {
            PyValue::Str(text) => {
                // Without this, a text of many characters would be copied before it is refused.
                check_items(text.chars().count())?;
                text.chars().map(|c| PyValue::str(c.to_string())).collect()
            }
            PyValue::Tuple(items) | PyValue::View(_, items) => items.to_vec(),
            PyValue::List(list) => {
                let items = list.items.borrow().clone();
                if list.dotted {
                    self.spend_on_copies(&items)?;
                    items.into_iter().map(PyValue::dotted).collect()
                } else {
                    items
                }
            }
            PyValue::Dict(dict) => dict.entries.borrow().keys(),
            PyValue::Set(set) => {
                self.host.spend(4 * set.entries.borrow().len())?;
                members(set)
            }
            PyValue::Range(range) => {
                check_items(usize::try_from(range.len()).unwrap_or(usize::MAX))?;
                (0..range.len())
                    .map(|i| PyValue::Int(range.get(i)))
                    .collect()
            }
            PyValue::Iterator(items) => items.take(),
            other => {
                return Err(PyError::new(format!(
                    "{} has no members to iterate over",
                    other.a_type()
                )));
            }
        };
        self.host.spend(items.len())?;
        Ok(items)
    }
}

impl CallArguments {
    /// Takes a named argument.
    pub(crate) fn take(&mut self, name: &str) -> Option<PyValue> {
        let at = self.named.iter().position(|(n, _)| n == name)?;
        Some(self.named.remove(at).1)
    }
    /// Moves named arguments to their places among the plain ones.
    pub(crate) fn place(&mut self, names: &[&str]) {
        for (i, name) in names.iter().enumerate() {
            if self.plain.len() == i
                && let Some(value) = self.take(name)
            {
                self.plain.push(value);
            }
        }
    }
    /// Checks the number of arguments.
    pub(crate) fn check(&self, name: &str, least: usize, most: usize) -> PyResult<()> {
        if let Some((unknown, _)) = self.named.first() {
            return Err(PyError::new(format!(
                "{name}() has no argument '{unknown}'"
            )));
        }
        let found = self.plain.len();
        if (least..=most).contains(&found) {
            return Ok(());
        }
        let wanted = match (least, most) {
            (1, 1) => "1 argument".into(),
            (a, b) if a == b => format!("{a} arguments"),
            (a, usize::MAX) => format!("at least {a} arguments"),
            (a, b) => format!("{a} to {b} arguments"),
        };
        Err(PyError::new(format!(
            "{name}() must have {wanted}, got {found}"
        )))
    }
}
