//! The software renderer.

use super::camera::{ColorRenderCamera, DepthRenderCamera};
use super::engine::{RenderEngine, RenderView, accepts_renderer, check_image_size};
use super::image::{ImageDepth32F, ImageLabel16I, ImageRgba8U};
use super::label::RenderLabel;
use super::light::LightParameter;
use crate::error::{Error, Result};
use crate::ids::GeometryId;
use crate::properties::PerceptionProperties;
use crate::rgba::Rgba;
use crate::shapes::Shape;
use std::collections::BTreeMap;

/// Parameters of [`RenderEngineCpu`].
#[derive(Clone, Debug, PartialEq)]
pub struct RenderEngineCpuParams {
    /// Colour of geometry without `("phong", "diffuse")`.
    pub default_diffuse: Rgba,
    /// Colour of the background.
    pub default_clear_color: Rgba,
    /// Label of geometry without `("label", "id")`: [`RenderLabel::DONT_CARE`] or
    /// [`RenderLabel::UNSPECIFIED`].
    pub default_label: RenderLabel,
    /// Lights; none means one white directional light fixed to the camera.
    pub lights: Vec<LightParameter>,
    /// Threads that one image is drawn with; `None` uses rayon's current pool. The images are the
    /// same bits on any number.
    pub threads: Option<usize>,
    /// Colour samples along each side of a pixel; 2 or more smooth the edges of colour images.
    pub samples_per_side: usize,
    /// The name of this engine among several, for `("renderer", "accepting")`; `None` accepts
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
            renderer_name: None,
        }
    }
}

/// The default renderer: no driver, no display, no GPU, bit-identical images on any number of
/// threads.
#[derive(Debug)]
pub struct RenderEngineCpu {
    params: RenderEngineCpuParams,
    visuals: BTreeMap<GeometryId, RenderLabel>,
}

impl RenderEngineCpu {
    /// An engine without visuals.
    ///
    /// # Errors
    /// If a parameter is outside its domain.
    pub fn new(params: RenderEngineCpuParams) -> Result<Self> {
        if ![RenderLabel::DONT_CARE, RenderLabel::UNSPECIFIED].contains(&params.default_label) {
            return Err(Error::invalid(format!(
                "RenderEngineCpu: default_label is {:?}, DONT_CARE or UNSPECIFIED is expected",
                params.default_label
            )));
        }
        Ok(Self {
            params,
            visuals: BTreeMap::new(),
        })
    }
    /// The parameters.
    pub fn params(&self) -> &RenderEngineCpuParams {
        &self.params
    }
}

impl RenderEngine for RenderEngineCpu {
    fn register_visual(
        &mut self,
        id: GeometryId,
        _shape: &Shape,
        properties: &PerceptionProperties,
    ) -> Result<bool> {
        if let Some(name) = &self.params.renderer_name
            && !accepts_renderer(properties, name)?
        {
            return Ok(false);
        }
        let label = self.render_label_of(properties)?;
        self.visuals.insert(id, label);
        Ok(true)
    }
    fn remove_visual(&mut self, id: GeometryId) -> bool {
        self.visuals.remove(&id).is_some()
    }
    fn has_visual(&self, id: GeometryId) -> bool {
        self.visuals.contains_key(&id)
    }
    fn render_color(
        &self,
        _view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageRgba8U,
    ) -> Result<()> {
        check_image_size(image, camera.core().intrinsics())
    }
    fn render_depth(
        &self,
        _view: &RenderView<'_>,
        camera: &DepthRenderCamera,
        image: &mut ImageDepth32F,
    ) -> Result<()> {
        check_image_size(image, camera.core().intrinsics())
    }
    fn render_label(
        &self,
        _view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageLabel16I,
    ) -> Result<()> {
        check_image_size(image, camera.core().intrinsics())
    }
    fn default_render_label(&self) -> RenderLabel {
        self.params.default_label
    }
}
