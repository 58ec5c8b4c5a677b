//! Checks of constructor arguments, with messages that name the system.

use crate::{Error, Result};
use nalgebra::DMatrix;

/// An error of the constructor of `system`.
pub(super) fn fail<V>(system: &str, message: impl std::fmt::Display) -> Result<V> {
    Err(Error::invalid(format!("{system}: {message}")))
}

/// `value` (s) is a positive, finite time.
pub(super) fn positive_time(system: &str, what: &str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    fail(
        system,
        format!("the {what} is {value} s, a positive time is expected"),
    )
}

/// All numbers are finite.
pub(super) fn finite<'a>(
    system: &str,
    what: &str,
    values: impl IntoIterator<Item = &'a f64>,
) -> Result<()> {
    match values.into_iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(x) => fail(
            system,
            format!("{what} has an element {x}, finite numbers are expected"),
        ),
    }
}

/// `found` elements are as many as `expected`.
pub(super) fn length(system: &str, what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    fail(
        system,
        format!("{what} has {found} elements, {expected} are expected"),
    )
}

/// The matrix is `rows` by `columns` and finite.
pub(super) fn matrix(
    system: &str,
    what: &str,
    m: &DMatrix<f64>,
    (rows, columns): (usize, usize),
) -> Result<()> {
    if m.shape() != (rows, columns) {
        let (r, c) = m.shape();
        return fail(
            system,
            format!("{what} is {r} x {c}, {rows} x {columns} is expected"),
        );
    }
    finite(system, what, m.iter())
}
