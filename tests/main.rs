//! Tests of the command, the examples, the README and the recorded results: one binary, because
//! each further one costs seconds to link.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod architecture;
mod bad_input;
mod examples;
mod from_drake;
mod gallery;
mod inspect;
mod port_tables;
mod primitives_recorded;
mod query;
mod render_command;
mod rgbd_robot;
#[allow(dead_code, reason = "the conformance tests use all of it")]
#[path = "conformance/support.rs"]
mod support;
mod sweep;
mod view;
