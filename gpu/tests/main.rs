//! The engine against the CPU engine. Tests that need an adapter say so aloud where there is none:
//! `apt install mesa-vulkan-drivers libvulkan1` runs them without a GPU.

mod batches;
mod meshes;
mod models;
mod refusals;
mod robustness;
mod shaders;
mod shapes;
mod support;
