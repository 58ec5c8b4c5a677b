//! Tests of buses, messages, logs and systems: one binary,
//! because each further one costs seconds to link.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bus;
#[path = "../../framework/tests/counting_allocator/mod.rs"]
mod counting_allocator;
mod log_playback;
mod messages;
mod regression;
mod systems;
mod two_processes;
