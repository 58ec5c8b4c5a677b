//! Camera models: what a render engine needs to know about a camera.
//!
//! [`ColorRenderCamera::new`] and [`DepthRenderCamera::new`] take the name of an engine and the
//! intrinsics, and the rest has defaults. Drake's types for the parts, [`RenderCameraCore`],
//! [`ClippingRange`] and [`DepthRange`], are for code that reads or shares them.

use super::camera_info::CameraInfo;
use crate::error::{Error, Result};
use nalgebra::{Isometry3, Matrix4};
use std::ops::Range;

/// Checks that two distances along the viewing direction are positive, finite and ascending.
fn range(what: &str, names: [&str; 2], values: [f64; 2]) -> Result<()> {
    let [low, high] = values;
    if low > 0.0 && low.is_finite() && high.is_finite() && high > low {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{what}: {} and {} must be positive and finite, the second greater than the first, got \
         {low:?} m and {high:?} m",
        names[0], names[1]
    )))
}

/// Distances of the near and the far clipping plane from the camera (m). Nothing nearer or farther
/// is drawn.
///
/// ```
/// use tarragon_geometry::render::ClippingRange;
/// let clipping = ClippingRange::new(0.01, 100.0)?;
/// assert_eq!((clipping.near(), clipping.far()), (0.01, 100.0));
/// assert!(ClippingRange::new(0.0, 100.0).is_err());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClippingRange {
    near: f64,
    far: f64,
}

impl ClippingRange {
    /// Default of a camera, as in Drake's `CameraConfig`.
    pub const DEFAULT: Self = Self {
        near: 0.01,
        far: 500.0,
    };

    /// Creates a clipping range from the two distances (m).
    ///
    /// # Errors
    /// Returns an error if a distance is not positive and finite, or if `far` is not greater than
    /// `near`.
    pub fn new(near: f64, far: f64) -> Result<Self> {
        range("ClippingRange", ["near", "far"], [near, far])?;
        Ok(Self { near, far })
    }
    /// Returns the distance of the near plane (m).
    pub fn near(&self) -> f64 {
        self.near
    }
    /// Returns the distance of the far plane (m).
    pub fn far(&self) -> f64 {
        self.far
    }
}

/// Smallest and largest depth (m) that a depth camera can measure.
///
/// ```
/// use tarragon_geometry::render::DepthRange;
/// let range = DepthRange::new(0.1, 5.0)?;
/// assert_eq!((range.min_depth(), range.max_depth()), (0.1, 5.0));
/// assert!(DepthRange::new(5.0, 0.1).is_err());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthRange {
    min_depth: f64,
    max_depth: f64,
}

impl DepthRange {
    /// Default of a depth camera, as in Drake's `CameraConfig`.
    pub const DEFAULT: Self = Self {
        min_depth: 0.1,
        max_depth: 5.0,
    };

    /// Creates a depth range from the two depths (m).
    ///
    /// # Errors
    /// Returns an error if a depth is not positive and finite, or if `max_depth` is not greater
    /// than `min_depth`.
    pub fn new(min_depth: f64, max_depth: f64) -> Result<Self> {
        range(
            "DepthRange",
            ["min_depth", "max_depth"],
            [min_depth, max_depth],
        )?;
        Ok(Self {
            min_depth,
            max_depth,
        })
    }
    /// Returns the smallest measurable depth (m).
    pub fn min_depth(&self) -> f64 {
        self.min_depth
    }
    /// Returns the largest measurable depth (m).
    pub fn max_depth(&self) -> f64 {
        self.max_depth
    }
}

