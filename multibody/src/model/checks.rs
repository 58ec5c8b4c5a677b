//! Checks of numbers that several elements share.

use crate::error::{Error, Result};
use nalgebra::Isometry3;

/// Checks that all numbers are finite.
pub(crate) fn check_finite<'a>(
    what: &str,
    mut numbers: impl Iterator<Item = &'a f64>,
) -> Result<()> {
    match numbers.find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(bad) => Err(Error::invalid(format!(
            "{what}: all numbers must be finite, got {bad:?}"
        ))),
    }
}

/// Checks that a pose is finite; `what` names it and whose it is.
pub(crate) fn check_pose(what: impl FnOnce() -> String, x: &Isometry3<f64>) -> Result<()> {
    let (r, p) = (&x.rotation.coords, &x.translation.vector);
    if r.iter().chain(p).all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{} must be finite, got quaternion [x, y, z, w] = {:?} and position {:?} m",
        what(),
        r.as_slice(),
        p.as_slice()
    )))
}

/// Checks that all named numbers are finite.
pub(crate) fn check_numbers(what: &str, numbers: &[(&str, f64)]) -> Result<()> {
    match numbers.iter().find(|(_, x)| !x.is_finite()) {
        None => Ok(()),
        Some((name, bad)) => Err(Error::invalid(format!(
            "{what}: the {name} must be finite, got {bad:?}"
        ))),
    }
}

/// Checks the stiffness and the damping of a spring. The stiffness may be infinite.
pub(crate) fn check_spring(what: &str, stiffness: f64, damping: f64) -> Result<()> {
    if stiffness.is_nan() || stiffness <= 0.0 || !(damping >= 0.0 && damping.is_finite()) {
        return Err(Error::invalid(format!(
            "{what}: the stiffness must be positive and the damping finite and at least 0, got \
             {stiffness:?} and {damping:?}"
        )));
    }
    Ok(())
}

/// Checks the number of elements of a vector.
pub(crate) fn check_length(what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the number of {what} must be {expected}, got {found}"
    )))
}

/// Returns a value that is finite and at least 0.
pub(super) fn check_at_least_zero(what: &str, value: f64) -> Result<f64, String> {
    if value >= 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(format!(
            "{what} must be finite and at least 0, got {value:?}"
        ))
    }
}
