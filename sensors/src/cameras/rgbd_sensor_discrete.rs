//! A camera system that samples images and holds them.

use crate::cameras::rgbd_sensor::RgbdSensor;
use crate::{Error, Result};
use nalgebra::Isometry3;
use tarragon_framework::prelude::*;
use tarragon_framework::primitives::{ValueZeroOrderHold, ZeroOrderHold};
use tarragon_geometry::QueryObject;
use tarragon_geometry::render::{
    Image, ImageDepth16U, ImageDepth32F, ImageLabel16I, ImageRgba8U, PixelType, RenderCameraCore,
};

/// An [`RgbdSensor`] that is sampled and held (Drake's `RgbdSensorDiscrete`): a sub-diagram.
///
/// | port | name | type |
/// |---|---|---|
/// | input | `geometry_query` | [`QueryObject`] |
/// | output | `color_image` | [`ImageRgba8U`] |
/// | output | `depth_image_32f` | [`ImageDepth32F`] |
/// | output | `depth_image_16u` | [`ImageDepth16U`] |
/// | output | `label_image` | [`ImageLabel16I`], if requested |
/// | output | `body_pose_in_world` | `Isometry3<f64>`, `X_WB` |
/// | output | `image_time` | vector of 1: the time of the last sample (s) |
///
/// Samples are taken at 0, `period`, 2 `period`, ... Each one renders all images, whether or not
/// they are read. Before the first sample, the images are zero, the pose is the identity and the
/// time is 0. (In Drake 1.51.1 `image_time` has the value of `body_pose_in_world`; here it is the
/// documented time.)
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::{SceneGraph, render::*};
/// use tarragon_sensors::{RgbdSensor, RgbdSensorDiscrete};
/// let mut scene = SceneGraph::new();
/// let world = scene.world_frame_id();
/// scene.add_renderer("cpu", RenderEngineCpu::new(RenderEngineCpuParams::default())?)?;
/// let camera = DepthRenderCamera::new("cpu", CameraInfo::from_fov_y(8, 6, 1.0)?);
/// let sensor = RgbdSensor::from_depth_camera(world, Isometry3::identity(), camera);
///
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let sensor = RgbdSensorDiscrete::new(sensor, 0.1, true)?.add_to(&mut b, "camera")?;
/// b.connect(scene.query, sensor.geometry_query);
/// let diagram = b.build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.advance_to(0.25)?;
/// assert_eq!(sim.context().eval(sensor.image_time)?, &[0.2]);
/// assert_eq!(sim.context().eval(sensor.depth_image_32f)?.at(0, 0)[0], f32::INFINITY);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RgbdSensorDiscrete {
    sensor: RgbdSensor,
    period: f64,
    render_label_image: bool,
}

impl RgbdSensorDiscrete {
    /// Drake's default period (s).
    pub const DEFAULT_PERIOD: f64 = 1.0 / 30.0;

    /// Creates a sensor that samples `sensor` every `period` (s). The output `label_image` exists
    /// only with `render_label_image`.
    ///
    /// # Errors
    /// Returns an error if the period is not positive and finite.
    pub fn new(sensor: RgbdSensor, period: f64, render_label_image: bool) -> Result<Self> {
        if !(period > 0.0 && period.is_finite()) {
            return Err(Error::invalid(format!(
                "RgbdSensorDiscrete: period must be positive and finite, got {period:?} s"
            )));
        }
        Ok(Self {
            sensor,
            period,
            render_label_image,
        })
    }
    /// Returns the sensor that is sampled.
    pub fn sensor(&self) -> &RgbdSensor {
        &self.sensor
    }
    /// Returns the time between samples (s).
    pub fn period(&self) -> f64 {
        self.period
    }

    /// Adds the sub-diagram `name`: the sensor, `name::sensor`, and a hold for each of its outputs.
    ///
    /// # Errors
    /// Returns no error at present; [`DiagramBuilder::build`] reports an invalid name.
    pub fn add_to(
        self,
        builder: &mut DiagramBuilder,
        name: &str,
    ) -> Result<RgbdSensorDiscretePorts> {
        builder.subdiagram(name, |b| {
            let Self {
                sensor,
                period,
                render_label_image,
            } = self;
            let color_core = sensor.default_color_render_camera().core().clone();
            let depth_core = sensor.default_depth_render_camera().core().clone();
            let sensor = b.add_f64("sensor", sensor);
            let time = b.add_f64("hold_image_time", ZeroOrderHold::new(1, period, 0.0));
            b.connect(sensor.image_time, time.u);
            let hold = Hold { period };
            let label = render_label_image.then_some(sensor.label_image);
            Ok(RgbdSensorDiscretePorts {
                geometry_query: b.export_input("geometry_query", sensor.geometry_query),
                color_image: hold.image(b, "color_image", sensor.color_image, &color_core),
                depth_image_32f: hold.image(
                    b,
                    "depth_image_32f",
                    sensor.depth_image_32f,
                    &depth_core,
                ),
                depth_image_16u: hold.image(
                    b,
                    "depth_image_16u",
                    sensor.depth_image_16u,
                    &depth_core,
                ),
                label_image: label.map(|port| hold.image(b, "label_image", port, &color_core)),
                body_pose_in_world: hold.value(
                    b,
                    "body_pose_in_world",
                    sensor.body_pose_in_world,
                    Isometry3::identity(),
                ),
                image_time: b.export_output("image_time", time.y),
                sensor,
            })
        })
    }
}

/// Zero-order holds with a common period (s).
struct Hold {
    period: f64,
}

impl Hold {
    fn value<V: Clone + Send + Sync + 'static>(
        &self,
        b: &mut DiagramBuilder,
        name: &str,
        from: OutputPort<V>,
        model: V,
    ) -> OutputPort<V> {
        let hold = ValueZeroOrderHold::new(model, self.period, 0.0);
        let hold = b.add_f64(&format!("hold_{name}"), hold);
        b.connect(from, hold.u);
        b.export_output(name, hold.y)
    }
    fn image<P: PixelType>(
        &self,
        b: &mut DiagramBuilder,
        name: &str,
        from: OutputPort<Image<P>>,
        core: &RenderCameraCore,
    ) -> OutputPort<Image<P>> {
        let info = core.intrinsics();
        self.value(b, name, from, Image::new(info.width(), info.height()))
    }
}

/// Ports of [`RgbdSensorDiscrete`].
#[derive(Clone)]
pub struct RgbdSensorDiscretePorts {
    /// Scene to render.
    pub geometry_query: InputPort<QueryObject<f64>>,
    /// Colour image.
    pub color_image: OutputPort<ImageRgba8U>,
    /// Depth image (m).
    pub depth_image_32f: OutputPort<ImageDepth32F>,
    /// Depth image (mm).
    pub depth_image_16u: OutputPort<ImageDepth16U>,
    /// Label image, if requested.
    pub label_image: Option<OutputPort<ImageLabel16I>>,
    /// `X_WB` at the last sample.
    pub body_pose_in_world: OutputPort<Isometry3<f64>>,
    /// Time of the last sample (s).
    pub image_time: OutputPort<Vec<f64>>,
    /// The sensor that is sampled, with its parameters.
    pub sensor: Block<RgbdSensor>,
}
