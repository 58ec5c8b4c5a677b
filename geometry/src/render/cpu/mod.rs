//! The software renderer.
//!
//! Life of an image, on as many threads as there are: `scene` takes the `visuals` in chunks, moves
//! each into the camera frame, culls and bounds it (`part`); the last one sorts everything front to
//! back into the tiles that it may cover (`layout`). Then each `tile` draws its items into inverse
//! depths and ids, shapes by `kernels` (or `exact`, near the camera), meshes by `clusters`,
//! `raster` and `small`; `passes` turn these into depths, labels or, with `shade`, colours. `rich`
//! adds what is optional: `layers` of translucent surfaces, `shadow`s, light of an `environment`
//! reflected by `pbr`, `tone` mapping.

mod engine;
mod gamma;
mod params;
mod pixels;
mod raster;
mod resolve;
mod setup;
mod shade;
mod simd;
mod store;
mod texture;

pub use engine::RenderEngineCpu;
pub use params::RenderEngineCpuParams;

#[cfg(test)]
mod tests;
