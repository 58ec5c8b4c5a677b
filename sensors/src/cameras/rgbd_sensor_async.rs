//! A camera system that renders while the simulation continues.

use crate::cameras::render_job::RenderJob;
use crate::{Error, Result};
use nalgebra::Isometry3;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tarragon_framework::prelude::*;
use tarragon_geometry::render::{
    CameraBatch, ColorRenderCamera, DepthRenderCamera, Image, ImageArray, ImageBatch,
    ImageDepth16U, ImageDepth32F, ImageLabel16I, ImageRgba8U, PixelType, RenderCameraCore,
};
use tarragon_geometry::{FrameId, QueryObject};

/// Colour, depth and label cameras whose images are rendered on a separate thread (Drake's
/// `RgbdSensorAsync`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `geometry_query` | [`QueryObject`] |
/// | output | `color_image` | [`ImageRgba8U`], if there is a colour camera |
/// | output | `depth_image_32f` | [`ImageDepth32F`] (m), if there is a depth camera |
/// | output | `depth_image_16u` | [`ImageDepth16U`] (mm), if there is a depth camera |
/// | output | `label_image` | [`ImageLabel16I`], if requested |
/// | output | `body_pose_in_world` | `Isometry3<f64>`, `X_WB` at the time of the capture |
/// | output | `image_time` | vector of 1: the time of the capture (s) |
///
/// The scene is captured at `capture_offset + k / fps`, and its images appear at the output ports
/// `output_delay` later; they are rendered in between. If they are not ready by then, the
/// simulation waits, so the images and the times at which they appear never depend on the speed of
/// the computer. Before the first output, the images have no pixels, the pose is the identity and
/// the time is NaN.
///
/// | with 5 fps, no offset, 50 ms delay | event | images at the output |
/// |---|---|---|
/// | 0 ms | capture | none |
/// | 50 ms | output | of 0 ms |
/// | 200 ms | capture | of 0 ms |
/// | 250 ms | output | of 200 ms |
///
/// Any render engine works, because engines hold no poses and a captured scene is a snapshot, which
/// later changes of the context do not affect. Clones of a context that are made between capture
/// and output share the pending images. Initialization discards all images, so a simulation may be
/// reset at any time. An error of the engine is returned by the step that outputs the images. The
/// thread of a capture ends when its images are rendered; if no context waits for them, it stops
/// before the next image.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::{SceneGraph, render::*};
/// use tarragon_sensors::{RgbdSensorAsync, RgbdSensorAsyncConfig};
/// let mut scene = SceneGraph::new();
/// let world = scene.world_frame_id();
/// scene.add_renderer("cpu", RenderEngineCpu::new(RenderEngineCpuParams::default())?)?;
/// let info = CameraInfo::from_fov_y(8, 6, 1.0)?;
/// let config = RgbdSensorAsyncConfig {
///     fps: 5.0,
///     output_delay: 0.05,
///     color_camera: Some(ColorRenderCamera::new("cpu", info)),
///     ..RgbdSensorAsyncConfig::default()
/// };
///
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let camera = b.add_f64("camera", RgbdSensorAsync::new(world, Isometry3::identity(), config)?);
/// b.connect(scene.query, camera.geometry_query);
/// let diagram = b.build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.advance_to(0.04)?;
/// assert!(sim.context().eval(camera.image_time)?[0].is_nan());
/// sim.advance_to(0.3)?;
/// assert_eq!(sim.context().eval(camera.image_time)?, &[0.2]);
/// let color = camera.color_image.ok_or("there is a colour camera")?;
/// assert_eq!(sim.context().eval(color)?.at(0, 0), [204, 229, 255, 255]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RgbdSensorAsync {
    parent_id: FrameId,
    x_pb: Isometry3<f64>,
    config: RgbdSensorAsyncConfig,
}

/// Timing and cameras of an [`RgbdSensorAsync`].
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::FrameId;
/// use tarragon_sensors::{RgbdSensorAsync, RgbdSensorAsyncConfig};
/// let config = RgbdSensorAsyncConfig::default();
/// let error = RgbdSensorAsync::new(FrameId::new(), Isometry3::identity(), config);
/// assert!(error.unwrap_err().to_string().contains("a colour or a depth camera"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RgbdSensorAsyncConfig {
    /// Captures per second.
    pub fps: f64,
    /// Time of the first capture (s).
    pub capture_offset: f64,
    /// Time from a capture to the output of its images (s); more than 0, less than `1 / fps`.
    pub output_delay: f64,
    /// The colour and label camera.
    pub color_camera: Option<ColorRenderCamera>,
    /// The depth camera.
    pub depth_camera: Option<DepthRenderCamera>,
    /// Whether the colour camera also renders labels.
    pub render_label_image: bool,
}

