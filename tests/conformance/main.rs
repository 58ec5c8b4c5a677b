//! Conformance: results compared with recordings of Drake 1.51.1 and with high-precision
//! references.
//!
//! One module per family of queries. The recordings come from the directory named by
//! `TARRAGON_REFERENCE`, else `../shared/reference`, else `tests/reference`; missing ones are
//! skipped with a line that begins with `SKIPPED`. With `TARRAGON_REPORT=FILE`, every family adds
//! its counts to that JSON file.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, which clippy does not recognise outside of test functions"
)]

mod camera;
mod contact_surfaces;
mod deformable;
mod deformable_bodies;
mod dynamics;
mod hydro;
mod hydro_scenes;
mod hydro_steps;
mod integrators;
mod kinematics;
mod meshes;
mod models;
mod npz;
mod proximity;
mod rgbd_sensor;
mod robot_proximity;
mod sim;
mod support;
