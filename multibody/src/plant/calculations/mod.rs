//! Kinematics and dynamics of given positions, velocities and forces.

pub(super) mod calculation;
pub(super) mod dynamics;
pub(super) mod dynamics_derivatives;
pub(super) mod kinematics;
pub(super) mod plant_parameters;
pub(super) mod tendons;
