//! Inertia, forces, momentum and energy from kinematics.
//!
//! All computations are in the world frame, about the origins of the bodies, after R. Featherstone,
//! "Rigid Body Dynamics Algorithms", 2008: composite rigid bodies for the mass matrix, recursive
//! Newton-Euler for forces, articulated bodies for accelerations.

mod articulated_body;
mod composite_inertia;
mod derivatives;
mod force_elements;
mod forces;
mod forward_dynamics;
mod inertias;
mod inverse_dynamics;
mod mass_matrix;
mod momentum;
mod tendon_path;
mod tendon_wrap;
mod tree_dynamics;

pub(crate) use articulated_body::SingularInertia;
pub(crate) use derivatives::{BodyForces, inverse_dynamics_derivatives};
pub use derivatives::{ForwardDynamicsDerivatives, InverseDynamicsDerivatives};
pub(crate) use force_elements::{ElementPower, ForceElementState};
pub use forces::MultibodyForces;
pub(crate) use forces::project;
pub(crate) use forward_dynamics::{forward_dynamics, reaction_forces};
pub use inertias::BodyInertia;
pub(crate) use inertias::Inertias;
pub(crate) use inverse_dynamics::{GivenMotion, inverse_dynamics};
pub(crate) use mass_matrix::{mass_matrix, mass_matrix_diagonal};
pub(crate) use momentum::{
    center_of_mass_jacobian, first_moment, first_moment_of, kinetic_energy, spatial_momentum,
};
pub use tendon_path::{TendonEnd, walk_tendon};
pub(crate) use tendon_path::{
    add_effort as add_path_effort, length_and_rate as path_length_and_rate,
};
pub(crate) use tree_dynamics::{BodyWork, ForcedMotion};
