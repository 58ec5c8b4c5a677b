//! Recognition of numbers without derivatives.

use super::dual::{AutoDiff, DIRECTIONS};
use crate::scalar::Scalar;
use std::any::Any;

/// Returns true if all derivatives of a number certainly are zero: always for `f64`, and for an
/// [`AutoDiff`] whose derivatives are. For other dual numbers it is false. Computations use it to
/// leave out parts that do not depend on the variables.
///
/// ```
/// use tarragon_framework::AutoDiff;
/// use tarragon_framework::autodiff::is_constant;
/// assert!(is_constant(&3.0));
/// assert!(is_constant(&AutoDiff::constant(3.0)));
/// assert!(!is_constant(&AutoDiff::variable(3.0, 0)));
/// ```
#[inline]
pub fn is_constant<T: Scalar>(x: &T) -> bool {
    if T::NDERIV == 0 {
        return true;
    }
    let dual: Option<&AutoDiff> = (x as &dyn Any).downcast_ref();
    dual.is_some_and(|x| x.eps == [0.0; DIRECTIONS])
}
