//! Which render engine a camera uses, and its parameters.

use super::yaml;
use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_saphyr::Tagged;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tarragon_geometry::Rgba;
use tarragon_geometry::render::{LightParameter, RenderEngineCpuParams, RenderLabel};

/// Drake's background, and ours.
pub(super) fn default_background() -> Rgba {
    RenderEngineCpuParams::default().default_clear_color
}

/// The choice of a render engine (Drake's `CameraConfig.renderer_class`): its name, or its parameters.
///
/// In YAML a name, `renderer_class: RenderEngineVtk`, or parameters with the tag of their type,
/// `renderer_class: !RenderEngineVtkParams {default_clear_color: [0, 0, 0]}`. All of Drake's engines but
/// the glTF client mean [`RenderEngineCpu`](tarragon_geometry::render::RenderEngineCpu) here.
///
/// ```
/// use tarragon_sensors::{CameraConfig, RenderEngineGlParams, RendererClass};
/// let camera = CameraConfig::from_yaml("renderer_class: !RenderEngineGlParams {}")?;
/// let gl = RenderEngineGlParams::default();
/// assert_eq!(camera.renderer_class, RendererClass::RenderEngineGlParams(gl));
/// assert_eq!(camera.renderer_class.class_name(), Some("RenderEngineGl"));
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum RendererClass {
    /// Whatever engine has the name, the default engine if there is none. The empty string in YAML.
    #[default]
    Unspecified,
    /// Drake's portable engine.
    RenderEngineVtk,
    /// Drake's fast engine.
    RenderEngineGl,
    /// An engine that asks a server for images. It can be written and read, not yet used.
    RenderEngineGltfClient,
    /// The engine of this workspace. Drake does not know it.
    RenderEngineCpu,
    /// Drake's portable engine.
    RenderEngineVtkParams(RenderEngineVtkParams),
    /// Drake's fast engine.
    RenderEngineGlParams(RenderEngineGlParams),
    /// An engine that asks a server for images. It can be written and read, not yet used.
    RenderEngineGltfClientParams(RenderEngineGltfClientParams),
    /// The engine of this workspace; `renderer_name` of the parameters is that of the camera. Drake does
    /// not know it.
    RenderEngineCpuParams(RenderEngineCpuParams),
}

impl RendererClass {
    /// Name of the class; `None` if it does not matter.
    pub fn class_name(&self) -> Option<&'static str> {
        match self {
            Self::Unspecified => None,
            Self::RenderEngineVtk | Self::RenderEngineVtkParams(_) => Some("RenderEngineVtk"),
            Self::RenderEngineGl | Self::RenderEngineGlParams(_) => Some("RenderEngineGl"),
            Self::RenderEngineGltfClient | Self::RenderEngineGltfClientParams(_) => {
                Some("RenderEngineGltfClient")
            }
            Self::RenderEngineCpu | Self::RenderEngineCpuParams(_) => Some("RenderEngineCpu"),
        }
    }
    /// True if it has parameters of its own.
    pub fn has_params(&self) -> bool {
        use RendererClass::*;
        match self {
            Unspecified | RenderEngineVtk | RenderEngineGl => false,
            RenderEngineGltfClient | RenderEngineCpu => false,
            RenderEngineVtkParams(_) | RenderEngineGlParams(_) => true,
            RenderEngineGltfClientParams(_) | RenderEngineCpuParams(_) => true,
        }
    }

    /// The parameters of the engine that draws for this choice; `background` is that of the camera, for
    /// choices without parameters. What the engine does not do yet is logged as a warning.
    ///
    /// # Errors
    /// If it is the glTF client, which does not exist yet.
    pub fn to_cpu_params(&self, background: Rgba) -> Result<RenderEngineCpuParams> {
        let base = RenderEngineCpuParams::default();
        Ok(match self {
            Self::Unspecified
            | Self::RenderEngineVtk
            | Self::RenderEngineGl
            | Self::RenderEngineCpu => RenderEngineCpuParams {
                default_clear_color: background,
                ..base
            },
            Self::RenderEngineVtkParams(p) => {
                for (field, is_set) in [
                    ("cast_shadows", p.cast_shadows),
                    ("environment_map", p.environment_map.is_some()),
                    ("exposure", p.exposure.is_some()),
                    ("ssao", p.ssao.is_some()),
                ] {
                    if is_set {
                        tracing::warn!("RenderEngineVtkParams: {field} has no effect yet");
                    }
                }
                RenderEngineCpuParams {
                    default_diffuse: p.default_diffuse.unwrap_or(base.default_diffuse),
                    default_clear_color: p.default_clear_color,
                    lights: p.lights.clone(),
                    ..base
                }
            }
            Self::RenderEngineGlParams(p) => RenderEngineCpuParams {
                default_diffuse: p.default_diffuse,
                default_clear_color: p.default_clear_color,
                lights: p.lights.clone(),
                ..base
            },
            Self::RenderEngineCpuParams(p) => p.clone(),
            Self::RenderEngineGltfClient | Self::RenderEngineGltfClientParams(_) => {
                return Err(Error::invalid(
                    "renderer_class RenderEngineGltfClient is not supported yet; use RenderEngineVtk, \
                     RenderEngineGl or RenderEngineCpu",
                ));
            }
        })
    }
}

