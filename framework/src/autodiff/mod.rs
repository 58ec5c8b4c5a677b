//! Forward-mode automatic differentiation.
//!
//! [`AutoDiff`] is the scalar that diagrams are converted to when derivatives are needed. The
//! drivers [`gradient`] and [`jacobian`] seed it and read the result, in chunks when there are more
//! arguments than directions.
//!
//! ```
//! use tarragon_framework::autodiff::jacobian;
//! let (y, dy) = jacobian(|x| vec![x[0] * x[1], x[0].exp()], &[0.0, 3.0]);
//! assert_eq!(y.as_slice(), [0.0, 1.0]);
//! assert_eq!(dy.row(0).iter().copied().collect::<Vec<_>>(), [3.0, 0.0]);
//! ```

mod drivers;
mod dual;
mod functions;
mod nalgebra_impl;
mod num_dual_impl;
mod serde_impl;
#[cfg(test)]
mod tests;

pub use drivers::{SecondOrder, gradient, hessian_vector, jacobian, try_gradient, try_jacobian};
pub use dual::Dual;

/// Number of derivative directions carried by one [`AutoDiff`].
pub const DIRECTIONS: usize = 8;

/// Differentiating scalar of diagrams.
///
/// ```
/// use tarragon_framework::AutoDiff;
/// let (x, y) = (AutoDiff::variable(2.0, 0), AutoDiff::variable(5.0, 1));
/// let z = x * y + 1.0;
/// assert_eq!((z.re, z.eps[0], z.eps[1]), (11.0, 5.0, 2.0));
/// ```
pub type AutoDiff = Dual<DIRECTIONS>;
