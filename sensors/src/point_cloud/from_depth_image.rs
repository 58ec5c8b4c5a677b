//! Conversion of depth images to point clouds.

use crate::point_cloud::{BaseField, PointCloud};
use crate::{Error, Result};
use nalgebra::{Isometry3, Vector3};
use std::marker::PhantomData;
use tarragon_framework::prelude::*;
use tarragon_geometry::render::{
    CameraInfo, Depth16U, Depth32F, Image, ImageRgba8U, PixelType, check_image_size,
};

/// A pixel type that holds depths.
///
/// ```
/// use tarragon_sensors::{Depth16U, DepthPixel};
/// assert_eq!(Depth16U::measured(1250), Some(1250.0));
/// assert_eq!(Depth16U::measured(0), None);
/// ```
pub trait DepthPixel: PixelType {
    /// Length of one unit of depth (m).
    const UNIT: f32;
    /// Returns the depth in these units, or `None` if it is too close or too far.
    fn measured(value: Self::Channel) -> Option<f32>;
}

impl DepthPixel for Depth32F {
    const UNIT: f32 = 1.0;
    fn measured(depth: f32) -> Option<f32> {
        (depth != Self::TOO_CLOSE && depth != Self::TOO_FAR).then_some(depth)
    }
}

impl DepthPixel for Depth16U {
    const UNIT: f32 = 0.001;
    fn measured(depth: u16) -> Option<f32> {
        (depth != Self::TOO_CLOSE && depth != Self::TOO_FAR).then(|| depth.into())
    }
}

/// System that converts a depth image to a point cloud (Drake's `DepthImageToPointCloud`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `depth_image` | [`Image`] of depths |
/// | input | `color_image` | [`ImageRgba8U`] of the same size; needed for colours only |
/// | input | `camera_pose` | `Isometry3<f64>`, `X_PC`; the identity if it is not connected |
/// | output | `point_cloud` | [`PointCloud`] with one point per pixel, row by row |
///
/// The pixel in column u and row v with the depth z becomes the point `z ((u + 0.5 - center_x) /
/// focal_x, (v + 0.5 - center_y) / focal_y, 1)` in the camera frame C. This is the middle of the
/// pixel, where render engines measure the depth, so the points lie on the rendered surfaces.
/// (Drake 1.51.1 leaves out the 0.5, which moves its points by half a pixel to the upper left.)
/// With a camera pose, the cloud is in the frame P. Pixels that are too close or too far become
/// points at infinity, as in Drake; [`PointCloud::finite_points`] drops them.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_sensors::{BaseField, CameraInfo, Depth32F, DepthImageToPointCloud, ImageDepth32F};
/// let info = CameraInfo::new(2, 1, 100.0, 100.0, 1.0, 0.5)?;
/// let mut b = DiagramBuilder::new();
/// let to_cloud = DepthImageToPointCloud::<Depth32F>::new(info, BaseField::XYZS)?;
/// let to_cloud = b.add_f64("to_cloud", to_cloud);
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(to_cloud.depth_image, ImageDepth32F::from_data(2, 1, vec![2.0, f32::INFINITY])?)?;
/// let cloud = ctx.eval(to_cloud.point_cloud)?;
/// assert_eq!(cloud.xyzs()[0].as_slice(), [-0.01, 0.0, 2.0]);
/// assert_eq!(cloud.finite_points()?.size(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DepthImageToPointCloud<P> {
    camera_info: CameraInfo,
    scale: f32,
    fields: BaseField,
    pixel: PhantomData<P>,
}

impl<P: DepthPixel> DepthImageToPointCloud<P> {
    /// Creates a converter for the images of a camera. `fields` selects positions, or positions and
    /// colours.
    ///
    /// # Errors
    /// Returns an error if `fields` is neither `XYZS` nor `XYZS | RGBS`.
    pub fn new(camera_info: CameraInfo, fields: BaseField) -> Result<Self> {
        if fields != BaseField::XYZS && fields != BaseField::XYZS | BaseField::RGBS {
            return Err(Error::invalid(
                "DepthImageToPointCloud: fields must be XYZS or XYZS | RGBS; compute normals with \
                 `PointCloud::estimate_normals`",
            ));
        }
        Ok(Self {
            camera_info,
            scale: P::UNIT,
            fields,
            pixel: PhantomData,
        })
    }

