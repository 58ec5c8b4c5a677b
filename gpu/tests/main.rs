//! The engine against the CPU engine. Tests that need an adapter say so aloud where there is none:
//! `apt install mesa-vulkan-drivers libvulkan1` runs them without a GPU.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

// The models of the gallery name the crates as the root package does.
extern crate self as tarragon;
pub(crate) use tarragon_framework as framework;
pub(crate) use tarragon_geometry as geometry;
pub(crate) use tarragon_sensors as sensors;

mod batches;
mod gallery;
#[allow(dead_code, reason = "scenes that the engine refuses use the rest")]
#[path = "../../tests/gallery/models.rs"]
mod gallery_models;
mod maps;
mod meshes;
mod models;
mod refusals;
mod robustness;
mod shaders;
mod shapes;
mod support;
