//! Checks of constructor arguments, with messages that name the system.

use crate::counted::counted;
use crate::{Error, Result};
use nalgebra::DMatrix;

/// Returns an error from the constructor of `system`.
pub(super) fn fail<V>(system: &str, message: impl std::fmt::Display) -> Result<V> {
    Err(Error::invalid(format!("{system}: {message}")))
}

/// Checks that `value` (s) is a positive, finite time.
pub(super) fn positive_time(system: &str, what: &str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    fail(
        system,
        format!("the {what} must be positive and finite, got {value:?} s"),
    )
}

/// Checks that all numbers are finite.
pub(super) fn finite<'a>(
    system: &str,
    what: &str,
    values: impl IntoIterator<Item = &'a f64>,
) -> Result<()> {
    match values.into_iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(x) => fail(
            system,
            format!("the elements of {what} must be finite, got {x:?}"),
        ),
    }
}

/// Checks that `found` equals the `expected` number of elements.
pub(super) fn length(system: &str, what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    fail(
        system,
        format!(
            "{what} must have {elements}, got {found}",
            elements = counted(expected, "element")
        ),
    )
}

/// Checks that the matrix is `rows` by `columns` and finite.
pub(super) fn matrix(
    system: &str,
    what: &str,
    m: &DMatrix<f64>,
    rows: usize,
    columns: usize,
) -> Result<()> {
    if m.shape() != (rows, columns) {
        let (r, c) = m.shape();
        return fail(
            system,
            format!("{what} must be {rows} x {columns}, got {r} x {c}"),
        );
    }
    finite(system, what, m.iter())
}