/// Parameters common to colour, depth and label cameras, for cameras that share them.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::render::{CameraInfo, ClippingRange, RenderCameraCore};
/// let info = CameraInfo::from_fov_y(640, 480, std::f64::consts::FRAC_PI_2)?;
/// let clipping = ClippingRange::new(0.01, 100.0)?;
/// let core = RenderCameraCore::new("cpu", info, clipping, Isometry3::identity());
/// assert_eq!((core.renderer_name(), core.intrinsics().width()), ("cpu", 640));
/// assert!((core.calc_projection_matrix()[(1, 1)] - 1.0).abs() < 1e-15);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RenderCameraCore {
    renderer_name: String,
    intrinsics: CameraInfo,
    clipping: ClippingRange,
    x_bs: Isometry3<f64>,
}

impl RenderCameraCore {
    /// Creates the parameters from the name of the render engine, the intrinsics, the clipping
    /// planes and `X_BS`, the pose of the sensor (the frame C of [`CameraInfo`]) in the camera's
    /// body B.
    pub fn new(
        renderer_name: impl Into<String>,
        intrinsics: CameraInfo,
        clipping: ClippingRange,
        x_bs: Isometry3<f64>,
    ) -> Self {
        Self {
            renderer_name: renderer_name.into(),
            intrinsics,
            clipping,
            x_bs,
        }
    }
    fn with_defaults(renderer_name: impl Into<String>, intrinsics: CameraInfo) -> Self {
        let clipping = ClippingRange::DEFAULT;
        Self::new(renderer_name, intrinsics, clipping, Isometry3::identity())
    }
    /// Returns the name of the render engine that draws for this camera.
    pub fn renderer_name(&self) -> &str {
        &self.renderer_name
    }
    /// Returns the intrinsics of the pinhole model.
    pub fn intrinsics(&self) -> &CameraInfo {
        &self.intrinsics
    }
    /// Returns the clipping planes.
    pub fn clipping(&self) -> &ClippingRange {
        &self.clipping
    }
    /// Returns `X_BS`, the pose of the sensor in the camera's body (Drake's
    /// `sensor_pose_in_camera_body`). Engines do not apply it, because a
    /// [`RenderView`](super::RenderView) already holds the pose of the sensor.
    pub fn x_bs(&self) -> &Isometry3<f64> {
        &self.x_bs
    }
    /// Returns the OpenGL projection matrix of this camera: from a frame with +y up and -z into the
    /// image to clip space, so that NDC x is +1 at the right edge, y is +1 at the top and z is -1
    /// at the near plane.
    pub fn calc_projection_matrix(&self) -> Matrix4<f64> {
        let (info, near, far) = (self.intrinsics, self.clipping.near, self.clipping.far);
        let (w, h) = (info.width() as f64, info.height() as f64);
        let mut p = Matrix4::zeros();
        p[(0, 0)] = 2.0 * info.focal_x() / w;
        p[(0, 2)] = 1.0 - 2.0 * info.center_x() / w;
        p[(1, 1)] = 2.0 * info.focal_y() / h;
        p[(1, 2)] = 2.0 * info.center_y() / h - 1.0;
        p[(2, 2)] = -(far + near) / (far - near);
        p[(2, 3)] = -2.0 * far * near / (far - near);
        p[(3, 2)] = -1.0;
        p
    }
}

/// A camera for colour and label images.
///
/// ```
/// use tarragon_geometry::render::{CameraInfo, ColorRenderCamera};
/// let info = CameraInfo::from_fov_y(640, 480, 0.8)?;
/// let camera = ColorRenderCamera::new("cpu", info);
/// assert!(!camera.show_window() && camera.core().clipping().far() == 500.0);
/// let near = camera.with_clipping(0.1..20.0)?;
/// assert_eq!(near.core().clipping().near(), 0.1);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ColorRenderCamera {
    core: RenderCameraCore,
    show_window: bool,
}

