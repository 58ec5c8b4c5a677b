//! Environment maps: light from all directions.

use std::path::PathBuf;

/// Light from all directions of the world (Drake's `EnvironmentMap`).
///
/// ```
/// use tarragon_geometry::render::*;
/// let map = EnvironmentMap { skybox: false, ..EnvironmentMap::default() };
/// assert_eq!(map.texture, EnvironmentTexture::Null(NullTexture));
/// let sky = EquirectangularMap { path: "no such sky.hdr".into() };
/// let environment_map = Some(EnvironmentMap { texture: sky.into(), ..map });
/// let params = RenderEngineCpuParams { environment_map, ..Default::default() };
/// assert!(RenderEngineCpu::new(params).is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EnvironmentMap {
    /// True if the map is visible behind everything. Otherwise the background has the clear colour.
    pub skybox: bool,
    /// Texture that holds the environment's light.
    pub texture: EnvironmentTexture,
}

impl Default for EnvironmentMap {
    fn default() -> Self {
        Self {
            skybox: true,
            texture: EnvironmentTexture::default(),
        }
    }
}

/// Texture of an environment map.
///
/// ```
/// use tarragon_geometry::render::{EnvironmentTexture, NullTexture};
/// assert_eq!(EnvironmentTexture::default(), NullTexture.into());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum EnvironmentTexture {
    /// No texture: the environment map has no effect.
    Null(NullTexture),
    /// A map of longitudes and latitudes.
    Equirectangular(EquirectangularMap),
}

impl Default for EnvironmentTexture {
    fn default() -> Self {
        Self::Null(NullTexture)
    }
}

impl From<NullTexture> for EnvironmentTexture {
    fn from(texture: NullTexture) -> Self {
        Self::Null(texture)
    }
}

impl From<EquirectangularMap> for EnvironmentTexture {
    fn from(map: EquirectangularMap) -> Self {
        Self::Equirectangular(map)
    }
}

/// An absent texture (Drake's `NullTexture`). An environment map with this texture has no effect.
///
/// ```
/// use tarragon_geometry::render::{EnvironmentMap, NullTexture};
/// use tarragon_geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
/// let nothing = EnvironmentMap { texture: NullTexture.into(), ..EnvironmentMap::default() };
/// let params = RenderEngineCpuParams { environment_map: Some(nothing), ..Default::default() };
/// assert!(RenderEngineCpu::new(params).is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NullTexture;

/// A texture of all directions: longitudes from left to right, latitudes from top to bottom
/// (Drake's `EquirectangularMap`). The middle of the image is the world's +x; a quarter of the
/// width to the left of it is +y; the top is +z.
///
/// ```
/// use tarragon_geometry::render::EquirectangularMap;
/// let map = EquirectangularMap { path: "sky.hdr".into() };
/// assert_eq!(map.path.extension().unwrap(), "hdr");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EquirectangularMap {
    /// PNG or JPEG file, which holds screen colours, or Radiance HDR file, which holds linear
    /// light.
    pub path: PathBuf,
}