impl Default for RgbdSensorAsyncConfig {
    /// Returns 10 captures per second, a delay of 50 ms and no cameras.
    fn default() -> Self {
        Self {
            fps: 10.0,
            capture_offset: 0.0,
            output_delay: 0.05,
            color_camera: None,
            depth_camera: None,
            render_label_image: false,
        }
    }
}

impl RgbdSensorAsync {
    /// Creates a sensor at `X_PB` in the frame `parent_id`.
    ///
    /// # Errors
    /// Returns an error if `fps` or a time is out of range, there is no camera, or label images are
    /// requested without a colour camera. The message lists everything that is wrong.
    pub fn new(
        parent_id: FrameId,
        x_pb: Isometry3<f64>,
        config: RgbdSensorAsyncConfig,
    ) -> Result<Self> {
        let (fps, offset, delay) = (config.fps, config.capture_offset, config.output_delay);
        let mut wrong = vec![];
        if !(fps > 0.0 && fps.is_finite()) {
            wrong.push(format!("fps must be positive and finite, got {fps:?}"));
        }
        if !(offset >= 0.0 && offset.is_finite()) {
            wrong.push(format!(
                "capture_offset must be finite and at least 0, got {offset:?} s"
            ));
        }
        if !(delay > 0.0 && delay < 1.0 / fps) {
            wrong.push(format!(
                "output_delay must be positive and less than 1 / fps = {:?} s, got {delay:?} s",
                1.0 / fps
            ));
        }
        if config.color_camera.is_none() && config.depth_camera.is_none() {
            wrong.push("there must be a colour or a depth camera, got neither".into());
        }
        if config.render_label_image && config.color_camera.is_none() {
            wrong.push("label images need a colour camera, got none".into());
        }
        if !wrong.is_empty() {
            return Err(Error::invalid(format!(
                "RgbdSensorAsync: {}",
                wrong.join("; ")
            )));
        }
        Ok(Self {
            parent_id,
            x_pb,
            config,
        })
    }

    /// Returns timing and cameras; the cameras are those of new contexts.
    pub fn config(&self) -> &RgbdSensorAsyncConfig {
        &self.config
    }
    /// Returns the frame P of new contexts. Each context has its own, the parameter
    /// [`parent_id`](RgbdSensorAsyncPorts::parent_id).
    pub fn default_parent_frame_id(&self) -> FrameId {
        self.parent_id
    }
    /// Changes the frame P of new contexts.
    pub fn set_default_parent_frame_id(&mut self, id: FrameId) {
        self.parent_id = id;
    }
    /// Returns `X_PB` of new contexts. Each context has its own, the parameter
    /// [`x_pb`](RgbdSensorAsyncPorts::x_pb).
    pub fn default_x_pb(&self) -> &Isometry3<f64> {
        &self.x_pb
    }
    /// Changes `X_PB` of new contexts.
    pub fn set_default_x_pb(&mut self, x_pb: Isometry3<f64>) {
        self.x_pb = x_pb;
    }
    /// Changes the colour and label camera of new contexts.
    ///
    /// # Errors
    /// Returns an error if there was none at construction: the ports of a system are fixed.
    pub fn set_default_color_render_camera(&mut self, camera: ColorRenderCamera) -> Result<()> {
        replace("colour", &mut self.config.color_camera, camera)
    }
    /// Changes the depth camera of new contexts.
    ///
    /// # Errors
    /// Returns an error if there was none at construction: the ports of a system are fixed.
    pub fn set_default_depth_render_camera(&mut self, camera: DepthRenderCamera) -> Result<()> {
        replace("depth", &mut self.config.depth_camera, camera)
    }
}

/// Replaces an existing camera.
fn replace<C>(kind: &str, place: &mut Option<C>, camera: C) -> Result<()> {
    let Some(place) = place else {
        return Err(Error::state(format!(
            "RgbdSensorAsync: a sensor created without a {kind} camera cannot get one; create \
             another sensor"
        )));
    };
    *place = camera;
    Ok(())
}

