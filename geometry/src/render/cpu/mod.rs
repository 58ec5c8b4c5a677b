//! The software renderer.
//!
//! Life of an image: `scene` moves every visual into the camera frame, culls it, bounds it and sorts
//! it front to back into the tiles it may cover; each `tile` draws its items into inverse depths
//! and ids, shapes by `kernels` (or `exact`, near the camera), meshes by `clusters` and `raster`; `passes` turn
//! these into depths, labels or, with `shade`, colours.

mod clusters;
mod exact;
mod kernels;
mod passes;
mod pixels;
mod raster;
mod scene;
mod shade;
#[cfg(test)]
mod tests;
mod texture;
mod tile;
mod visual;

use self::passes::{ColorPass, DepthPass, LabelPass, Pass};
use self::pixels::Pixels;
use self::scene::Scene;
use self::shade::Lights;
use self::visual::Visual;
use super::camera::RenderCameraCore;
use super::camera::{ColorRenderCamera, DepthRenderCamera};
use super::engine::{RenderEngine, RenderView, accepts_renderer, check_image_size};
use super::image::{Image, ImageDepth32F, ImageLabel16I, ImageRgba8U};
use super::label::RenderLabel;
use super::light::LightParameter;
use crate::error::{Error, Result};
use crate::ids::GeometryId;
use crate::properties::PerceptionProperties;
use crate::rgba::Rgba;
use crate::shapes::Shape;
use std::collections::BTreeMap;

/// Parameters of [`RenderEngineCpu`].
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
///
/// Spheres, boxes, cylinders, capsules, ellipsoids and half spaces are drawn exactly, `Mesh` as the
/// triangles of its file, `Convex` as its hull, a `MeshcatCone` not at all. Both sides of every surface
/// are drawn. Opacity is not: every surface is opaque.
///
/// Properties: `("phong", "diffuse")` [`Rgba`], `("phong", "diffuse_map")` `String` (PNG file, for meshes with
/// texture coordinates), `("label", "id")` [`RenderLabel`], `("renderer", "accepting")`
/// `BTreeSet<String>`. Materials of a mesh file come before `phong` properties.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::render::*;
/// use tarragon_geometry::{GeometryId, PerceptionProperties, Sphere};
/// let mut engine = RenderEngineCpu::new(RenderEngineCpuParams::default())?;
/// let ball = GeometryId::new();
/// engine.register_visual(ball, &Sphere::new(0.5)?.into(), &PerceptionProperties::new())?;
///
/// let info = CameraInfo::from_fov_y(64, 48, 1.0)?;
/// let clipping = ClippingRange::new(0.1, 10.0)?;
/// let core = RenderCameraCore::new("cpu", info, clipping, Isometry3::identity());
/// let camera = DepthRenderCamera::new(core, DepthRange::new(0.1, 5.0)?)?;
/// let poses = |_| Some(Isometry3::translation(0.0, 0.0, 2.0));
/// let mut image = ImageDepth32F::new(64, 48);
/// engine.render_depth(&RenderView::new(Isometry3::identity(), &poses), &camera, &mut image)?;
/// assert!((image.at(31, 23)[0] - 1.5).abs() < 1e-6); // the pixel on the axis
/// assert_eq!(image.at(0, 0)[0], f32::INFINITY);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Debug)]
pub struct RenderEngineCpu {
    params: RenderEngineCpuParams,
    visuals: BTreeMap<GeometryId, Visual>,
    /// Threads of its own.
    pool: Option<rayon::ThreadPool>,
}

impl RenderEngineCpu {
    /// An engine without visuals.
    ///
    /// # Errors
    /// If a parameter is outside its domain, or the threads can not be started.
    pub fn new(params: RenderEngineCpuParams) -> Result<Self> {
        params.check()?;
        let pool = |n: usize| {
            let builder = rayon::ThreadPoolBuilder::new().num_threads(n);
            builder
                .build()
                .map_err(|e| Error::invalid(format!("RenderEngineCpu: {n} threads: {e}")))
        };
        Ok(Self {
            pool: params.threads.map(pool).transpose()?,
            params,
            visuals: BTreeMap::new(),
        })
    }
    /// The parameters.
    pub fn params(&self) -> &RenderEngineCpuParams {
        &self.params
    }
    fn scene<'a>(
        &'a self,
        view: &RenderView<'_>,
        core: &RenderCameraCore,
        samples: usize,
        pass: ScenePass,
    ) -> Scene<'a> {
        let visuals = self.visuals.iter().map(|(id, visual)| (*id, visual));
        let drawn = visuals.filter(|(_, visual)| {
            pass != ScenePass::Label || visual.label != RenderLabel::DO_NOT_RENDER
        });
        let pixels = Pixels::new(core.intrinsics(), samples);
        Scene::new(
            pixels,
            core.clipping(),
            view,
            drawn,
            pass == ScenePass::Color,
        )
    }
    /// Runs on this engine's threads.
    fn run(&self, work: impl FnOnce() + Send) {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
    fn draw<P: Pass>(&self, scene: &Scene<'_>, pass: &P, image: &mut Image<P::Pixel>) {
        self.run(|| passes::draw(scene, pass, image));
    }
}

