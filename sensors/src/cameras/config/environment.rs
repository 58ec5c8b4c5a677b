//! Environment maps as data.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_saphyr::Tagged;
use std::path::PathBuf;
use tarragon_geometry::render::{
    EnvironmentMap, EnvironmentTexture, EquirectangularMap, NullTexture,
};

/// [`EnvironmentMap`] in YAML.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct MapFields {
    skybox: bool,
    texture: Texture,
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
            texture: Texture(map.texture.clone()),
        }
    }
}

/// The texture in YAML: `!EquirectangularMap {path: FILE}`, or `!NullTexture {}` or `{}` for none.
struct Texture(EnvironmentTexture);

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TextureFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
}

impl<'de> Deserialize<'de> for Texture {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Tagged(TextureFields { path }, tag) = Tagged::deserialize(deserializer)?;
        match (tag.as_deref(), path) {
            (None | Some("!NullTexture"), None) => Ok(Self(NullTexture.into())),
            (Some("!EquirectangularMap"), path) => {
                let path = path.unwrap_or_default();
                Ok(Self(EquirectangularMap { path }.into()))
            }
            (tag, path) => Err(de::Error::custom(format!(
                "texture must be !EquirectangularMap {{path: FILE}} or !NullTexture {{}}, got the \
                 tag {} and the path {path:?}",
                tag.unwrap_or("(none)"),
            ))),
        }
    }
}

impl Serialize for Texture {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (tag, path) = match &self.0 {
            EnvironmentTexture::Null(_) => ("!NullTexture", None),
            EnvironmentTexture::Equirectangular(map) => {
                ("!EquirectangularMap", Some(map.path.clone()))
            }
        };
        Tagged(TextureFields { path }, Some(tag.into())).serialize(serializer)
    }
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
        texture: map.texture.0,
    }))
}