/// The images of one capture, with its time and pose.
#[derive(Clone, Debug)]
struct Shot {
    time: f64,
    x_wb: Isometry3<f64>,
    color: ImageRgba8U,
    depth: ImageDepth32F,
    label: ImageLabel16I,
}

impl Default for Shot {
    fn default() -> Self {
        Self {
            time: f64::NAN,
            x_wb: Isometry3::identity(),
            color: ImageRgba8U::default(),
            depth: ImageDepth32F::default(),
            label: ImageLabel16I::default(),
        }
    }
}

/// The abstract state of the sensor.
#[derive(Clone, Default)]
struct Shots {
    /// The images at the output ports.
    shown: Arc<Shot>,
    /// The images that are being rendered.
    next: Option<Arc<RenderJob<Shot>>>,
}

/// Everything that the images depend on, copied from the context.
struct Capture {
    query: QueryObject<f64>,
    time: f64,
    parent_id: FrameId,
    x_pb: Isometry3<f64>,
    color_camera: Option<ColorRenderCamera>,
    depth_camera: Option<DepthRenderCamera>,
    render_label_image: bool,
}

impl Capture {
    /// Renders all images; stops early once the job is cancelled.
    fn draw(&self, cancelled: &AtomicBool) -> Result<Shot> {
        let (query, parent, x_pb) = (&self.query, self.parent_id, &self.x_pb);
        let is_wanted = || !cancelled.load(Ordering::Relaxed);
        let mut shot = Shot {
            time: self.time,
            x_wb: query.pose_in_world(parent)? * x_pb,
            ..Shot::default()
        };
        let mut images = ImageBatch::default();
        for cameras in self.batches()? {
            if !is_wanted() {
                break;
            }
            query.render_images(&cameras, parent, x_pb, &mut images)?;
            take(&mut images.color, &mut shot.color)?;
            take(&mut images.depth, &mut shot.depth)?;
            take(&mut images.label, &mut shot.label)?;
        }
        Ok(shot)
    }

    /// Returns the cameras that draw together: all if they are at the same place and their engine
    /// gains by it. Otherwise each image is a batch of its own, so that a cancelled job ends before
    /// the next.
    fn batches(&self) -> Result<Vec<CameraBatch>> {
        let one = CameraBatch::new;
        let color = self.color_camera.as_ref();
        let label = color.filter(|_| self.render_label_image);
        let depth = self.depth_camera.as_ref();
        let cores = [color, label].into_iter().flatten().map(|c| c.core());
        let cores: Vec<_> = cores.chain(depth.map(|c| c.core())).collect();
        let Some(first) = cores.first() else {
            return Ok(Vec::new());
        };
        let engine = self.query.render_engine_by_name(first.renderer_name())?;
        let is_like_first = |core: &&RenderCameraCore| {
            core.renderer_name() == first.renderer_name() && core.x_bs() == first.x_bs()
        };
        if engine.draws_images_together() && cores.iter().all(is_like_first) {
            let mut all = one();
            if let Some(camera) = color {
                all = all.with_color(camera.clone());
            }
            if let Some(camera) = depth {
                all = all.with_depth(camera.clone());
            }
            if let Some(camera) = label {
                all = all.with_label(camera.clone());
            }
            return Ok(vec![all]);
        }
        let color = color.map(|camera| one().with_color(camera.clone()));
        let label = label.map(|camera| one().with_label(camera.clone()));
        let depth = depth.map(|camera| one().with_depth(camera.clone()));
        Ok([color, label, depth].into_iter().flatten().collect())
    }
}

/// Moves the image of an array, if it has one.
fn take<P: PixelType>(images: &mut ImageArray<P>, image: &mut Image<P>) -> Result<()> {
    if let [1, height, width, _] = images.shape() {
        *image = Image::from_data(width, height, images.take_data())?;
    }
    Ok(())
}

/// Ports of [`RgbdSensorAsync`].
#[derive(Clone, Copy, Debug)]
pub struct RgbdSensorAsyncPorts {
    /// Scene to render.
    pub geometry_query: InputPort<QueryObject<f64>>,
    /// Colour image, if there is a colour camera.
    pub color_image: Option<OutputPort<ImageRgba8U>>,
    /// Depth image (m), if there is a depth camera.
    pub depth_image_32f: Option<OutputPort<ImageDepth32F>>,
    /// Depth image (mm), if there is a depth camera.
    pub depth_image_16u: Option<OutputPort<ImageDepth16U>>,
    /// Label image, if requested.
    pub label_image: Option<OutputPort<ImageLabel16I>>,
    /// `X_WB` at the capture.
    pub body_pose_in_world: OutputPort<Isometry3<f64>>,
    /// Time of the capture (s).
    pub image_time: OutputPort<Vec<f64>>,
    /// Parent frame P of the body.
    pub parent_id: Param<FrameId>,
    /// Pose `X_PB` of the body in its parent frame.
    pub x_pb: Param<Isometry3<f64>>,
    /// Colour and label camera, if there is one.
    pub color_camera: Option<Param<ColorRenderCamera>>,
    /// Depth camera, if there is one.
    pub depth_camera: Option<Param<DepthRenderCamera>>,
}

