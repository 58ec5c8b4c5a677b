//! Expressions in the syntax of Python, as far as robot descriptions use it.
//!
//! Text becomes tokens (`token`), a tree (`parse`, `syntax`) and a value (`eval`). Numbers, texts,
//! lists, dictionaries, comprehensions and the functions of `math` are as in Python 3.11, and so is
//! the text of a number; only `erf`, `erfc`, `gamma` and `lgamma` differ in the last digits.
//! Lambdas, complex numbers, `vars()` and whole numbers of more than 127 bits are errors. Sets of
//! numbers have Python's order; those of texts, whose order in Python differs from run to run, keep
//! the order of insertion. Depth, size and work are bounded, because the files are untrusted.

mod builtins;
mod containers;
mod conversions;
mod eval;
mod evaluator;
mod format;
mod hash;
mod loops;
mod math;
mod numbers;
mod operators;
mod parse;
mod percent;
mod searches;
mod set_methods;
mod set_values;
mod sorting;
mod strings;
mod syntax;
#[cfg(test)]
mod tests;
mod text;
mod token;
mod value;

pub(crate) use builtins::builtin;
pub(crate) use evaluator::{CallArguments, Host};
pub(crate) use math::name as math_name;
pub(crate) use operators::joined;
pub(crate) use text::{MAX_TEXT, parse_float, parse_int, text_of};
pub(crate) use token::is_identifier;
pub(crate) use value::{
    Budget, PyEntries, PyError, PyErrorKind, PyFunction, PyNamespace, PyResult, PyValue,
};

use evaluator::Evaluator;

/// Computes the value of an expression.
pub(crate) fn evaluate(text: &str, host: &mut dyn Host) -> PyResult {
    text::check_length(text.len())?;
    host.spend(1 + text.len() / 8)?;
    let expr = parse::parse(text)?;
    Evaluator::new(host).value(&expr)
}
