//! From configurations to render engines and systems.

use super::{CameraConfig, RendererClass};
use crate::error::{Error, Result};
use crate::image_io::ImageFilePixel;
use crate::image_writer::ImagePortIndex;
use crate::lcm_image::ImageToLcmImageArrayT;
use crate::rgbd_sensor::RgbdSensor;
use crate::rgbd_sensor_async::{RgbdSensorAsync, RgbdSensorAsyncConfig};
use nalgebra::Isometry3;
use std::collections::BTreeMap;
use tarragon_framework::prelude::*;
use tarragon_geometry::render::{
    Image, ImageDepth16U, ImageDepth32F, ImageLabel16I, ImageRgba8U, RenderEngineCpu,
    RenderEngineCpuParams,
};
use tarragon_geometry::{FrameId, SceneGraph};
use tarragon_lcm::types::LcmtImageArray;
use tarragon_lcm::{Lcm, LcmBuses, LcmPublisherSystem};
use tarragon_multibody::MultibodyPlant;

/// Adds the render engines of cameras to a scene, one per `renderer_name`, in the order of the
/// cameras. A scene gets its engines before it becomes a system, so this comes before the builder.
///
/// As in Drake, a camera whose engine is there already, from a camera before it or in the scene,
/// may leave `renderer_class` empty or name the same class; parameters have to be the same. Drake's
/// `RenderEngineVtk` and `RenderEngineGl` are different classes, although [`RenderEngineCpu`] draws
/// for both of them.
///
/// # Errors
/// Returns an error if a configuration is wrong, two cameras want different engines of one name,
/// parameters are given for an engine that the scene had before, or the engine is not supported
/// yet. Then the scene is unchanged.
pub fn add_camera_renderers<'a>(
    configs: impl IntoIterator<Item = &'a CameraConfig>,
    scene_graph: &mut SceneGraph,
) -> Result<()> {
    let mut new: BTreeMap<&str, (&CameraConfig, RenderEngineCpuParams)> = BTreeMap::new();
    for config in configs {
        config.validate()?;
        if !config.is_enabled() {
            continue;
        }
        let (name, class) = (&*config.renderer_name, &config.renderer_class);
        let fail = |why: String| {
            let camera = &config.name;
            Err(Error::invalid(format!(
                "camera '{camera}': renderer '{name}' {why}"
            )))
        };
        if scene_graph.has_renderer(name) {
            if class.has_params() {
                return fail(
                    "is in the scene already, so its parameters can not be chosen; give its class name, \
                     an empty renderer_class or another renderer_name"
                        .into(),
                );
            }
            let found = scene_graph.renderer_type_name(name).unwrap_or_default();
            if !is_of_class(found, class) {
                let class = class.class_name().unwrap_or_default();
                return fail(format!(
                    "is a {found}, which does not draw for {class}; use another renderer_name"
                ));
            }
            continue;
        }
        let params = class.to_cpu_params(config.background);
        let params =
            params.map_err(|e| Error::invalid(format!("camera '{}': {e}", config.name)))?;
        let params = RenderEngineCpuParams {
            renderer_name: Some(name.into()),
            ..params
        };
        let Some((first, known)) = new.get(name) else {
            new.insert(name, (config, params));
            continue;
        };
        let first_class = first.renderer_class.class_name();
        let same = |a: &str, b: &str| a == b;
        let agrees = match (class.class_name(), first_class) {
            (None, _) => true,
            // The default class is Drake's portable engine.
            (Some(class), None) => same(class, "RenderEngineVtk") || same(class, "RenderEngineCpu"),
            (Some(class), Some(first)) => same(class, first),
        };
        if !agrees {
            return fail(format!(
                "is a {} since camera '{}', this one has renderer_class {}; use another renderer_name",
                first_class.unwrap_or("RenderEngineVtk"),
                first.name,
                class.class_name().unwrap_or_default()
            ));
        }
        if class.has_params() && params != *known {
            return fail(format!(
                "has other parameters since camera '{}'; give the same ones, only the class name, or \
                 another renderer_name",
                first.name
            ));
        }
    }
    let engine = |(config, params): (&CameraConfig, RenderEngineCpuParams)| {
        RenderEngineCpu::new(params)
            .map_err(|e| Error::invalid(format!("camera '{}': {e}", config.name)))
    };
    let engines = new.into_iter().map(|(name, of)| Ok((name, engine(of)?)));
    let engines: Vec<(&str, RenderEngineCpu)> = engines.collect::<Result<_>>()?;
    // All or none: what fails leaves those before it behind.
    let mut changed = scene_graph.clone();
    for (name, engine) in engines {
        changed
            .add_renderer(name, engine)
            .map_err(|e| Error::invalid(format!("renderer '{name}': {e}")))?;
    }
    *scene_graph = changed;
    Ok(())
}

