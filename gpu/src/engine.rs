//! The engine: registration of visuals, and images as batches of one.

use crate::batch::{PassOptions, Run};
use crate::device::{CurrentDevice, Device};
use crate::frame::Globals;
use crate::frame::frame_data::PassScene;
use crate::frame::visuals::{MeshCache, Visual, VisualForm, Visuals};
use crate::pipelines::Outputs;
use crate::shader_source::Background;
use crate::sky_data::{self, SkyData};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tarragon_framework::warnings::warn;
use tarragon_geometry::mesh::RenderMesh;
use tarragon_geometry::render::appearance::{Appearance, ToneCurve};
use tarragon_geometry::render::projection::Pixels;
use tarragon_geometry::render::{
    BatchTicket, CameraBatch, ColorRenderCamera, DepthRenderCamera, Image, ImageArray, ImageBatch,
    ImageDepth32F, ImageLabel16I, ImageRgba8U, PixelType, RenderCameraCore, RenderEngine,
    RenderEngineGpuParams, RenderView, check_image_size, label_to_register,
};
use tarragon_geometry::{Error, GeometryId, PerceptionProperties, RenderLabel, Result, Shape};

/// A renderer that draws on a GPU, through Vulkan (or other interfaces, by features of this crate).
///
/// Images equal those of `RenderEngineCpu` within the tolerances of the crate's documentation,
/// which also lists the unsupported features. Properties, labels and materials have the same
/// meaning.
///
/// Copies share the device, meshes and textures. Any number of threads may draw at once. If the
/// driver loses the device, the call returns an error and the next one starts the device again.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::render::*;
/// use tarragon_geometry::{GeometryId, PerceptionProperties, Sphere};
/// use tarragon_gpu::{RenderEngineGpu, list_adapters};
/// if list_adapters().is_empty() {
///     return Ok(()); // no driver on this machine
/// }
/// let mut engine = RenderEngineGpu::new(RenderEngineGpuParams::default())?;
/// let ball = GeometryId::new();
/// engine.register_visual(ball, &Sphere::new(0.5)?.into(), &PerceptionProperties::new())?;
///
/// let info = CameraInfo::from_fov_y(64, 48, 1.0)?;
/// let cameras = CameraBatch::new().with_depth(DepthRenderCamera::new("gpu", info));
/// let poses = |_| Some(Isometry3::translation(0.0, 0.0, 2.0));
/// let views = vec![RenderView::new(Isometry3::identity(), &poses); 100];
/// let mut images = ImageBatch::default();
/// engine.render_batch(&views, &cameras, &mut images)?;
/// assert_eq!(images.depth.shape(), [100, 48, 64, 1]);
/// assert!((images.depth.image(99)[23 * 64 + 31] - 1.5).abs() < 1e-5);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone)]
pub struct RenderEngineGpu {
    params: Arc<RenderEngineGpuParams>,
    visuals: Visuals,
    shared: Arc<Shared>,
}

/// State shared by all copies of an engine.
struct Shared {
    device: CurrentDevice,
    meshes: MeshCache,
    /// The environment; `None` without one.
    sky: Option<SkyData>,
    /// The environment on the present device.
    sky_on_device: Mutex<Option<(u64, wgpu::Buffer)>>,
    warned_of_window: AtomicBool,
}

impl Shared {
    fn sky(&self, device: &Device) -> wgpu::Buffer {
        let mut now = self
            .sky_on_device
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((generation, buffer)) = &*now
            && *generation == device.generation
        {
            return buffer.clone();
        }
        let words = self.sky.as_ref().map_or(&[][..], |sky| &sky.words);
        let buffer = device.buffer(words, wgpu::BufferUsages::STORAGE);
        *now = Some((device.generation, buffer.clone()));
        buffer
    }
}

impl RenderEngineGpu {
    /// Creates an engine without visuals, and connects it to an adapter.
    ///
    /// # Errors
    /// Returns an error if a parameter is outside its domain, a parameter asks for an unsupported
    /// feature, the environment map cannot be read or is too large, or there is no adapter (the
    /// message then says what to install).
    pub fn new(params: RenderEngineGpuParams) -> Result<Self> {
        params.check()?;
        let sky = sky_data::read(params.environment_map.as_ref())?;
        let device = CurrentDevice::new(params.adapter.as_deref())?;
        let bytes = sky.as_ref().map_or(0, |sky| 4 * sky.words.len());
        device.get()?.check_storage("environment_map", bytes)?;
        Ok(Self {
            params: Arc::new(params),
            visuals: Visuals::default(),
            shared: Arc::new(Shared {
                device,
                meshes: MeshCache::default(),
                sky,
                sky_on_device: Mutex::default(),
                warned_of_window: AtomicBool::new(false),
            }),
        })
    }
    /// Returns the parameters.
    pub fn params(&self) -> &RenderEngineGpuParams {
        &self.params
    }
    /// Returns the number of different meshes that this engine and its copies hold.
    pub fn mesh_count(&self) -> usize {
        self.shared.meshes.len()
    }
    /// Ends the device as if the driver had lost it: images that are being drawn fail, and the next
    /// call starts the device again. For tests of what happens then.
    pub fn lose_device(&self) {
        self.shared.device.last().lose();
    }

