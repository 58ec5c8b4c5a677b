//! Operators of Python: arithmetic, comparison, membership.

use super::numbers::{number_order, overflow, quotient};
use super::set_values::{set_operator, set_relation};
use super::text::{check_length, text_of};
use super::value::{Budget, PyError, PyResult, PyValue};
use std::cmp::Ordering;

/// Maximum number of items in a list or a tuple.
const MAX_ITEMS: usize = 100_000;
/// Maximum depth of nested values in a comparison.
const MAX_DEPTH: usize = 100;

/// Checks the length of a list that is about to be made.
pub(super) fn check_items(count: usize) -> PyResult<()> {
    if count <= MAX_ITEMS {
        Ok(())
    } else {
        Err(PyError::limit(format!(
            "a list must have at most {MAX_ITEMS} items, got {count}"
        )))
    }
}

/// Computes a unary operator other than `not`.
pub(super) fn unary(operator: &str, value: &PyValue) -> PyResult {
    match (operator, value) {
        ("-", PyValue::Float(x)) => Ok(PyValue::Float(-x)),
        ("+", PyValue::Float(x)) => Ok(PyValue::Float(*x)),
        (operator, value) => match (operator, value.as_int()) {
            ("-", Some(i)) => i.checked_neg().map(PyValue::Int).ok_or_else(overflow),
            ("+", Some(i)) => Ok(PyValue::Int(i)),
            ("~", Some(i)) => Ok(PyValue::Int(!i)),
            _ => Err(PyError::new(format!(
                "{} has no operator '{operator}'",
                value.a_type()
            ))),
        },
    }
}

/// Computes a binary operator. The size of a sequence that it makes counts as work.
pub(super) fn binary(operator: &str, a: &PyValue, b: &PyValue, host: &mut dyn Budget) -> PyResult {
    if let (Some(i), Some(j)) = (a.as_int(), b.as_int()) {
        return whole(operator, i, j, a, b);
    }
    if let (Some(x), Some(y)) = (a.as_float(), b.as_float()) {
        return floating(operator, x, y, a, b);
    }
    match (operator, a, b) {
        ("+", PyValue::Str(a), PyValue::Str(b)) => {
            check_length(a.len() + b.len())?;
            host.spend((a.len() + b.len()) / 16)?;
            Ok(PyValue::str(format!("{a}{b}")))
        }
        ("+", PyValue::List(a), PyValue::List(b)) => {
            let (a, b) = (a.items.borrow(), b.items.borrow());
            check_items(a.len() + b.len())?;
            host.spend(a.len() + b.len())?;
            Ok(PyValue::list(a.iter().chain(b.iter()).cloned().collect()))
        }
        ("+", PyValue::Tuple(a), PyValue::Tuple(b)) => {
            check_items(a.len() + b.len())?;
            host.spend(a.len() + b.len())?;
            Ok(PyValue::tuple(a.iter().chain(b.iter()).cloned().collect()))
        }
        ("*", sequence, count) | ("*", count, sequence) if count.as_int().is_some() => {
            repeat(sequence, count, host)
        }
        ("|", PyValue::Dict(a), PyValue::Dict(b)) => {
            host.spend(4 * (a.entries.borrow().len() + b.entries.borrow().len()))?;
            let mut entries = a.entries.borrow().clone();
            for (key, value) in b.entries.borrow().iter() {
                entries.insert(key.clone(), value.clone(), host)?;
            }
            Ok(PyValue::dict(entries))
        }
        _ => {
            let combined = set_operator(operator, a, b, host)?;
            combined.ok_or_else(|| no_operator(operator, a, b))
        }
    }
}

fn no_operator(operator: &str, a: &PyValue, b: &PyValue) -> PyError {
    let (left, right) = (a.type_name(), b.type_name());
    let cure = match (operator, a, b) {
        ("+", PyValue::Str(_), _) | ("+", _, PyValue::Str(_)) => "; convert with str(...)",
        (_, PyValue::Str(_), _) | (_, _, PyValue::Str(_)) => "; convert with float(...)",
        _ => "",
    };
    PyError::new(format!(
        "operator '{operator}' must have operands that fit, got {left} and {right}{cure}"
    ))
}

