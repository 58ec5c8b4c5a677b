//! A camera system that renders the scene at the current time.

use nalgebra::Isometry3;
use tarragon_framework::Result;
use tarragon_framework::prelude::*;
use tarragon_geometry::render::{
    ColorRenderCamera, DepthRenderCamera, Image, ImageDepth16U, ImageDepth32F, ImageLabel16I,
    ImageRgba8U, PixelType, RenderCameraCore,
};
use tarragon_geometry::{FrameId, QueryObject};

/// Colour, depth and label cameras in one body (Drake's `RgbdSensor`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `geometry_query` | [`QueryObject`] |
/// | output | `color_image` | [`ImageRgba8U`] of the colour camera |
/// | output | `depth_image_32f` | [`ImageDepth32F`]: z (m), 0 if too close, infinity if too far |
/// | output | `depth_image_16u` | [`ImageDepth16U`]: the same in mm, 65535 if too far |
/// | output | `label_image` | [`ImageLabel16I`], aligned with the colour image pixel by pixel |
/// | output | `body_pose_in_world` | `Isometry3<f64>`, `X_WB` |
/// | output | `image_time` | vector of 1: the time (s) |
///
/// The body frame B is fixed in the parent frame P at `X_PB`. The frame C of the colour and label
/// camera is fixed in B at `X_BC`, and the frame D of the depth camera at `X_BD`. A camera looks
/// along the +z axis of its frame; in the image, +x points right and +y points down.
///
/// The parent frame, `X_PB` and the cameras are parameters of the context:
/// `*ctx.param_mut(sensor.x_pb)? = ...` moves the sensor in one context (Drake's `SetX_PB`).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::{GeometryInstance, PerceptionProperties, SceneGraph, Sphere, render::*};
/// use tarragon_sensors::RgbdSensor;
/// let mut scene = SceneGraph::new();
/// let (world, source) = (scene.world_frame_id(), scene.register_source("toys")?);
/// scene.add_renderer("cpu", RenderEngineCpu::new(RenderEngineCpuParams::default())?)?;
/// let ahead = Isometry3::translation(0.0, 0.0, 2.0);
/// let ball = GeometryInstance::new(ahead, Sphere::new(0.5)?, "ball")?
///     .with_perception(PerceptionProperties::new());
/// scene.register_anchored_geometry(source, ball)?;
///
/// let camera = DepthRenderCamera::new("cpu", CameraInfo::from_fov_y(64, 48, 1.0)?);
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let sensor = RgbdSensor::from_depth_camera(world, Isometry3::identity(), camera);
/// let sensor = b.add_f64("sensor", sensor);
/// b.connect(scene.query, sensor.geometry_query);
/// let ctx = b.build()?.default_context();
/// assert!((ctx.eval(sensor.depth_image_32f)?.at(31, 23)[0] - 1.5).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RgbdSensor {
    parent_id: FrameId,
    x_pb: Isometry3<f64>,
    color_camera: ColorRenderCamera,
    depth_camera: DepthRenderCamera,
}

impl RgbdSensor {
    /// Creates a sensor at `X_PB` in the frame `parent_id`.
    pub fn new(
        parent_id: FrameId,
        x_pb: Isometry3<f64>,
        color_camera: ColorRenderCamera,
        depth_camera: DepthRenderCamera,
    ) -> Self {
        Self {
            parent_id,
            x_pb,
            color_camera,
            depth_camera,
        }
    }

    /// Creates a sensor whose colour camera has the same core as the depth camera.
    pub fn from_depth_camera(
        parent_id: FrameId,
        x_pb: Isometry3<f64>,
        depth_camera: DepthRenderCamera,
    ) -> Self {
        let color_camera = depth_camera.to_color();
        Self::new(parent_id, x_pb, color_camera, depth_camera)
    }

    /// Sets whether the colour camera asks its render engine to show the images in a window
    /// (Drake's `show_window`). The engines of this workspace open no windows; they warn about this
    /// once.
    #[must_use]
    pub fn with_show_window(mut self, show_window: bool) -> Self {
        self.color_camera = self.color_camera.with_show_window(show_window);
        self
    }

    /// Returns the frame P of new contexts. Each context has its own, the parameter
    /// [`parent_id`](RgbdSensorPorts::parent_id).
    pub fn default_parent_frame_id(&self) -> FrameId {
        self.parent_id
    }
    /// Changes the frame P of new contexts.
    pub fn set_default_parent_frame_id(&mut self, id: FrameId) {
        self.parent_id = id;
    }
    /// Returns `X_PB` of new contexts. Each context has its own, the parameter
    /// [`x_pb`](RgbdSensorPorts::x_pb).
    pub fn default_x_pb(&self) -> &Isometry3<f64> {
        &self.x_pb
    }
    /// Changes `X_PB` of new contexts.
    pub fn set_default_x_pb(&mut self, x_pb: Isometry3<f64>) {
        self.x_pb = x_pb;
    }
    /// Returns the colour and label camera of new contexts. Each context has its own, the parameter
    /// [`color_camera`](RgbdSensorPorts::color_camera).
    pub fn default_color_render_camera(&self) -> &ColorRenderCamera {
        &self.color_camera
    }
    /// Changes the colour and label camera of new contexts.
    pub fn set_default_color_render_camera(&mut self, camera: ColorRenderCamera) {
        self.color_camera = camera;
    }
    /// Returns the depth camera of new contexts. Each context has its own, the parameter
    /// [`depth_camera`](RgbdSensorPorts::depth_camera).
    pub fn default_depth_render_camera(&self) -> &DepthRenderCamera {
        &self.depth_camera
    }
    /// Changes the depth camera of new contexts.
    pub fn set_default_depth_render_camera(&mut self, camera: DepthRenderCamera) {
        self.depth_camera = camera;
    }
}

