//! Tests of plants, their dynamics and the parsers: one binary,
//! because each further one costs seconds to link.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod allocations;
#[path = "../../framework/tests/counting_allocator/mod.rs"]
mod counting_allocator;
mod directives;
mod dynamics;
mod hostile;
mod mjcf;
mod plant;
mod regression;
mod same_arm;
mod sdf;
mod support;
mod taking_back;
mod urdf;
mod writing;
mod xacro;
