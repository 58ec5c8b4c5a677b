//! The render engine of a camera, and its parameters.

use super::engine_params::{
    CpuFields, GpuFields, RenderEngineGlParams, RenderEngineVtkParams, default_background,
};
use crate::gltf_client::{RenderEngineGltfClient, RenderEngineGltfClientParams};
use crate::{Error, Result};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_saphyr::Tagged;
use tarragon_documents::yaml::{Tagged as Read, read_yaml};
use tarragon_framework::warnings::warn;
use tarragon_geometry::render::{
    EnvironmentMap, RenderEngineCpu, RenderEngineCpuParams, RenderEngineGpuParams,
};
use tarragon_geometry::{Rgba, SceneGraph};

/// Choice of a render engine (Drake's `CameraConfig.renderer_class`): its class name, or its
/// parameters.
///
/// In YAML, this is a name, `renderer_class: RenderEngineVtk`, or parameters with the tag of their
/// type, `renderer_class: !RenderEngineVtkParams {default_clear_color: [0, 0, 0]}`.
/// [`RenderEngineCpu`](tarragon_geometry::render::RenderEngineCpu) renders the images of Drake's
/// other engines; [`RenderEngineGltfClient`](crate::RenderEngineGltfClient) requests them from a
/// server.
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
    /// The existing engine named `renderer_name`, or the default engine if there is none. In YAML,
    /// the empty string.
    #[default]
    Unspecified,
    /// Drake's portable engine.
    RenderEngineVtk,
    /// Drake's fast engine.
    RenderEngineGl,
    /// The engine that requests images from a server.
    RenderEngineGltfClient,
    /// The engine of this workspace, unknown to Drake.
    RenderEngineCpu,
    /// The engine of this workspace on GPUs, unknown to Drake; needs the feature `gpu`.
    RenderEngineGpu,
    /// Drake's portable engine.
    RenderEngineVtkParams(RenderEngineVtkParams),
    /// Drake's fast engine.
    RenderEngineGlParams(RenderEngineGlParams),
    /// The engine that requests images from a server.
    RenderEngineGltfClientParams(RenderEngineGltfClientParams),
    /// The engine of this workspace, unknown to Drake. The camera's `renderer_name` replaces that
    /// of the parameters.
    RenderEngineCpuParams(RenderEngineCpuParams),
    /// The engine of this workspace on GPUs, unknown to Drake; needs the feature `gpu`. The
    /// camera's `renderer_name` replaces that of the parameters.
    RenderEngineGpuParams(RenderEngineGpuParams),
}

impl RendererClass {
    /// Returns the name of the class, or `None` if any class will do.
    pub fn class_name(&self) -> Option<&'static str> {
        match self {
            Self::Unspecified => None,
            Self::RenderEngineVtk | Self::RenderEngineVtkParams(_) => Some("RenderEngineVtk"),
            Self::RenderEngineGl | Self::RenderEngineGlParams(_) => Some("RenderEngineGl"),
            Self::RenderEngineGltfClient | Self::RenderEngineGltfClientParams(_) => {
                Some("RenderEngineGltfClient")
            }
            Self::RenderEngineCpu | Self::RenderEngineCpuParams(_) => Some("RenderEngineCpu"),
            Self::RenderEngineGpu | Self::RenderEngineGpuParams(_) => Some("RenderEngineGpu"),
        }
    }
    /// Returns true if the choice includes parameters.
    pub fn has_params(&self) -> bool {
        use RendererClass::*;
        match self {
            Unspecified | RenderEngineVtk | RenderEngineGl => false,
            RenderEngineGltfClient | RenderEngineCpu | RenderEngineGpu => false,
            RenderEngineVtkParams(_) | RenderEngineGlParams(_) => true,
            RenderEngineGltfClientParams(_) => true,
            RenderEngineCpuParams(_) | RenderEngineGpuParams(_) => true,
        }
    }

    /// Checks the parameters as Drake's engine does.
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Self::RenderEngineVtkParams(p) => p.check(),
            Self::RenderEngineGlParams(p) => p.check(),
            Self::RenderEngineGpuParams(p) => p.check().map_err(|e| e.to_string()),
            _ => Ok(()),
        }
    }

    /// Returns the parameters of [`RenderEngineCpu`], if that renders for this choice. `background`
    /// is the camera's background, used by choices without parameters. Parameters that have no
    /// effect yet cause a warning.
    ///
    /// # Errors
    /// Returns an error if Drake's engine rejects the parameters, or the choice is the glTF client
    /// or the engine on GPUs, which are other engines.
    pub fn to_cpu_params(&self, background: Rgba) -> Result<RenderEngineCpuParams> {
        self.check().map_err(Error::invalid)?;
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
                for (field, is_set) in
                    [("ssao", p.ssao.is_some()), ("force_to_pbr", p.force_to_pbr)]
                {
                    if is_set {
                        warn(format!("RenderEngineVtkParams: {field} has no effect yet"));
                    }
                }
                if !p.backend.is_empty() {
                    warn(format!(
                        "RenderEngineVtkParams: backend '{}' has no effect; RenderEngineCpu needs \
                         no graphics library",
                        p.backend
                    ));
                }
                let extensions = p.gltf_extensions.iter();
                let quiet = extensions.filter(|(_, settings)| !settings.warn_unimplemented);
                RenderEngineCpuParams {
                    default_diffuse: p.default_diffuse.unwrap_or(base.default_diffuse),
                    default_clear_color: p.default_clear_color,
                    lights: p.lights.clone(),
                    cast_shadows: p.cast_shadows,
                    shadow_map_size: p.shadow_map_size,
                    exposure: p.exposure,
                    environment_map: p.environment_map.clone(),
                    quiet_gltf_extensions: quiet.map(|(name, _)| name.clone()).collect(),
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
            Self::RenderEngineGpu | Self::RenderEngineGpuParams(_) => {
                return Err(Error::unsupported(
                    "renderer_class must be one that RenderEngineCpu renders for, got RenderEngineGpu; \
                     use `RenderEngineGpu::new` of `tarragon::gpu`",
                ));
            }
            Self::RenderEngineGltfClient | Self::RenderEngineGltfClientParams(_) => {
                return Err(Error::unsupported(
                    "renderer_class must be one that RenderEngineCpu renders for, got \
                     RenderEngineGltfClient; use `make_render_engine_gltf_client`",
                ));
            }
        })
    }
}

