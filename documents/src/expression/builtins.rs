//! Calls, and the functions that Python has without an import.

use super::conversions::{int, is_subtype, length, needs, range, round, sum};
use super::evaluator::{CallArguments, Evaluator};
use super::hash::hash;
use super::math;
use super::numbers::overflow;
use super::operators::{binary, order, quotient_and_rest};
use super::set_values::set_of;
use super::sorting;
use super::text::{is_type, literal, parse_float, text_of};
use super::value::{PyEntries, PyError, PyFunction, PyResult, PyValue};
use std::cmp::Ordering;
use tarragon_framework::counted;

/// Names of the functions.
#[rustfmt::skip]
const BUILTINS: &[&str] = &[
    "abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "filter", "float",
    "frozenset", "hash", "int", "isinstance", "issubclass", "len", "list", "map", "max", "min",
    "ord", "range", "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple",
    "type", "vars", "zip",
];

/// Returns a function that Python has without an import, as far as xacro lets expressions use it;
/// the call of some is an error.
pub(crate) fn builtin(name: &str) -> Option<PyValue> {
    let found = BUILTINS.iter().find(|n| **n == name)?;
    Some(PyValue::Function(PyFunction::Builtin(found)))
}

impl Evaluator<'_> {
    pub(super) fn call(&mut self, function: &PyValue, arguments: CallArguments) -> PyResult {
        match function {
            PyValue::Function(PyFunction::Builtin(name)) => {
                self.nested(|evaluator| evaluator.call_builtin(name, arguments))
            }
            PyValue::Function(PyFunction::Math(name)) => self.call_math(name, arguments),
            PyValue::Function(PyFunction::Host(name)) => self.host.call(name, arguments),
            PyValue::Method(method) => {
                let (value, name) = &**method;
                self.nested(|evaluator| evaluator.call_method(value, name, arguments))
            }
            other => Err(PyError::new(format!(
                "{} must not be called",
                other.a_type()
            ))),
        }
    }

    fn call_one(&mut self, function: &PyValue, argument: PyValue) -> PyResult {
        let arguments = CallArguments {
            plain: vec![argument],
            named: vec![],
        };
        self.call(function, arguments)
    }

    fn call_math(&mut self, name: &str, mut arguments: CallArguments) -> PyResult {
        if name == "isclose" {
            let mut tolerance = |name: &str, default: f64| match arguments.take(name) {
                None => Ok(default),
                Some(value) => value
                    .as_float()
                    .ok_or_else(|| PyError::new(format!("{name} must be a number"))),
            };
            let (relative, absolute) = (tolerance("rel_tol", 1e-9)?, tolerance("abs_tol", 0.0)?);
            arguments.check("math.isclose", 2, 2)?;
            let real = |v: &PyValue| v.as_float();
            let (Some(a), Some(b)) = (real(&arguments.plain[0]), real(&arguments.plain[1])) else {
                return Err(PyError::new("math.isclose() must have two numbers"));
            };
            let bound = (relative * a.abs().max(b.abs())).max(absolute);
            let close = a == b || (a.is_finite() && b.is_finite() && (a - b).abs() <= bound);
            return Ok(PyValue::Bool(close));
        }
        if name == "prod" {
            let start = arguments.take("start").unwrap_or(PyValue::Int(1));
            arguments.check("math.prod", 1, 1)?;
            let items = self.items(&arguments.plain[0])?;
            return items
                .iter()
                .try_fold(start, |total, x| binary("*", &total, x, self.host));
        }
        arguments.check(&format!("math.{name}"), 0, usize::MAX)?;
        let plain = &arguments.plain;
        match (name, &**plain) {
            ("fsum", [items]) => {
                let items = self.items(items)?;
                math::call_many(name, &items)
            }
            ("dist", [a, b]) => {
                let (a, b) = (self.items(a)?, self.items(b)?);
                if a.len() != b.len() {
                    return Err(PyError::new("math.dist() must have two points of one size"));
                }
                let mut parts = vec![];
                for (a, b) in a.iter().zip(&b) {
                    let difference = binary("-", a, b, self.host)?;
                    parts.push(difference.as_float().unwrap_or(f64::NAN));
                }
                Ok(PyValue::Float(math::length(&parts)))
            }
            ("hypot" | "gcd" | "lcm", values) => math::call_many(name, values),
            (_, values) => {
                let called = math::call(name, values);
                called.unwrap_or_else(|| math::call_many(name, values))
            }
        }
    }

    fn call_builtin(&mut self, name: &str, mut arguments: CallArguments) -> PyResult {
        match name {
            "dict" => return self.dict(arguments),
            "sorted" => return self.sorted(arguments),
            "min" | "max" => return self.extreme(name, arguments),
            "enumerate" => arguments.place(&["iterable", "start"]),
            "round" => arguments.place(&["number", "ndigits"]),
            "sum" => arguments.place(&["iterable", "start"]),
            "int" => arguments.place(&["x", "base"]),
            _ => {}
        }
        let (least, most) = match name {
            "bool" | "float" | "frozenset" | "list" | "set" | "str" | "tuple" => (0, 1),
            "int" => (0, 2),
            "round" | "sum" | "enumerate" => (1, 2),
            "range" | "slice" => (1, 3),
            "divmod" | "isinstance" | "issubclass" | "filter" => (2, 2),
            "map" => (2, usize::MAX),
            "zip" => (0, usize::MAX),
            _ => (1, 1),
        };
        arguments.check(name, least, most)?;
        let all = arguments.plain;
        let Some(first) = all.first().cloned() else {
            return Ok(match name {
                "bool" => PyValue::Bool(false),
                "float" => PyValue::Float(0.0),
                "int" => PyValue::Int(0),
                "frozenset" | "set" => return set_of([], name == "frozenset", self.host),
                "list" => PyValue::list(vec![]),
                "tuple" => PyValue::tuple(vec![]),
                "zip" => PyValue::iterator([]),
                _ => PyValue::str(""),
            });
        };
        match name {
            "abs" => match (&first, first.as_int()) {
                (PyValue::Float(x), _) => Ok(PyValue::Float(x.abs())),
                (_, Some(i)) => i.checked_abs().map(PyValue::Int).ok_or_else(overflow),
                _ => Err(needs(name, "a number", &first)),
            },
            "all" | "any" => {
                let items = self.items(&first)?;
                let any = items.iter().any(|item| item.truth() == (name == "any"));
                Ok(PyValue::Bool(any == (name == "any")))
            }
            "bool" => Ok(PyValue::Bool(first.truth())),
            "divmod" => match (first.as_int(), all[1].as_int()) {
                (Some(_), Some(_)) => Ok(PyValue::tuple(vec![
                    binary("//", &first, &all[1], self.host)?,
                    binary("%", &first, &all[1], self.host)?,
                ])),
                _ => match (first.as_float(), all[1].as_float()) {
                    (Some(_), Some(0.0)) => Err(PyError::new("division by zero")),
                    (Some(x), Some(y)) => {
                        let (quotient, rest) = quotient_and_rest(x, y);
                        Ok(PyValue::tuple(vec![
                            PyValue::Float(quotient),
                            PyValue::Float(rest),
                        ]))
                    }
                    _ => Err(needs(name, "two numbers", &first)),
                },
            },
            "enumerate" => {
                let start = all
                    .get(1)
                    .map_or(Ok(0), |s| s.index("the start of enumerate()"))?;
                let items = self.items(&first)?.into_iter().zip(0_i128..);
                let pairs = items.map(|(item, i)| {
                    let place = start.checked_add(i).ok_or_else(overflow)?;
                    Ok(PyValue::tuple(vec![PyValue::Int(place), item]))
                });
                Ok(PyValue::iterator(pairs.collect::<PyResult<Vec<_>>>()?))
            }
            "filter" => {
                let mut kept = vec![];
                for item in self.items(&all[1])? {
                    let keep = match &first {
                        PyValue::None => item.clone(),
                        function => self.call_one(function, item.clone())?,
                    };
                    kept.extend(keep.truth().then_some(item));
                }
                Ok(PyValue::iterator(kept))
            }
            "float" => match &first {
                PyValue::Str(text) => parse_float(text).map(PyValue::Float).ok_or_else(|| {
                    PyError::new(format!(
                        "float() must have the text of a number, got '{text}'"
                    ))
                }),
                value => value
                    .as_float()
                    .map(PyValue::Float)
                    .ok_or_else(|| needs(name, "a number or a text", value)),
            },
            "frozenset" | "set" => match &first {
                PyValue::Set(set) if set.frozen && name == "frozenset" => Ok(first.clone()),
                first => {
                    let items = self.items(first)?;
                    set_of(items, name == "frozenset", self.host)
                }
            },
            "hash" => {
                let key = first.key(self.host)?;
                let hash = hash(&key).map(|hash| PyValue::Int(i128::from(hash)));
                let message = "the argument of hash() must be a number or a tuple of numbers: \
                               hashes of other values differ in each run of Python";
                hash.ok_or_else(|| PyError::new(message))
            }
            "int" => int(&first, all.get(1)),
            "isinstance" => {
                let found = is_subtype(first.type_name(), &all[1], self.host)?;
                Ok(PyValue::Bool(found))
            }
            "issubclass" => match &first {
                PyValue::Function(PyFunction::Builtin(kind)) if is_type(kind) => {
                    Ok(PyValue::Bool(is_subtype(kind, &all[1], self.host)?))
                }
                other => Err(needs(name, "a type", other)),
            },
            "len" => {
                if let PyValue::Str(text) = &first {
                    self.host.spend(text.len() / 16)?;
                }
                length(&first).map(|n| PyValue::Int(n as i128))
            }
            "list" => self.items(&first).map(PyValue::list),
            "map" => {
                let sources = all[1..].iter().map(|source| self.items(source));
                let sources = sources.collect::<PyResult<Vec<_>>>()?;
                let count = sources.iter().map(Vec::len).min().unwrap_or(0);
                let mut mapped = vec![];
                for i in 0..count {
                    let plain = sources.iter().map(|items| items[i].clone()).collect();
                    let named = vec![];
                    mapped.push(self.call(&first, CallArguments { plain, named })?);
                }
                Ok(PyValue::iterator(mapped))
            }
            "ord" => match &first {
                PyValue::Str(text) if text.chars().count() == 1 => {
                    let code = text.chars().next().map_or(0, |c| c as u32);
                    Ok(PyValue::Int(i128::from(code)))
                }
                value => Err(needs(name, "one character", value)),
            },
            "range" => range(&all),
            "repr" => literal(&first).map(PyValue::str),
            "reversed" => {
                let items = self.items(&first)?;
                Ok(PyValue::iterator(items.into_iter().rev()))
            }
            "round" => round(&first, all.get(1)),
            "slice" => {
                let parts = match &*all {
                    [stop] => [PyValue::None, stop.clone(), PyValue::None],
                    [start, stop] => [start.clone(), stop.clone(), PyValue::None],
                    [start, stop, step, ..] => [start.clone(), stop.clone(), step.clone()],
                    [] => [PyValue::None, PyValue::None, PyValue::None],
                };
                // Without other values, slices cannot be nested.
                if !parts
                    .iter()
                    .all(|p| matches!(p, PyValue::None) || p.as_int().is_some())
                {
                    return Err(PyError::new("slice() must have whole numbers or None"));
                }
                Ok(PyValue::Slice(parts.into()))
            }
            "str" => text_of(&first).map(PyValue::str),
            "sum" => {
                let start = all.get(1).cloned().unwrap_or(PyValue::Int(0));
                if matches!(start, PyValue::Str(_)) {
                    return Err(PyError::new("sum() must not have texts; use ''.join(...)"));
                }
                let items = self.items(&first)?;
                sum(start, &items, self.host)
            }
            "tuple" => self.items(&first).map(PyValue::tuple),
            "type" => match first.type_name() {
                name if is_type(name) => Ok(PyValue::Function(PyFunction::Builtin(name))),
                _ => {
                    let found = first.a_type();
                    Err(PyError::new(format!("type() of {found} is unsupported")))
                }
            },
            "zip" => {
                let sources = all.iter().map(|source| self.items(source));
                let sources = sources.collect::<PyResult<Vec<_>>>()?;
                let count = sources.iter().map(Vec::len).min().unwrap_or(0);
                let row = |i: usize| sources.iter().map(|items| items[i].clone()).collect();
                Ok(PyValue::iterator(
                    (0..count).map(|i| PyValue::tuple(row(i))),
                ))
            }
            other => Err(PyError::new(format!("{other}() is unsupported"))),
        }
    }

    fn dict(&mut self, arguments: CallArguments) -> PyResult {
        if arguments.plain.len() > 1 {
            return Err(PyError::new("dict() must have at most one plain argument"));
        }
        let mut entries = PyEntries::default();
        match arguments.plain.first() {
            None => {}
            Some(PyValue::Dict(dict)) => {
                self.host.spend(4 * dict.entries.borrow().len())?;
                entries = dict.entries.borrow().clone();
            }
            Some(pairs) => {
                for pair in self.items(pairs)? {
                    match &*self.items(&pair)? {
                        [key, value] => entries.insert(key.clone(), value.clone(), self.host)?,
                        other => {
                            return Err(PyError::new(format!(
                                "dict() must have pairs, got an item with {parts}",
                                parts = counted(other.len(), "part")
                            )));
                        }
                    }
                }
            }
        }
        for (name, value) in arguments.named {
            entries.insert(PyValue::str(name), value, self.host)?;
        }
        Ok(PyValue::dict(entries))
    }

    /// Sorts values by a key, stably; the first error of a comparison counts.
    pub(super) fn sort(
        &mut self,
        items: Vec<PyValue>,
        key: Option<PyValue>,
        reverse: bool,
    ) -> PyResult<Vec<PyValue>> {
        let mut keyed = vec![];
        for item in items {
            let by = match &key {
                None | Some(PyValue::None) => item.clone(),
                Some(function) => self.call_one(function, item.clone())?,
            };
            keyed.push((by, item));
        }
        // As in Python, the sorting from both ends keeps the order of equal items.
        if reverse {
            keyed.reverse();
        }
        let host = &mut *self.host;
        let mut sorted = sorting::sorted(keyed, &mut |(a, _), (b, _)| {
            Ok(order(a, b, "<", host)? == Some(Ordering::Less))
        })?;
        if reverse {
            sorted.reverse();
        }
        Ok(sorted.into_iter().map(|(_, item)| item).collect())
    }

    fn sorted(&mut self, mut arguments: CallArguments) -> PyResult {
        let key = arguments.take("key");
        let reverse = arguments.take("reverse").is_some_and(|r| r.truth());
        arguments.check("sorted", 1, 1)?;
        let items = self.items(&arguments.plain[0])?;
        self.sort(items, key, reverse).map(PyValue::list)
    }

    fn extreme(&mut self, name: &str, mut arguments: CallArguments) -> PyResult {
        let (key, default) = (arguments.take("key"), arguments.take("default"));
        arguments.check(name, 1, usize::MAX)?;
        let items = match &*arguments.plain {
            [items] => self.items(items)?,
            items => items.to_vec(),
        };
        let wanted = match name {
            "min" => Ordering::Less,
            _ => Ordering::Greater,
        };
        let mut best: Option<(PyValue, PyValue)> = None;
        for item in items {
            let by = match &key {
                None | Some(PyValue::None) => item.clone(),
                Some(function) => self.call_one(function, item.clone())?,
            };
            let better = match &best {
                None => true,
                Some((least, _)) => order(&by, least, "<", self.host)? == Some(wanted),
            };
            if better {
                best = Some((by, item));
            }
        }
        let best = best.map(|(_, item)| item).or(default);
        best.ok_or_else(|| PyError::new(format!("{name}() must have at least one item")))
    }
}
