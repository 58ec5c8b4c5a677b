//! Parameters of render engines as data.

use super::{environment, yaml};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use tarragon_geometry::RenderLabel;
use tarragon_geometry::Rgba;
use tarragon_geometry::render::{
    EnvironmentMap, LightParameter, RenderEngineCpuParams, RenderEngineGpuParams,
};

/// Returns the default background, the same as Drake's.
pub(super) fn default_background() -> Rgba {
    RenderEngineCpuParams::default().default_clear_color
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
    /// Colour of geometry that has none of its own.
    #[serde(
        with = "yaml::optional_rgba_list",
        skip_serializing_if = "Option::is_none"
    )]
    pub default_diffuse: Option<Rgba>,
    /// Colour of the background; opaque.
    #[serde(with = "yaml::rgb")]
    pub default_clear_color: Rgba,
    /// Lights; if empty, one light that is fixed to the camera.
    #[serde(with = "yaml::lights")]
    pub lights: Vec<LightParameter>,
    /// Picture that provides light and background; in YAML `{skybox: true, texture:
    /// !EquirectangularMap {path: FILE}}`.
    #[serde(with = "environment", skip_serializing_if = "Option::is_none")]
    pub environment_map: Option<EnvironmentMap>,
    /// Exposure of the tone mapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposure: Option<f64>,
    /// Ambient occlusion in screen space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssao: Option<SsaoParameter>,
    /// Whether lights cast shadows.
    pub cast_shadows: bool,
    /// Side of the shadow maps (pixels).
    pub shadow_map_size: u32,
    /// Whether shading is physically based even without a glTF file.
    pub force_to_pbr: bool,
    /// Settings of glTF extensions by name; see [`GltfExtension`].
    pub gltf_extensions: BTreeMap<String, GltfExtension>,
    /// Graphics library of Drake's engine: empty (the engine chooses), `GLX`, `EGL` or `Cocoa`. The
    /// engine of this workspace needs none, so a name only causes a warning.
    pub backend: String,
}

impl RenderEngineVtkParams {
    /// Checks the values; the error names the invalid one.
    pub(super) fn check(&self) -> Result<(), String> {
        match &*self.backend {
            "" | "GLX" | "EGL" | "Cocoa" => Ok(()),
            other => Err(format!(
                "RenderEngineVtkParams: backend must be '', 'GLX', 'EGL' or 'Cocoa', got '{other}'"
            )),
        }
    }
}

impl Default for RenderEngineVtkParams {
    fn default() -> Self {
        let quiet = GltfExtension {
            warn_unimplemented: false,
        };
        let ktx = ("KHR_texture_basisu".to_owned(), quiet);
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
    /// Colour of geometry that has none of its own.
    #[serde(with = "yaml::rgba")]
    pub default_diffuse: Rgba,
    /// Colour of the background.
    #[serde(with = "yaml::rgba")]
    pub default_clear_color: Rgba,
    /// Lights, at most five; if empty, one light that is fixed to the camera.
    #[serde(with = "yaml::lights")]
    pub lights: Vec<LightParameter>,
}

impl RenderEngineGlParams {
    /// Maximum number of lights of Drake's engine.
    const MOST_LIGHTS: usize = 5;

