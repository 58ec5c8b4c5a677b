//! Values of expressions, and errors of their evaluation.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Maximum depth of nested tuples in the key of a dictionary.
const MAX_KEY_DEPTH: usize = 100;

/// Error of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PyError {
    /// Offset of the faulty part in characters; `None` where the caller knows the place better.
    pub(crate) at: Option<usize>,
    pub(crate) kind: PyErrorKind,
    pub(crate) message: String,
}

/// Bound on the work of evaluations.
pub(crate) trait Budget {
    /// Counts work.
    ///
    /// # Errors
    /// Returns an error if the work of all evaluations exceeds a bound.
    fn spend(&mut self, work: usize) -> PyResult<()>;
}

/// Kind of an error of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PyErrorKind {
    /// An error of Python, or a part of it that is unsupported.
    Python,
    /// A bound on size, depth or work.
    Limit,
    /// An error that the host has reported with its own place.
    Host,
}

/// A value, or an error of an expression.
pub(crate) type PyResult<V = PyValue> = Result<V, PyError>;

impl PyError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            at: None,
            kind: PyErrorKind::Python,
            message: message.into(),
        }
    }
    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self {
            kind: PyErrorKind::Limit,
            ..Self::new(message)
        }
    }
    /// Sets the place unless the error has one.
    pub(crate) fn or_at(mut self, at: usize) -> Self {
        self.at.get_or_insert(at);
        self
    }
}

/// A value of Python, as far as models use them.
#[derive(Clone, Debug)]
pub(crate) enum PyValue {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(Rc<str>),
    Tuple(Rc<PyTuple>),
    List(Rc<PyList>),
    Dict(Rc<PyDict>),
    Set(Rc<PySet>),
    Range(PyRange),
    /// Keys, values or items of a dictionary.
    View(&'static str, Rc<PyTuple>),
    /// An iterator, which is used up by reading it.
    Iterator(Rc<PyIterator>),
    Function(PyFunction),
    Method(Rc<(PyValue, String)>),
    Slice(Rc<[PyValue; 3]>),
    Namespace(PyNamespace),
}

/// A tuple.
#[derive(Debug, Default)]
pub(crate) struct PyTuple {
    items: Vec<PyValue>,
}

/// The members that an iterator has left.
#[derive(Debug, Default)]
pub(crate) struct PyIterator {
    items: RefCell<Vec<PyValue>>,
}

/// A list. A dotted one makes dotted values of the lists and dictionaries in it.
#[derive(Debug, Default)]
pub(crate) struct PyList {
    pub(crate) items: RefCell<Vec<PyValue>>,
    pub(crate) dotted: bool,
}

/// A dictionary in the order of insertion. The keys of a dotted one are attributes too.
#[derive(Debug, Default)]
pub(crate) struct PyDict {
    pub(crate) entries: RefCell<PyEntries>,
    pub(crate) dotted: bool,
}

/// A set, or a frozen set, which must not change. The values of its entries are `None`.
#[derive(Debug)]
pub(crate) struct PySet {
    pub(crate) entries: RefCell<PyEntries>,
    pub(crate) frozen: bool,
}

/// Entries of a dictionary in the order of insertion.
#[derive(Clone, Debug, Default)]
pub(crate) struct PyEntries {
    places: BTreeMap<PyKey, u64>,
    entries: BTreeMap<u64, (PyValue, PyValue)>,
    next: u64,
}

/// Key of a dictionary, equal for equal values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PyKey {
    None,
    Int(i128),
    Float(u64),
    Str(Rc<str>),
    Tuple(Vec<PyKey>),
    /// Members of a frozen set, sorted.
    Set(Vec<PyKey>),
}

/// Whole numbers from `start` to before `stop`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PyRange {
    pub(crate) start: i128,
    pub(crate) stop: i128,
    pub(crate) step: i128,
}

