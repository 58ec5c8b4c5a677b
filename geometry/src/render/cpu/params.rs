//! Parameters of the software renderer.

use crate::error::{Error, Result};
use crate::properties::RenderLabel;
use crate::render::{EnvironmentMap, LightFrame, LightParameter, LightType};
use crate::rgba::Rgba;
use nalgebra::Vector3;
use std::collections::BTreeSet;
use tarragon_framework::warnings::warn;

/// Parameters of [`RenderEngineCpu`](super::RenderEngineCpu).
///
/// ```
/// use tarragon_geometry::{Rgba, render::{RenderEngineCpu, RenderEngineCpuParams}};
/// let smooth = RenderEngineCpuParams {
///     default_clear_color: Rgba::WHITE,
///     samples_per_side: 2,
///     ..RenderEngineCpuParams::default()
/// };
/// let rough = RenderEngineCpuParams { samples_per_side: 0, ..smooth.clone() };
/// assert!(RenderEngineCpu::new(smooth).is_ok() && RenderEngineCpu::new(rough).is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RenderEngineCpuParams {
    /// Colour of geometry without `("phong", "diffuse")`.
    pub default_diffuse: Rgba,
    /// Colour of the background.
    pub default_clear_color: Rgba,
    /// Label of geometry without `("label", "id")`: [`RenderLabel::DONT_CARE`] or
    /// [`RenderLabel::UNSPECIFIED`].
    pub default_label: RenderLabel,
    /// Lights. An empty list means one white directional light fixed to the camera.
    pub lights: Vec<LightParameter>,
    /// Number of threads that draw one image; `None` uses rayon's current pool. Images are
    /// bit-identical for any number.
    pub threads: Option<usize>,
    /// Colour samples along each side of a pixel. Values of 2 or more smooth the edges in colour
    /// images.
    pub samples_per_side: usize,
    /// True if directional lights and spot lights of less than 90 degrees cast shadows. As in
    /// Drake, point lights and translucent geometry cast none.
    pub cast_shadows: bool,
    /// Side of Drake's shadow maps (pixels). This engine traces shadow rays, which are sharp at any
    /// distance: the value is checked but has no effect.
    pub shadow_map_size: u32,
    /// Factor of the light before filmic tone mapping; `None` disables tone mapping and clamps at
    /// white.
    pub exposure: Option<f64>,
    /// Light from all directions, and the sky. A map that lights replaces the light fixed to the
    /// camera, and all materials become physically based: matt surfaces reflect the environment
    /// like plastics.
    pub environment_map: Option<EnvironmentMap>,
    /// Extensions of glTF files, such as `KHR_materials_sheen`, that are ignored without a warning.
    pub quiet_gltf_extensions: BTreeSet<String>,
    /// Name of this engine, matched against `("renderer", "accepting")`; `None` accepts
    /// geometry meant for any engine.
    pub renderer_name: Option<String>,
}

impl Default for RenderEngineCpuParams {
    fn default() -> Self {
        let channel = |byte: f64| byte / 255.0;
        Self {
            default_diffuse: Rgba::DEFAULT_DIFFUSE,
            default_clear_color: Rgba::new(channel(204.0), channel(229.0), 1.0, 1.0)
                .unwrap_or(Rgba::WHITE),
            default_label: RenderLabel::DONT_CARE,
            lights: Vec::new(),
            threads: None,
            samples_per_side: 1,
            cast_shadows: false,
            shadow_map_size: 256,
            exposure: None,
            environment_map: None,
            // Such files also hold their textures as PNG or JPEG.
            quiet_gltf_extensions: BTreeSet::from(["KHR_texture_basisu".into()]),
            renderer_name: None,
        }
    }
}

impl RenderEngineCpuParams {
    /// Bright studio lighting for pictures of models: a main lamp from the upper left and two fill
    /// lights, fixed in the world, and smooth edges.
    ///
    /// ```
    /// use tarragon_geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
    /// let studio = RenderEngineCpuParams::studio();
    /// assert_eq!((studio.lights.len(), studio.samples_per_side), (3, 2));
    /// RenderEngineCpu::new(studio)?;
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    pub fn studio() -> Self {
        let lamp = |x, y, z, intensity| LightParameter {
            frame: LightFrame::World,
            direction: Vector3::new(x, y, z),
            intensity,
            ..LightParameter::default()
        };
        Self {
            lights: vec![
                lamp(-0.5, 0.45, -0.9, 0.9),
                lamp(0.8, 0.5, -0.5, 0.45),
                lamp(-0.4, -0.6, -0.3, 0.3),
            ],
            samples_per_side: 2,
            ..Self::default()
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::invalid(format!("RenderEngineCpu: {what}")));
        if ![RenderLabel::DONT_CARE, RenderLabel::UNSPECIFIED].contains(&self.default_label) {
            return wrong(format!(
                "default_label must be DONT_CARE or UNSPECIFIED, got {:?}",
                self.default_label
            ));
        }
        if self.threads == Some(0) {
            return wrong("threads must be positive, got 0".into());
        }
        if !(1..=16).contains(&self.samples_per_side) {
            return wrong(format!(
                "samples_per_side must be from 1 to 16, got {}",
                self.samples_per_side
            ));
        }
        if self.shadow_map_size == 0 {
            return wrong("shadow_map_size must be positive, got 0 pixels".into());
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
                warn(format!(
                    "RenderEngineCpu: light {i}: cone_angle of a spot light must be positive for it to light \
                     anything, got 0 degrees"
                ));
            }
        }
        Ok(())
    }
}
