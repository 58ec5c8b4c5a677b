//! Systems, simulation, plants and visualization: what most programs call.
//!
//! A selection: unlike the other tables, this one does not have every name.
//!
#![doc = include_str!("simulation.md")]
