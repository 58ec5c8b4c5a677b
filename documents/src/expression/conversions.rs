//! Functions of Python that call no others: conversions, rounding, lengths.

use super::numbers::{overflow, rounded, to_whole};
use super::operators::{binary, check_items, equal};
use super::text::{is_type, literal, parse_int};
use super::value::{Budget, PyError, PyFunction, PyRange, PyResult, PyValue};

pub(super) fn needs(function: &str, wanted: &str, value: &PyValue) -> PyError {
    let found = value.a_type();
    PyError::new(format!("{function}() must have {wanted}, got {found}"))
}

/// Adds up numbers, in the way of Python 3.11 and older.
pub(super) fn sum(start: PyValue, items: &[PyValue], host: &mut dyn Budget) -> PyResult {
    let mut items = items.iter();
    items.try_fold(start, |sum, x| binary("+", &sum, x, host))
}

pub(super) fn int(value: &PyValue, base: Option<&PyValue>) -> PyResult {
    if let Some(base) = base {
        let PyValue::Str(text) = value else {
            return Err(needs("int", "a text if it has a base", value));
        };
        let base = base.index("the base of int()")?;
        let text = text.trim().to_lowercase();
        let prefix = match base {
            2 => "0b",
            8 => "0o",
            16 => "0x",
            _ => "",
        };
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", &*text),
        };
        let digits = digits.strip_prefix(prefix).unwrap_or(digits);
        if !(2..=36).contains(&base) || !digits.chars().all(|c| c.is_digit(base as u32)) {
            return Err(PyError::new(format!(
                "int() must have digits of base {base}, got '{text}'"
            )));
        }
        let parsed = i128::from_str_radix(&format!("{sign}{digits}"), base as u32);
        return parsed
            .map(PyValue::Int)
            .map_err(|e| PyError::new(format!("int('{text}'): {e}")));
    }
    match value {
        PyValue::Str(text) => match parse_int(text) {
            Some(number) => number.map(PyValue::Int),
            None => Err(PyError::new(format!(
                "int() must have the text of a whole number, got '{text}'"
            ))),
        },
        PyValue::Float(x) => to_whole("int", *x),
        value => value
            .as_int()
            .map(PyValue::Int)
            .ok_or_else(|| needs("int", "a number or a text", value)),
    }
}

/// Number of members of a value.
pub(super) fn length(value: &PyValue) -> PyResult<usize> {
    match value {
        PyValue::Str(text) => Ok(text.chars().count()),
        PyValue::Tuple(items) | PyValue::View(_, items) => Ok(items.len()),
        PyValue::List(list) => Ok(list.items.borrow().len()),
        PyValue::Dict(dict) => Ok(dict.entries.borrow().len()),
        PyValue::Set(set) => Ok(set.entries.borrow().len()),
        PyValue::Range(range) => usize::try_from(range.len())
            .ok()
            .filter(|n| isize::try_from(*n).is_ok())
            .ok_or_else(|| PyError::new("len() must be below 2^63, got that of a longer range")),
        other => Err(needs("len", "a list, a dict or a str", other)),
    }
}

pub(super) fn range(all: &[PyValue]) -> PyResult {
    let part = |i: usize| all[i].index("an argument of range()");
    let (start, stop, step) = match all.len() {
        1 => (0, part(0)?, 1),
        2 => (part(0)?, part(1)?, 1),
        _ => (part(0)?, part(1)?, part(2)?),
    };
    match step {
        0 => Err(PyError::new("the step of range() must not be zero")),
        step => Ok(PyValue::Range(PyRange { start, stop, step })),
    }
}

/// Rounds to an even digit in the middle.
pub(super) fn round(value: &PyValue, digits: Option<&PyValue>) -> PyResult {
    let digits = match digits {
        None | Some(PyValue::None) => None,
        Some(digits) => Some(digits.index("the number of digits of round()")?),
    };
    let PyValue::Float(x) = value else {
        let i = value
            .as_int()
            .ok_or_else(|| needs("round", "a number", value))?;
        let Some(places) = digits.filter(|d| *d < 0) else {
            return Ok(PyValue::Int(i));
        };
        // From 10^39 on, every number of 127 bits is less than half a unit.
        let Some(unit) = u32::try_from(places.unsigned_abs())
            .ok()
            .and_then(|p| 10_i128.checked_pow(p))
        else {
            return Ok(PyValue::Int(0));
        };
        let (down, rest) = (i.div_euclid(unit), i.rem_euclid(unit));
        let up = rest > unit - rest || (rest == unit - rest && down % 2 != 0);
        let rounded = (down + i128::from(up)).checked_mul(unit);
        return rounded.map(PyValue::Int).ok_or_else(overflow);
    };
    match digits {
        None => to_whole("round", x.round_ties_even()),
        Some(digits) => rounded(*x, digits).map(PyValue::Float),
    }
}

/// Returns whether the type of a name is a type, one of a tuple of types, or derived from one.
pub(super) fn is_subtype(name: &str, kind: &PyValue, host: &mut dyn Budget) -> PyResult<bool> {
    is_subtype_at(name, kind, host, 0)
}

fn is_subtype_at(
    name: &str,
    kind: &PyValue,
    host: &mut dyn Budget,
    depth: usize,
) -> PyResult<bool> {
    host.spend(1)?;
    match kind {
        PyValue::Tuple(_) if depth > 100 => Err(PyError::limit("types are nested too deep")),
        PyValue::Tuple(kinds) => {
            for kind in kinds.iter() {
                if is_subtype_at(name, kind, host, depth + 1)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        PyValue::Function(PyFunction::Builtin(kind)) if is_type(kind) => {
            Ok(name == *kind || (*kind == "int" && name == "bool"))
        }
        PyValue::Function(PyFunction::Builtin(kind)) => {
            Err(PyError::new(format!("'{kind}' is unsupported as a type")))
        }
        other => Err(needs("isinstance", "a type", other)),
    }
}

/// Returns the index of the first equal item.
pub(super) fn position(
    items: &[PyValue],
    item: &PyValue,
    host: &mut dyn Budget,
) -> PyResult<usize> {
    for (i, candidate) in items.iter().enumerate() {
        if equal(candidate, item, host)? {
            return Ok(i);
        }
    }
    Err(PyError::new(format!(
        "{} is not in the list",
        literal(item)?
    )))
}

/// Checks that one more item fits.
pub(super) fn check_room(items: &[PyValue]) -> PyResult<()> {
    check_items(items.len() + 1)
}
