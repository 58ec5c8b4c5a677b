//! Render engine on GPUs, for batches of images.
//!
//! [`RenderEngineGpu`] draws the same colour, depth and label images as the CPU engine
//! (`RenderEngineCpu`) within these tolerances, which the tests of this crate measure: depths
//! within 1e-5 relative (1e-4 where surfaces are seen at grazing angles), labels in all but 0.05 %
//! of the pixels, colours within 2 of 255 in 99.9 % of the channels. The same adapter and driver
//! draw the same bytes for any size and order of a batch.
//!
//! The engine is for batches: `RenderEngine::render_batch` and `RenderEngine::submit_batch` with
//! many views. One small image is drawn faster by the CPU engine.
//!
//! # Adapters
//! Drawing needs a Vulkan driver: that of a GPU, or the software renderer of Mesa
//! (`mesa-vulkan-drivers`). The features `gles`, `metal` and `dx12` add backends. Without an
//! adapter, [`RenderEngineGpu::new`] is an error: there is no silent fallback. [`list_adapters`]
//! lists the adapters of a machine.
//!
//! # Unsupported features
//! Each of these is an error that names it, never another picture:
//!
//! * Shadows: `cast_shadows` is refused by [`RenderEngineGpu::new`].
//! * Translucency: colour images of a scene with a visible translucent geometry are refused. Depth
//!   and label images show it as if it were opaque, as in the CPU engine. Opacities that glTF
//!   materials cut off (`MASK`) are supported.
//! * Images (times `samples_per_side`) of more pixels per side than half the largest texture of
//!   the device, usually 8192, and meshes or textures larger than its buffers: the error tells the
//!   limit.
//!
//! A `MeshcatCone` is declined, as by the CPU engine. Of two surfaces at equal depth, the one with
//! the smaller id wins, as in the CPU engine, but depths that differ by rounding may be equal in
//! one engine only.

mod adapter;
mod batch;
mod device;
mod engine;
mod frame;
mod pipelines;
mod shader_source;
mod sky_data;

pub use adapter::{AdapterDescription, list_adapters};
pub use engine::RenderEngineGpu;
pub use shader_source::shader_source;