/// A function: of Python, of its module `math`, or of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PyFunction {
    Builtin(&'static str),
    Math(&'static str),
    Host(&'static str),
}

/// Names that are attributes of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PyNamespace {
    Math,
    Python,
    Host(u32),
}

impl PyValue {
    pub(crate) fn str(text: impl AsRef<str>) -> Self {
        Self::Str(text.as_ref().into())
    }
    pub(crate) fn list(items: Vec<PyValue>) -> Self {
        Self::List(Rc::new(PyList {
            items: RefCell::new(items),
            dotted: false,
        }))
    }
    pub(crate) fn tuple(items: Vec<PyValue>) -> Self {
        Self::Tuple(Rc::new(PyTuple { items }))
    }
    pub(crate) fn dict(entries: PyEntries) -> Self {
        Self::Dict(Rc::new(PyDict {
            entries: RefCell::new(entries),
            dotted: false,
        }))
    }
    pub(crate) fn set(entries: PyEntries, frozen: bool) -> Self {
        let entries = RefCell::new(entries);
        Self::Set(Rc::new(PySet { entries, frozen }))
    }
    pub(crate) fn iterator(items: impl IntoIterator<Item = PyValue>) -> Self {
        Self::Iterator(Rc::new(PyIterator {
            items: RefCell::new(items.into_iter().collect()),
        }))
    }
    pub(crate) fn view(name: &'static str, items: Vec<PyValue>) -> Self {
        Self::View(name, Rc::new(PyTuple { items }))
    }

    /// Returns a list or a dictionary as a dotted copy, and any other value unchanged.
    pub(crate) fn dotted(self) -> Self {
        match self {
            Self::List(list) => Self::List(Rc::new(PyList {
                items: RefCell::new(list.items.borrow().clone()),
                dotted: true,
            })),
            Self::Dict(dict) => Self::Dict(Rc::new(PyDict {
                entries: RefCell::new(dict.entries.borrow().clone()),
                dotted: true,
            })),
            other => other,
        }
    }

    /// Name of the type, as in Python.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "str",
            Self::Tuple(_) => "tuple",
            Self::List(_) => "list",
            Self::Dict(_) => "dict",
            Self::Set(set) if set.frozen => "frozenset",
            Self::Set(_) => "set",
            Self::Range(_) => "range",
            Self::View(name, _) => name,
            Self::Iterator(_) => "iterator",
            Self::Function(_) | Self::Method(_) => "function",
            Self::Slice(_) => "slice",
            Self::Namespace(_) => "namespace",
        }
    }

    /// Name of the type with its article, for messages.
    pub(crate) fn a_type(&self) -> String {
        let name = self.type_name();
        let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) {
            "an"
        } else {
            "a"
        };
        format!("{article} {name}")
    }

    /// Truth value of Python.
    pub(crate) fn truth(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(b) => *b,
            Self::Int(i) => *i != 0,
            Self::Float(x) => *x != 0.0,
            Self::Str(text) => !text.is_empty(),
            Self::Tuple(items) | Self::View(_, items) => !items.is_empty(),
            Self::List(list) => !list.items.borrow().is_empty(),
            Self::Dict(dict) => dict.entries.borrow().len() > 0,
            Self::Set(set) => set.entries.borrow().len() > 0,
            Self::Range(range) => range.len() > 0,
            _ => true,
        }
    }

    /// The value as a whole number, which truth values are too.
    pub(crate) fn as_int(&self) -> Option<i128> {
        match self {
            Self::Bool(b) => Some(i128::from(*b)),
            Self::Int(i) => Some(*i),
            _ => None,
        }
    }
    /// The value as a floating-point number, which whole numbers are too.
    pub(crate) fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(x) => Some(*x),
            other => other.as_int().map(|i| i as f64),
        }
    }
    /// The value as a whole number; the error says what needs it.
    pub(crate) fn index(&self, what: &str) -> PyResult<i128> {
        self.as_int().ok_or_else(|| {
            let found = self.a_type();
            PyError::new(format!("{what} must be a whole number, got {found}"))
        })
    }

    /// The value as the key of a dictionary. Its size counts as work.
    pub(crate) fn key(&self, host: &mut dyn Budget) -> PyResult<PyKey> {
        self.key_at(host, 0)
    }
    fn key_at(&self, host: &mut dyn Budget, depth: usize) -> PyResult<PyKey> {
        if depth > MAX_KEY_DEPTH {
            return Err(too_deep());
        }
        match self {
            Self::None => Ok(PyKey::None),
            Self::Float(x) => Ok(match *x as i128 {
                whole if whole as f64 == *x && whole != i128::MAX => PyKey::Int(whole),
                _ => PyKey::Float(x.to_bits()),
            }),
            Self::Str(text) => {
                host.spend(text.len() / 16)?;
                Ok(PyKey::Str(text.clone()))
            }
            Self::Tuple(items) => {
                host.spend(items.len())?;
                let keys = items.iter().map(|item| item.key_at(host, depth + 1));
                Ok(PyKey::Tuple(keys.collect::<PyResult<_>>()?))
            }
            Self::Set(set) if set.frozen => {
                let entries = set.entries.borrow();
                for key in entries.places.keys() {
                    // Shared parts are copied.
                    let (nodes, deep) = key.extent();
                    host.spend(nodes)?;
                    if depth + 1 + deep > MAX_KEY_DEPTH {
                        return Err(too_deep());
                    }
                }
                Ok(PyKey::Set(entries.places.keys().cloned().collect()))
            }
            other => other.as_int().map(PyKey::Int).ok_or_else(|| {
                let found = other.a_type();
                PyError::new(format!(
                    "a key or a member of a set must be hashable, got {found}"
                ))
            }),
        }
    }
}

