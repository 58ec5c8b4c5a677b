//! Environment maps: light from all directions.

use crate::mesh::TextureImage;
use std::path::PathBuf;

/// Light from all directions of the world (Drake's `EnvironmentMap`, which has no `lights`).
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
    /// True if the map lights surfaces. Otherwise it is only seen, and lights act as if there were
    /// no map. Drake's maps always light.
    pub lights: bool,
    /// Texture that holds the environment's light.
    pub texture: EnvironmentTexture,
}

impl Default for EnvironmentMap {
    fn default() -> Self {
        Self {
            skybox: true,
            lights: true,
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
    /// Six images; Drake has none like it.
    Cube(CubeMap),
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

impl From<CubeMap> for EnvironmentTexture {
    fn from(map: CubeMap) -> Self {
        Self::Cube(map)
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

/// A texture of all directions on the six faces of a cube, as MuJoCo's skybox.
///
/// The images are those in the directions x, -x, y, -y, z and -z of the cube's frame C, each placed
/// as the cube map of OpenGL ("OpenGL Specification", version 4.6, table 8.19), as in
/// [`ProjectedTexture::from_center`](crate::ProjectedTexture::from_center). The axes x, y, z of C
/// are the axes x, z, -y of the world W. Cameras are inside of the cube, and see the images
/// mirrored.
///
/// | index | MuJoCo's name | direction in W | to the right in the image | down in the image |
/// |---|---|---|---|---|
/// | 0 | right | x | y | -z |
/// | 1 | left | -x | -y | -z |
/// | 2 | up | z | x | -y |
/// | 3 | down | -z | x | y |
/// | 4 | front | -y | x | -z |
/// | 5 | back | y | -x | -z |
///
/// ```
/// use tarragon_geometry::mesh::TextureImage;
/// use tarragon_geometry::render::{CubeMap, EnvironmentMap};
/// let names = ["right", "left", "up", "down", "front", "back"];
/// let sky = CubeMap::new(names.map(|name| TextureImage::File(format!("{name}.png").into())));
/// // The background of an image, which lights nothing.
/// let map = EnvironmentMap { lights: false, texture: sky.into(), ..EnvironmentMap::default() };
/// assert!(map.skybox);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CubeMap {
    images: Box<[TextureImage; 6]>,
}

impl CubeMap {
    /// Creates a map from its images: PNG or JPEG, which hold screen colours. Their opacity is
    /// ignored.
    pub fn new(images: [TextureImage; 6]) -> Self {
        Self {
            images: Box::new(images),
        }
    }
    /// Returns the images.
    pub fn images(&self) -> &[TextureImage; 6] {
        &self.images
    }
}