impl ColorRenderCamera {
    /// Creates a camera from the name of the render engine and the intrinsics, with Drake's
    /// defaults: it draws from 0.01 m to 500 m, at the origin of its body, and without a window.
    pub fn new(renderer_name: impl Into<String>, intrinsics: CameraInfo) -> Self {
        Self::from_core(RenderCameraCore::with_defaults(renderer_name, intrinsics))
    }
    /// Creates a camera without a window from the common parameters.
    pub fn from_core(core: RenderCameraCore) -> Self {
        Self {
            core,
            show_window: false,
        }
    }
    /// Sets the distances of the near and the far clipping plane (m).
    ///
    /// # Errors
    /// Returns an error under the conditions of [`ClippingRange::new`].
    pub fn with_clipping(mut self, distances: Range<f64>) -> Result<Self> {
        self.core.clipping = ClippingRange::new(distances.start, distances.end)?;
        Ok(self)
    }
    /// Sets `X_BS`, the pose of the sensor in the camera's body.
    #[must_use]
    pub fn with_pose(mut self, x_bs: Isometry3<f64>) -> Self {
        self.core.x_bs = x_bs;
        self
    }
    /// Requests that the engine also shows the images in a window (Drake's `show_window`). The
    /// engines of this workspace open no windows; they warn once that the request has no effect.
    #[must_use]
    pub fn with_show_window(mut self, show_window: bool) -> Self {
        self.show_window = show_window;
        self
    }
    /// Returns the engine's name, the intrinsics, the clipping planes and the pose.
    pub fn core(&self) -> &RenderCameraCore {
        &self.core
    }
    /// Returns true if the engine is requested to show the images in a window.
    pub fn show_window(&self) -> bool {
        self.show_window
    }
}

/// A camera for depth images.
///
/// ```
/// use tarragon_geometry::render::{CameraInfo, DepthRenderCamera};
/// let info = CameraInfo::from_fov_y(640, 480, 0.8)?;
/// let camera = DepthRenderCamera::new("cpu", info).with_depth_range(0.3..8.0)?;
/// assert_eq!(camera.depth_range().max_depth(), 8.0);
/// // Depths beyond the far clipping plane cannot be measured.
/// assert!(camera.with_clipping(0.1..5.0).is_err());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DepthRenderCamera {
    core: RenderCameraCore,
    depth_range: DepthRange,
}

