//! Construction, operators and comparison of sets; their methods are in `set_methods`.

use super::hash::set_order;
use super::value::{Budget, PyEntries, PyError, PyResult, PySet, PyValue};
use std::cmp::Ordering;

/// Makes a set of values.
pub(super) fn set_of(
    items: impl IntoIterator<Item = PyValue>,
    frozen: bool,
    host: &mut dyn Budget,
) -> PyResult {
    let entries = entries_of(items, host)?;
    Ok(PyValue::set(entries, frozen))
}

/// Collects the members of a set; their values are `None`.
pub(super) fn entries_of(
    items: impl IntoIterator<Item = PyValue>,
    host: &mut dyn Budget,
) -> PyResult<PyEntries> {
    let mut entries = PyEntries::default();
    for item in items {
        host.spend(4)?;
        entries.insert(item, PyValue::None, host)?;
    }
    Ok(entries)
}

/// Returns the members of a set in the order in which Python iterates over them.
pub(super) fn members(set: &PySet) -> Vec<PyValue> {
    let entries = set.entries.borrow();
    let members = entries.keys();
    let order = set_order(&entries.hash_keys(), entries.num_removed());
    let in_order = order.into_iter().filter_map(|i| members.get(i).cloned());
    in_order.collect()
}

/// Returns the members of an operand of a set operator; `None` if it is no operand.
fn operand(value: &PyValue, host: &mut dyn Budget) -> PyResult<Option<PyEntries>> {
    match value {
        PyValue::Set(set) => {
            host.spend(4 * set.entries.borrow().len())?;
            Ok(Some(set.entries.borrow().clone()))
        }
        PyValue::View("dict_keys" | "dict_items", items) => {
            entries_of(items.iter().cloned(), host).map(Some)
        }
        _ => Ok(None),
    }
}

/// Computes `|`, `&`, `-` or `^` of two sets; `None` if the operands are no sets.
pub(super) fn set_operator(
    operator: &str,
    a: &PyValue,
    b: &PyValue,
    host: &mut dyn Budget,
) -> PyResult<Option<PyValue>> {
    if !matches!(operator, "|" | "&" | "-" | "^") {
        return Ok(None);
    }
    let frozen = matches!(a, PyValue::Set(set) if set.frozen);
    let (Some(a), Some(b)) = (operand(a, host)?, operand(b, host)?) else {
        return Ok(None);
    };
    // As in CPython: of equal members, that of the smaller set is kept.
    let entries = match operator {
        "&" if b.len() <= a.len() => combined(operator, &b, &a, host)?,
        "^" => combined(operator, &b, &a, host)?,
        _ => combined(operator, &a, &b, host)?,
    };
    Ok(Some(PyValue::set(entries, frozen)))
}

/// Computes `|`, `&`, `-` or `^` of the members of two sets. Of equal members, that of the first
/// set is kept.
pub(super) fn combined(
    operator: &str,
    a: &PyEntries,
    b: &PyEntries,
    host: &mut dyn Budget,
) -> PyResult<PyEntries> {
    host.spend(4 * (a.len() + b.len()))?;
    if matches!(operator, "|" | "^") {
        let mut result = a.clone();
        for (item, _) in b.iter() {
            let shared = operator == "^" && result.remove(&item.key(host)?).is_some();
            if !shared {
                result.insert(item.clone(), PyValue::None, host)?;
            }
        }
        return Ok(result);
    }
    let mut result = PyEntries::default();
    for (item, _) in a.iter() {
        if b.get(&item.key(host)?).is_some() == (operator == "&") {
            result.insert(item.clone(), PyValue::None, host)?;
        }
    }
    Ok(result)
}

/// Compares two sets: less is a subset, greater is a superset; `None` if neither is.
pub(super) fn set_relation(
    a: &PyEntries,
    b: &PyEntries,
    host: &mut dyn Budget,
) -> PyResult<Option<Ordering>> {
    let mut shared = 0;
    for (item, _) in a.iter() {
        host.spend(1)?;
        shared += usize::from(b.get(&item.key(host)?).is_some());
    }
    Ok(match (shared == a.len(), shared == b.len()) {
        (true, true) => Some(Ordering::Equal),
        (true, false) => Some(Ordering::Less),
        (false, true) => Some(Ordering::Greater),
        (false, false) => None,
    })
}

/// Creates the error for a missing member.
pub(super) fn missing(item: &PyValue, shown: &str) -> PyError {
    let kind = item.a_type();
    PyError::new(format!("the set has no member {shown} ({kind})"))
}