    /// Sets the length of one unit of depth to `scale` (m); the default is [`DepthPixel::UNIT`].
    ///
    /// # Errors
    /// Returns an error if the scale is not positive and finite.
    pub fn with_scale(mut self, scale: f64) -> Result<Self> {
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(Error::invalid(format!(
                "DepthImageToPointCloud: scale must be positive and finite, got {scale:?} m"
            )));
        }
        self.scale = scale as f32;
        Ok(self)
    }

    /// Converts one depth image and stores the points in `cloud` (Drake's `Convert`); the type
    /// describes how.
    ///
    /// # Errors
    /// Returns an error if an image does not have the size of the camera, or the fields include
    /// colours and there is no colour image.
    pub fn convert(
        &self,
        depth: &Image<P>,
        color: Option<&ImageRgba8U>,
        camera_pose: Option<&Isometry3<f64>>,
        cloud: &mut PointCloud,
    ) -> Result<()> {
        let info = &self.camera_info;
        let wrong = |e: Error| e.at("DepthImageToPointCloud");
        check_image_size(depth, info).map_err(wrong)?;
        let wants_colors = self.fields.contains(BaseField::RGBS);
        let color = color.filter(|_| wants_colors);
        match color {
            Some(color) => check_image_size(color, info).map_err(wrong)?,
            None if wants_colors => {
                return Err(Error::invalid(
                    "DepthImageToPointCloud: the field RGBS needs a colour image; connect 'color_image'",
                ));
            }
            None => {}
        }
        cloud.set_fields(self.fields);
        cloud.resize(info.width() * info.height());

        let slope = |i: usize, center: f64, focal: f64| ((i as f64 + 0.5 - center) / focal) as f32;
        let across = (0..info.width()).map(|u| slope(u, info.center_x(), info.focal_x()));
        let across: Vec<f32> = across.collect();
        let far = Vector3::repeat(f32::INFINITY);
        let in_camera = |x: f32, y: f32, z: f32| Vector3::new(x * z, y * z, z);
        let rows = cloud.xyzs_mut().chunks_exact_mut(info.width());
        let rows = rows.zip(depth.rows()).enumerate();
        for (v, (points, depths)) in rows {
            let y = slope(v, info.center_y(), info.focal_y());
            let pixels = points.iter_mut().zip(depths).zip(&across);
            match camera_pose {
                None => {
                    for ((point, depth), x) in pixels {
                        *point = match P::measured(*depth) {
                            Some(z) => in_camera(*x, y, z * self.scale),
                            None => far,
                        };
                    }
                }
                Some(x_pc) => {
                    let r_pc = x_pc
                        .rotation
                        .to_rotation_matrix()
                        .into_inner()
                        .cast::<f32>();
                    let p_pc = x_pc.translation.vector.cast::<f32>();
                    for ((point, depth), x) in pixels {
                        *point = match P::measured(*depth) {
                            Some(z) => r_pc * in_camera(*x, y, z * self.scale) + p_pc,
                            None => far,
                        };
                    }
                }
            }
        }
        if let Some(color) = color {
            let pixels = color.data().chunks_exact(ImageRgba8U::CHANNELS);
            for (rgb, pixel) in cloud.rgbs_mut().iter_mut().zip(pixels) {
                rgb.copy_from_slice(&pixel[..3]);
            }
        }
        Ok(())
    }
}

/// Ports of [`DepthImageToPointCloud`].
#[derive(Clone, Copy, Debug)]
pub struct DepthImageToPointCloudPorts<P: PixelType> {
    /// Depth image.
    pub depth_image: InputPort<Image<P>>,
    /// Colour image, needed only for colours.
    pub color_image: InputPort<ImageRgba8U>,
    /// Camera pose `X_PC`; the identity if not connected.
    pub camera_pose: InputPort<Isometry3<f64>>,
    /// Point cloud in the frame P.
    pub point_cloud: OutputPort<PointCloud>,
}

impl<P: DepthPixel> LeafSystem<f64> for DepthImageToPointCloud<P> {
    type Ports = DepthImageToPointCloudPorts<P>;

    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let depth_image = d.input::<Image<P>>("depth_image");
        let color_image = d.input::<ImageRgba8U>("color_image");
        let camera_pose = d.input::<Isometry3<f64>>("camera_pose");
        let deps = (depth_image, color_image, camera_pose);
        let model = PointCloud::default();
        let point_cloud = d.output("point_cloud", model, deps, move |system, ctx, cloud| {
            let depth = ctx.eval(depth_image)?;
            let color = if system.fields.contains(BaseField::RGBS) {
                ctx.eval_optional(color_image)?
            } else {
                None
            };
            let pose = ctx.eval_optional(camera_pose)?;
            system.convert(depth, color, pose, cloud)
        });
        DepthImageToPointCloudPorts {
            depth_image,
            color_image,
            camera_pose,
            point_cloud,
        }
    }
}