/// Parameters of Drake's VTK engine (Drake's `RenderEngineVtkParams`).
///
/// ```
/// use tarragon_geometry::Rgba;
/// use tarragon_sensors::{RenderEngineVtkParams, RendererClass};
/// let black = Rgba::new(0.0, 0.0, 0.0, 1.0)?;
/// let params = RenderEngineVtkParams { default_clear_color: black, ..Default::default() };
/// let cpu = RendererClass::RenderEngineVtkParams(params).to_cpu_params(Rgba::WHITE)?;
/// assert_eq!(cpu.default_clear_color, black);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RenderEngineVtkParams {
    /// Colour of geometry without one.
    #[serde(
        with = "yaml::optional_rgba_list",
        skip_serializing_if = "Option::is_none"
    )]
    pub default_diffuse: Option<Rgba>,
    /// Colour of the background; opaque.
    #[serde(with = "yaml::rgb")]
    pub default_clear_color: Rgba,
    /// Lights; none means one fixed to the camera.
    #[serde(with = "yaml::lights")]
    pub lights: Vec<LightParameter>,
    /// Light and background from a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment_map: Option<EnvironmentMap>,
    /// Brightness of the tone mapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposure: Option<f64>,
    /// Ambient occlusion in screen space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssao: Option<SsaoParameter>,
    /// Lights cast shadows.
    pub cast_shadows: bool,
    /// Side of the shadow maps (pixels).
    pub shadow_map_size: u32,
    /// Physically based shading even without a glTF file.
    pub force_to_pbr: bool,
    /// What to do about extensions of glTF files.
    pub gltf_extensions: BTreeMap<String, GltfExtension>,
    /// The window system of the engine.
    pub backend: String,
}

impl Default for RenderEngineVtkParams {
    fn default() -> Self {
        let ktx = ("KHR_texture_basisu".to_owned(), GltfExtension::default());
        Self {
            default_diffuse: None,
            default_clear_color: default_background(),
            lights: vec![],
            environment_map: None,
            exposure: None,
            ssao: None,
            cast_shadows: false,
            shadow_map_size: 256,
            force_to_pbr: false,
            gltf_extensions: BTreeMap::from([ktx]),
            backend: String::new(),
        }
    }
}

/// Parameters of Drake's OpenGL engine (Drake's `RenderEngineGlParams`).
///
/// ```
/// use tarragon_geometry::Rgba;
/// use tarragon_sensors::{RenderEngineGlParams, RendererClass};
/// let cpu = RendererClass::RenderEngineGlParams(RenderEngineGlParams::default())
///     .to_cpu_params(Rgba::WHITE)?;
/// assert_eq!(cpu.default_diffuse, Rgba::DEFAULT_DIFFUSE);
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RenderEngineGlParams {
    /// Colour of geometry without one.
    #[serde(with = "yaml::rgba")]
    pub default_diffuse: Rgba,
    /// Colour of the background.
    #[serde(with = "yaml::rgba")]
    pub default_clear_color: Rgba,
    /// Lights; none means one fixed to the camera.
    #[serde(with = "yaml::lights")]
    pub lights: Vec<LightParameter>,
}

impl Default for RenderEngineGlParams {
    fn default() -> Self {
        Self {
            default_diffuse: Rgba::DEFAULT_DIFFUSE,
            default_clear_color: default_background(),
            lights: vec![],
        }
    }
}

