//! Image files and textures.

mod picture;
mod radiance_hdr;
mod sampled_texture;
mod size;

pub(crate) use picture::DecodedImage;
pub use sampled_texture::{MipLevel, SampledTexture};