impl DepthRenderCamera {
    /// Creates a camera from the name of the render engine and the intrinsics, with Drake's
    /// defaults: it measures depths from 0.1 m to 5 m, draws from 0.01 m to 500 m, and is at the
    /// origin of its body.
    pub fn new(renderer_name: impl Into<String>, intrinsics: CameraInfo) -> Self {
        Self {
            core: RenderCameraCore::with_defaults(renderer_name, intrinsics),
            depth_range: DepthRange::DEFAULT,
        }
    }
    /// Creates a depth camera from the common parameters and the measurable depths.
    ///
    /// # Errors
    /// Returns an error if the depth range is not within the clipping range.
    pub fn from_core(core: RenderCameraCore, depth_range: DepthRange) -> Result<Self> {
        let (clip, depth) = (core.clipping, depth_range);
        if depth.min_depth < clip.near || depth.max_depth > clip.far {
            return Err(Error::invalid(format!(
                "DepthRenderCamera: the depth range must be within the clipping range of {:?} m to \
                 {:?} m, got {:?} m to {:?} m",
                clip.near, clip.far, depth.min_depth, depth.max_depth
            )));
        }
        Ok(Self { core, depth_range })
    }
    /// Sets the smallest and the largest measurable depth (m). The clipping planes move as far as
    /// needed to contain them.
    ///
    /// # Errors
    /// Returns an error under the conditions of [`DepthRange::new`].
    pub fn with_depth_range(mut self, depths: Range<f64>) -> Result<Self> {
        self.depth_range = DepthRange::new(depths.start, depths.end)?;
        let clipping = &mut self.core.clipping;
        clipping.near = clipping.near.min(depths.start);
        clipping.far = clipping.far.max(depths.end);
        Ok(self)
    }
    /// Sets the distances of the near and the far clipping plane (m). Set the depth range first if
    /// they are narrower than the present one.
    ///
    /// # Errors
    /// Returns an error under the conditions of [`ClippingRange::new`], or if the depth range is
    /// not within the clipping range.
    pub fn with_clipping(mut self, distances: Range<f64>) -> Result<Self> {
        self.core.clipping = ClippingRange::new(distances.start, distances.end)?;
        Self::from_core(self.core, self.depth_range)
    }
    /// Sets `X_BS`, the pose of the sensor in the camera's body.
    #[must_use]
    pub fn with_pose(mut self, x_bs: Isometry3<f64>) -> Self {
        self.core.x_bs = x_bs;
        self
    }
    /// Returns the engine's name, the intrinsics, the clipping planes and the pose.
    pub fn core(&self) -> &RenderCameraCore {
        &self.core
    }
    /// Returns the measurable depths.
    pub fn depth_range(&self) -> &DepthRange {
        &self.depth_range
    }
    /// Returns a colour and label camera with the same engine, intrinsics, clipping planes and
    /// pose.
    pub fn to_color(&self) -> ColorRenderCamera {
        ColorRenderCamera::from_core(self.core.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_positive_finite_and_ordered() {
        for (low, high) in [
            (1.0, 0.5),
            (-1.0, 0.5),
            (0.1, f64::INFINITY),
            (1.0, 1.0),
            (0.0, 1.0),
            (f64::NAN, 1.0),
        ] {
            assert!(ClippingRange::new(low, high).is_err(), "{low} {high}");
            assert!(DepthRange::new(low, high).is_err(), "{low} {high}");
        }
    }

    #[test]
    fn depth_range_may_touch_the_clipping_planes() {
        let info = CameraInfo::from_fov_y(4, 4, 1.0).unwrap();
        let core = RenderCameraCore::new(
            "r",
            info,
            ClippingRange::new(0.1, 1.0).unwrap(),
            Isometry3::identity(),
        );
        let camera = |low, high| {
            DepthRenderCamera::from_core(core.clone(), DepthRange::new(low, high).unwrap())
        };
        assert!(camera(0.1, 1.0).is_ok());
        assert!(camera(0.05, 0.9).is_err());
        assert!(camera(0.2, 1.1).is_err());
    }

    #[test]
    fn defaults_are_those_of_drakes_camera_config() {
        let info = CameraInfo::from_fov_y(4, 4, 1.0).unwrap();
        let camera = DepthRenderCamera::new("r", info);
        let (range, clipping) = (camera.depth_range(), camera.core().clipping());
        assert_eq!((range.min_depth(), range.max_depth()), (0.1, 5.0));
        assert_eq!((clipping.near(), clipping.far()), (0.01, 500.0));
        assert_eq!(camera.core().x_bs(), &Isometry3::identity());
        assert_eq!(camera.to_color(), ColorRenderCamera::new("r", info));
    }

    #[test]
    fn depth_ranges_move_the_clipping_planes_that_are_in_their_way() {
        let info = CameraInfo::from_fov_y(4, 4, 1.0).unwrap();
        let planes =
            |c: &DepthRenderCamera| (c.core().clipping().near(), c.core().clipping().far());
        let new = || DepthRenderCamera::new("r", info);
        let camera = new().with_depth_range(0.001..900.0).unwrap();
        assert_eq!(planes(&camera), (0.001, 900.0));
        let camera = new().with_depth_range(1.0..2.0).unwrap();
        assert_eq!(planes(&camera), (0.01, 500.0));
        let camera = camera.with_clipping(0.5..2.0).unwrap();
        assert_eq!(planes(&camera), (0.5, 2.0));
        let error = new().with_clipping(1.0..2.0).unwrap_err().to_string();
        assert!(error.contains("got 0.1 m to 5.0 m"), "{error}");
        assert!(new().with_depth_range(2.0..1.0).is_err());
        assert!(
            ColorRenderCamera::new("r", info)
                .with_clipping(0.0..1.0)
                .is_err()
        );
    }
}
