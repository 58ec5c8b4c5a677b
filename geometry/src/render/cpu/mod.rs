//! The software renderer.
//!
//! All threads of the pool draw an image together:
//!
//! 1. `setup` takes the registered visuals (`store`) in chunks and transforms them to the camera
//!    frame, culls and bounds them. The thread that finishes the last chunk sorts the draw items
//!    from front to back into the lists of the tiles that they may cover.
//! 2. `raster` draws the items of each tile into inverse depths and ids: shapes with kernels (pixel
//!    by pixel in f64 near the camera), meshes by clusters of triangles.
//! 3. `resolve` turns these into depths, labels or, with `shade`, colours. Optional parts of a
//!    colour image are translucent layers, shadows, light of an environment reflected by physically
//!    based materials, and tone mapping.

mod engine;
mod gamma;
mod params;
mod raster;
mod resolve;
mod setup;
mod shade;
mod simd;
mod store;

pub use engine::RenderEngineCpu;
pub use params::RenderEngineCpuParams;

#[cfg(test)]
mod tests;
