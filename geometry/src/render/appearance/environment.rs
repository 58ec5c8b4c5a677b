//! Environment maps, prepared for drawing.

use super::cube_sky::CubeSky;
use super::environment_light::EnvironmentLight;
use super::texture::DecodedImage;
use crate::error::Result;
use crate::render::{EnvironmentMap, EnvironmentTexture};

/// An environment map with its pictures.
#[derive(Debug)]
pub struct Environment {
    /// Picture of longitudes and latitudes; `None` for a cube that lights nothing.
    picture: Option<EnvironmentLight>,
    cube: Option<CubeSky>,
    lights: bool,
    is_visible: bool,
}

/// Background that an environment map provides.
#[derive(Clone, Copy, Debug)]
pub enum Sky<'a> {
    /// Longitudes and latitudes in linear light, the first level of the picture.
    Equirectangular(&'a EnvironmentLight),
    /// Six images in screen colours.
    Cube(&'a CubeSky),
}

impl Environment {
    /// Reads an environment map; `None` if it has no picture.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or is invalid.
    pub fn read(map: Option<&EnvironmentMap>) -> Result<Option<Self>> {
        map.map_or(Ok(None), Self::of)
            .map_err(|e| e.at("environment_map"))
    }
    fn of(map: &EnvironmentMap) -> Result<Option<Self>> {
        let (picture, cube) = match &map.texture {
            EnvironmentTexture::Null(_) => return Ok(None),
            EnvironmentTexture::Equirectangular(file) => {
                let picture = DecodedImage::read(&file.path)?;
                (Some(EnvironmentLight::new(&picture)), None)
            }
            EnvironmentTexture::Cube(images) => {
                let cube = CubeSky::read(images)?;
                let light = || EnvironmentLight::new(&cube.equirectangular());
                (map.lights.then(light), Some(cube))
            }
        };
        Ok(Some(Self {
            picture,
            cube,
            lights: map.lights,
            is_visible: map.skybox,
        }))
    }
    /// Returns the light on surfaces; `None` if the map lights nothing.
    pub fn light(&self) -> Option<&EnvironmentLight> {
        self.picture.as_ref().filter(|_| self.lights)
    }
    /// Returns the background; `None` if the map is not visible.
    pub fn sky(&self) -> Option<Sky<'_>> {
        let cube = self.cube.as_ref().map(Sky::Cube);
        let picture = || self.picture.as_ref().map(Sky::Equirectangular);
        cube.or_else(picture).filter(|_| self.is_visible)
    }
}
