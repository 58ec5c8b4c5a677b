//! Parameters of the engine on GPUs.

use super::cpu::RenderEngineCpuParams;
use super::environment::EnvironmentMap;
use super::light::{LightParameter, LightType};
use crate::error::{Error, Result};
use crate::properties::RenderLabel;
use crate::rgba::Rgba;
use std::collections::BTreeSet;

/// Parameters of `RenderEngineGpu`, an engine in a crate of its own (`tarragon::gpu`, feature
/// `gpu`), so that cameras can name it without it. Those that it shares with
/// [`RenderEngineCpu`](super::RenderEngineCpu) have the same meaning and defaults.
///
/// ```
/// use tarragon_geometry::render::{RenderEngineCpuParams, RenderEngineGpuParams};
/// let params = RenderEngineGpuParams::from(&RenderEngineCpuParams::studio());
/// assert_eq!((params.lights.len(), params.samples_per_side), (3, 2));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RenderEngineGpuParams {
    /// Part of the name of the adapter, in any case. `None`: the environment variable
    /// `WGPU_ADAPTER_NAME`, else the most powerful adapter.
    pub adapter: Option<String>,
    /// Colour of geometry without `("phong", "diffuse")`.
    pub default_diffuse: Rgba,
    /// Colour of the background.
    pub default_clear_color: Rgba,
    /// Label of geometry without `("label", "id")`: [`RenderLabel::DONT_CARE`] or
    /// [`RenderLabel::UNSPECIFIED`].
    pub default_label: RenderLabel,
    /// Lights. An empty list means one white directional light fixed to the camera.
    pub lights: Vec<LightParameter>,
    /// Colour samples along each side of a pixel.
    pub samples_per_side: usize,
    /// Shadows, which are not supported: must be false.
    pub cast_shadows: bool,
    /// Factor of the light before filmic tone mapping; `None` disables tone mapping.
    pub exposure: Option<f64>,
    /// Light from all directions, and the sky.
    pub environment_map: Option<EnvironmentMap>,
    /// Extensions of glTF files that are ignored without a warning.
    pub quiet_gltf_extensions: BTreeSet<String>,
    /// Name of this engine, matched against `("renderer", "accepting")`; `None` accepts geometry
    /// meant for any engine.
    pub renderer_name: Option<String>,
}

impl Default for RenderEngineGpuParams {
    fn default() -> Self {
        Self::from(&RenderEngineCpuParams::default())
    }
}

impl From<&RenderEngineCpuParams> for RenderEngineGpuParams {
    fn from(cpu: &RenderEngineCpuParams) -> Self {
        Self {
            adapter: None,
            default_diffuse: cpu.default_diffuse,
            default_clear_color: cpu.default_clear_color,
            default_label: cpu.default_label,
            lights: cpu.lights.clone(),
            samples_per_side: cpu.samples_per_side,
            cast_shadows: cpu.cast_shadows,
            exposure: cpu.exposure,
            environment_map: cpu.environment_map.clone(),
            quiet_gltf_extensions: cpu.quiet_gltf_extensions.clone(),
            renderer_name: cpu.renderer_name.clone(),
        }
    }
}

impl RenderEngineGpuParams {
    /// Checks the values.
    ///
    /// # Errors
    /// Returns an error that names the first invalid value, or the first feature that the engine
    /// does not support.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::invalid(format!("RenderEngineGpu: {what}")));
        if ![RenderLabel::DONT_CARE, RenderLabel::UNSPECIFIED].contains(&self.default_label) {
            return wrong(format!(
                "default_label must be DONT_CARE or UNSPECIFIED, got {:?}",
                self.default_label
            ));
        }
        if self.cast_shadows {
            return Err(Error::unsupported(
                "RenderEngineGpu: cast_shadows must be false, got true: this engine draws no \
                 shadows; use RenderEngineCpu",
            ));
        }
        if !(1..=16).contains(&self.samples_per_side) {
            return wrong(format!(
                "samples_per_side must be from 1 to 16, got {}",
                self.samples_per_side
            ));
        }
        if let Some(exposure) = self.exposure
            && !(exposure > 0.0 && exposure.is_finite())
        {
            return wrong(format!(
                "exposure must be positive and finite, got {exposure:?}"
            ));
        }
        for (i, light) in self.lights.iter().enumerate() {
            light
                .check()
                .or_else(|what| wrong(format!("light {i}: {what}")))?;
            if light.light_type == LightType::Spot && light.cone_angle == 0.0 {
                tarragon_framework::warnings::warn(format!(
                    "RenderEngineGpu: light {i}: cone_angle of a spot light must be positive for it \
                     to light anything, got 0 degrees"
                ));
            }
        }
        Ok(())
    }
}
