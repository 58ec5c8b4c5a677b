//! Creation of systems from camera configurations.

use super::CameraConfig;
use crate::cameras::rgbd_sensor::RgbdSensor;
use crate::cameras::rgbd_sensor_async::{RgbdSensorAsync, RgbdSensorAsyncConfig};
use crate::images::io::ImageFilePixel;
use crate::images::writer::ImagePortIndex;
use crate::lcm::image::ImageToLcmImageArrayT;
use crate::{Error, Result};
use nalgebra::Isometry3;
use tarragon_framework::prelude::*;
use tarragon_geometry::render::{
    CameraInfo, Image, ImageDepth16U, ImageDepth32F, ImageLabel16I, ImageRgba8U,
};
use tarragon_geometry::{FrameId, SceneGraph};
use tarragon_lcm::types::LcmtImageArray;
use tarragon_lcm::{Lcm, LcmBuses, LcmPublisherSystem};
use tarragon_multibody::MultibodyPlant;

/// Returns the time (s) that a publish must wait after a delayed update in order to see it: a
/// thousandth of the delay as in Drake, but at least a microsecond, which is far above the rounding
/// of times.
fn after_updates(output_delay: f64) -> f64 {
    (output_delay * 1e-3).max(1e-6)
}

/// Prefix of the channel on which a camera publishes its images; the name of the camera follows.
const CHANNEL: &str = "DRAKE_RGBD_CAMERA_IMAGES_";
/// Maximum length of the name of an LCM channel (bytes).
const MOST_CHANNEL: usize = 63;

/// The sensor system of a camera.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::SceneGraph;
/// use tarragon_sensors::*;
/// let camera = CameraConfig { output_delay: 0.05, ..CameraConfig::default() };
/// let mut scene = SceneGraph::new();
/// add_camera_renderers([&camera], &mut scene)?;
/// let mut b = DiagramBuilder::new();
/// b.add("scene_graph", scene);
/// let applied = apply_camera_config(&camera, &mut b)?;
/// assert!(matches!(applied.sensor, CameraSensor::Async(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum CameraSensor {
    /// The configuration requests no image: nothing has been added.
    SwitchedOff,
    /// Renders the current scene whenever an image is read.
    Continuous(Block<RgbdSensor>),
    /// Captures images at its own times, and outputs them `output_delay` later.
    Async(Block<RgbdSensorAsync>),
}

/// The systems that [`apply_camera_config`] has added, and their ports.
///
/// To use images otherwise than by publishing them, connect the ports to an
/// [`ImageWriter`](crate::ImageWriter) or to your own systems, with the period and the offset given
/// here. A method that returns the port of an image is an error if the configuration does not
/// request that image.
#[derive(Clone)]
pub struct AppliedCamera {
    /// The sensor, `rgbd_sensor_{name}`.
    pub sensor: CameraSensor,
    /// Time between images (s), `1 / fps`.
    pub period: f64,
    /// Time at which the first image can be written (s). It is `capture_offset`; for an
    /// asynchronous sensor it is a thousandth of the delay (at least a microsecond) after the first
    /// output, because publishes come before the updates of the same time.
    pub offset: f64,
    /// The system that publishes the images, if there is a bus.
    pub publisher: Option<Block<LcmPublisherSystem<LcmtImageArray>>>,
    name: String,
    intrinsics: CameraInfo,
    ports: Ports,
}

/// Output ports of a camera; those of images that are not requested are missing.
#[derive(Clone, Copy, Default)]
struct Ports {
    color_image: Option<OutputPort<ImageRgba8U>>,
    depth_image_32f: Option<OutputPort<ImageDepth32F>>,
    depth_image_16u: Option<OutputPort<ImageDepth16U>>,
    label_image: Option<OutputPort<ImageLabel16I>>,
    body_pose_in_world: Option<OutputPort<Isometry3<f64>>>,
    image_time: Option<OutputPort<Vec<f64>>>,
}

