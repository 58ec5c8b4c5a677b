//! Names that every expression of a xacro file sees.

use crate::expression::{
    PyFunction, PyNamespace, PyResult, PyValue, builtin, math_name, parse_float, parse_int,
};
use std::collections::BTreeMap;

/// Namespace of the functions of xacro; all others are scopes.
pub(super) const XACRO: u32 = u32::MAX;

/// Functions of Python that need no prefix.
const PLAIN: [&str; 13] = [
    "bool", "dict", "float", "int", "len", "list", "map", "max", "min", "range", "round", "sorted",
    "str",
];
/// Functions of the namespace `xacro`.
const FUNCTIONS: [&str; 10] = [
    "abs_filename",
    "arg",
    "dotify",
    "error",
    "fatal",
    "load_yaml",
    "message",
    "print_location",
    "tokenize",
    "warning",
];
/// Functions of commands `$(eval ...)`.
const COMMAND_FUNCTIONS: [&str; 5] = ["dirname", "env", "eval_arg", "find", "optenv"];

fn host_function(name: &str, names: &'static [&'static str]) -> Option<PyValue> {
    let found = names.iter().find(|n| **n == name)?;
    Some(PyValue::Function(PyFunction::Host(found)))
}

/// Returns a name that is known without a definition.
pub(super) fn global(name: &str) -> Option<PyValue> {
    match name {
        "math" => Some(PyValue::Namespace(PyNamespace::Math)),
        "python" => Some(PyValue::Namespace(PyNamespace::Python)),
        "xacro" => Some(PyValue::Namespace(PyNamespace::Host(XACRO))),
        "load_yaml" | "abs_filename" | "dotify" => host_function(name, &FUNCTIONS),
        name if PLAIN.contains(&name) => builtin(name),
        name => math_name(name),
    }
}

/// Returns whether a name is a function of the namespace `python`.
pub(super) fn of_python(name: &str) -> bool {
    builtin(name).is_some()
}

/// Returns a name of the namespace `xacro`.
pub(super) fn of_xacro(name: &str) -> Option<PyValue> {
    host_function(name, &FUNCTIONS)
}

/// Returns a name that an expression in `$(eval ...)` sees.
pub(super) fn of_command(
    name: &str,
    arguments: &BTreeMap<String, String>,
) -> PyResult<Option<PyValue>> {
    match name {
        "true" => return Ok(Some(PyValue::Bool(true))),
        "false" => return Ok(Some(PyValue::Bool(false))),
        "arg" => return Ok(host_function("eval_arg", &COMMAND_FUNCTIONS)),
        "eval_arg" => {}
        name => {
            let function = host_function(name, &COMMAND_FUNCTIONS);
            if let Some(found) = function.or_else(|| math_name(name)) {
                return Ok(Some(found));
            }
        }
    }
    match arguments.get(name) {
        Some(text) => converted(text).map(Some),
        None => Ok(builtin(name)),
    }
}

/// Converts the value of an argument as `$(eval ...)` does: a text that Python's `float` reads, or
/// `int` if it has no point, is a number.
pub(super) fn converted(text: &str) -> PyResult {
    let number = if text.contains('.') {
        parse_float(text).map(|x| Ok(PyValue::Float(x)))
    } else {
        parse_int(text).map(|i| i.map(PyValue::Int))
    };
    number.unwrap_or_else(|| {
        Ok(match &*text.to_lowercase() {
            "true" => PyValue::Bool(true),
            "false" => PyValue::Bool(false),
            _ => PyValue::str(text),
        })
    })
}
