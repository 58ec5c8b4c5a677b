//! The simulator and its integrators.

pub mod integrator;
pub mod simulator;