    /// Adds a visual; returns false if it has no appearance or is meant for other engines.
    fn register(
        &mut self,
        id: GeometryId,
        properties: &PerceptionProperties,
        appearance: impl FnOnce(&RenderEngineGpuParams) -> Result<Option<Appearance>>,
    ) -> Result<bool> {
        let name = self.params.renderer_name.as_deref();
        let Some(label) = label_to_register(self, id, name, properties)? else {
            return Ok(false);
        };
        let Some(appearance) = appearance(&self.params)? else {
            return Ok(false);
        };
        let form = self.shared.meshes.form(appearance);
        if let VisualForm::Mesh { mesh, .. } = &form {
            mesh.data.check(&self.shared.device.last())?;
        }
        let label = label.value();
        self.visuals.insert(Visual { id, label, form });
        Ok(true)
    }

    fn warn_of_window(&self, cameras: &CameraBatch) {
        let asked = |c: Option<&ColorRenderCamera>| c.is_some_and(ColorRenderCamera::show_window);
        if (asked(cameras.color()) || asked(cameras.label()))
            && !self.shared.warned_of_window.swap(true, Ordering::Relaxed)
        {
            warn(
                "RenderEngineGpu: show_window is not supported, images are drawn but not shown; write \
                 them with an ImageWriter or show the scene in Meshcat",
            );
        }
    }

    /// Returns an error if some view shows translucent geometry.
    fn refuse_translucent(&self, views: &[RenderView<'_>]) -> Result<()> {
        for visual in self
            .visuals
            .as_slice()
            .iter()
            .filter(|v| v.is_translucent())
        {
            if views.iter().any(|view| view.x_wg(visual.id).is_some()) {
                return Err(Error::unsupported(format!(
                    "RenderEngineGpu: geometry {} is translucent, which colour images of this engine \
                     do not support; use RenderEngineCpu",
                    visual.id
                )));
            }
        }
        Ok(())
    }

    /// Submits all passes of a batch.
    fn start(
        &self,
        views: &[RenderView<'_>],
        cameras: &CameraBatch,
        mut images: ImageBatch,
    ) -> Result<Run> {
        self.warn_of_window(cameras);
        if cameras.color().is_some() {
            self.refuse_translucent(views)?;
        }
        images.fit(views.len(), cameras);
        let device = self.shared.device.get()?;
        let sky = self.shared.sky(&device);
        let mut run = Run::new(device, images);
        for (core, outputs) in self.passes(cameras) {
            let samples = if outputs.color {
                self.params.samples_per_side
            } else {
                1
            };
            let scene = PassScene {
                visuals: self.visuals.as_slice(),
                pixels: Pixels::new(core.intrinsics(), samples),
                clipping: *core.clipping(),
                lights: &self.params.lights,
                environment: self.is_lit_by_sky(),
                skip_unlabelled: outputs.label,
            };
            let options = PassOptions {
                outputs,
                globals: self.globals(outputs),
                samples,
                range: cameras.depth().map(|c| *c.depth_range()),
            };
            run.pass(&scene, &options, views, &sky)?;
        }
        Ok(run)
    }

    fn is_lit_by_sky(&self) -> bool {
        self.shared.sky.as_ref().is_some_and(|sky| sky.lights)
    }

    fn globals(&self, outputs: Outputs) -> Globals {
        let params = &*self.params;
        let sky = self.shared.sky.as_ref();
        Globals {
            shade: outputs.color,
            environment: self.is_lit_by_sky(),
            background: sky.map_or(Background::Clear, |sky| sky.background),
            cut_masks: outputs.color,
            tone: params.exposure.map(ToneCurve::new),
            clear: params.default_clear_color,
        }
    }

    /// Returns the passes of a batch: images with the same camera are drawn together if they show
    /// the same surfaces.
    fn passes<'a>(&self, cameras: &'a CameraBatch) -> Vec<(&'a RenderCameraCore, Outputs)> {
        let visuals = self.visuals.as_slice();
        // Colour images lack what masks cut out; label images lack hidden visuals.
        let color_differs =
            self.params.samples_per_side > 1 || visuals.iter().any(|v| v.is_masked());
        let label_differs = visuals.iter().any(|v| v.is_hidden());
        let mut passes: Vec<(&RenderCameraCore, Outputs)> = Vec::new();
        let mut add = |core: &'a RenderCameraCore, outputs: Outputs, alone: bool| {
            let same = |(other, of): &&mut (&RenderCameraCore, Outputs)| {
                let alone = alone || of.color && color_differs || of.label && label_differs;
                !alone
                    && other.intrinsics() == core.intrinsics()
                    && other.clipping() == core.clipping()
            };
            match passes.iter_mut().find(same) {
                Some((_, of)) => {
                    of.color |= outputs.color;
                    of.depth |= outputs.depth;
                    of.label |= outputs.label;
                }
                None => passes.push((core, outputs)),
            }
        };
        let none = Outputs::default();
        if let Some(camera) = cameras.color() {
            add(
                camera.core(),
                Outputs {
                    color: true,
                    ..none
                },
                color_differs,
            );
        }
        if let Some(camera) = cameras.depth() {
            add(
                camera.core(),
                Outputs {
                    depth: true,
                    ..none
                },
                false,
            );
        }
        if let Some(camera) = cameras.label() {
            add(
                camera.core(),
                Outputs {
                    label: true,
                    ..none
                },
                label_differs,
            );
        }
        passes
    }