/// Parameters of the engine that asks a server for images (Drake's `RenderEngineGltfClientParams`).
///
/// ```
/// use tarragon_sensors::RenderEngineGltfClientParams;
/// assert_eq!(RenderEngineGltfClientParams::default().render_endpoint, "render");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RenderEngineGltfClientParams {
    /// Address of the server.
    pub base_url: String,
    /// Path at the server.
    pub render_endpoint: String,
    /// Logs what is sent and received.
    pub verbose: bool,
    /// Removes temporary files.
    pub cleanup: bool,
}

impl Default for RenderEngineGltfClientParams {
    fn default() -> Self {
        Self {
            base_url: "http://127.0.0.1:8000".into(),
            render_endpoint: "render".into(),
            verbose: false,
            cleanup: true,
        }
    }
}

/// Light and background from a picture (Drake's `EnvironmentMap`).
///
/// ```
/// use tarragon_sensors::{EnvironmentMap, EnvironmentTexture};
/// let map = EnvironmentMap::default();
/// assert!(map.skybox && map.texture == EnvironmentTexture::NullTexture);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EnvironmentMap {
    /// The picture is the background too.
    pub skybox: bool,
    /// The picture.
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

/// The picture of an [`EnvironmentMap`]; in YAML `!EquirectangularMap {path: FILE}`, or `{}` for none.
///
/// ```
/// use tarragon_sensors::{CameraConfig, EnvironmentTexture, RendererClass};
/// let camera = CameraConfig::from_yaml("
/// renderer_class: !RenderEngineVtkParams
///   environment_map: {texture: !EquirectangularMap {path: sky.hdr}}")?;
/// let RendererClass::RenderEngineVtkParams(params) = camera.renderer_class else { panic!() };
/// let sky = EnvironmentTexture::EquirectangularMap { path: "sky.hdr".into() };
/// assert_eq!(params.environment_map.unwrap().texture, sky);
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EnvironmentTexture {
    /// None.
    #[default]
    NullTexture,
    /// Longitude to the right, latitude up.
    EquirectangularMap {
        /// The file.
        path: PathBuf,
    },
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TextureFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
}

impl<'de> Deserialize<'de> for EnvironmentTexture {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Tagged(TextureFields { path }, tag) = Tagged::deserialize(deserializer)?;
        match (tag.as_deref(), path) {
            (None | Some("!NullTexture"), None) => Ok(Self::NullTexture),
            (Some("!EquirectangularMap"), path) => Ok(Self::EquirectangularMap {
                path: path.unwrap_or_default(),
            }),
            (tag, path) => Err(de::Error::custom(format!(
                "the texture has the tag {} and the path {path:?}; !EquirectangularMap {{path: FILE}} or \
                 !NullTexture {{}} is expected",
                tag.unwrap_or("(none)"),
            ))),
        }
    }
}

impl Serialize for EnvironmentTexture {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (tag, path) = match self {
            Self::NullTexture => ("!NullTexture", None),
            Self::EquirectangularMap { path } => ("!EquirectangularMap", Some(path.clone())),
        };
        Tagged(TextureFields { path }, Some(tag.into())).serialize(serializer)
    }
}

/// Ambient occlusion in screen space (Drake's `SsaoParameter`). It is read and written, and has no
/// effect on images yet.
///
/// ```
/// use tarragon_sensors::SsaoParameter;
/// assert_eq!(SsaoParameter::default().sample_count, 128);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SsaoParameter {
    /// How far occluders reach (m).
    pub radius: f64,
    /// What is nearer than this does not occlude (m).
    pub bias: f64,
    /// Number of samples.
    pub sample_count: u32,
    /// Factor of the effect.
    pub intensity_scale: f64,
    /// Summand of the effect.
    pub intensity_shift: f64,
    /// Blurs the effect.
    pub blur: bool,
}

impl Default for SsaoParameter {
    fn default() -> Self {
        Self {
            radius: 0.25,
            bias: 0.01,
            sample_count: 128,
            intensity_scale: 1.0,
            intensity_shift: 0.0,
            blur: true,
        }
    }
}

