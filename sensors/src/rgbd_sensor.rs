//! A camera that reflects the scene at every moment.

use nalgebra::Isometry3;
use tarragon_framework::Error;
use tarragon_framework::prelude::*;
use tarragon_geometry::render::{
    ColorRenderCamera, DepthRenderCamera, Image, ImageDepth16U, ImageDepth32F, ImageLabel16I,
    ImageRgba8U, PixelType, RenderCameraCore,
};
use tarragon_geometry::{FrameId, QueryObject};

/// Colour, depth and label camera in one body (Drake's `RgbdSensor`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `geometry_query` | [`QueryObject`] |
/// | output | `color_image` | [`ImageRgba8U`] of the colour camera |
/// | output | `depth_image_32f` | [`ImageDepth32F`] of the depth camera: z (m), 0 too close, infinity too far |
/// | output | `depth_image_16u` | [`ImageDepth16U`]: the same in mm, 65535 too far |
/// | output | `label_image` | [`ImageLabel16I`], registered with the colour image |
/// | output | `body_pose_in_world` | `Isometry3<f64>`, `X_WB` |
/// | output | `image_time` | vector of 1: the time (s) |
///
/// The body frame B is fixed in the parent frame P by `X_PB`; the cameras are fixed in B by their own
/// poses. Without those, B looks along its +z axis, +x is right and +y down in the image. Parent,
/// pose and cameras are parameters.
#[derive(Clone, Debug)]
pub struct RgbdSensor {
    parent_id: FrameId,
    x_pb: Isometry3<f64>,
    color_camera: ColorRenderCamera,
    depth_camera: DepthRenderCamera,
}

impl RgbdSensor {
    /// A sensor at `X_PB` in the frame `parent_id`.
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

    /// A sensor whose colour camera has the core of the depth camera.
    pub fn from_depth_camera(
        parent_id: FrameId,
        x_pb: Isometry3<f64>,
        depth_camera: DepthRenderCamera,
    ) -> Self {
        let color_camera = ColorRenderCamera::new(depth_camera.core().clone());
        Self::new(parent_id, x_pb, color_camera, depth_camera)
    }
}

/// Ports of [`RgbdSensor`].
#[derive(Clone, Copy, Debug)]
pub struct RgbdSensorPorts {
    /// The scene.
    pub geometry_query: InputPort<QueryObject<f64>>,
    /// Colours.
    pub color_image: OutputPort<ImageRgba8U>,
    /// Depth (m).
    pub depth_image_32f: OutputPort<ImageDepth32F>,
    /// Depth (mm).
    pub depth_image_16u: OutputPort<ImageDepth16U>,
    /// Labels.
    pub label_image: OutputPort<ImageLabel16I>,
    /// `X_WB`.
    pub body_pose_in_world: OutputPort<Isometry3<f64>>,
    /// Time of the images (s).
    pub image_time: OutputPort<Vec<f64>>,
    /// The frame P that the body is fixed in.
    pub parent_id: Param<FrameId>,
    /// `X_PB`.
    pub x_pb: Param<Isometry3<f64>>,
    /// Colour and label camera.
    pub color_camera: Param<ColorRenderCamera>,
    /// Depth camera.
    pub depth_camera: Param<DepthRenderCamera>,
}

/// Gives the image the size of the camera.
fn fit<P: PixelType>(image: &mut Image<P>, core: &RenderCameraCore) {
    let (width, height) = (core.intrinsics().width(), core.intrinsics().height());
    if (image.width(), image.height()) != (width, height) {
        image.resize(width, height);
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
        let place: [Dep; 3] = [geometry_query.into(), parent_id.into(), x_pb.into()];
        let with = |camera: Dep| [place[0], place[1], place[2], camera];
        let color_deps = with(color_camera.into());
        let depth_deps = with(depth_camera.into());
        let custom = |e: tarragon_geometry::Error| Error::custom(e);

        let color_image = d.output(
            "color_image",
            ImageRgba8U::default(),
            &color_deps,
            move |_, ctx, image| {
                let camera = ctx.param(color_camera);
                fit(image, camera.core());
                let (query, parent, x_pb) = (
                    ctx.eval(geometry_query)?,
                    *ctx.param(parent_id),
                    ctx.param(x_pb),
                );
                query
                    .render_color_image(camera, parent, x_pb, image)
                    .map_err(custom)
            },
        );
        let label_image = d.output(
            "label_image",
            ImageLabel16I::default(),
            &color_deps,
            move |_, ctx, image| {
                let camera = ctx.param(color_camera);
                fit(image, camera.core());
                let (query, parent, x_pb) = (
                    ctx.eval(geometry_query)?,
                    *ctx.param(parent_id),
                    ctx.param(x_pb),
                );
                query
                    .render_label_image(camera, parent, x_pb, image)
                    .map_err(custom)
            },
        );
        let depth_image_32f = d.output(
            "depth_image_32f",
            ImageDepth32F::default(),
            &depth_deps,
            move |_, ctx, image| {
                let camera = ctx.param(depth_camera);
                fit(image, camera.core());
                let (query, parent, x_pb) = (
                    ctx.eval(geometry_query)?,
                    *ctx.param(parent_id),
                    ctx.param(x_pb),
                );
                query
                    .render_depth_image(camera, parent, x_pb, image)
                    .map_err(custom)
            },
        );
        let depth_image_16u = d.output(
            "depth_image_16u",
            ImageDepth16U::default(),
            &[depth_image_32f.into()],
            move |_, ctx, image| {
                *image = ctx.output(depth_image_32f)?.into();
                Ok(())
            },
        );
        let body_pose_in_world = d.output(
            "body_pose_in_world",
            Isometry3::identity(),
            &place,
            move |_, ctx, x_wb| {
                let query = ctx.eval(geometry_query)?;
                let x_wp = query.pose_in_world(*ctx.param(parent_id)).map_err(custom)?;
                *x_wb = x_wp * ctx.param(x_pb);
                Ok(())
            },
        );
        let image_time = d.vector_output("image_time", 1, &[Dep::Time], |_, ctx, time| {
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
