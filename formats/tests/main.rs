//! Tests of the readers and writers of model files: one binary, because each further one costs
//! seconds to link.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod directives;
mod hostile;
mod mjcf;
mod regression;
mod same_arm;
mod sdf;
mod support;
mod taking_back;
mod urdf;
mod writing;
mod xacro;
