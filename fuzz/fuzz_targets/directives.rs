//! Any bytes are a model that can be computed with, or an error that leaves plant and scene alone.
#![no_main]

#[path = "support/model.rs"]
mod model;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| model::check(bytes, "model.dmd.yaml"));
