//! Textures on surfaces.

use super::sampled_texture::SampledTexture;
use crate::mesh::{Texture, TextureImage, Wrap};
use std::sync::Arc;
use tarragon_framework::warnings::warn;

/// A texture, and how the texture coordinates of a surface map to it.
#[derive(Clone, Debug)]
pub struct PlacedTexture {
    /// The texture.
    pub image: Arc<SampledTexture>,
    /// Set of texture coordinates of the mesh, 0 or 1.
    pub uv_set: usize,
    /// Rows of the matrix that maps `(u, v, 1)`, with v up, to the coordinates in the image.
    pub uv_transform: [[f32; 3]; 2],
}

impl PlacedTexture {
    /// Returns the coordinates in the image.
    pub(crate) fn at(&self, [u, v]: [f32; 2]) -> [f32; 2] {
        self.uv_transform.map(|[a, b, c]| a * u + b * v + c)
    }
    /// Returns the mean factor of lengths of the transformation.
    pub(crate) fn stretch(&self) -> f32 {
        let [[a, b, _], [c, d, _]] = self.uv_transform;
        (a * d - b * c).abs().sqrt()
    }
}

/// Textures that were read, or could not be.
#[derive(Debug, Default)]
pub(crate) struct TextureCache(Vec<CachedTexture>);

#[derive(Debug)]
struct CachedTexture {
    image: TextureImage,
    wrap: [Wrap; 2],
    read: Option<Arc<SampledTexture>>,
}

impl TextureCache {
    /// Reads the texture of a material, once per image; `material` is its name, for messages. A
    /// texture that cannot be read is left out with a warning, as in Drake.
    pub(crate) fn read(&mut self, material: &str, texture: &Texture) -> Option<PlacedTexture> {
        let is_same = |c: &&CachedTexture| c.image == texture.image && c.wrap == texture.wrap;
        let read = match self.0.iter().find(is_same) {
            Some(cached) => cached.read.clone(),
            None => {
                let read = match SampledTexture::of(material, texture) {
                    Ok(image) => Some(Arc::new(image)),
                    Err(e) => {
                        warn(format!("{e}; the texture is left out"));
                        None
                    }
                };
                self.0.push(CachedTexture {
                    image: texture.image.clone(),
                    wrap: texture.wrap,
                    read: read.clone(),
                });
                read
            }
        };
        Some(PlacedTexture {
            image: read?,
            uv_set: texture.uv_set,
            uv_transform: texture.uv_transform.map(|row| row.map(|x| x as f32)),
        })
    }
}
