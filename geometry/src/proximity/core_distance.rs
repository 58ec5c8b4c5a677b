//! The signed distance of two cores, with its normal and witnesses.

use nalgebra::Vector3;
use tarragon_framework::Scalar;

/// Distance, normal and witnesses of two cores, in A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoreDistance<T: Scalar> {
    /// Signed distance (m).
    pub(crate) distance: T,
    /// Unit normal from A to B.
    pub(crate) n_ab: Vector3<T>,
    /// Witness on A (m).
    pub(crate) p_a: Vector3<T>,
    /// Witness on B (m); `p_b - p_a = distance * n_ab`.
    pub(crate) p_b: Vector3<T>,
}
