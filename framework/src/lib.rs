//! Scalars, poses, systems, diagrams, contexts and the simulator of tarragon.
pub mod autodiff;
pub mod math;
pub mod scalar;

pub use autodiff::AutoDiff;
pub use scalar::Scalar;
pub mod error;
pub use error::{Error, Result};
