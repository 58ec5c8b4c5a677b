//! Tests of the render server through HTTP.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;
mod http;
mod protocol;
mod pydrake;
mod support;
