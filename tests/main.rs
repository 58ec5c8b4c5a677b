//! Tests of the command, the examples, the README and the recorded results: one binary, because
//! each further one costs seconds to link.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod architecture;
mod bad_input;
mod bench_definitions;
mod convert;
mod dynamics_command;
mod examples;
mod from_drake;
mod gallery;
mod inspect;
mod mujoco_pictures;
mod port_tables;
mod primitives_recorded;
mod query;
mod regression;
mod render_command;
mod render_server;
mod rgbd_robot;
mod robustness;
mod simulate;
#[allow(
    dead_code,
    clippy::print_stdout,
    reason = "shared with the conformance tests, which use all of it and print their figures"
)]
#[path = "conformance/support.rs"]
mod support;
mod sweep;
mod view;
mod xacro;
