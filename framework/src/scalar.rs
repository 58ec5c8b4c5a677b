//! The scalars that systems and geometry are generic over.

use nalgebra::RealField;
use num_dual::DualNum;

/// Real number type: `f64`, [`crate::AutoDiff`], or any dual number of the `num-dual` crate.
///
/// Implemented for everything that satisfies its bounds. `T::from(2.0)` makes a constant and
/// [`num_dual::DualStruct::re`] (`x.re()`) reads the value without derivatives.
///
/// ```
/// use tarragon_framework::{AutoDiff, Scalar};
/// fn square<T: Scalar>(x: T) -> T {
///     x * x
/// }
/// assert_eq!(square(3.0), 9.0);
/// assert_eq!(square(AutoDiff::variable(3.0, 0)).eps[0], 6.0);
/// assert_eq!(square(num_dual::DualSVec64::<2>::from_re(3.0)).re, 9.0);
/// ```
pub trait Scalar: RealField + DualNum<Primitive = f64> + Copy + Send + Sync + 'static {}

impl<T> Scalar for T where T: RealField + DualNum<Primitive = f64> + Copy + Send + Sync + 'static {}