#[derive(Clone, Copy, PartialEq)]
enum ScenePass {
    Color,
    Depth,
    Label,
}

impl RenderEngineCpuParams {
    fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::invalid(format!("RenderEngineCpu: {what}")));
        if ![RenderLabel::DONT_CARE, RenderLabel::UNSPECIFIED].contains(&self.default_label) {
            return wrong(format!(
                "default_label is {:?}, DONT_CARE or UNSPECIFIED is expected",
                self.default_label
            ));
        }
        if self.threads == Some(0) {
            return wrong("threads is 0, a positive number is expected".into());
        }
        if !(1..=16).contains(&self.samples_per_side) {
            return wrong(format!(
                "samples_per_side is {}, a number from 1 to 16 is expected",
                self.samples_per_side
            ));
        }
        self.lights.iter().enumerate().try_for_each(|(i, light)| {
            light
                .check()
                .or_else(|what| wrong(format!("light {i}: {what}")))
        })
    }
}

impl RenderEngine for RenderEngineCpu {
    fn register_visual(
        &mut self,
        id: GeometryId,
        shape: &Shape,
        properties: &PerceptionProperties,
    ) -> Result<bool> {
        if self.has_visual(id) {
            return Err(Error::invalid(format!(
                "geometry {id} is registered with this render engine already"
            )));
        }
        if let Some(name) = &self.params.renderer_name
            && !accepts_renderer(properties, name)?
        {
            return Ok(false);
        }
        let label = self.render_label_of(properties)?;
        let visual = Visual::new(shape, properties, label, self.params.default_diffuse)?;
        let accepted = visual.is_some();
        self.visuals.extend(visual.map(|v| (id, v)));
        Ok(accepted)
    }
    fn remove_visual(&mut self, id: GeometryId) -> bool {
        self.visuals.remove(&id).is_some()
    }
    fn has_visual(&self, id: GeometryId) -> bool {
        self.visuals.contains_key(&id)
    }
    #[tracing::instrument(level = "debug", skip_all)]
    fn render_color(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageRgba8U,
    ) -> Result<()> {
        let core = camera.core();
        check_image_size(image, core.intrinsics())?;
        let samples = self.params.samples_per_side;
        let scene = self.scene(view, core, samples, ScenePass::Color);
        let lights = Lights::new(&self.params.lights, &view.x_wc);
        let pass = ColorPass::new(&scene, lights, self.params.default_clear_color);
        if samples == 1 {
            self.draw(&scene, &pass, image);
        } else {
            let mut fine = ImageRgba8U::new(image.width() * samples, image.height() * samples);
            self.draw(&scene, &pass, &mut fine);
            self.run(|| passes::average(&fine, samples, image));
        }
        Ok(())
    }
    #[tracing::instrument(level = "debug", skip_all)]
    fn render_depth(
        &self,
        view: &RenderView<'_>,
        camera: &DepthRenderCamera,
        image: &mut ImageDepth32F,
    ) -> Result<()> {
        let core = camera.core();
        check_image_size(image, core.intrinsics())?;
        let scene = self.scene(view, core, 1, ScenePass::Depth);
        let range = *camera.depth_range();
        self.draw(&scene, &DepthPass { range }, image);
        Ok(())
    }
    #[tracing::instrument(level = "debug", skip_all)]
    fn render_label(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageLabel16I,
    ) -> Result<()> {
        let core = camera.core();
        check_image_size(image, core.intrinsics())?;
        let scene = self.scene(view, core, 1, ScenePass::Label);
        self.draw(&scene, &LabelPass::new(&scene.objects), image);
        Ok(())
    }
    fn default_render_label(&self) -> RenderLabel {
        self.params.default_label
    }
}