impl AppliedCamera {
    /// Returns true unless the configuration requests no image.
    pub fn is_enabled(&self) -> bool {
        !matches!(self.sensor, CameraSensor::SwitchedOff)
    }
    /// Returns the intrinsics of all images: size, focal lengths and principal point (pixels).
    pub fn intrinsics(&self) -> &CameraInfo {
        &self.intrinsics
    }
    /// Returns the port of the colour image.
    ///
    /// # Errors
    /// Returns an error unless the configuration has `rgb`.
    pub fn color_image(&self) -> Result<OutputPort<ImageRgba8U>> {
        self.requested(self.ports.color_image, "colour image", "rgb")
    }
    /// Returns the port of the depth image (m).
    ///
    /// # Errors
    /// Returns an error unless the configuration has `depth`.
    pub fn depth_image_32f(&self) -> Result<OutputPort<ImageDepth32F>> {
        self.requested(self.ports.depth_image_32f, "depth image", "depth")
    }
    /// Returns the port of the depth image (mm).
    ///
    /// # Errors
    /// Returns an error unless the configuration has `depth`.
    pub fn depth_image_16u(&self) -> Result<OutputPort<ImageDepth16U>> {
        self.requested(self.ports.depth_image_16u, "depth image", "depth")
    }
    /// Returns the port of the label image.
    ///
    /// # Errors
    /// Returns an error unless the configuration has `label`.
    pub fn label_image(&self) -> Result<OutputPort<ImageLabel16I>> {
        self.requested(self.ports.label_image, "label image", "label")
    }
    /// Returns the port of the pose `X_WB` of the camera body in the world.
    ///
    /// # Errors
    /// Returns an error if the configuration requests no image.
    pub fn body_pose_in_world(&self) -> Result<OutputPort<Isometry3<f64>>> {
        self.requested(self.ports.body_pose_in_world, "pose", ANY_IMAGE)
    }
    /// Returns the port of the time of the images (s).
    ///
    /// # Errors
    /// Returns an error if the configuration requests no image.
    pub fn image_time(&self) -> Result<OutputPort<Vec<f64>>> {
        self.requested(self.ports.image_time, "image time", ANY_IMAGE)
    }

    fn requested<P>(&self, port: Option<P>, what: &str, field: &str) -> Result<P> {
        port.ok_or_else(|| {
            Error::state(format!(
                "camera '{}' has no {what}; set {field} to true in its configuration",
                self.name
            ))
        })
    }
}

const ANY_IMAGE: &str = "rgb, depth or label";

/// Connections of a camera (the optional arguments of Drake's `ApplyCameraConfig`). By default, the
/// scene and the plant are found in the builder by the names that Drake uses, and nothing is
/// published.
///
/// ```
/// use tarragon_lcm::Lcm;
/// use tarragon_sensors::CameraConnections;
/// let lcm = Lcm::with_url("memq://")?;
/// let on_bus = CameraConnections::new().with_lcm(&lcm);
/// # let _ = on_bus;
/// # Ok::<(), tarragon_lcm::Error>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct CameraConnections<'a> {
    scene_graph: Option<&'a Block<SceneGraph>>,
    plant: Option<&'a Block<MultibodyPlant>>,
    lcm_buses: Option<&'a LcmBuses>,
    lcm: Option<&'a Lcm>,
}

impl<'a> CameraConnections<'a> {
    /// Creates the default connections.
    pub fn new() -> Self {
        Self::default()
    }
    /// Chooses the scene; otherwise it is the system `scene_graph` of the builder.
    #[must_use]
    pub fn with_scene_graph(mut self, scene_graph: &'a Block<SceneGraph>) -> Self {
        self.scene_graph = Some(scene_graph);
        self
    }
    /// Chooses the plant that has the camera's base frame; otherwise it is the system `plant` of
    /// the builder, if the camera needs a plant.
    #[must_use]
    pub fn with_plant(mut self, plant: &'a Block<MultibodyPlant>) -> Self {
        self.plant = Some(plant);
        self
    }
    /// Sets the buses from which `lcm_bus` of the configuration selects one.
    #[must_use]
    pub fn with_lcm_buses(mut self, buses: &'a LcmBuses) -> Self {
        self.lcm_buses = Some(buses);
        self
    }
    /// Sets the bus itself; overrides `lcm_buses` and `lcm_bus`.
    #[must_use]
    pub fn with_lcm(mut self, lcm: &'a Lcm) -> Self {
        self.lcm = Some(lcm);
        self
    }
}