/// Ports of [`RgbdSensor`].
#[derive(Clone, Copy, Debug)]
pub struct RgbdSensorPorts {
    /// Scene to render.
    pub geometry_query: InputPort<QueryObject<f64>>,
    /// Colour image.
    pub color_image: OutputPort<ImageRgba8U>,
    /// Depth image (m).
    pub depth_image_32f: OutputPort<ImageDepth32F>,
    /// Depth image (mm).
    pub depth_image_16u: OutputPort<ImageDepth16U>,
    /// Label image.
    pub label_image: OutputPort<ImageLabel16I>,
    /// Pose `X_WB` of the body in the world.
    pub body_pose_in_world: OutputPort<Isometry3<f64>>,
    /// Time of the images (s).
    pub image_time: OutputPort<Vec<f64>>,
    /// Parent frame P of the body.
    pub parent_id: Param<FrameId>,
    /// Pose `X_PB` of the body in its parent frame.
    pub x_pb: Param<Isometry3<f64>>,
    /// Colour and label camera.
    pub color_camera: Param<ColorRenderCamera>,
    /// Depth camera.
    pub depth_camera: Param<DepthRenderCamera>,
}

/// Resizes the image to the size of the camera, if it differs.
pub(crate) fn fit<P: PixelType>(image: &mut Image<P>, core: &RenderCameraCore) {
    let (width, height) = (core.intrinsics().width(), core.intrinsics().height());
    if (image.width(), image.height()) != (width, height) {
        image.resize(width, height);
    }
}

/// Handles of the scene and of the pose of the sensor.
#[derive(Clone, Copy)]
struct View {
    geometry_query: InputPort<QueryObject<f64>>,
    parent_id: Param<FrameId>,
    x_pb: Param<Isometry3<f64>>,
}

impl View {
    /// Returns the scene, the parent frame P and `X_PB`.
    fn of<'a>(
        &self,
        ctx: &LeafContext<'a, f64>,
    ) -> Result<(&'a QueryObject<f64>, FrameId, &'a Isometry3<f64>)> {
        let query = ctx.eval(self.geometry_query)?;
        Ok((query, *ctx.param(self.parent_id), ctx.param(self.x_pb)))
    }
}

impl LeafSystem<f64> for RgbdSensor {
    type Ports = RgbdSensorPorts;

    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let geometry_query = d.input::<QueryObject<f64>>("geometry_query");
        let parent_id = d.param(self.parent_id);
        let x_pb = d.param(self.x_pb);
        let color_camera = d.param(self.color_camera.clone());
        let depth_camera = d.param(self.depth_camera.clone());
        let place = (geometry_query, parent_id, x_pb);
        let (color_deps, depth_deps) = ((place, color_camera), (place, depth_camera));
        let view = View {
            geometry_query,
            parent_id,
            x_pb,
        };

        let model = ImageRgba8U::default();
        let color_image = d.output("color_image", model, color_deps, move |_, ctx, image| {
            let camera = ctx.param(color_camera);
            fit(image, camera.core());
            let (query, parent, x_pb) = view.of(ctx)?;
            query.render_color_image(camera, parent, x_pb, image)
        });
        let model = ImageLabel16I::default();
        let label_image = d.output("label_image", model, color_deps, move |_, ctx, image| {
            let camera = ctx.param(color_camera);
            fit(image, camera.core());
            let (query, parent, x_pb) = view.of(ctx)?;
            query.render_label_image(camera, parent, x_pb, image)
        });
        let model = ImageDepth32F::default();
        let depth_image_32f = d.output(
            "depth_image_32f",
            model,
            depth_deps,
            move |_, ctx, image| {
                let camera = ctx.param(depth_camera);
                fit(image, camera.core());
                let (query, parent, x_pb) = view.of(ctx)?;
                query.render_depth_image(camera, parent, x_pb, image)
            },
        );
        let depth_image_16u = d.output(
            "depth_image_16u",
            ImageDepth16U::default(),
            depth_image_32f,
            move |_, ctx, image| {
                *image = ctx.output(depth_image_32f)?.into();
                Ok(())
            },
        );
        let body_pose_in_world = d.output(
            "body_pose_in_world",
            Isometry3::identity(),
            place,
            move |_, ctx, x_wb| {
                let (query, parent, x_pb) = view.of(ctx)?;
                let x_wp = query.pose_in_world(parent)?;
                *x_wb = x_wp * x_pb;
                Ok(())
            },
        );
        let image_time = d.vector_output("image_time", 1, Dep::Time, |_, ctx, time| {
            time[0] = ctx.time();
            Ok(())
        });
        RgbdSensorPorts {
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