impl LeafSystem<f64> for RgbdSensorAsync {
    type Ports = RgbdSensorAsyncPorts;

    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let config = &self.config;
        let geometry_query = d.input::<QueryObject<f64>>("geometry_query");
        let parent_id = d.param(self.parent_id);
        let x_pb = d.param(self.x_pb);
        let color_camera = config.color_camera.clone().map(|camera| d.param(camera));
        let depth_camera = config.depth_camera.clone().map(|camera| d.param(camera));
        let shots = d.abstract_state(Shots::default());

        d.unrestricted_update_on(Trigger::Initialization, move |_, _, next| {
            *next.xa_mut(shots) = Shots::default();
            Ok(EventStatus::Succeeded)
        });
        let (period, offset) = (1.0 / config.fps, config.capture_offset);
        // The output is declared first, because rounding may make it coincide with the next
        // capture.
        let output = Trigger::Periodic {
            period,
            offset: offset + config.output_delay,
        };
        d.unrestricted_update_on(output, move |_, ctx, next| {
            // There is no job if the time was set to a value between capture and output.
            let Some(job) = &ctx.xa(shots).next else {
                return Ok(EventStatus::DidNothing);
            };
            let shown = job.wait()?;
            *next.xa_mut(shots) = Shots { shown, next: None };
            Ok(EventStatus::Succeeded)
        });
        let capture = Trigger::Periodic { period, offset };
        d.unrestricted_update_on(capture, move |sensor, ctx, next| {
            let capture = Capture {
                query: ctx.eval(geometry_query)?.clone(),
                time: ctx.time(),
                parent_id: *ctx.param(parent_id),
                x_pb: *ctx.param(x_pb),
                color_camera: color_camera.map(|camera| ctx.param(camera).clone()),
                depth_camera: depth_camera.map(|camera| ctx.param(camera).clone()),
                render_label_image: sensor.config.render_label_image,
            };
            let job = RenderJob::start(move |cancelled| capture.draw(cancelled))?;
            next.xa_mut(shots).next = Some(Arc::new(job));
            Ok(EventStatus::Succeeded)
        });

        let color_image = color_camera.map(|_| {
            let model = ImageRgba8U::default();
            d.output("color_image", model, shots, move |_, ctx, image| {
                image.clone_from(&ctx.xa(shots).shown.color);
                Ok(())
            })
        });
        let depth_image_32f = depth_camera.map(|_| {
            let model = ImageDepth32F::default();
            d.output("depth_image_32f", model, shots, move |_, ctx, image| {
                image.clone_from(&ctx.xa(shots).shown.depth);
                Ok(())
            })
        });
        let depth_image_16u = depth_camera.map(|_| {
            let model = ImageDepth16U::default();
            d.output("depth_image_16u", model, shots, move |_, ctx, image| {
                *image = (&ctx.xa(shots).shown.depth).into();
                Ok(())
            })
        });
        let label_image = config.render_label_image.then(|| {
            let model = ImageLabel16I::default();
            d.output("label_image", model, shots, move |_, ctx, image| {
                image.clone_from(&ctx.xa(shots).shown.label);
                Ok(())
            })
        });
        let model = Isometry3::identity();
        let body_pose_in_world =
            d.output("body_pose_in_world", model, shots, move |_, ctx, x_wb| {
                *x_wb = ctx.xa(shots).shown.x_wb;
                Ok(())
            });
        let image_time = d.vector_output("image_time", 1, shots, move |_, ctx, time| {
            time[0] = ctx.xa(shots).shown.time;
            Ok(())
        });
        RgbdSensorAsyncPorts {
            geometry_query,
            color_image,
            depth_image_32f,
            depth_image_16u,
            label_image,
            body_pose_in_world,
            image_time,
            parent_id,
            x_pb,
            color_camera,
            depth_camera,
        }
    }
}