    /// Draws one image as a batch of one.
    fn one<P: PixelType>(
        &self,
        view: &RenderView<'_>,
        cameras: &CameraBatch,
        image: &mut Image<P>,
        of: impl FnOnce(&ImageBatch) -> &ImageArray<P>,
    ) -> Result<()> {
        let run = self.start(std::slice::from_ref(view), cameras, ImageBatch::default())?;
        let images = run.finish()?;
        image.data_mut().copy_from_slice(of(&images).data());
        Ok(())
    }
}

impl fmt::Debug for RenderEngineGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenderEngineGpu")
            .field("params", &self.params)
            .field("visuals", &self.visuals.as_slice().len())
            .finish_non_exhaustive()
    }
}

impl RenderEngine for RenderEngineGpu {
    fn register_visual(
        &mut self,
        id: GeometryId,
        shape: &Shape,
        properties: &PerceptionProperties,
    ) -> Result<bool> {
        self.register(id, properties, |params| {
            let quiet = &params.quiet_gltf_extensions;
            Appearance::of(shape, properties, params.default_diffuse, quiet)
        })
    }
    fn register_mesh(
        &mut self,
        id: GeometryId,
        mesh: &RenderMesh,
        properties: &PerceptionProperties,
    ) -> Result<bool> {
        self.register(id, properties, |params| {
            Appearance::of_mesh(mesh, properties, params.default_diffuse).map(Some)
        })
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
        check_image_size(image, camera.core().intrinsics())?;
        let cameras = CameraBatch::new().with_color(camera.clone());
        self.one(view, &cameras, image, |images| &images.color)
    }
    #[tracing::instrument(level = "debug", skip_all)]
    fn render_depth(
        &self,
        view: &RenderView<'_>,
        camera: &DepthRenderCamera,
        image: &mut ImageDepth32F,
    ) -> Result<()> {
        check_image_size(image, camera.core().intrinsics())?;
        let cameras = CameraBatch::new().with_depth(camera.clone());
        self.one(view, &cameras, image, |images| &images.depth)
    }
    #[tracing::instrument(level = "debug", skip_all)]
    fn render_label(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageLabel16I,
    ) -> Result<()> {
        check_image_size(image, camera.core().intrinsics())?;
        let cameras = CameraBatch::new().with_label(camera.clone());
        self.one(view, &cameras, image, |images| &images.label)
    }
    #[tracing::instrument(level = "debug", skip_all)]
    fn render_batch(
        &self,
        views: &[RenderView<'_>],
        cameras: &CameraBatch,
        out: &mut ImageBatch,
    ) -> Result<()> {
        let run = self.start(views, cameras, std::mem::take(out))?;
        *out = run.finish()?;
        Ok(())
    }
    #[tracing::instrument(level = "debug", skip_all)]
    fn submit_batch(&self, views: &[RenderView<'_>], cameras: &CameraBatch) -> Result<BatchTicket> {
        let run = self.start(views, cameras, ImageBatch::default())?;
        Ok(BatchTicket::new(move |out| {
            *out = run.finish()?;
            Ok(())
        }))
    }
    fn draws_images_together(&self) -> bool {
        true
    }
    fn default_render_label(&self) -> RenderLabel {
        self.params.default_label
    }
    fn renders_for(&self, class_name: &str) -> bool {
        class_name == "RenderEngineGpu"
    }
}