/// How long after an update with a delay (s) a publish sees it: as in Drake a thousandth of the
/// delay, and far above the rounding of times.
fn after_updates(output_delay: f64) -> f64 {
    (output_delay * 1e-3).max(1e-6)
}

/// Where a camera of some name publishes its images.
const CHANNEL: &str = "DRAKE_RGBD_CAMERA_IMAGES_";
/// Longest name of a channel (bytes).
const MOST_CHANNEL: usize = 63;

/// Whether a render engine of this type draws for a class.
fn is_of_class(type_name: &str, class: &RendererClass) -> bool {
    let found = type_name.rsplit("::").next().unwrap_or(type_name);
    match class.class_name() {
        None => true,
        Some("RenderEngineVtk" | "RenderEngineGl") if found == "RenderEngineCpu" => true,
        Some(class) => found == class,
    }
}

/// The system of a camera, by how it works.
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
/// let applied = apply_camera_config(&camera, &mut b, Default::default())?;
/// let applied = applied.ok_or("it is switched off")?;
/// assert!(matches!(applied.sensor, CameraSensor::Async(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum CameraSensor {
    /// Images of the current time; whoever reads them chooses when.
    Continuous(Block<RgbdSensor>),
    /// Images at times of its own, behind by `output_delay`.
    Async(Block<RgbdSensorAsync>),
}

/// What [`apply_camera_config`] has added. Images that the configuration does not ask for have no
/// port here.
///
/// To do something else with images than to publish them, connect the ports to an
/// [`ImageWriter`](crate::ImageWriter) or to systems of your own, with the period and the offset
/// given here.
#[derive(Clone)]
pub struct AppliedCamera {
    /// The sensor, `rgbd_sensor_{name}`.
    pub sensor: CameraSensor,
    /// Colours, if `rgb`.
    pub color_image: Option<OutputPort<ImageRgba8U>>,
    /// Depth (m), if `depth`.
    pub depth_image_32f: Option<OutputPort<ImageDepth32F>>,
    /// Depth (mm), if `depth`.
    pub depth_image_16u: Option<OutputPort<ImageDepth16U>>,
    /// Labels, if `label`.
    pub label_image: Option<OutputPort<ImageLabel16I>>,
    /// `X_WB`.
    pub body_pose_in_world: OutputPort<Isometry3<f64>>,
    /// Time of the images (s).
    pub image_time: OutputPort<Vec<f64>>,
    /// Time between images (s), `1 / fps`.
    pub period: f64,
    /// When the first image can be written (s): `capture_offset`, or a thousandth of the delay (at
    /// least a microsecond) after the first output of an asynchronous sensor, because publishes
    /// come before the updates of the same time.
    pub offset: f64,
    /// What publishes the images, if buses were given.
    pub publisher: Option<Block<LcmPublisherSystem<LcmtImageArray>>>,
}

/// Connections of a camera (the optional arguments of Drake's `ApplyCameraConfig`). The default are
/// the systems that the builder has by the names of Drake, and no publishing.
///
/// ```
/// use tarragon_sensors::CameraConnections;
/// assert!(CameraConnections::default().lcm.is_none());
/// ```
#[derive(Clone, Copy, Default)]
pub struct CameraConnections<'a> {
    /// The scene; `None` for the system `scene_graph` of the builder.
    pub scene_graph: Option<&'a Block<SceneGraph>>,
    /// The plant that has the camera's base frame; `None` for the system `plant` of the builder,
    /// where the camera needs one.
    pub plant: Option<&'a Block<MultibodyPlant>>,
    /// The buses among which `lcm_bus` of the configuration names one.
    pub lcm_buses: Option<&'a LcmBuses>,
    /// The bus itself, whatever `lcm_bus` says.
    pub lcm: Option<&'a Lcm>,
}

