//! The simulator and its integrators.

pub mod config;
mod dense_output;
pub mod integrator;
pub mod pace;
pub mod simulator;