fn repeat(sequence: &PyValue, count: &PyValue, host: &mut dyn Budget) -> PyResult {
    let count = usize::try_from(count.as_int().unwrap_or(0).max(0)).unwrap_or(usize::MAX);
    let mut repeated = |items: &[PyValue]| {
        check_items(items.len().saturating_mul(count))?;
        host.spend(items.len().saturating_mul(count))?;
        Ok((0..count).flat_map(|_| items.iter().cloned()).collect())
    };
    match sequence {
        PyValue::Str(text) => {
            check_length(text.len().saturating_mul(count))?;
            Ok(PyValue::str(if text.is_empty() {
                String::new()
            } else {
                text.repeat(count)
            }))
        }
        PyValue::List(list) if list.items.borrow().is_empty() => Ok(PyValue::list(vec![])),
        PyValue::List(list) => repeated(&list.items.borrow()).map(PyValue::list),
        PyValue::Tuple(items) if items.is_empty() => Ok(PyValue::tuple(vec![])),
        PyValue::Tuple(items) => repeated(items).map(PyValue::tuple),
        other => Err(no_operator("*", other, &PyValue::Int(0))),
    }
}

fn whole(operator: &str, i: i128, j: i128, a: &PyValue, b: &PyValue) -> PyResult {
    let both_bool = matches!((a, b), (PyValue::Bool(_), PyValue::Bool(_)));
    let bits = |value: i128| {
        if both_bool {
            PyValue::Bool(value != 0)
        } else {
            PyValue::Int(value)
        }
    };
    let value = match operator {
        "+" => i.checked_add(j),
        "-" => i.checked_sub(j),
        "*" => i.checked_mul(j),
        "/" if j == 0 => return Err(PyError::new("division by zero")),
        "/" => return Ok(PyValue::Float(quotient(i, j))),
        "//" | "%" if j == 0 => return Err(PyError::new("division by zero")),
        "//" => i.checked_div_euclid(j).map(|q| floor_quotient(i, j, q)),
        "%" => Some(i.checked_rem(j).map_or(0, |r| {
            if r != 0 && (r < 0) != (j < 0) {
                r + j
            } else {
                r
            }
        })),
        "**" if j < 0 => return floating("**", i as f64, j as f64, a, b),
        "**" => power(i, j),
        "&" => return Ok(bits(i & j)),
        "|" => return Ok(bits(i | j)),
        "^" => return Ok(bits(i ^ j)),
        "<<" | ">>" if j < 0 => return Err(PyError::new("negative shift count")),
        "<<" => match (i, u32::try_from(j)) {
            (0, _) => Some(0),
            (i, Ok(j)) if j < 127 => i.checked_mul(1 << j),
            _ => None,
        },
        ">>" => Some(i >> j.min(127)),
        _ => return Err(no_operator(operator, a, b)),
    };
    value.map(PyValue::Int).ok_or_else(overflow)
}

/// Rounds a quotient towards minus infinity, from Euclid's.
fn floor_quotient(i: i128, j: i128, euclid: i128) -> i128 {
    if j < 0 && i.wrapping_rem(j) != 0 {
        euclid - 1
    } else {
        euclid
    }
}

fn power(base: i128, exponent: i128) -> Option<i128> {
    match (base, u32::try_from(exponent)) {
        (0 | 1, _) => Some(if exponent == 0 { 1 } else { base }),
        (-1, _) => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        (base, Ok(exponent)) => base.checked_pow(exponent),
        _ => None,
    }
}

fn floating(operator: &str, x: f64, y: f64, a: &PyValue, b: &PyValue) -> PyResult {
    let zero = || PyError::new("division by zero");
    Ok(PyValue::Float(match operator {
        "+" => x + y,
        "-" => x - y,
        "*" => x * y,
        "/" | "//" | "%" if y == 0.0 => return Err(zero()),
        "/" => x / y,
        "//" => quotient_and_rest(x, y).0,
        "%" => quotient_and_rest(x, y).1,
        "**" => {
            if x == 0.0 && y < 0.0 {
                return Err(PyError::new("zero must not have a negative power"));
            }
            if x < 0.0 && x.is_finite() && y.is_finite() && y.fract() != 0.0 {
                return Err(PyError::new(
                    "a fractional power of a negative number is complex, which is unsupported",
                ));
            }
            let value = x.powf(y);
            if value.is_infinite() && x.is_finite() && y.is_finite() {
                return Err(PyError::new("the power is too large for a number"));
            }
            value
        }
        _ => return Err(no_operator(operator, a, b)),
    }))
}

