//! Expands arbitrary bytes as xacro, and parses the model that they stand for. An error leaves
//! plant and scene unchanged; a model has kinematics and dynamics.
#![no_main]

#[path = "support/model.rs"]
mod model;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| model::check(bytes, "model.xacro"));
