//! Tolerances for rounding errors, and the largest distance that can be computed.

use crate::error::{Error, Result};
use nalgebra::Vector3;

/// Lengths below this fraction of the extents of a pair are rounding errors and have no direction.
pub(super) const NEGLIGIBLE: f64 = 1e-14;
/// Directions count as parallel if the sine of the angle between them is below this value, the
/// rounding error of a product of rotations.
pub(super) const PARALLEL: f64 = 2e-15;
/// Largest coordinate of one body in the frame of another (m) whose square does not overflow.
const LARGEST: f64 = 1e150;

/// Returns true if a squared core distance is above `reach`.
#[inline]
pub(super) fn is_beyond(d2: f64, reach: f64) -> bool {
    d2 > reach * reach
}

/// Refuses positions whose distance cannot be computed.
#[inline]
pub(super) fn check_distance(p_ab: Vector3<f64>) -> Result<()> {
    let largest = p_ab.amax();
    // Also false for NaN.
    if largest <= LARGEST {
        return Ok(());
    }
    Err(too_far(largest))
}

#[cold]
fn too_far(largest: f64) -> Error {
    Error::invalid(format!(
        "positions must be within {LARGEST:e} m of each other, got {largest:e} m; check the units of the \
         poses"
    ))
}
