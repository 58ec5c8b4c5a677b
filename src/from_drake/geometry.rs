//! `pydrake.geometry`: scenes, shapes, queries, render engines, Meshcat.
//!
//! The missing parts are deformable geometry and the client of a render server. Cameras and engines
//! are in [`render`](crate::geometry::render), the parameters of Drake's engines in
//! [`sensors`](crate::sensors), visualizers in [`visualization`](crate::visualization).
//!
#![doc = include_str!("geometry.md")]
