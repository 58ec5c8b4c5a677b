//! Questions about whole diagrams.

mod linearize;

pub use linearize::{FirstOrderApproximation, first_order_taylor_approximation, linearize};
