//! The software render engine: registration of visuals and drawing of images.

use super::params::RenderEngineCpuParams;
use super::resolve::{
    ColorPass, DepthPass, FrameStorage, LabelPass, OpaqueColors, Pass, average, draw,
};
use super::setup::{ImageKind, Scene};
use super::store::{Visual, Visuals};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::GeometryId;
use crate::mesh::RenderMesh;
use crate::properties::{PerceptionProperties, RenderLabel};
use crate::render::appearance::{Environment, Lights, ToneCurve};
use crate::render::batch::{CameraBatch, ImageBatch};
use crate::render::camera::{ColorRenderCamera, DepthRenderCamera, RenderCameraCore};
use crate::render::engine::{
    DeformedMesh, RenderEngine, RenderView, ViewScratch, at_view, check_image_size, draw_view,
    label_to_register,
};
use crate::render::image::{Image, ImageDepth32F, ImageLabel16I, ImageRgba8U};
use crate::render::projection::Pixels;
use crate::shape::Shape;
use rayon::prelude::*;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tarragon_framework::Scratch;
use tarragon_framework::warnings::warn;

/// The default renderer: needs no driver, display or GPU, and draws bit-identical images on any
/// number of threads.
///
/// Spheres, boxes, cylinders, capsules, ellipsoids and half spaces are drawn exactly, a `Mesh` as
/// the triangles of its file, a `Convex` as its hull. A `MeshcatCone` is not drawn. Both sides of
/// every surface are drawn. Surfaces are matt (Lambert); those of glTF files follow its
/// metallic-roughness model.
///
/// Where the opacity of a colour, a material or a texture is below 1, colour images show the
/// background through the front and the back of a body; surfaces of opacity 0 are invisible. Depth
/// and label images show translucent geometry as if it were opaque, even where its opacity is 0.
/// All of this is as in Drake.
///
/// Colours of matt materials, including translucent ones, are within 1 of 255 of those of Drake
/// 1.51's RenderEngineVtk. Those of glTF materials are within 8, except in highlights of smooth
/// surfaces, whose peaks are brighter here.
///
/// Properties: `("phong", "diffuse")` [`Rgba`](crate::Rgba), `("phong", "diffuse_map")` `String`
/// (PNG or JPEG file, for meshes with texture coordinates), `("phong", "projected_texture")`
/// [`ProjectedTexture`](crate::ProjectedTexture) (in place of a colour and a mesh's materials),
/// `("label", "id")` [`RenderLabel`], `("renderer", "accepting")` `BTreeSet<String>`. Materials of
/// a mesh file take precedence over `phong` properties.
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
/// let camera = DepthRenderCamera::new("cpu", info);
/// let poses = |_| Some(Isometry3::translation(0.0, 0.0, 2.0));
/// let mut image = ImageDepth32F::new(64, 48);
/// engine.render_depth(&RenderView::new(Isometry3::identity(), &poses), &camera, &mut image)?;
/// assert!((image.at(31, 23)[0] - 1.5).abs() < 1e-6); // the pixel on the axis
/// assert_eq!(image.at(0, 0)[0], f32::INFINITY);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone)]
pub struct RenderEngineCpu {
    pub(super) params: RenderEngineCpuParams,
    visuals: Visuals,
    environment: Option<Arc<Environment>>,
    /// Thread pool that this engine shares with its copies; `None` uses rayon's current pool.
    pub(super) pool: Option<Arc<rayon::ThreadPool>>,
    storage: Arc<Scratch<FrameStorage>>,
    /// Images of single views of batches.
    of_views: Arc<Scratch<ViewScratch>>,
    /// Set when the first camera requests a window.
    warned_of_window: Arc<AtomicBool>,
}