/// What to do about an extension of glTF files (Drake's `GltfExtension`).
///
/// ```
/// use tarragon_sensors::RenderEngineVtkParams;
/// let params = RenderEngineVtkParams::default();
/// assert!(!params.gltf_extensions["KHR_texture_basisu"].warn_unimplemented);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GltfExtension {
    /// Warns that it is not implemented.
    pub warn_unimplemented: bool,
}

/// `RenderEngineCpuParams` in YAML.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CpuFields {
    #[serde(with = "yaml::rgba")]
    default_diffuse: Rgba,
    #[serde(with = "yaml::rgba")]
    default_clear_color: Rgba,
    /// Whether geometry without a label is an error.
    require_labels: bool,
    #[serde(with = "yaml::lights")]
    lights: Vec<LightParameter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<usize>,
    samples_per_side: usize,
}

impl Default for CpuFields {
    fn default() -> Self {
        Self::from(&RenderEngineCpuParams::default())
    }
}

impl From<&RenderEngineCpuParams> for CpuFields {
    fn from(p: &RenderEngineCpuParams) -> Self {
        Self {
            default_diffuse: p.default_diffuse,
            default_clear_color: p.default_clear_color,
            require_labels: p.default_label == RenderLabel::UNSPECIFIED,
            lights: p.lights.clone(),
            threads: p.threads,
            samples_per_side: p.samples_per_side,
        }
    }
}

impl From<CpuFields> for RenderEngineCpuParams {
    fn from(p: CpuFields) -> Self {
        Self {
            default_diffuse: p.default_diffuse,
            default_clear_color: p.default_clear_color,
            default_label: if p.require_labels {
                RenderLabel::UNSPECIFIED
            } else {
                RenderLabel::DONT_CARE
            },
            lights: p.lights,
            threads: p.threads,
            samples_per_side: p.samples_per_side,
            ..Self::default()
        }
    }
}

/// Names of the types of parameters, which are their tags.
pub(super) const PARAMETER_TAGS: [&str; 4] = [
    "RenderEngineVtkParams",
    "RenderEngineGlParams",
    "RenderEngineGltfClientParams",
    "RenderEngineCpuParams",
];

impl<'de> Deserialize<'de> for RendererClass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// The parser takes a tag for the name of a variant, and a scalar for one without content.
        #[derive(Deserialize)]
        enum Choice {
            #[serde(rename = "")]
            Unspecified,
            RenderEngineVtk,
            RenderEngineGl,
            RenderEngineGltfClient,
            RenderEngineCpu,
            RenderEngineVtkParams(RenderEngineVtkParams),
            RenderEngineGlParams(RenderEngineGlParams),
            RenderEngineGltfClientParams(RenderEngineGltfClientParams),
            RenderEngineCpuParams(CpuFields),
        }
        Ok(match Choice::deserialize(deserializer)? {
            Choice::Unspecified => Self::Unspecified,
            Choice::RenderEngineVtk => Self::RenderEngineVtk,
            Choice::RenderEngineGl => Self::RenderEngineGl,
            Choice::RenderEngineGltfClient => Self::RenderEngineGltfClient,
            Choice::RenderEngineCpu => Self::RenderEngineCpu,
            Choice::RenderEngineVtkParams(p) => Self::RenderEngineVtkParams(p),
            Choice::RenderEngineGlParams(p) => Self::RenderEngineGlParams(p),
            Choice::RenderEngineGltfClientParams(p) => Self::RenderEngineGltfClientParams(p),
            Choice::RenderEngineCpuParams(p) => Self::RenderEngineCpuParams(p.into()),
        })
    }
}

impl Serialize for RendererClass {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        fn tagged<P: Serialize, S: Serializer>(
            tag: &str,
            params: P,
            s: S,
        ) -> Result<S::Ok, S::Error> {
            Tagged(params, Some(format!("!{tag}"))).serialize(s)
        }
        let [vtk, gl, gltf, cpu] = PARAMETER_TAGS;
        match self {
            Self::RenderEngineVtkParams(p) => tagged(vtk, p, s),
            Self::RenderEngineGlParams(p) => tagged(gl, p, s),
            Self::RenderEngineGltfClientParams(p) => tagged(gltf, p, s),
            Self::RenderEngineCpuParams(p) => tagged(cpu, CpuFields::from(p), s),
            by_name => s.serialize_str(by_name.class_name().unwrap_or_default()),
        }
    }
}
