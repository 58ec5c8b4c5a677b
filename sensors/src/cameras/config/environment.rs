//! Environment maps as data.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_saphyr::Tagged;
use std::path::PathBuf;
use tarragon_documents::yaml::Tagged as Read;
use tarragon_geometry::mesh::TextureImage;
use tarragon_geometry::render::{
    CubeMap, EnvironmentMap, EnvironmentTexture, EquirectangularMap, NullTexture,
};

/// [`EnvironmentMap`] in YAML.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct MapFields {
    skybox: bool,
    // Drake's maps always light, and its schema has no such key.
    #[serde(skip_serializing_if = "is_true")]
    lights: bool,
    texture: Texture,
}

fn is_true(value: &bool) -> bool {
    *value
}

impl Default for MapFields {
    fn default() -> Self {
        Self::from(&EnvironmentMap::default())
    }
}

impl From<&EnvironmentMap> for MapFields {
    fn from(map: &EnvironmentMap) -> Self {
        Self {
            skybox: map.skybox,
            lights: map.lights,
            texture: Texture(map.texture.clone()),
        }
    }
}

/// The texture in YAML: `!EquirectangularMap {path: FILE}`, `!CubeMap {paths: [FILE, ...]}` with
/// six files, or `!NullTexture {}` or `{}` for none.
struct Texture(EnvironmentTexture);

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TextureFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
    /// Files of a cube map, right, left, up, down, front, back.
    #[serde(skip_serializing_if = "Option::is_none")]
    paths: Option<[PathBuf; 6]>,
}

impl<'de> Deserialize<'de> for Texture {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Read { value, tag } = Read::<TextureFields>::deserialize(deserializer)?;
        let TextureFields { path, paths } = value;
        match (tag.as_deref(), path, paths) {
            (None | Some("!NullTexture"), None, None) => Ok(Self(NullTexture.into())),
            (Some("!EquirectangularMap"), path, None) => {
                let path = path.unwrap_or_default();
                Ok(Self(EquirectangularMap { path }.into()))
            }
            (Some("!CubeMap"), None, Some(paths)) => {
                Ok(Self(CubeMap::new(paths.map(TextureImage::File)).into()))
            }
            (tag, path, paths) => Err(de::Error::custom(format!(
                "texture must be !EquirectangularMap {{path: FILE}}, !CubeMap {{paths: [six \
                 FILEs]}} or !NullTexture {{}}, got the tag {}, the path {path:?} and the paths \
                 {paths:?}",
                tag.unwrap_or("(none)"),
            ))),
        }
    }
}

impl Serialize for Texture {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let none = TextureFields::default();
        let (tag, fields) = match &self.0 {
            EnvironmentTexture::Null(_) => ("!NullTexture", none),
            EnvironmentTexture::Equirectangular(map) => {
                let path = Some(map.path.clone());
                ("!EquirectangularMap", TextureFields { path, ..none })
            }
            EnvironmentTexture::Cube(map) => {
                let paths = paths_of(map).map(Some).map_err(ser::Error::custom)?;
                ("!CubeMap", TextureFields { paths, ..none })
            }
        };
        Tagged(fields, Some(tag.into())).serialize(serializer)
    }
}

/// Returns the files of a cube map.
fn paths_of(map: &CubeMap) -> Result<[PathBuf; 6], &'static str> {
    let path = |image: &TextureImage| match image {
        TextureImage::File(path) => Some(path.clone()),
        TextureImage::Content(_) => None,
    };
    let paths: Option<Vec<PathBuf>> = map.images().iter().map(path).collect();
    paths.and_then(|paths| paths.try_into().ok()).ok_or(
        "CubeMap: the images must be files to be written as YAML, got images in memory; write \
         them to files first",
    )
}

pub(super) fn serialize<S: Serializer>(
    map: &Option<EnvironmentMap>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    map.as_ref().map(MapFields::from).serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<EnvironmentMap>, D::Error> {
    let fields = Option::<MapFields>::deserialize(deserializer)?;
    Ok(fields.map(|map| EnvironmentMap {
        skybox: map.skybox,
        lights: map.lights,
        texture: map.texture.0,
    }))
}