fn too_deep() -> PyError {
    PyError::limit(format!("keys must be nested at most {MAX_KEY_DEPTH} deep"))
}

impl PyKey {
    /// Returns the number of parts and the depth.
    fn extent(&self) -> (usize, usize) {
        let (Self::Tuple(parts) | Self::Set(parts)) = self else {
            return (1, 0);
        };
        let parts = parts.iter().map(Self::extent);
        let sum = |(nodes, depth): (usize, usize), (n, d)| (nodes + n, depth.max(d));
        let (nodes, depth) = parts.fold((1, 0), sum);
        (nodes, depth + 1)
    }
}

impl PyRange {
    /// Number of members.
    pub(crate) fn len(&self) -> u128 {
        let (low, high) = if self.step > 0 {
            (self.start, self.stop)
        } else {
            (self.stop, self.start)
        };
        if low < high {
            (high.abs_diff(low) - 1) / self.step.unsigned_abs() + 1
        } else {
            0
        }
    }
    /// Returns a member. The arithmetic of 128 bits is exact, because all members fit.
    pub(crate) fn get(&self, index: u128) -> i128 {
        self.start
            .wrapping_add(self.step.wrapping_mul(index as i128))
    }
    /// Returns the index of a number if it is a member.
    pub(crate) fn position(&self, number: i128) -> Option<u128> {
        let beyond = if self.step > 0 {
            number < self.start || number >= self.stop
        } else {
            number > self.start || number <= self.stop
        };
        let distance = number.abs_diff(self.start);
        let step = self.step.unsigned_abs();
        (!beyond && distance.is_multiple_of(step)).then(|| distance / step)
    }
}

