//! Forward-mode automatic differentiation.
//!
//! [`AutoDiff`](crate::AutoDiff) is the scalar that diagrams are converted to when derivatives are
//! needed. The drivers [`gradient`] and [`jacobian`] seed it and read the result, in chunks when
//! there are more arguments than directions.
//!
//! ```
//! use tarragon_framework::autodiff::jacobian;
//! let (y, dy) = jacobian(|x| vec![x[0] * x[1], x[0].exp()], &[0.0, 3.0]);
//! assert_eq!(y.as_slice(), [0.0, 1.0]);
//! assert_eq!(dy.row(0).iter().copied().collect::<Vec<_>>(), [3.0, 0.0]);
//! ```

mod constant;
mod drivers;
pub(crate) mod dual;
mod functions;
mod nalgebra_impl;
mod num_dual_impl;
mod serde_impl;
#[cfg(test)]
mod tests;

pub use constant::is_constant;
pub use drivers::{SecondOrder, gradient, hessian_vector, jacobian, try_gradient, try_jacobian};
pub use dual::{DIRECTIONS, Dual};
