//! Indices, slices, and the methods of lists, tuples and dictionaries.

use super::conversions::{check_room, length, position};
use super::evaluator::{CallArguments, Evaluator};
use super::numbers::overflow;
use super::operators::{check_items, equal};
use super::searches::bounded;
use super::set_methods::has_set_method;
use super::set_values::entries_of;
use super::strings;
use super::text::literal;
use super::value::{
    Budget, PyDict, PyEntries, PyError, PyFunction, PyList, PyRange, PyResult, PyValue,
};

const LIST_METHODS: [&str; 11] = [
    "append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse",
    "sort",
];
const DICT_METHODS: [&str; 11] = [
    "clear",
    "copy",
    "fromkeys",
    "get",
    "items",
    "keys",
    "pop",
    "popitem",
    "setdefault",
    "update",
    "values",
];

impl Evaluator<'_> {
    /// Returns whether a value has a method. A type has the methods of its
    /// values, as in `str.lower`.
    pub(super) fn has_method(&self, value: &PyValue, name: &str) -> bool {
        let kind = match value {
            PyValue::Function(PyFunction::Builtin(kind)) => kind,
            other => other.type_name(),
        };
        match kind {
            "str" => strings::METHODS.contains(&name),
            "list" => LIST_METHODS.contains(&name),
            "dict" => DICT_METHODS.contains(&name),
            "set" | "frozenset" => has_set_method(kind == "frozenset", name),
            "tuple" | "range" => matches!(name, "count" | "index"),
            "float" => name == "is_integer",
            "int" | "bool" => name == "bit_length",
            _ => false,
        }
    }

    /// Calls a method of a type, whose first argument is the value that it acts on.
    fn call_method_of_type(
        &mut self,
        kind: &str,
        name: &str,
        mut arguments: CallArguments,
    ) -> PyResult {
        if kind == "dict" && name == "fromkeys" {
            return self.call_method(&PyValue::dict(PyEntries::default()), name, arguments);
        }
        let first = arguments.plain.first();
        let found = first.map_or("none", PyValue::type_name);
        if found != kind && (kind, found) != ("int", "bool") {
            let found = first.map_or("none".into(), PyValue::a_type);
            let article = if kind == "int" { "an" } else { "a" };
            return Err(PyError::new(format!(
                "{kind}.{name}() must have {article} {kind} as its first argument, got {found}"
            )));
        }
        let value = arguments.plain.remove(0);
        self.call_method(&value, name, arguments)
    }

    pub(super) fn call_method(
        &mut self,
        value: &PyValue,
        name: &str,
        arguments: CallArguments,
    ) -> PyResult {
        match value {
            PyValue::Function(PyFunction::Builtin(kind)) => {
                self.call_method_of_type(kind, name, arguments)
            }
            PyValue::Str(text) => self.str_method(text, name, arguments),
            PyValue::List(list) => self.list_method(list, name, arguments),
            PyValue::Dict(dict) => self.dict_method(dict, name, arguments),
            PyValue::Set(set) => self.set_method(set, name, arguments),
            PyValue::Float(x) => {
                arguments.check(name, 0, 0)?;
                Ok(PyValue::Bool(x.is_finite() && x.fract() == 0.0))
            }
            PyValue::Int(_) | PyValue::Bool(_) => {
                arguments.check(name, 0, 0)?;
                let size = value.as_int().unwrap_or(0).unsigned_abs();
                Ok(PyValue::Int(i128::from(128 - size.leading_zeros())))
            }
            other => {
                let is_tuple = matches!(other, PyValue::Tuple(_));
                let most = if is_tuple && name == "index" { 3 } else { 1 };
                arguments.check(name, 1, most)?;
                let items = self.items(other)?;
                count_or_index(&items, name, &arguments.plain, self.host)
            }
        }
    }

    /// Returns a member of a value by its index, its key or a slice.
    pub(super) fn item(&mut self, value: &PyValue, index: &PyValue) -> PyResult {
        if let PyValue::Slice(parts) = index {
            return self.slice(value, parts);
        }
        let wrong = |found: &str| {
            Err(PyError::new(format!(
                "the index of {} must be a whole number, got {found}",
                value.a_type()
            )))
        };
        match value {
            PyValue::Dict(dict) => {
                let key = index.key(self.host)?;
                let found = dict.entries.borrow().get(&key).cloned();
                let Some(found) = found else {
                    let known: Vec<String> = {
                        let entries = dict.entries.borrow();
                        let keys = entries.iter().take(8).map(|(key, _)| literal(key));
                        keys.collect::<PyResult<_>>()?
                    };
                    return Err(PyError::new(format!(
                        "the dict has no key {}; there are: {}",
                        literal(index)?,
                        known.join(", ")
                    )));
                };
                Ok(if dict.dotted { found.dotted() } else { found })
            }
            PyValue::Str(text) => match index.as_int() {
                Some(i) => {
                    self.host.spend(text.len() / 16)?;
                    let count = text.chars().count();
                    let c = text.chars().nth(place(i, count)?);
                    Ok(PyValue::str(c.map(String::from).unwrap_or_default()))
                }
                None => wrong(&index.a_type()),
            },
            PyValue::Tuple(items) => match index.as_int() {
                Some(i) => Ok(items[place(i, items.len())?].clone()),
                None => wrong(&index.a_type()),
            },
            PyValue::List(list) => match index.as_int() {
                Some(i) => {
                    let items = list.items.borrow();
                    let item = items[place(i, items.len())?].clone();
                    Ok(if list.dotted { item.dotted() } else { item })
                }
                None => wrong(&index.a_type()),
            },
            PyValue::Range(range) => match index.as_int() {
                Some(i) => {
                    let at = if i < 0 {
                        range.len().checked_sub(i.unsigned_abs())
                    } else {
                        Some(i.unsigned_abs())
                    };
                    let at = at.filter(|at| *at < range.len());
                    let at = at.ok_or_else(|| outside(i, range.len()))?;
                    Ok(PyValue::Int(range.get(at)))
                }
                None => wrong(&index.a_type()),
            },
            other => Err(PyError::new(format!(
                "{} has no members by index",
                other.a_type()
            ))),
        }
    }

    fn slice(&mut self, value: &PyValue, parts: &[PyValue; 3]) -> PyResult {
        if !matches!(
            value,
            PyValue::Str(_) | PyValue::Tuple(_) | PyValue::List(_) | PyValue::Range(_)
        ) {
            let message = format!("{} has no slices", value.a_type());
            return Err(PyError::new(message));
        }
        let picked = indices(length(value)?, parts)?;
        // Both the members and what is picked of them are gone through.
        let picked_count = usize::try_from(picked.len()).unwrap_or(usize::MAX);
        match value {
            PyValue::Range(range) => return part_of_range(range, &picked),
            PyValue::Str(text) => {
                self.host.spend(text.len() / 16 + picked_count)?;
                let chars: Vec<char> = text.chars().collect();
                let picked = (0..picked.len()).map(|i| picked.get(i) as usize);
                let text: String = picked.filter_map(|i| chars.get(i)).collect();
                return Ok(PyValue::str(text));
            }
            _ => {}
        }
        check_items(picked_count)?;
        let plain = match value {
            PyValue::List(list) => {
                self.host.spend(list.items.borrow().len())?;
                list.items.borrow().clone()
            }
            other => self.items(other)?,
        };
        let picked = (0..picked.len()).map(|i| picked.get(i) as usize);
        let items = picked.filter_map(|i| plain.get(i)).cloned().collect();
        Ok(match value {
            PyValue::Tuple(_) => PyValue::tuple(items),
            PyValue::List(list) if list.dotted => PyValue::list(items).dotted(),
            _ => PyValue::list(items),
        })
    }

    fn list_method(&mut self, list: &PyList, name: &str, mut arguments: CallArguments) -> PyResult {
        let (key, reverse) = match name {
            "sort" => (arguments.take("key"), arguments.take("reverse")),
            _ => (None, None),
        };
        let (least, most) = match name {
            "append" | "count" | "extend" | "remove" => (1, 1),
            "index" => (1, 3),
            "insert" => (2, 2),
            "pop" => (0, 1),
            _ => (0, 0),
        };
        arguments.check(name, least, most)?;
        let plain = arguments.plain;
        // The work of each method in the number of items that it goes through or moves.
        let count = list.items.borrow().len();
        self.host.spend(match name {
            "append" => 1,
            "pop" if plain.is_empty() => 1,
            _ => 1 + count,
        })?;
        match name {
            "append" => {
                check_room(&list.items.borrow())?;
                list.items.borrow_mut().push(plain[0].clone());
            }
            "clear" => list.items.borrow_mut().clear(),
            "copy" => return Ok(PyValue::list(list.items.borrow().clone())),
            "count" | "index" => {
                return count_or_index(&list.items.borrow(), name, &plain, self.host);
            }
            "extend" => {
                let more = self.items(&plain[0])?;
                check_items(list.items.borrow().len() + more.len())?;
                list.items.borrow_mut().extend(more);
            }
            "insert" => {
                check_room(&list.items.borrow())?;
                let mut items = list.items.borrow_mut();
                let at = plain[0].index("the place of insert()")?;
                let n = items.len() as i128;
                let at = if at < 0 { at.saturating_add(n) } else { at };
                items.insert(at.clamp(0, n) as usize, plain[1].clone());
            }
            "pop" => {
                let at = plain
                    .first()
                    .map_or(Ok(-1), |i| i.index("the place of pop()"))?;
                let mut items = list.items.borrow_mut();
                let at = place(at, items.len())?;
                return Ok(items.remove(at));
            }
            "remove" => {
                let at = position(&list.items.borrow(), &plain[0], self.host)?;
                list.items.borrow_mut().remove(at);
            }
            "reverse" => list.items.borrow_mut().reverse(),
            _ => {
                let items = list.items.borrow().clone();
                let sorted = self.sort(items, key, reverse.is_some_and(|r| r.truth()))?;
                *list.items.borrow_mut() = sorted;
            }
        }
        Ok(PyValue::None)
    }

    fn dict_method(&mut self, dict: &PyDict, name: &str, mut arguments: CallArguments) -> PyResult {
        let count = dict.entries.borrow().len();
        self.host.spend(match name {
            "copy" => 4 * count,
            "items" | "keys" | "values" | "clear" => 1 + count,
            _ => 1,
        })?;
        let given = match name {
            "update" => std::mem::take(&mut arguments.named),
            _ => vec![],
        };
        let (least, most) = match name {
            "fromkeys" | "get" | "pop" | "setdefault" => (1, 2),
            "update" => (0, 1),
            _ => (0, 0),
        };
        arguments.check(name, least, most)?;
        let plain = arguments.plain;
        let view = |items: Vec<PyValue>, name| Ok(PyValue::view(name, items));
        match name {
            "clear" => *dict.entries.borrow_mut() = Default::default(),
            "fromkeys" => {
                let keys = self.items(&plain[0])?;
                let mut entries = entries_of(keys, self.host)?;
                if let Some(value) = plain.get(1) {
                    for key in entries.keys() {
                        entries.insert(key, value.clone(), self.host)?;
                    }
                }
                return Ok(PyValue::dict(entries));
            }
            "copy" => return Ok(PyValue::dict(dict.entries.borrow().clone())),
            "get" | "setdefault" => {
                let key = plain[0].key(self.host)?;
                let found = dict.entries.borrow().get(&key).cloned();
                let default = plain.get(1).cloned().unwrap_or(PyValue::None);
                if found.is_none() && name == "setdefault" {
                    let mut entries = dict.entries.borrow_mut();
                    entries.insert(plain[0].clone(), default.clone(), self.host)?;
                }
                return Ok(found.unwrap_or(default));
            }
            "items" => {
                let entries = dict.entries.borrow();
                let pairs = entries.iter();
                let pairs = pairs.map(|(k, v)| PyValue::tuple(vec![k.clone(), v.clone()]));
                return view(pairs.collect(), "dict_items");
            }
            "keys" => return view(dict.entries.borrow().keys(), "dict_keys"),
            "values" => {
                let entries = dict.entries.borrow();
                let values = entries.iter().map(|(_, v)| v.clone());
                return view(values.collect(), "dict_values");
            }
            "pop" => {
                let key = plain[0].key(self.host)?;
                let removed = dict.entries.borrow_mut().remove(&key);
                return match removed.or_else(|| plain.get(1).cloned()) {
                    Some(value) => Ok(value),
                    None => {
                        let key = literal(&plain[0])?;
                        Err(PyError::new(format!("the dict has no key {key}")))
                    }
                };
            }
            "popitem" => {
                let last = dict.entries.borrow_mut().remove_last(self.host)?;
                let last = last.map(|(key, value)| PyValue::tuple(vec![key, value]));
                return last.ok_or_else(|| PyError::new("popitem() must have a dict with entries"));
            }
            _ => {
                let mut more = vec![];
                match plain.first() {
                    None => {}
                    Some(PyValue::Dict(other)) => {
                        self.host.spend(4 * other.entries.borrow().len())?;
                        more.extend(other.entries.borrow().iter().cloned());
                    }
                    Some(pairs) => {
                        for pair in self.items(pairs)? {
                            match &*self.items(&pair)? {
                                [key, value] => more.push((key.clone(), value.clone())),
                                _ => return Err(PyError::new("update() must have pairs")),
                            }
                        }
                    }
                }
                let given = given.into_iter();
                more.extend(given.map(|(name, value)| (PyValue::str(name), value)));
                check_items(dict.entries.borrow().len() + more.len())?;
                for (key, value) in more {
                    dict.entries.borrow_mut().insert(key, value, self.host)?;
                }
            }
        }
        Ok(PyValue::None)
    }
}

