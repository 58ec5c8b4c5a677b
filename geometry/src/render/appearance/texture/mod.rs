//! Image files and textures.

mod picture;
mod placed_texture;
mod radiance_hdr;
mod sampled_texture;
mod size;

pub(crate) use picture::DecodedImage;
pub use placed_texture::PlacedTexture;
pub(crate) use placed_texture::TextureCache;
pub use sampled_texture::{MipLevel, SampledTexture};
