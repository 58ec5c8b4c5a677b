//! The software renderer.
//!
//! Life of an image, on as many threads as there are: `setup::scene` takes the visuals of `store` in
//! chunks, moves each into the camera frame, culls and bounds it; the thread that finishes last
//! sorts everything front to back into the lists of the tiles that it may cover. Then `raster` draws
//! each tile into inverse depths and ids, and `resolve` turns these into depths, labels or, with
//! `shade`, colours. What is optional runs only where it is asked for: translucent layers, shadows,
//! the light of an environment, tone mapping.

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
