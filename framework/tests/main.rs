//! Tests of systems, diagrams, contexts, integrators and the simulator: one binary,
//! because each further one costs seconds to link.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod allocations;
mod analysis;
mod cache;
mod counting_allocator;
mod dense_output;
mod diagram;
mod events;
mod exports;
mod failures;
mod fixed_inputs;
mod integrators;
mod jacobians;
mod logging;
mod monte_carlo;
mod ports;
mod primitive_derivatives;
mod primitives;
mod random_contexts;
mod random_diagrams;
mod regression;
mod scale;
mod simulator;
mod trajectories;
mod trajectories_curves;
mod velocity_maps;
