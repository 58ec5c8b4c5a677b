//! Tests of the scene graph, its properties and its renderers: one binary,
//! because each further one costs seconds to link.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod allocations;
mod contact_surfaces;
#[path = "../../framework/tests/counting_allocator/mod.rs"]
mod counting_allocator;
mod deformable;
mod filters;
mod height_fields;
mod mesh_shapes;
mod moving_scenes;
mod properties;
mod removal;
mod renderers;
mod roles;
mod scene_graph;
mod skins;
mod warnings;