impl PyEntries {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
    pub(crate) fn get(&self, key: &PyKey) -> Option<&PyValue> {
        let place = self.places.get(key)?;
        self.entries.get(place).map(|(_, value)| value)
    }
    pub(crate) fn insert(
        &mut self,
        key: PyValue,
        value: PyValue,
        host: &mut dyn Budget,
    ) -> PyResult<()> {
        let place = match self.places.entry(key.key(host)?) {
            std::collections::btree_map::Entry::Occupied(old) => *old.get(),
            std::collections::btree_map::Entry::Vacant(free) => {
                self.next += 1;
                *free.insert(self.next)
            }
        };
        // An equal key that is known already is kept, as in Python.
        let entry = self.entries.entry(place);
        entry
            .and_modify(|e| e.1 = value.clone())
            .or_insert((key, value));
        Ok(())
    }
    pub(crate) fn remove(&mut self, key: &PyKey) -> Option<PyValue> {
        let place = self.places.remove(key)?;
        self.entries.remove(&place).map(|(_, value)| value)
    }
    /// Removes the entry that was inserted last.
    pub(crate) fn remove_last(
        &mut self,
        host: &mut dyn Budget,
    ) -> PyResult<Option<(PyValue, PyValue)>> {
        let Some((_, entry)) = self.entries.pop_last() else {
            return Ok(None);
        };
        self.places.remove(&entry.0.key(host)?);
        Ok(Some(entry))
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(PyValue, PyValue)> {
        self.entries.values()
    }
    /// Takes all values out of the entries.
    fn take_values(&mut self) -> Vec<PyValue> {
        let entries = std::mem::take(&mut self.entries);
        entries.into_values().map(|(_, value)| value).collect()
    }
    /// Number of entries that were removed.
    pub(crate) fn num_removed(&self) -> usize {
        usize::try_from(self.next).map_or(0, |n| n.saturating_sub(self.len()))
    }
    /// Returns the keys in the order of [`PyEntries::keys`], by which equal ones are found.
    pub(crate) fn hash_keys(&self) -> Vec<&PyKey> {
        let mut keys: Vec<_> = self.places.iter().collect();
        keys.sort_by_key(|(_, place)| **place);
        keys.into_iter().map(|(key, _)| key).collect()
    }
    pub(crate) fn keys(&self) -> Vec<PyValue> {
        self.iter().map(|(key, _)| key.clone()).collect()
    }
}

impl std::ops::Deref for PyTuple {
    type Target = [PyValue];
    fn deref(&self) -> &[PyValue] {
        &self.items
    }
}

impl PyIterator {
    /// Takes all members that are left.
    pub(crate) fn take(&self) -> Vec<PyValue> {
        self.items.take()
    }
}

/// Drops values without recursion, because they may be nested to any depth.
fn dismantle(mut waiting: Vec<PyValue>) {
    while let Some(value) = waiting.pop() {
        match value {
            PyValue::Tuple(tuple) | PyValue::View(_, tuple) => {
                if let Some(mut tuple) = Rc::into_inner(tuple) {
                    waiting.append(&mut tuple.items);
                }
            }
            PyValue::List(list) => {
                if let Some(mut list) = Rc::into_inner(list) {
                    waiting.append(list.items.get_mut());
                }
            }
            PyValue::Iterator(iterator) => {
                if let Some(mut iterator) = Rc::into_inner(iterator) {
                    waiting.append(iterator.items.get_mut());
                }
            }
            PyValue::Dict(dict) => {
                if let Some(mut dict) = Rc::into_inner(dict) {
                    waiting.extend(dict.entries.get_mut().take_values());
                }
            }
            PyValue::Method(method) => {
                waiting.extend(Rc::into_inner(method).map(|(value, _)| value));
            }
            _ => {}
        }
    }
}

impl Drop for PyTuple {
    fn drop(&mut self) {
        dismantle(std::mem::take(&mut self.items));
    }
}
impl Drop for PyList {
    fn drop(&mut self) {
        dismantle(std::mem::take(self.items.get_mut()));
    }
}
impl Drop for PyIterator {
    fn drop(&mut self) {
        dismantle(std::mem::take(self.items.get_mut()));
    }
}
impl Drop for PyDict {
    fn drop(&mut self) {
        dismantle(self.entries.get_mut().take_values());
    }
}