/// Parameters of the engine that renders for a choice.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum EngineParams {
    Cpu(RenderEngineCpuParams),
    Gpu(RenderEngineGpuParams),
    GltfClient(RenderEngineGltfClientParams),
}

impl EngineParams {
    /// Returns the parameters for a choice; see [`RendererClass::to_cpu_params`].
    pub(super) fn new(class: &RendererClass, background: Rgba) -> Result<Self> {
        Ok(match class {
            RendererClass::RenderEngineGltfClient => Self::GltfClient(Default::default()),
            RendererClass::RenderEngineGltfClientParams(p) => Self::GltfClient(p.clone()),
            RendererClass::RenderEngineGpu => Self::Gpu(RenderEngineGpuParams {
                default_clear_color: background,
                ..Default::default()
            }),
            RendererClass::RenderEngineGpuParams(p) => Self::Gpu(p.clone()),
            _ => Self::Cpu(class.to_cpu_params(background)?),
        })
    }
    /// Sets the environment map of an engine that has neither one nor a background of its own.
    pub(super) fn surround_with(&mut self, environment: &EnvironmentMap, name: &str) {
        let (clear, map) = match self {
            Self::Cpu(p) => (p.default_clear_color, &mut p.environment_map),
            Self::Gpu(p) => (p.default_clear_color, &mut p.environment_map),
            Self::GltfClient(_) => {
                warn(format!(
                    "renderer '{name}': RenderEngineGltfClient sends no environment map, because \
                     its protocol has none; give the map to the server"
                ));
                return;
            }
        };
        if clear == default_background() {
            map.get_or_insert_with(|| environment.clone());
        }
    }
    /// Creates the engine with the name under which it is added to a scene.
    pub(super) fn make(self, name: &str) -> Result<CreatedEngine> {
        Ok(match self {
            Self::Cpu(params) => CreatedEngine::Cpu(RenderEngineCpu::new(RenderEngineCpuParams {
                renderer_name: Some(name.into()),
                ..params
            })?),
            Self::Gpu(params) => make_gpu(RenderEngineGpuParams {
                renderer_name: Some(name.into()),
                ..params
            })?,
            Self::GltfClient(params) => {
                let engine = RenderEngineGltfClient::new(params)?;
                CreatedEngine::GltfClient(engine.with_renderer_name(name))
            }
        })
    }
}

#[cfg(feature = "gpu")]
fn make_gpu(params: RenderEngineGpuParams) -> Result<CreatedEngine> {
    tarragon_gpu::RenderEngineGpu::new(params).map(CreatedEngine::Gpu)
}

#[cfg(not(feature = "gpu"))]
fn make_gpu(_: RenderEngineGpuParams) -> Result<CreatedEngine> {
    Err(Error::unsupported(
        "renderer_class RenderEngineGpu needs a build with the feature `gpu`; build with `--features \
         gpu`, or use RenderEngineCpu",
    ))
}

/// An engine that is not part of a scene yet.
pub(super) enum CreatedEngine {
    Cpu(RenderEngineCpu),
    #[cfg(feature = "gpu")]
    Gpu(tarragon_gpu::RenderEngineGpu),
    GltfClient(RenderEngineGltfClient),
}

impl CreatedEngine {
    /// Adds the engine to a scene.
    pub(super) fn add_to(self, scene_graph: &mut SceneGraph, name: &str) -> Result<()> {
        match self {
            Self::Cpu(engine) => scene_graph.add_renderer(name, engine),
            #[cfg(feature = "gpu")]
            Self::Gpu(engine) => scene_graph.add_renderer(name, engine),
            Self::GltfClient(engine) => scene_graph.add_renderer(name, engine),
        }
    }
}

