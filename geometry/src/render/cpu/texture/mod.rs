//! Image files and textures.

mod picture;
mod radiance_hdr;
mod sampled_texture;

pub(super) use picture::Picture;
pub(super) use sampled_texture::SampledTexture;
