//! Skyboxes, whose images are made when they are asked for.

use super::{TextureAsset, TextureSource};
use tarragon_geometry::render::CubeMap;

/// Texture of type `skybox`.
#[derive(Debug)]
pub(in crate::mjcf::read) struct Skybox {
    name: String,
    source: TextureSource,
}

impl Skybox {
    /// Returns the skybox of a texture; `None` for textures of other types.
    pub(in crate::mjcf::read) fn of(name: &str, texture: &TextureAsset) -> Option<Self> {
        texture.is_skybox.then(|| Self {
            name: name.into(),
            source: texture.source.clone(),
        })
    }
    /// Makes or reads the images. The error is a message.
    pub(in crate::mjcf::read) fn cube_map(&self) -> Result<CubeMap, String> {
        let name = |why: String| match self.name.as_str() {
            "" => format!("the skybox: {why}"),
            name => format!("skybox '{name}': {why}"),
        };
        let images = self.source.images(true).map_err(name)?;
        let found = images.len();
        let images = images.try_into();
        let images = images.map_err(|_| name(format!("there must be six images, got {found}")))?;
        Ok(CubeMap::new(images))
    }
}
