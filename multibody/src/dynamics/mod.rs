//! Inertia, forces, momentum and energy from kinematics.
//!
//! All of it is done in the world frame about the origins of the bodies, after R. Featherstone,
//! "Rigid Body Dynamics Algorithms", 2008: composite rigid bodies for the mass matrix, recursive
//! Newton-Euler for forces.

mod composite;
mod inverse_dynamics;
mod mass_matrix;
mod momentum;
