//! Inertia, forces, momentum and energy from kinematics.
//!
//! All computations are in the world frame, about the origins of the bodies, after R. Featherstone,
//! "Rigid Body Dynamics Algorithms", 2008: composite rigid bodies for the mass matrix, recursive
//! Newton-Euler for forces.

mod composite_inertia;
mod inverse_dynamics;
mod mass_matrix;
mod momentum;

pub(crate) use inverse_dynamics::{bias_term, inverse_dynamics};
pub(crate) use mass_matrix::{gravity_forces, mass_matrix};
pub(crate) use momentum::{
    center_of_mass_jacobian, first_moment, kinetic_energy, spatial_momentum,
};
