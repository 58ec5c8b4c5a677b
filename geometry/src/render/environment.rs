//! Light that comes from everywhere.

use std::path::PathBuf;

/// Light that comes from all directions of the world (Drake's `EnvironmentMap`).
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
    /// True if the map is seen behind everything; else the background has the clear colour.
    pub skybox: bool,
    /// The picture of the environment.
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

/// The picture of an environment.
///
/// ```
/// use tarragon_geometry::render::{EnvironmentTexture, NullTexture};
/// assert_eq!(EnvironmentTexture::default(), NullTexture.into());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum EnvironmentTexture {
    /// None: the environment is black.
    Null(NullTexture),
    /// Longitudes and latitudes.
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

/// No picture (Drake's `NullTexture`): an environment map that has none is as if it was not there.
///
/// ```
/// use tarragon_geometry::render::{EnvironmentMap, NullTexture, RenderEngineCpu, RenderEngineCpuParams};
/// let nothing = EnvironmentMap { texture: NullTexture.into(), ..EnvironmentMap::default() };
/// let params = RenderEngineCpuParams { environment_map: Some(nothing), ..Default::default() };
/// assert!(RenderEngineCpu::new(params).is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NullTexture;

/// A picture of all directions: longitudes from left to right, latitudes from top to bottom
/// (Drake's `EquirectangularMap`). Its middle is towards the world's +x, a quarter to the left is
/// +y, the top +z.
///
/// ```
/// use tarragon_geometry::render::EquirectangularMap;
/// let map = EquirectangularMap { path: "sky.hdr".into() };
/// assert_eq!(map.path.extension().unwrap(), "hdr");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EquirectangularMap {
    /// A PNG or JPEG file, as it looks on the screen, or a Radiance HDR file, whose numbers are
    /// light.
    pub path: PathBuf,
}
