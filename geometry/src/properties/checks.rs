//! Names of the groups of contact properties, and the domains of their values.

use super::ProximityProperties;
use crate::error::{Error, Result};
use crate::mesh::DECOMPOSITION_PIECES;

pub(crate) const MATERIAL: &str = "material";
pub(crate) const HYDROELASTIC: &str = "hydroelastic";

/// Checks that a value is positive; infinity is allowed, as for a stiffness.
pub(crate) fn check_positive(name: &str, value: f64) -> Result<()> {
    check(value > 0.0, name, value, "positive")
}
/// Checks that a value is positive and finite, as for a length.
pub(crate) fn check_positive_finite(name: &str, value: f64) -> Result<()> {
    let valid = value > 0.0 && value.is_finite();
    check(valid, name, value, "positive and finite")
}
/// Checks that a value is at least 0; infinity is allowed.
pub(crate) fn check_not_negative(name: &str, value: f64) -> Result<()> {
    check(value >= 0.0, name, value, "at least 0")
}
/// Checks that a value is finite and at least 0.
pub(crate) fn check_not_negative_finite(name: &str, value: f64) -> Result<()> {
    let valid = value >= 0.0 && value.is_finite();
    check(valid, name, value, "finite and at least 0")
}
/// Checks the number of convex pieces of a mesh.
pub(crate) fn check_max_pieces(max_pieces: usize) -> Result<()> {
    let (group, name) = ProximityProperties::MAX_PIECES;
    if DECOMPOSITION_PIECES.contains(&max_pieces) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "property ('{group}', '{name}') must be from {} to {}, got {max_pieces}",
        DECOMPOSITION_PIECES.start(),
        DECOMPOSITION_PIECES.end()
    )))
}
fn check(valid: bool, name: &str, value: f64, expected: &str) -> Result<()> {
    if valid {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{name} must be {expected}, got {value:?}"
    )))
}
