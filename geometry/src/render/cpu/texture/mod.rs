//! Image files and textures.

mod picture;
mod radiance_hdr;
mod sampled_texture;
mod size;

pub(super) use picture::DecodedImage;
pub(super) use sampled_texture::SampledTexture;
