//! The simulator and its integrators.

pub mod config;
pub mod integrator;
pub mod simulator;