/// Returns the indices that a slice picks out of a number of members.
fn indices(count: usize, parts: &[PyValue; 3]) -> PyResult<PyRange> {
    let bound = |part: &PyValue| match part {
        PyValue::None => Ok(None),
        part => part.index("a bound of a slice").map(Some),
    };
    let step = bound(&parts[2])?.unwrap_or(1);
    if step == 0 {
        return Err(PyError::new("the step of a slice must not be zero"));
    }
    let n = count as i128;
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let clamp = |i: i128| {
        let i = if i < 0 { i.saturating_add(n) } else { i };
        i.clamp(low, high)
    };
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    Ok(PyRange {
        start: bound(&parts[0])?.map_or(first, clamp),
        stop: bound(&parts[1])?.map_or(last, clamp),
        step,
    })
}

/// Returns a slice of a range, which is a range too.
fn part_of_range(range: &PyRange, picked: &PyRange) -> PyResult {
    let member = |index: i128| {
        let distance = range.step.checked_mul(index)?;
        range.start.checked_add(distance)
    };
    let part = || {
        Some(PyRange {
            start: member(picked.start)?,
            stop: member(picked.stop)?,
            step: range.step.checked_mul(picked.step)?,
        })
    };
    part().map(PyValue::Range).ok_or_else(overflow)
}

fn count_or_index(
    items: &[PyValue],
    name: &str,
    arguments: &[PyValue],
    host: &mut dyn Budget,
) -> PyResult {
    let [item, bounds @ ..] = arguments else {
        return Err(PyError::new(format!("{name}() must have an item")));
    };
    if name == "index" {
        let (start, end) = bounded(items.len(), name, bounds)?.unwrap_or_default();
        let place = position(&items[start..end], item, host)?;
        return Ok(PyValue::Int((start + place) as i128));
    }
    let mut count = 0;
    for candidate in items {
        count += i128::from(equal(candidate, item, host)?);
    }
    Ok(PyValue::Int(count))
}

/// Returns the place of an index, which counts from the end if it is negative.
fn place(index: i128, count: usize) -> PyResult<usize> {
    let at = if index < 0 {
        index.saturating_add(count as i128)
    } else {
        index
    };
    match usize::try_from(at) {
        Ok(at) if at < count => Ok(at),
        _ => Err(outside(index, count)),
    }
}

fn outside(index: i128, count: impl std::fmt::Display) -> PyError {
    PyError::new(format!(
        "the index must be below {count}, the number of members, got {index}"
    ))
}
