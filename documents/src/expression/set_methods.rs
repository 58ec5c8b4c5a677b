//! The methods of sets.

use super::evaluator::{CallArguments, Evaluator};
use super::operators::check_items;
use super::set_values::{combined, entries_of, members, missing, set_relation};
use super::text::literal;
use super::value::{PyEntries, PyError, PyResult, PySet, PyValue};
use std::cmp::Ordering;

/// Methods that leave their set as it is.
const PURE: [&str; 8] = [
    "copy",
    "difference",
    "intersection",
    "isdisjoint",
    "issubset",
    "issuperset",
    "symmetric_difference",
    "union",
];
/// Methods that change their set, which must not be frozen.
const CHANGING: [&str; 9] = [
    "add",
    "clear",
    "difference_update",
    "discard",
    "intersection_update",
    "pop",
    "remove",
    "symmetric_difference_update",
    "update",
];

/// Returns whether sets have a method.
pub(super) fn has_set_method(is_frozen: bool, name: &str) -> bool {
    PURE.contains(&name) || (!is_frozen && CHANGING.contains(&name))
}

impl Evaluator<'_> {
    fn members_of(&mut self, value: &PyValue) -> PyResult<PyEntries> {
        let items = self.items(value)?;
        entries_of(items, self.host)
    }

    pub(super) fn set_method(
        &mut self,
        set: &PySet,
        name: &str,
        arguments: CallArguments,
    ) -> PyResult {
        let (least, most) = match name {
            "add" | "discard" | "remove" | "isdisjoint" | "issubset" | "issuperset" => (1, 1),
            "clear" | "copy" | "pop" => (0, 0),
            name if name.starts_with("symmetric") => (1, 1),
            _ => (0, usize::MAX),
        };
        arguments.check(name, least, most)?;
        let plain = arguments.plain;
        let count = set.entries.borrow().len();
        self.host.spend(match name {
            "add" | "discard" | "remove" => 1,
            _ => 1 + 4 * count,
        })?;
        match (name, plain.first()) {
            ("add", Some(item)) => {
                check_items(count + 1)?;
                let mut entries = set.entries.borrow_mut();
                entries.insert(item.clone(), PyValue::None, self.host)?;
            }
            ("discard" | "remove", Some(item)) => {
                let key = item.key(self.host)?;
                let removed = set.entries.borrow_mut().remove(&key);
                if removed.is_none() && name == "remove" {
                    return Err(missing(item, &literal(item)?));
                }
            }
            ("clear", _) => *set.entries.borrow_mut() = PyEntries::default(),
            ("copy", _) => {
                let entries = set.entries.borrow().clone();
                return Ok(PyValue::set(entries, set.frozen));
            }
            ("pop", _) => {
                let first = members(set).into_iter().next();
                let first =
                    first.ok_or_else(|| PyError::new("pop() must have a set with members"))?;
                let key = first.key(self.host)?;
                set.entries.borrow_mut().remove(&key);
                return Ok(first);
            }
            ("isdisjoint" | "issubset" | "issuperset", Some(other)) => {
                let other = self.members_of(other)?;
                let entries = set.entries.borrow();
                let relation = set_relation(&entries, &other, self.host)?;
                let found = match name {
                    "isdisjoint" => combined("&", &entries, &other, self.host)?.len() == 0,
                    "issubset" => matches!(relation, Some(Ordering::Less | Ordering::Equal)),
                    _ => matches!(relation, Some(Ordering::Greater | Ordering::Equal)),
                };
                return Ok(PyValue::Bool(found));
            }
            _ => {
                let operator = match name.trim_end_matches("_update") {
                    "difference" => "-",
                    "intersection" => "&",
                    "symmetric_difference" => "^",
                    _ => "|",
                };
                let mut result = set.entries.borrow().clone();
                for other in &plain {
                    let is_set = matches!(other, PyValue::Set(_));
                    let other = self.members_of(other)?;
                    // The order of CPython's loops, which decides among equal members.
                    let swapped = match name {
                        "symmetric_difference" => true,
                        _ if operator == "&" => !is_set || other.len() <= result.len(),
                        _ => false,
                    };
                    let [first, second] = if swapped {
                        [&other, &result]
                    } else {
                        [&result, &other]
                    };
                    result = combined(operator, first, second, self.host)?;
                    check_items(result.len())?;
                }
                if !CHANGING.contains(&name) {
                    return Ok(PyValue::set(result, set.frozen));
                }
                *set.entries.borrow_mut() = result;
            }
        }
        Ok(PyValue::None)
    }
}