/// Adds the sensor of a camera, connects it to the scene and publishes its images (Drake's
/// `ApplyCameraConfig`); `None` if the configuration asks for no image.
///
/// With an `output_delay` the sensor is an [`RgbdSensorAsync`], otherwise an [`RgbdSensor`], as in
/// Drake. `X_PB.base_frame` is looked up in the plant, plain or scoped (`model::frame`); without
/// one, or called `world`, it is the world. The engine comes from [`add_camera_renderers`].
///
/// Images are published `fps` times a second on the channel `DRAKE_RGBD_CAMERA_IMAGES_{name}` of
/// the [connected](CameraConnections) bus, as one [`LcmtImageArray`] with those that the
/// configuration asks for: `depth` ([`Depth16U`](crate::Depth16U)), `rgb`
/// ([`Rgba8U`](crate::Rgba8U)) and `label` ([`Label16I`](crate::Label16I)), in this order, packed
/// by zlib if `do_compress`. Without a bus nothing is published, whatever `lcm_bus` says, nor to a
/// bus that publishes to [nobody](LcmBuses::MEMQ_NULL). (Drake opens the default bus where none is
/// given, which sends to all programs of this machine; do so by `Lcm::with_url("")` if that is
/// wanted.)
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::SceneGraph;
/// use tarragon_lcm::{Lcm, Subscriber, types::LcmtImageArray};
/// use tarragon_sensors::*;
/// let camera = CameraConfig::from_yaml("{name: top, width: 64, height: 48, depth: true}")?;
/// let mut scene = SceneGraph::new();
/// add_camera_renderers([&camera], &mut scene)?;
/// let mut b = DiagramBuilder::new();
/// b.add("scene_graph", scene);
/// let lcm = Lcm::with_url("memq://")?;
/// let heard = Subscriber::<LcmtImageArray>::new(&lcm, "DRAKE_RGBD_CAMERA_IMAGES_top")?;
///
/// let on_bus = CameraConnections { lcm: Some(&lcm), ..Default::default() };
/// let camera = apply_camera_config(&camera, &mut b, on_bus)?;
/// let camera = camera.ok_or("it is switched off")?;
/// let diagram = b.build()?;
/// let ctx = diagram.default_context();
/// let depth = ctx.eval(camera.depth_image_32f.ok_or("no depth")?)?;
/// assert_eq!(depth.at(0, 0)[0], f32::INFINITY); // nothing is there
/// Simulator::new(&diagram, ctx)?.advance_to(0.25)?;
/// lcm.handle_subscriptions(std::time::Duration::ZERO)?;
/// assert_eq!(heard.count(), 3); // at 0, 0.1 and 0.2 s
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if the configuration is wrong, there is no scene, the frame is unknown or a
/// plant is missing to look it up in, the scene has no engine of the name, there is no such bus, or
/// the name is too long for a channel. Then nothing was added.
pub fn apply_camera_config(
    config: &CameraConfig,
    builder: &mut DiagramBuilder,
    connections: CameraConnections<'_>,
) -> Result<Option<AppliedCamera>> {
    config.validate()?;
    if !config.is_enabled() {
        return Ok(None);
    }
    let named = |e| {
        config.wrong(format!(
            "{e}; add it before the camera, or hand it over in CameraConnections"
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
    let (color_camera, depth_camera) = config.make_cameras()?;
    let (period, mut offset) = (1.0 / config.fps, config.capture_offset);
    if config.output_delay > 0.0 {
        offset += config.output_delay + after_updates(config.output_delay);
    }
    let bus = bus(config, &connections)?;
    let publisher = bus.map(|bus| publisher(config, bus, period, offset));
    let publisher = publisher.transpose()?;

    let name = format!("rgbd_sensor_{}", config.name);
    let mut camera = if config.output_delay > 0.0 {
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
        AppliedCamera {
            color_image: sensor.color_image.filter(|_| config.rgb),
            depth_image_32f: sensor.depth_image_32f,
            depth_image_16u: sensor.depth_image_16u,
            label_image: sensor.label_image,
            body_pose_in_world: sensor.body_pose_in_world,
            image_time: sensor.image_time,
            sensor: CameraSensor::Async(sensor),
            period,
            offset,
            publisher: None,
        }
    } else {
        let sensor = RgbdSensor::new(parent, x_pb, color_camera, depth_camera);
        let sensor = builder.add_f64(&name, sensor);
        builder.connect(scene_graph.query, sensor.geometry_query);
        AppliedCamera {
            color_image: config.rgb.then_some(sensor.color_image),
            depth_image_32f: config.depth.then_some(sensor.depth_image_32f),
            depth_image_16u: config.depth.then_some(sensor.depth_image_16u),
            label_image: config.label.then_some(sensor.label_image),
            body_pose_in_world: sensor.body_pose_in_world,
            image_time: sensor.image_time,
            sensor: CameraSensor::Continuous(sensor),
            period,
            offset,
            publisher: None,
        }
    };
    if let Some(publisher) = publisher {
        camera.publisher = Some(publish(config, &camera, publisher, builder)?);
    }
    Ok(Some(camera))
}

/// The bus that a camera publishes on, unless nobody hears it.
fn bus<'a>(config: &CameraConfig, given: &CameraConnections<'a>) -> Result<Option<&'a Lcm>> {
    let bus = match (given.lcm, given.lcm_buses) {
        (Some(lcm), _) => lcm,
        (None, Some(buses)) => {
            let bus = buses.find(&format!("camera '{}'", config.name), &config.lcm_bus);
            bus.map_err(|e| Error::invalid(e.to_string()))?
        }
        (None, None) => return Ok(None),
    };
    Ok((bus.url() != LcmBuses::MEMQ_NULL).then_some(bus))
}

/// The system that publishes the images of a camera.
fn publisher(
    config: &CameraConfig,
    bus: &Lcm,
    period: f64,
    offset: f64,
) -> Result<LcmPublisherSystem<LcmtImageArray>> {
    let channel = format!("{CHANNEL}{}", config.name);
    if channel.len() > MOST_CHANNEL || channel.contains('\0') {
        return Err(config.wrong(format!(
            "the LCM channel {channel:?} has {} bytes, at most {MOST_CHANNEL} without a zero byte are expected; \
             choose another name",
            channel.len()
        )));
    }
    LcmPublisherSystem::new(&channel, bus.clone(), period, offset).map_err(|e| config.wrong(e))
}

/// Connects the images that are asked for to a publisher.
fn publish(
    config: &CameraConfig,
    camera: &AppliedCamera,
    publisher: LcmPublisherSystem<LcmtImageArray>,
    builder: &mut DiagramBuilder,
) -> Result<Block<LcmPublisherSystem<LcmtImageArray>>> {
    // Names and order are those of Drake's messages.
    let mut system = ImageToLcmImageArrayT::new(config.do_compress);
    let depth = Wire::declare(&mut system, camera.depth_image_16u, "depth")?;
    let color = Wire::declare(&mut system, camera.color_image, "rgb")?;
    let label = Wire::declare(&mut system, camera.label_image, "label")?;
    let system = builder.add_f64(&format!("image_to_lcm_{}", config.name), system);
    depth.connect(&system, builder)?;
    color.connect(&system, builder)?;
    label.connect(&system, builder)?;
    let name = format!("LcmPublisherSystem({})", publisher.channel());
    let publisher = builder.add_f64(&name, publisher);
    builder.connect(system.image_array_t, publisher.lcm_message);
    Ok(publisher)
}

/// An image, if there is one, and the port that it goes to.
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

/// Whether the camera is fixed in another frame than the world's.
fn needs_plant(config: &CameraConfig) -> bool {
    let base = config.x_pb.base_frame.as_deref();
    !matches!(base, None | Some("" | "world"))
}

/// The frame of the scene that the camera is fixed in, and where.
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
            "X_PB.base_frame is '{base}' and there is no plant to look it up in; hand one over"
        ))
    })?;
    let at = |e: tarragon_multibody::Error| config.wrong(format!("X_PB.base_frame: {e}"));
    let frame = plant
        .frame(plant.frame_by_name(base).map_err(at)?)
        .map_err(at)?;
    let parent = plant.body_frame_id(frame.body());
    let parent = parent.ok_or_else(|| {
        config.wrong(format!(
            "X_PB.base_frame '{base}' is on a body without a frame in the scene; add plant and scene with \
             `add_multibody_plant_scene_graph`"
        ))
    })?;
    Ok((parent, frame.pose_in_body() * x_fb))
}
