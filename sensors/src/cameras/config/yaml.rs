//! YAML input and output: positions of errors, and types that other crates define.

use super::{CameraConfig, too_large};
use crate::{Error, Result};
use nalgebra::Vector3;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_saphyr::{FlowSeq, ser_options};
use tarragon_documents::yaml::read_yaml;
use tarragon_formats::schema::vector::{self, YamlVector3};
use tarragon_framework::FileLocation;
use tarragon_geometry::Rgba;

/// Reads one document. `file` is its name in messages; `hint` may append a remedy to the error.
pub(super) fn read<V: DeserializeOwned>(
    file: &str,
    text: &str,
    hint: impl Fn(&str) -> Option<String>,
) -> Result<V> {
    read_yaml(text).map_err(|error| {
        let hint = hint(text).unwrap_or_default();
        let location = FileLocation {
            file: file.into(),
            line: error.line,
            column: error.column,
        };
        Error::parse(location, format!("{}{hint}", error.message))
    })
}

/// Writes one document.
pub(super) fn write(value: &impl Serialize) -> Result<String> {
    // Strings such as "yes" are quoted, for readers of YAML 1.1 such as pydrake's.
    let options = ser_options! { compact_list_indent: true, yaml_12: false };
    let text = serde_saphyr::to_string_with_options(value, options);
    text.map_err(|e| Error::invalid("camera configuration: cannot write YAML").with_cause(e))
}

/// Reads a size in pixels. Negative and huge numbers are refused here, where their place is known.
pub(super) fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let size = i64::deserialize(deserializer)?;
    match usize::try_from(size) {
        Ok(side) if side <= CameraConfig::MAX_SIDE => Ok(side),
        Err(_) if size < 0 => Err(de::Error::custom(format!(
            "a size must be a positive whole number, got {size} pixels"
        ))),
        _ => Err(de::Error::custom(too_large(size))),
    }
}

/// Returns the colour of a list of three or four numbers.
pub(super) fn color_of<E: de::Error>(channels: &[f64]) -> Result<Rgba, E> {
    Rgba::from_slice(channels).map_err(E::custom)
}

/// Drake's form of a colour, `{rgba: [r, g, b, a]}`; `a` may be omitted.
pub(super) mod rgba {
    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Fields {
        rgba: FlowSeq<Vec<f64>>,
    }
    pub(crate) fn serialize<S: Serializer>(color: &Rgba, s: S) -> Result<S::Ok, S::Error> {
        let rgba = FlowSeq(color.rgba().as_slice().to_vec());
        Fields { rgba }.serialize(s)
    }
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Rgba, D::Error> {
        let Fields {
            rgba: FlowSeq(channels),
        } = Fields::deserialize(d)?;
        color_of(&channels)
    }
}

/// An opaque colour, `[r, g, b]`.
pub(super) mod rgb {
    use super::*;
    pub(crate) fn serialize<S: Serializer>(color: &Rgba, s: S) -> Result<S::Ok, S::Error> {
        YamlVector3(Vector3::new(color.r(), color.g(), color.b())).serialize(s)
    }
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Rgba, D::Error> {
        color_of(YamlVector3::deserialize(d)?.0.as_slice())
    }
}

/// An optional colour, `[r, g, b, a]`.
pub(super) mod optional_rgba_list {
    use super::*;
    pub(crate) fn serialize<S: Serializer>(color: &Option<Rgba>, s: S) -> Result<S::Ok, S::Error> {
        color
            .map(|c| FlowSeq(c.rgba().as_slice().to_vec()))
            .serialize(s)
    }
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Rgba>, D::Error> {
        let channels = Option::<Vec<f64>>::deserialize(d)?;
        channels.map(|c| color_of(&c)).transpose()
    }
}

/// Lights with Drake's names and defaults.
pub(super) mod lights {
    use super::*;
    use tarragon_geometry::render::{LightFrame, LightParameter, LightType};

    #[derive(Serialize, Deserialize)]
    #[serde(remote = "LightType", rename_all = "lowercase")]
    enum Kind {
        Point,
        Spot,
        Directional,
    }
    #[derive(Serialize, Deserialize)]
    #[serde(remote = "LightFrame", rename_all = "lowercase")]
    enum Frame {
        World,
        Camera,
    }
    #[derive(Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Light {
        #[serde(rename = "type", with = "Kind")]
        light_type: LightType,
        #[serde(with = "rgba")]
        color: Rgba,
        #[serde(with = "vector")]
        attenuation_values: Vector3<f64>,
        #[serde(with = "vector")]
        position: Vector3<f64>,
        #[serde(with = "Frame")]
        frame: LightFrame,
        intensity: f64,
        #[serde(with = "vector")]
        direction: Vector3<f64>,
        cone_angle: f64,
    }
    impl Default for Light {
        fn default() -> Self {
            Self::from(&LightParameter::default())
        }
    }
    impl From<&LightParameter> for Light {
        fn from(l: &LightParameter) -> Self {
            Self {
                light_type: l.light_type,
                color: l.color,
                attenuation_values: l.attenuation_values,
                position: l.position,
                frame: l.frame,
                intensity: l.intensity,
                direction: l.direction,
                cone_angle: l.cone_angle,
            }
        }
    }
    impl From<Light> for LightParameter {
        fn from(l: Light) -> Self {
            Self {
                light_type: l.light_type,
                color: l.color,
                attenuation_values: l.attenuation_values,
                position: l.position,
                frame: l.frame,
                intensity: l.intensity,
                direction: l.direction,
                cone_angle: l.cone_angle,
            }
        }
    }

    pub(crate) fn serialize<S: Serializer>(
        lights: &[LightParameter],
        s: S,
    ) -> Result<S::Ok, S::Error> {
        s.collect_seq(lights.iter().map(Light::from))
    }
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        d: D,
    ) -> Result<Vec<LightParameter>, D::Error> {
        let lights = Vec::<Light>::deserialize(d)?;
        Ok(lights.into_iter().map(LightParameter::from).collect())
    }
}
