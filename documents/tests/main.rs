//! Tests of packages and xacro: one binary, because each further one costs seconds to link.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod package_map;
mod xacro;