impl RenderEngineCpu {
    /// Creates an engine without visuals.
    ///
    /// # Errors
    /// Returns an error if a parameter is outside its domain, the environment map cannot be read,
    /// or the threads cannot be started.
    pub fn new(params: RenderEngineCpuParams) -> Result<Self> {
        params.check()?;
        let pool = |n: usize| {
            let builder = rayon::ThreadPoolBuilder::new().num_threads(n);
            builder.build().map_err(|e| {
                Error::new(
                    ErrorKind::Other,
                    format!("RenderEngineCpu: {n} threads cannot be started"),
                )
                .with_cause(e)
            })
        };
        Ok(Self {
            pool: params.threads.map(pool).transpose()?.map(Arc::new),
            environment: Environment::read(params.environment_map.as_ref())?.map(Arc::new),
            params,
            visuals: Visuals::default(),
            storage: Arc::default(),
            of_views: Arc::default(),
            warned_of_window: Arc::default(),
        })
    }
    /// Returns the parameters.
    pub fn params(&self) -> &RenderEngineCpuParams {
        &self.params
    }
    /// Adds the visual that `create` makes for the label of a geometry with these properties;
    /// returns false if there is none or the geometry is meant for other engines.
    fn register(
        &mut self,
        id: GeometryId,
        properties: &PerceptionProperties,
        create: impl FnOnce(RenderLabel, &RenderEngineCpuParams) -> Result<Option<Visual>>,
    ) -> Result<bool> {
        let name = self.params.renderer_name.as_deref();
        let Some(label) = label_to_register(self, id, name, properties)? else {
            return Ok(false);
        };
        let visual = create(label, &self.params)?;
        let accepted = visual.is_some();
        if let Some(visual) = visual {
            self.visuals.insert(id, visual);
        }
        Ok(accepted)
    }
    /// Warns once if the camera requests a window, which this engine does not support.
    fn warn_of_window(&self, camera: &ColorRenderCamera) {
        if camera.show_window() && !self.warned_of_window.swap(true, Ordering::Relaxed) {
            warn(
                "RenderEngineCpu: show_window is not supported, images are drawn but not shown; write them \
                 with an ImageWriter or show the scene in Meshcat",
            );
        }
    }
    fn scene<'a>(
        &'a self,
        storage: &mut FrameStorage,
        view: &'a RenderView<'a>,
        core: &RenderCameraCore,
        samples: usize,
        kind: ImageKind,
    ) -> Scene<'a> {
        let pixels = Pixels::new(core.intrinsics(), samples);
        let (clipping, visuals) = (core.clipping(), &self.visuals);
        Scene::new(&mut storage.scene, pixels, clipping, view, visuals, kind)
    }
    /// Runs `work` on this engine's threads.
    fn run(&self, work: impl FnOnce() + Send) {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
    /// Draws a colour image with `samples` samples along each side of a camera pixel.
    fn draw_color(
        &self,
        storage: &mut FrameStorage,
        view: &RenderView<'_>,
        core: &RenderCameraCore,
        samples: usize,
        image: &mut ImageRgba8U,
    ) {
        let params = &self.params;
        let kind = ImageKind::Color {
            shadows: params.cast_shadows,
        };
        let scene = self.scene(storage, view, core, samples, kind);
        let r_wc = view.x_wc.rotation.to_rotation_matrix().into_inner();
        let environment = self.environment.as_deref();
        let light = environment.and_then(Environment::light).map(|e| (e, r_wc));
        let lights = Lights::new(&params.lights, &view.x_wc, light.is_some());
        let tone = params.exposure.map(ToneCurve::new);
        let most = if tone.is_some() { f32::INFINITY } else { 1.0 };
        let clear = params.default_clear_color;
        let pass = ColorPass {
            plain: OpaqueColors::new(storage, &scene, &lights, light, clear, most),
            scene: &scene,
            sky: environment
                .and_then(Environment::sky)
                .map(|sky| (sky, r_wc)),
            tone,
            clear,
        };
        self.draw(&scene, &pass, image);
        pass.plain.store(storage);
        scene.store(&mut storage.scene);
    }
    fn draw<P: Pass>(&self, scene: &Scene<'_>, pass: &P, image: &mut Image<P::Pixel>) {
        self.run(|| draw(scene, pass, image));
    }
}

impl fmt::Debug for RenderEngineCpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenderEngineCpu")
            .field("params", &self.params)
            .field("visuals", &self.visuals.len())
            .finish_non_exhaustive()
    }
}

