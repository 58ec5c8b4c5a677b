//! Numbers of a generic scalar as `AutoDiff`, and back.

use std::any::Any;
use tarragon_framework::{AutoDiff, Scalar};

/// Returns a number as another scalar; `None` if the scalars differ.
pub(super) fn cast<A: Scalar, B: Scalar>(x: &A) -> Option<B> {
    (x as &dyn Any).downcast_ref::<B>().copied()
}

/// Returns numbers as those of another scalar, of which all must be.
pub(super) fn cast_all<A: Scalar, B: Scalar>(list: &[A]) -> Vec<B> {
    list.iter().filter_map(cast).collect()
}

/// Returns the end of a step with derivatives; `None` if it has none.
pub(super) fn derived_end<T: Scalar>(derived: &[AutoDiff]) -> Option<impl Iterator<Item = T> + '_> {
    let first = derived.first()?;
    cast::<AutoDiff, T>(first)?;
    Some(derived.iter().map(|x| cast(x).unwrap_or_else(T::zero)))
}