/// Computes Python's `//` and `%`, whose result has the sign of the divisor.
pub(super) fn quotient_and_rest(x: f64, y: f64) -> (f64, f64) {
    let mut rest = x % y;
    let mut quotient = (x - rest) / y;
    if rest != 0.0 {
        if (y < 0.0) != (rest < 0.0) {
            rest += y;
            quotient -= 1.0;
        }
    } else {
        rest = 0.0_f64.copysign(y);
    }
    let floored = if quotient != 0.0 {
        let floor = quotient.floor();
        if quotient - floor > 0.5 {
            floor + 1.0
        } else {
            floor
        }
    } else {
        0.0_f64.copysign(x / y)
    };
    (floored, rest)
}

/// Compares two values for equality. Values may share parts, so that a comparison can take far
/// longer than it took to make them; each pair of parts counts as work.
pub(super) fn equal(a: &PyValue, b: &PyValue, host: &mut dyn Budget) -> PyResult<bool> {
    equal_at(a, b, host, 0)
}

fn too_deep() -> PyError {
    PyError::limit(format!(
        "values must be nested at most {MAX_DEPTH} deep to be compared"
    ))
}

fn equal_at(a: &PyValue, b: &PyValue, host: &mut dyn Budget, depth: usize) -> PyResult<bool> {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    host.spend(1)?;
    let mut all = |a: &[PyValue], b: &[PyValue]| -> PyResult<bool> {
        if a.len() != b.len() {
            return Ok(false);
        }
        for (a, b) in a.iter().zip(b) {
            if !equal_at(a, b, host, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    Ok(match (a, b) {
        (PyValue::None, PyValue::None) => true,
        (PyValue::Str(a), PyValue::Str(b)) => {
            host.spend(a.len().min(b.len()) / 16)?;
            a == b
        }
        (PyValue::Tuple(a), PyValue::Tuple(b)) => all(a, b)?,
        (PyValue::List(a), PyValue::List(b)) => all(&a.items.borrow(), &b.items.borrow())?,
        (PyValue::Dict(a), PyValue::Dict(b)) => {
            let (a, b) = (a.entries.borrow(), b.entries.borrow());
            if a.len() != b.len() {
                return Ok(false);
            }
            for (key, value) in a.iter() {
                let same = match b.get(&key.key(host)?) {
                    Some(other) => equal_at(value, other, host, depth + 1)?,
                    None => false,
                };
                if !same {
                    return Ok(false);
                }
            }
            true
        }
        (PyValue::Set(a), PyValue::Set(b)) => {
            let (a, b) = (a.entries.borrow(), b.entries.borrow());
            set_relation(&a, &b, host)? == Some(Ordering::Equal)
        }
        (PyValue::Range(a), PyValue::Range(b)) => {
            a.len() == b.len() && (a.len() == 0 || (a.start == b.start && a.get(1) == b.get(1)))
        }
        (PyValue::Function(a), PyValue::Function(b)) => a == b,
        _ => number_order(a, b) == Some(Some(Ordering::Equal)),
    })
}

/// Compares two values for order. Each pair of parts counts as work.
pub(super) fn order(
    a: &PyValue,
    b: &PyValue,
    operator: &str,
    host: &mut dyn Budget,
) -> PyResult<Option<Ordering>> {
    order_at(a, b, operator, host, 0)
}

fn order_at(
    a: &PyValue,
    b: &PyValue,
    operator: &str,
    host: &mut dyn Budget,
    depth: usize,
) -> PyResult<Option<Ordering>> {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    host.spend(1)?;
    let mut items = |a: &[PyValue], b: &[PyValue]| -> PyResult<Option<Ordering>> {
        for (a, b) in a.iter().zip(b) {
            if !equal(a, b, host)? {
                return order_at(a, b, operator, host, depth + 1);
            }
        }
        Ok(Some(a.len().cmp(&b.len())))
    };
    match (a, b) {
        (PyValue::Str(a), PyValue::Str(b)) => {
            host.spend(a.len().min(b.len()) / 16)?;
            return Ok(Some(a.cmp(b)));
        }
        (PyValue::Tuple(a), PyValue::Tuple(b)) => return items(a, b),
        (PyValue::List(a), PyValue::List(b)) => {
            return items(&a.items.borrow(), &b.items.borrow());
        }
        (PyValue::Set(a), PyValue::Set(b)) => {
            return set_relation(&a.entries.borrow(), &b.entries.borrow(), host);
        }
        _ => {}
    }
    number_order(a, b).ok_or_else(|| no_operator(operator, a, b))
}

/// Computes a comparison, an identity or a membership.
pub(super) fn compare(
    operator: &str,
    a: &PyValue,
    b: &PyValue,
    host: &mut dyn Budget,
) -> PyResult<bool> {
    let ordered = |wanted: &[Ordering], host: &mut dyn Budget| -> PyResult<bool> {
        Ok(order(a, b, operator, host)?.is_some_and(|found| wanted.contains(&found)))
    };
    match operator {
        "==" => equal(a, b, host),
        "!=" => Ok(!equal(a, b, host)?),
        "<" => ordered(&[Ordering::Less], host),
        "<=" => ordered(&[Ordering::Less, Ordering::Equal], host),
        ">" => ordered(&[Ordering::Greater], host),
        ">=" => ordered(&[Ordering::Greater, Ordering::Equal], host),
        "is" => identical(a, b, host),
        "is not" => Ok(!identical(a, b, host)?),
        "in" => contains(b, a, host),
        _ => Ok(!contains(b, a, host)?),
    }
}

/// Compares identity: exact for `None`, truth values and functions, else that of equal values of
/// one type.
fn identical(a: &PyValue, b: &PyValue, host: &mut dyn Budget) -> PyResult<bool> {
    match (a, b) {
        (PyValue::List(a), PyValue::List(b)) => Ok(std::rc::Rc::ptr_eq(a, b)),
        (PyValue::Dict(a), PyValue::Dict(b)) => Ok(std::rc::Rc::ptr_eq(a, b)),
        (PyValue::Set(a), PyValue::Set(b)) => Ok(std::rc::Rc::ptr_eq(a, b)),
        _ => Ok(a.type_name() == b.type_name() && equal(a, b, host)?),
    }
}

fn contains(container: &PyValue, item: &PyValue, host: &mut dyn Budget) -> PyResult<bool> {
    match container {
        PyValue::Str(text) => match item {
            PyValue::Str(part) => {
                host.spend((text.len() + part.len()) / 16)?;
                Ok(text.contains(&**part))
            }
            _ => Err(no_operator("in", item, container)),
        },
        PyValue::Dict(dict) => Ok(dict.entries.borrow().get(&item.key(host)?).is_some()),
        PyValue::Set(set) => Ok(set.entries.borrow().get(&item.key(host)?).is_some()),
        PyValue::Range(range) => {
            let found = item.as_int().and_then(|i| range.position(i));
            Ok(found.is_some())
        }
        PyValue::List(list) => any_equal(&list.items.borrow(), item, host),
        PyValue::Tuple(items) | PyValue::View(_, items) => any_equal(items, item, host),
        PyValue::Iterator(items) => any_equal(&items.take(), item, host),
        other => Err(PyError::new(format!(
            "'in' must have a list, a dict or a str on its right, got {}",
            other.a_type()
        ))),
    }
}

fn any_equal(items: &[PyValue], item: &PyValue, host: &mut dyn Budget) -> PyResult<bool> {
    for candidate in items {
        if equal(candidate, item, host)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Joins texts of values with spaces. The length of the text counts as work.
pub(crate) fn joined(values: &[PyValue], host: &mut dyn Budget) -> PyResult<String> {
    let mut joined = String::new();
    for (i, value) in values.iter().enumerate() {
        let text = text_of(value)?;
        check_length(joined.len() + text.len() + 1)?;
        host.spend(1 + text.len() / 4)?;
        joined.push_str(if i > 0 { " " } else { "" });
        joined.push_str(&text);
    }
    Ok(joined)
}
