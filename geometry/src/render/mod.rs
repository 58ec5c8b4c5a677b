//! Simulated cameras: images, camera models and render engines.

mod label;

pub use label::RenderLabel;