    /// Checks the values; the error names the invalid one.
    pub(super) fn check(&self) -> Result<(), String> {
        let (found, most) = (self.lights.len(), Self::MOST_LIGHTS);
        if found > most {
            return Err(format!(
                "RenderEngineGlParams: lights must be at most {most}, got {found}; use \
                 RenderEngineVtkParams for more"
            ));
        }
        Ok(())
    }
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

/// Ambient occlusion in screen space (Drake's `SsaoParameter`). It can be read and written, but has
/// no effect on images yet.
///
/// ```
/// use tarragon_sensors::SsaoParameter;
/// assert_eq!(SsaoParameter::default().sample_count, 128);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SsaoParameter {
    /// Largest distance of an occluder (m).
    pub radius: f64,
    /// Distance below which surfaces do not occlude (m).
    pub bias: f64,
    /// Number of samples.
    pub sample_count: u32,
    /// Factor of the occlusion.
    pub intensity_scale: f64,
    /// Offset of the occlusion.
    pub intensity_shift: f64,
    /// Whether the occlusion is blurred.
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

/// Settings of a glTF extension (Drake's `GltfExtension`). The engine supports no extensions and
/// warns about each one that a file uses, unless the warning is turned off here.
///
/// ```
/// use tarragon_sensors::{GltfExtension, RenderEngineVtkParams};
/// let params = RenderEngineVtkParams::default();
/// assert!(!params.gltf_extensions["KHR_texture_basisu"].warn_unimplemented);
/// assert!(GltfExtension::default().warn_unimplemented);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GltfExtension {
    /// Whether the engine warns about a file that uses the extension.
    pub warn_unimplemented: bool,
}

impl Default for GltfExtension {
    fn default() -> Self {
        Self {
            warn_unimplemented: true,
        }
    }
}

/// `RenderEngineCpuParams` in YAML.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CpuFields {
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
    cast_shadows: bool,
    shadow_map_size: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    exposure: Option<f64>,
    #[serde(with = "environment", skip_serializing_if = "Option::is_none")]
    environment_map: Option<EnvironmentMap>,
    quiet_gltf_extensions: BTreeSet<String>,
}

/// `RenderEngineGpuParams` in YAML.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct GpuFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    adapter: Option<String>,
    #[serde(with = "yaml::rgba")]
    default_diffuse: Rgba,
    #[serde(with = "yaml::rgba")]
    default_clear_color: Rgba,
    /// Whether geometry without a label is an error.
    require_labels: bool,
    #[serde(with = "yaml::lights")]
    lights: Vec<LightParameter>,
    samples_per_side: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    exposure: Option<f64>,
    #[serde(with = "environment", skip_serializing_if = "Option::is_none")]
    environment_map: Option<EnvironmentMap>,
    quiet_gltf_extensions: BTreeSet<String>,
}

impl Default for GpuFields {
    fn default() -> Self {
        Self::from(&RenderEngineGpuParams::default())
    }
}

impl From<&RenderEngineGpuParams> for GpuFields {
    fn from(p: &RenderEngineGpuParams) -> Self {
        Self {
            adapter: p.adapter.clone(),
            default_diffuse: p.default_diffuse,
            default_clear_color: p.default_clear_color,
            require_labels: p.default_label == RenderLabel::UNSPECIFIED,
            lights: p.lights.clone(),
            samples_per_side: p.samples_per_side,
            exposure: p.exposure,
            environment_map: p.environment_map.clone(),
            quiet_gltf_extensions: p.quiet_gltf_extensions.clone(),
        }
    }
}

impl From<GpuFields> for RenderEngineGpuParams {
    fn from(p: GpuFields) -> Self {
        Self {
            adapter: p.adapter,
            default_diffuse: p.default_diffuse,
            default_clear_color: p.default_clear_color,
            default_label: default_label(p.require_labels),
            lights: p.lights,
            samples_per_side: p.samples_per_side,
            exposure: p.exposure,
            environment_map: p.environment_map,
            quiet_gltf_extensions: p.quiet_gltf_extensions,
            ..Self::default()
        }
    }
}

/// Returns the label of geometry that declares none.
fn default_label(require_labels: bool) -> RenderLabel {
    if require_labels {
        RenderLabel::UNSPECIFIED
    } else {
        RenderLabel::DONT_CARE
    }
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
            cast_shadows: p.cast_shadows,
            shadow_map_size: p.shadow_map_size,
            exposure: p.exposure,
            environment_map: p.environment_map.clone(),
            quiet_gltf_extensions: p.quiet_gltf_extensions.clone(),
        }
    }
}

impl From<CpuFields> for RenderEngineCpuParams {
    fn from(p: CpuFields) -> Self {
        Self {
            default_diffuse: p.default_diffuse,
            default_clear_color: p.default_clear_color,
            default_label: default_label(p.require_labels),
            lights: p.lights,
            threads: p.threads,
            samples_per_side: p.samples_per_side,
            cast_shadows: p.cast_shadows,
            shadow_map_size: p.shadow_map_size,
            exposure: p.exposure,
            environment_map: p.environment_map,
            quiet_gltf_extensions: p.quiet_gltf_extensions,
            ..Self::default()
        }
    }
}