/// Adds the sensor of a camera and connects it to the scene (Drake's `ApplyCameraConfig`, without a
/// bus). Scene and plant are the systems `scene_graph` and `plant` of the builder; to choose others
/// and to publish images, see [`apply_camera_config_with`].
///
/// With an `output_delay` the sensor is an [`RgbdSensorAsync`], otherwise an [`RgbdSensor`], as in
/// Drake. `X_PB.base_frame` is looked up in the plant by its plain or scoped name (`model::frame`);
/// if it is missing or `world`, the camera is fixed in the world. Add the engine with
/// [`add_camera_renderers`](crate::add_camera_renderers) first. If the configuration requests no
/// image, nothing is added, and the camera is [`CameraSensor::SwitchedOff`].
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::SceneGraph;
/// use tarragon_sensors::*;
/// let camera = CameraConfig::from_yaml("{name: top, width: 64, height: 48, depth: true}")?;
/// let mut scene = SceneGraph::new();
/// add_camera_renderers([&camera], &mut scene)?;
/// let mut b = DiagramBuilder::new();
/// b.add("scene_graph", scene);
/// let camera = apply_camera_config(&camera, &mut b)?;
/// let ctx = b.build()?.default_context();
/// let depth = ctx.eval(camera.depth_image_32f()?)?;
/// assert_eq!(depth.at(0, 0)[0], f32::INFINITY); // nothing is there
/// assert!(camera.label_image().is_err()); // not requested
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error, and adds nothing, if the configuration is invalid, there is no scene, the base
/// frame is unknown or needs a plant that is missing, or the scene has no engine with the name.
pub fn apply_camera_config(
    config: &CameraConfig,
    builder: &mut DiagramBuilder,
) -> Result<AppliedCamera> {
    apply_camera_config_with(config, builder, CameraConnections::new())
}