impl RenderEngine for RenderEngineCpu {
    fn register_visual(
        &mut self,
        id: GeometryId,
        shape: &Shape,
        properties: &PerceptionProperties,
    ) -> Result<bool> {
        self.register(id, properties, |label, params| {
            Visual::new(shape, properties, label, params)
        })
    }
    fn register_mesh(
        &mut self,
        id: GeometryId,
        mesh: &RenderMesh,
        properties: &PerceptionProperties,
    ) -> Result<bool> {
        self.register(id, properties, |label, params| {
            Visual::of_mesh(mesh, properties, label, params).map(Some)
        })
    }
    fn register_deformable_visual(
        &mut self,
        id: GeometryId,
        meshes: &[&RenderMesh],
        properties: &PerceptionProperties,
    ) -> Result<bool> {
        self.register(id, properties, |label, params| {
            Visual::of_deformable(meshes, properties, label, params).map(Some)
        })
    }
    fn update_deformable_configurations(
        &mut self,
        id: GeometryId,
        meshes: &[DeformedMesh<'_>],
    ) -> Result<bool> {
        let Some(visual) = self.visuals.get(id) else {
            return Ok(false);
        };
        let deformed = visual.deformed(meshes, &self.params);
        let deformed = deformed.map_err(|e| e.at(format!("geometry {id}")))?;
        self.visuals.remove(id);
        self.visuals.insert(id, deformed);
        Ok(true)
    }
    fn remove_visual(&mut self, id: GeometryId) -> bool {
        self.visuals.remove(id)
    }
    fn has_visual(&self, id: GeometryId) -> bool {
        self.visuals.contains(id)
    }
    #[tracing::instrument(level = "debug", skip_all)]
    fn render_color(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageRgba8U,
    ) -> Result<()> {
        self.warn_of_window(camera);
        let core = camera.core();
        check_image_size(image, core.intrinsics())?;
        let samples = self.params.samples_per_side;
        self.storage.lend(|storage| {
            if samples == 1 {
                self.draw_color(storage, view, core, samples, image);
            } else {
                let mut fine = std::mem::take(&mut storage.fine);
                fine.resize(image.width() * samples, image.height() * samples);
                self.draw_color(storage, view, core, samples, &mut fine);
                self.run(|| average(&fine, samples, image));
                storage.fine = fine;
            }
        });
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
        let range = *camera.depth_range();
        self.storage.lend(|storage| {
            let scene = self.scene(storage, view, core, 1, ImageKind::Depth);
            self.draw(&scene, &DepthPass { range }, image);
            scene.store(&mut storage.scene);
        });
        Ok(())
    }
    #[tracing::instrument(level = "debug", skip_all)]
    fn render_label(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageLabel16I,
    ) -> Result<()> {
        self.warn_of_window(camera);
        let core = camera.core();
        check_image_size(image, core.intrinsics())?;
        self.storage.lend(|storage| {
            let scene = self.scene(storage, view, core, 1, ImageKind::Label);
            let labels = &scene.plan.labels;
            self.draw(&scene, &LabelPass { labels }, image);
            scene.store(&mut storage.scene);
        });
        Ok(())
    }
    fn render_batch(
        &self,
        views: &[RenderView<'_>],
        cameras: &CameraBatch,
        out: &mut ImageBatch,
    ) -> Result<()> {
        out.fit(views.len(), cameras);
        let count = views.len();
        let images = out.views(count);
        let mut result = Ok(());
        // Whole images per thread: they need less synchronization than the tiles of one image.
        self.run(|| {
            let views = views.par_iter().enumerate().zip(images);
            result = views.try_for_each(|((index, view), images)| {
                let drawn = self
                    .of_views
                    .lend(|scratch| draw_view(self, view, cameras, images, scratch));
                drawn.map_err(|e| at_view(e, index, count))
            });
        });
        result
    }
    fn default_render_label(&self) -> RenderLabel {
        self.params.default_label
    }
    fn renders_for(&self, class_name: &str) -> bool {
        let replaced = ["RenderEngineCpu", "RenderEngineVtk", "RenderEngineGl"];
        replaced.contains(&class_name)
    }
}
