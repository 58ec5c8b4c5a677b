//! Tests of the Meshcat server, its page in a browser, and messages to LCM viewers: one binary,
//! because each further one costs seconds to link.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod allocations;
mod browser;
mod captured;
mod client_messages;
mod convergence;
#[path = "../../framework/tests/counting_allocator/mod.rs"]
mod counting_allocator;
mod drake_visualizer;
mod hostile;
mod meldis;
mod regression;
mod server;
mod shown;
mod sliders;
mod support;
mod visualizer;