/// Adds the sensor of a camera as [`apply_camera_config`] does, connected to the given systems, and
/// publishes its images.
///
/// Images are published `fps` times per second on the channel `DRAKE_RGBD_CAMERA_IMAGES_{name}` of
/// the bus, as one [`LcmtImageArray`] with the images that the configuration requests: `depth`
/// ([`Depth16U`](crate::Depth16U)), `rgb` ([`Rgba8U`](crate::Rgba8U)) and `label`
/// ([`Label16I`](crate::Label16I)), in this order, compressed with zlib if `do_compress`. Nothing
/// is published without a bus, whatever `lcm_bus` says, or if the bus is the [null
/// bus](LcmBuses::MEMQ_NULL). (If no bus is given, Drake opens the default bus, which sends to all
/// programs on this machine; pass `Lcm::with_url("")` to do the same.)
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::SceneGraph;
/// use tarragon_lcm::{Lcm, Subscriber, types::LcmtImageArray};
/// use tarragon_sensors::*;
/// let camera = CameraConfig { name: "top".into(), width: 64, height: 48, ..Default::default() };
/// let mut scene = SceneGraph::new();
/// add_camera_renderers([&camera], &mut scene)?;
/// let mut b = DiagramBuilder::new();
/// b.add("scene_graph", scene);
/// let lcm = Lcm::with_url("memq://")?;
/// let heard = Subscriber::<LcmtImageArray>::new(&lcm, "DRAKE_RGBD_CAMERA_IMAGES_top")?;
/// apply_camera_config_with(&camera, &mut b, CameraConnections::new().with_lcm(&lcm))?;
/// let diagram = b.build()?;
/// Simulator::new(&diagram, diagram.default_context())?.advance_to(0.25)?;
/// lcm.handle_subscriptions(std::time::Duration::ZERO)?;
/// assert_eq!(heard.count(), 3); // at 0, 0.1 and 0.2 s
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the errors of [`apply_camera_config`], and an error if there is no such bus, or the name
/// is too long for a channel. Nothing is added then.
pub fn apply_camera_config_with(
    config: &CameraConfig,
    builder: &mut DiagramBuilder,
    connections: CameraConnections<'_>,
) -> Result<AppliedCamera> {
    config.validate()?;
    let (period, mut offset) = (1.0 / config.fps, config.capture_offset);
    if config.output_delay > 0.0 {
        offset += config.output_delay + after_updates(config.output_delay);
    }
    let (color_camera, depth_camera) = config.make_cameras()?;
    let mut camera = AppliedCamera {
        intrinsics: *color_camera.core().intrinsics(),
        sensor: CameraSensor::SwitchedOff,
        period,
        offset,
        publisher: None,
        name: config.name.clone(),
        ports: Ports::default(),
    };
    if !config.is_enabled() {
        return Ok(camera);
    }
    let named = |e| {
        config.wrong(format!(
            "{e}; add it before the camera, or pass it in CameraConnections"
        ))
    };
    let scene_graph = match connections.scene_graph {
        Some(scene_graph) => scene_graph.clone(),
        None => builder.system_named("scene_graph").map_err(named)?,
    };
    let plant = match connections.plant {
        Some(plant) => Some(plant.clone()),
        None if needs_plant(config) && builder.has_system_named("plant") => {
            Some(builder.system_named("plant").map_err(named)?)
        }
        None => None,
    };
    let scene = scene_graph.system();
    if !scene.has_renderer(&config.renderer_name) {
        return Err(config.wrong(format!(
            "the scene has no renderer '{}'; call `add_camera_renderers` with this camera before the scene \
             is added to the builder",
            config.renderer_name
        )));
    }
    let (parent, x_pb) = place(config, scene, plant.as_ref().map(Block::system))?;
    let bus = bus(config, &connections)?;
    let publisher = bus.map(|bus| publisher(config, bus, period, offset));
    let publisher = publisher.transpose()?;

    let name = format!("rgbd_sensor_{}", config.name);
    if config.output_delay > 0.0 {
        let asynchronous = RgbdSensorAsyncConfig {
            fps: config.fps,
            capture_offset: config.capture_offset,
            output_delay: config.output_delay,
            color_camera: (config.rgb || config.label).then_some(color_camera),
            depth_camera: config.depth.then_some(depth_camera),
            render_label_image: config.label,
        };
        let sensor = RgbdSensorAsync::new(parent, x_pb, asynchronous)?;
        let sensor = builder.add_f64(&name, sensor);
        builder.connect(scene_graph.query, sensor.geometry_query);
        camera.ports = Ports {
            color_image: sensor.color_image.filter(|_| config.rgb),
            depth_image_32f: sensor.depth_image_32f,
            depth_image_16u: sensor.depth_image_16u,
            label_image: sensor.label_image,
            body_pose_in_world: Some(sensor.body_pose_in_world),
            image_time: Some(sensor.image_time),
        };
        camera.sensor = CameraSensor::Async(sensor);
    } else {
        let sensor = RgbdSensor::new(parent, x_pb, color_camera, depth_camera);
        let sensor = builder.add_f64(&name, sensor);
        builder.connect(scene_graph.query, sensor.geometry_query);
        camera.ports = Ports {
            color_image: config.rgb.then_some(sensor.color_image),
            depth_image_32f: config.depth.then_some(sensor.depth_image_32f),
            depth_image_16u: config.depth.then_some(sensor.depth_image_16u),
            label_image: config.label.then_some(sensor.label_image),
            body_pose_in_world: Some(sensor.body_pose_in_world),
            image_time: Some(sensor.image_time),
        };
        camera.sensor = CameraSensor::Continuous(sensor);
    }
    if let Some(publisher) = publisher {
        camera.publisher = Some(publish(config, &camera.ports, publisher, builder)?);
    }
    Ok(camera)
}

/// Returns the bus on which a camera publishes, or `None` if there is none or it is the null bus.
fn bus<'a>(config: &CameraConfig, given: &CameraConnections<'a>) -> Result<Option<&'a Lcm>> {
    let bus = match (given.lcm, given.lcm_buses) {
        (Some(lcm), _) => lcm,
        (None, Some(buses)) => {
            let bus = buses.find(&format!("camera '{}'", config.name), &config.lcm_bus);
            bus?
        }
        (None, None) => return Ok(None),
    };
    Ok((bus.url() != LcmBuses::MEMQ_NULL).then_some(bus))
}

