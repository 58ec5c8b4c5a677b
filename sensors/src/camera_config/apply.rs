//! From configurations to render engines and systems.

use super::{CameraConfig, RendererClass};
use crate::error::{Error, Result};
use crate::rgbd_sensor::RgbdSensor;
use crate::rgbd_sensor_async::{RgbdSensorAsync, RgbdSensorAsyncConfig};
use nalgebra::Isometry3;
use std::collections::BTreeMap;
use tarragon_framework::prelude::*;
use tarragon_geometry::render::{
    ImageDepth16U, ImageDepth32F, ImageLabel16I, ImageRgba8U, RenderEngineCpu,
    RenderEngineCpuParams,
};
use tarragon_geometry::{FrameId, SceneGraph};
use tarragon_multibody::MultibodyPlant;

/// Adds the render engines of cameras to a scene, one per `renderer_name`, in the order of the cameras.
/// A scene gets its engines before it becomes a system, so this comes before the builder.
///
/// As in Drake, a camera whose engine is there already, from a camera before it or in the scene, may
/// leave `renderer_class` empty or name the same class; parameters have to be the same. Drake's
/// `RenderEngineVtk` and `RenderEngineGl` are different classes, although
/// [`RenderEngineCpu`] draws for both of them.
///
/// # Errors
/// If a configuration is wrong, two cameras want different engines of one name, parameters are given for
/// an engine that the scene had before, or the engine is not supported yet. Then the scene is unchanged.
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

/// How long after an update a publish sees it (s): too short to matter, and far above the rounding of times.
const AFTER_UPDATES: f64 = 1e-6;

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
/// let scene = b.add("scene_graph", scene);
/// let applied = apply_camera_config(&camera, &mut b, &scene, None)?.ok_or("it is switched off")?;
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

/// What [`apply_camera_config`] has added. Images that the configuration does not ask for have no port
/// here.
///
/// There is no publisher yet: connect the ports to an [`ImageWriter`](crate::ImageWriter) or to systems
/// of your own, with the period and the offset given here.
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
    /// When the first image can be written (s): `capture_offset`, or a microsecond after the first output of
    /// an asynchronous sensor, because publishes come before the updates of the same time.
    pub offset: f64,
}

/// Adds the sensor of a camera and connects it to the scene (Drake's `ApplyCameraConfig`); `None` if the
/// configuration asks for no image.
///
/// With an `output_delay` the sensor is an [`RgbdSensorAsync`], otherwise an [`RgbdSensor`], as in Drake.
/// `X_PB.base_frame` is looked up in the plant, plain or scoped (`model::frame`); without one, or called
/// `world`, it is the world. The engine comes from [`add_camera_renderers`].
///
/// Not there yet: publishing on an LCM bus. `lcm_bus` and `do_compress` have no effect, and a bus other
/// than the default is logged as a warning.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::SceneGraph;
/// use tarragon_sensors::{CameraConfig, add_camera_renderers, apply_camera_config};
/// let camera = CameraConfig::from_yaml("{name: top, width: 64, height: 48, depth: true}")?;
/// let mut scene = SceneGraph::new();
/// add_camera_renderers([&camera], &mut scene)?;
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let camera = apply_camera_config(&camera, &mut b, &scene, None)?.ok_or("it is switched off")?;
/// let ctx = b.build()?.default_context();
/// let depth = ctx.eval(camera.depth_image_32f.ok_or("no depth")?)?;
/// assert_eq!(depth.at(0, 0)[0], f32::INFINITY); // nothing is there
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the configuration is wrong, the frame is unknown or a plant is missing to look it up in, or the
/// scene has no engine of the name. Then nothing was added.
pub fn apply_camera_config(
    config: &CameraConfig,
    builder: &mut DiagramBuilder,
    scene_graph: &Block<SceneGraph>,
    plant: Option<&Block<MultibodyPlant>>,
) -> Result<Option<AppliedCamera>> {
    config.validate()?;
    if !config.is_enabled() {
        return Ok(None);
    }
    let scene = scene_graph.system();
    if !scene.has_renderer(&config.renderer_name) {
        return Err(config.wrong(format!(
            "the scene has no renderer '{}'; call `add_camera_renderers` with this camera before the scene \
             is added to the builder",
            config.renderer_name
        )));
    }
    let (parent, x_pb) = place(config, scene, plant.map(Block::system))?;
    let (color_camera, depth_camera) = config.make_cameras()?;
    if config.lcm_bus != "default" {
        tracing::warn!(bus = config.lcm_bus, "images are not published on LCM yet");
    }
    let name = format!("rgbd_sensor_{}", config.name);
    let (period, offset) = (1.0 / config.fps, config.capture_offset);
    if config.output_delay > 0.0 {
        let offset = offset + config.output_delay + AFTER_UPDATES;
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
        return Ok(Some(AppliedCamera {
            color_image: sensor.color_image.filter(|_| config.rgb),
            depth_image_32f: sensor.depth_image_32f,
            depth_image_16u: sensor.depth_image_16u,
            label_image: sensor.label_image,
            body_pose_in_world: sensor.body_pose_in_world,
            image_time: sensor.image_time,
            sensor: CameraSensor::Async(sensor),
            period,
            offset,
        }));
    }
    let sensor = RgbdSensor::new(parent, x_pb, color_camera, depth_camera);
    let sensor = builder.add_f64(&name, sensor);
    builder.connect(scene_graph.query, sensor.geometry_query);
    Ok(Some(AppliedCamera {
        color_image: config.rgb.then_some(sensor.color_image),
        depth_image_32f: config.depth.then_some(sensor.depth_image_32f),
        depth_image_16u: config.depth.then_some(sensor.depth_image_16u),
        label_image: config.label.then_some(sensor.label_image),
        body_pose_in_world: sensor.body_pose_in_world,
        image_time: sensor.image_time,
        sensor: CameraSensor::Continuous(sensor),
        period,
        offset,
    }))
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
