//! Tests of plants and their dynamics: one binary, because each further one costs seconds to link.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod allocations;
#[path = "../../framework/tests/counting_allocator/mod.rs"]
mod counting_allocator;
mod dynamics;
mod plant;