/// Creates the system that publishes the images of a camera.
fn publisher(
    config: &CameraConfig,
    bus: &Lcm,
    period: f64,
    offset: f64,
) -> Result<LcmPublisherSystem<LcmtImageArray>> {
    let channel = format!("{CHANNEL}{}", config.name);
    if channel.len() > MOST_CHANNEL || channel.contains('\0') {
        return Err(config.wrong(format!(
            "the LCM channel must have at most {MOST_CHANNEL} bytes and no zero byte, got {} \
             bytes in {channel:?}; choose another name",
            channel.len()
        )));
    }
    LcmPublisherSystem::new(&channel, bus.clone(), period, offset).map_err(|e| config.wrong(e))
}

/// Connects the requested images to a publisher.
fn publish(
    config: &CameraConfig,
    ports: &Ports,
    publisher: LcmPublisherSystem<LcmtImageArray>,
    builder: &mut DiagramBuilder,
) -> Result<Block<LcmPublisherSystem<LcmtImageArray>>> {
    // Names and order are those of Drake's messages.
    let mut system = ImageToLcmImageArrayT::new(config.do_compress);
    let depth = Wire::declare(&mut system, ports.depth_image_16u, "depth")?;
    let color = Wire::declare(&mut system, ports.color_image, "rgb")?;
    let label = Wire::declare(&mut system, ports.label_image, "label")?;
    let system = builder.add_f64(&format!("image_to_lcm_{}", config.name), system);
    depth.connect(&system, builder)?;
    color.connect(&system, builder)?;
    label.connect(&system, builder)?;
    let name = format!("LcmPublisherSystem({})", publisher.channel());
    let publisher = builder.add_f64(&name, publisher);
    builder.connect(system.image_array_t, publisher.lcm_message);
    Ok(publisher)
}

/// An image port, if there is one, and the input port to which it will be connected.
struct Wire<P: ImageFilePixel>(Option<(OutputPort<Image<P>>, ImagePortIndex<P>)>);

impl<P: ImageFilePixel> Wire<P> {
    fn declare(
        system: &mut ImageToLcmImageArrayT,
        image: Option<OutputPort<Image<P>>>,
        name: &str,
    ) -> Result<Self> {
        let Some(image) = image else {
            return Ok(Self(None));
        };
        let port = system.declare_image_input_port(name)?;
        Ok(Self(Some((image, port))))
    }
    fn connect(
        self,
        system: &Block<ImageToLcmImageArrayT>,
        builder: &mut DiagramBuilder,
    ) -> Result<()> {
        if let Some((image, port)) = self.0 {
            builder.connect(image, system.image_port(port)?);
        }
        Ok(())
    }
}

/// Returns true if the camera is fixed in a frame other than the world frame.
fn needs_plant(config: &CameraConfig) -> bool {
    let base = config.x_pb.base_frame.as_deref();
    !matches!(base, None | Some("" | "world"))
}

/// Returns the frame of the scene in which the camera is fixed, and its pose in that frame.
fn place(
    config: &CameraConfig,
    scene: &SceneGraph,
    plant: Option<&MultibodyPlant>,
) -> Result<(FrameId, Isometry3<f64>)> {
    let pose = config.x_pb.pose();
    let x_fb = pose.map_err(|why| config.wrong(format!("X_PB: {why}")))?;
    let base = config.x_pb.base_frame.as_deref().unwrap_or_default();
    if base.is_empty() || (base == "world" && plant.is_none()) {
        return Ok((scene.world_frame_id(), x_fb));
    }
    let plant = plant.ok_or_else(|| {
        config.wrong(format!(
            "X_PB.base_frame '{base}' needs a plant, and there is none; pass one in CameraConnections"
        ))
    })?;
    let at = |e: Error| e.at(format!("camera '{}': X_PB.base_frame", config.name));
    let frame = plant
        .frame(plant.frame_by_name(base).map_err(at)?)
        .map_err(at)?;
    let parent = plant.body_frame_id(frame.body());
    let parent = parent.ok_or_else(|| {
        config.wrong(format!(
            "X_PB.base_frame '{base}' belongs to a body without a frame in the scene; add plant \
             and scene with \
             `add_multibody_plant_scene_graph`"
        ))
    })?;
    Ok((parent, frame.pose_in_body() * x_fb))
}
