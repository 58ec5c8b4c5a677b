//! Spatial algebra: vectors of six components and the inertia that connects them (R. Featherstone,
//! "Rigid Body Dynamics Algorithms", 2008).

mod inertia;
mod vector;

pub use inertia::{SpatialInertia, check_rotational, rotational_inertia};
pub use vector::SpatialVector;
pub(crate) use vector::{add_cross, cross, subtract_cross};