/// Creates the engine that renders in place of Drake's VTK engine (Drake's `MakeRenderEngineVtk`).
///
/// ```
/// use tarragon_geometry::SceneGraph;
/// use tarragon_sensors::{RenderEngineVtkParams, make_render_engine_vtk};
/// let mut scene = SceneGraph::new();
/// scene.add_renderer("vtk", make_render_engine_vtk(RenderEngineVtkParams::default())?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if a parameter is invalid, or the environment map cannot be read.
pub fn make_render_engine_vtk(params: RenderEngineVtkParams) -> Result<RenderEngineCpu> {
    make(&RendererClass::RenderEngineVtkParams(params))
}

/// Creates the engine that renders in place of Drake's OpenGL engine (Drake's
/// `MakeRenderEngineGl`).
///
/// ```
/// use tarragon_geometry::SceneGraph;
/// use tarragon_sensors::{RenderEngineGlParams, make_render_engine_gl};
/// let mut scene = SceneGraph::new();
/// scene.add_renderer("gl", make_render_engine_gl(RenderEngineGlParams::default())?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if a parameter is invalid.
pub fn make_render_engine_gl(params: RenderEngineGlParams) -> Result<RenderEngineCpu> {
    make(&RendererClass::RenderEngineGlParams(params))
}

/// Creates the engine of a choice with parameters.
fn make(class: &RendererClass) -> Result<RenderEngineCpu> {
    let params = class.to_cpu_params(default_background())?;
    RenderEngineCpu::new(params)
}

/// YAML tags of the parameters, which are the names of their types.
const PARAMETER_TAGS: [&str; 5] = [
    "RenderEngineVtkParams",
    "RenderEngineGlParams",
    "RenderEngineGltfClientParams",
    "RenderEngineCpuParams",
    "RenderEngineGpuParams",
];

/// Returns a hint if the tag of `renderer_class` is unknown, because the parser's message does not
/// say that the tag is the problem.
pub(super) fn unknown_tag_hint(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Lenient {
        renderer_class: Option<Read<IgnoredAny>>,
    }
    let lenient: Lenient = read_yaml(text).ok()?;
    let tag = lenient.renderer_class?.tag?;
    let name = tag.strip_prefix('!')?;
    (!name.starts_with("RenderEngine") || !PARAMETER_TAGS.contains(&name)).then(|| {
        let known = PARAMETER_TAGS.join(", !");
        format!("; the tag of renderer_class must be one of !{known}, got {tag}")
    })
}

impl<'de> Deserialize<'de> for RendererClass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Mirror of [`RendererClass`] for the parser, which reads a tag as the name of a variant,
        /// and a plain scalar as a variant without content.
        #[derive(Deserialize)]
        enum Choice {
            #[serde(rename = "")]
            Unspecified,
            RenderEngineVtk,
            RenderEngineGl,
            RenderEngineGltfClient,
            RenderEngineCpu,
            RenderEngineGpu,
            RenderEngineVtkParams(RenderEngineVtkParams),
            RenderEngineGlParams(RenderEngineGlParams),
            RenderEngineGltfClientParams(RenderEngineGltfClientParams),
            RenderEngineCpuParams(CpuFields),
            RenderEngineGpuParams(GpuFields),
        }
        Ok(match Choice::deserialize(deserializer)? {
            Choice::Unspecified => Self::Unspecified,
            Choice::RenderEngineVtk => Self::RenderEngineVtk,
            Choice::RenderEngineGl => Self::RenderEngineGl,
            Choice::RenderEngineGltfClient => Self::RenderEngineGltfClient,
            Choice::RenderEngineCpu => Self::RenderEngineCpu,
            Choice::RenderEngineGpu => Self::RenderEngineGpu,
            Choice::RenderEngineVtkParams(p) => Self::RenderEngineVtkParams(p),
            Choice::RenderEngineGlParams(p) => Self::RenderEngineGlParams(p),
            Choice::RenderEngineGltfClientParams(p) => Self::RenderEngineGltfClientParams(p),
            Choice::RenderEngineCpuParams(p) => Self::RenderEngineCpuParams(p.into()),
            Choice::RenderEngineGpuParams(p) => Self::RenderEngineGpuParams(p.into()),
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
        let [vtk, gl, gltf, cpu, gpu] = PARAMETER_TAGS;
        match self {
            Self::RenderEngineVtkParams(p) => tagged(vtk, p, s),
            Self::RenderEngineGlParams(p) => tagged(gl, p, s),
            Self::RenderEngineGltfClientParams(p) => tagged(gltf, p, s),
            Self::RenderEngineCpuParams(p) => tagged(cpu, CpuFields::from(p), s),
            Self::RenderEngineGpuParams(p) => tagged(gpu, GpuFields::from(p), s),
            by_name => s.serialize_str(by_name.class_name().unwrap_or_default()),
        }
    }
}
