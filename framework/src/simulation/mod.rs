//! The simulator and its integrators.

pub(crate) mod config;
mod dense_output;
pub mod integrator;
pub(crate) mod pace;
pub(crate) mod simulator;
