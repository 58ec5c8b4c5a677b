//! What a camera is, as data: Drake's `CameraConfig`, its YAML, and how it becomes systems.

mod apply;
mod engine_params;
mod environment;
mod focal;
mod model_camera;
mod renderer;
mod yaml;

pub use apply::{
    AppliedCamera, CameraConnections, CameraSensor, add_camera_renderers, apply_camera_config,
};
pub use engine_params::{
    GltfExtension, RenderEngineGlParams, RenderEngineGltfClientParams, RenderEngineVtkParams,
    SsaoParameter,
};
pub use focal::Focal;
pub use renderer::{RendererClass, make_render_engine_gl, make_render_engine_vtk};
pub use tarragon_multibody::schema::{Rotation, Transform};

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use tarragon_geometry::Rgba;
use tarragon_geometry::render::{
    CameraInfo, ClippingRange, ColorRenderCamera, DepthRange, DepthRenderCamera, RenderCameraCore,
};

/// Everything about one camera (Drake's `CameraConfig`; the same names in YAML, the same defaults).
///
/// Nothing is checked until it is used: by [`validate`](Self::validate), which reading and writing
/// YAML and [`apply_camera_config`] call. If none of `rgb`, `depth` and `label` is asked for, the
/// camera is switched off and nothing about it can be wrong.
///
/// `show_rgb` is handed to the render engine; those of this workspace open no windows and warn of
/// that once.
///
/// ```
/// use tarragon_sensors::{CameraConfig, Focal};
/// let camera = CameraConfig::from_yaml("
/// name: wrist
/// width: 320
/// height: 240
/// focal: !FovDegrees {y: 60}
/// X_PB:
///   base_frame: arm::hand
///   translation: [0, 0, 0.1]
///   rotation: !Rpy {deg: [0, 0, 90]}
/// depth: true
/// ")?;
/// assert_eq!(camera.focal, Focal::FovDegrees { x: None, y: Some(60.0) });
/// assert!((camera.focal_x()? - 120.0 / 30_f64.to_radians().tan()).abs() < 1e-12);
/// assert_eq!(camera.principal_point(), [159.5, 119.5]);
/// assert_eq!(CameraConfig::from_yaml(&camera.to_yaml()?)?, camera);
/// let error = CameraConfig::from_yaml("name: wrist\nfps: fast").unwrap_err();
/// assert!(error.to_string().contains("line 2 column 6"));
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CameraConfig {
    /// Pixels per row.
    #[serde(deserialize_with = "yaml::size")]
    pub width: usize,
    /// Number of rows.
    #[serde(deserialize_with = "yaml::size")]
    pub height: usize,
    /// Focal lengths or fields of view.
    pub focal: Focal,
    /// Column of the principal point (pixels); `None` is the middle, `width / 2 - 0.5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub center_x: Option<f64>,
    /// Row of the principal point (pixels); `None` is the middle, `height / 2 - 0.5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub center_y: Option<f64>,
    /// Distance of the near clipping plane (m).
    pub clipping_near: f64,
    /// Distance of the far clipping plane (m).
    pub clipping_far: f64,
    /// Smallest measurable depth (m).
    pub z_near: f64,
    /// Largest measurable depth (m).
    pub z_far: f64,
    /// `X_PB`: the camera body B in the frame `base_frame` of the plant, in the world without one.
    #[serde(rename = "X_PB")]
    pub x_pb: Transform,
    /// `X_BC`: the colour camera in the body; without a base frame.
    #[serde(rename = "X_BC")]
    pub x_bc: Transform,
    /// `X_BD`: the depth camera in the body; without a base frame.
    #[serde(rename = "X_BD")]
    pub x_bd: Transform,
    /// Name of the render engine in the scene; cameras of one name share one engine.
    pub renderer_name: String,
    /// Which engine that is, and its parameters.
    pub renderer_class: RendererClass,
    /// Background of colour images, where `renderer_class` has no parameters of its own.
    #[serde(with = "yaml::rgba")]
    pub background: Rgba,
    /// Name of the camera; its system is called `rgbd_sensor_{name}`.
    pub name: String,
    /// Images per second.
    pub fps: f64,
    /// Time of the first image (s).
    pub capture_offset: f64,
    /// Time from the capture of an image to its output (s), less than `1 / fps`. If it is positive,
    /// images are drawn while the simulation goes on.
    pub output_delay: f64,
    /// Colour images are wanted.
    pub rgb: bool,
    /// Depth images are wanted.
    pub depth: bool,
    /// Label images are wanted.
    pub label: bool,
    /// Render engines that can are asked to show what they draw.
    pub show_rgb: bool,
    /// Images are packed when they are published.
    pub do_compress: bool,
    /// The bus on which images are published, among those given to [`apply_camera_config`].
    pub lcm_bus: String,
}

impl Default for CameraConfig {
    fn default() -> Self {
        Self {
            width: 640,
            height: 480,
            focal: Focal::default(),
            center_x: None,
            center_y: None,
            clipping_near: 0.01,
            clipping_far: 500.0,
            z_near: 0.1,
            z_far: 5.0,
            x_pb: Transform::default(),
            x_bc: Transform::default(),
            x_bd: Transform::default(),
            renderer_name: "default".into(),
            renderer_class: RendererClass::default(),
            background: engine_params::default_background(),
            name: "preview_camera".into(),
            fps: 10.0,
            capture_offset: 0.0,
            output_delay: 0.0,
            rgb: true,
            depth: false,
            label: false,
            show_rgb: false,
            do_compress: true,
            lcm_bus: "default".into(),
        }
    }
}

impl CameraConfig {
    /// From YAML.
    ///
    /// # Errors
    /// Returns an error if it is no YAML, has an unknown field or tag, a value of the wrong type
    /// (with line and column), or describes no camera, as [`validate`](Self::validate) says.
    pub fn from_yaml(text: &str) -> Result<Self> {
        let config: Self = yaml::read(text)?;
        config.validate()?;
        Ok(config)
    }
    /// From a YAML file.
    ///
    /// # Errors
    /// Returns an error if it can not be read, or as [`from_yaml`](Self::from_yaml).
    pub fn from_yaml_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
        Self::from_yaml(&text).map_err(|e| Error::invalid(format!("{}: {e}", path.display())))
    }
    /// As YAML that Drake reads too, unless the engine is `RenderEngineCpu`.
    ///
    /// # Errors
    /// Same as [`validate`](Self::validate).
    pub fn to_yaml(&self) -> Result<String> {
        self.validate()?;
        yaml::write(self)
    }

    /// True if any image is asked for.
    pub fn is_enabled(&self) -> bool {
        self.rgb || self.depth || self.label
    }

    /// Focal length along x (pixels).
    ///
    /// # Errors
    /// Returns an error if `focal` says nothing.
    pub fn focal_x(&self) -> Result<f64> {
        Ok(self.focal_lengths()?[0])
    }
    /// Focal length along y (pixels).
    ///
    /// # Errors
    /// Returns an error if `focal` says nothing.
    pub fn focal_y(&self) -> Result<f64> {
        Ok(self.focal_lengths()?[1])
    }
    fn focal_lengths(&self) -> Result<[f64; 2]> {
        let lengths = self.focal.lengths([self.width, self.height]);
        lengths.ok_or_else(|| {
            self.wrong("focal has neither x nor y, at least one of them is expected")
        })
    }
    /// Column and row of the principal point (pixels).
    pub fn principal_point(&self) -> [f64; 2] {
        let middle = |size: usize| size as f64 * 0.5 - 0.5;
        [
            self.center_x.unwrap_or(middle(self.width)),
            self.center_y.unwrap_or(middle(self.height)),
        ]
    }

    /// The cameras that sensors take (Drake's `MakeCameras`).
    ///
    /// # Errors
    /// Returns an error if intrinsics, clipping planes, depth range or poses are wrong.
    pub fn make_cameras(&self) -> Result<(ColorRenderCamera, DepthRenderCamera)> {
        let at = |e: tarragon_geometry::Error| self.wrong(e);
        let [fx, fy] = self.focal_lengths()?;
        let [cx, cy] = self.principal_point();
        let info = CameraInfo::new(self.width, self.height, fx, fy, cx, cy).map_err(at)?;
        let clipping = ClippingRange::new(self.clipping_near, self.clipping_far).map_err(at)?;
        let core = |x_bs: &Transform, field: &str| {
            let x_bs = x_bs
                .pose()
                .map_err(|why| self.wrong(format!("{field}: {why}")))?;
            Ok::<_, Error>(RenderCameraCore::new(
                &*self.renderer_name,
                info,
                clipping,
                x_bs,
            ))
        };
        let color = ColorRenderCamera::new(core(&self.x_bc, "X_BC")?);
        let range = DepthRange::new(self.z_near, self.z_far).map_err(at)?;
        let depth = DepthRenderCamera::new(core(&self.x_bd, "X_BD")?, range).map_err(at)?;
        Ok((color.with_show_window(self.show_rgb), depth))
    }

    /// Checks everything (Drake's `ValidateOrThrow`).
    ///
    /// # Errors
    /// Says which field is wrong, what it is and what is expected.
    pub fn validate(&self) -> Result<()> {
        if !self.is_enabled() {
            return Ok(());
        }
        let mut wrong = vec![];
        for (field, value) in [("name", &self.name), ("renderer_name", &self.renderer_name)] {
            if value.is_empty() {
                wrong.push(format!("{field} is empty, a name is expected"));
            }
        }
        for (field, transform) in [("X_BC", &self.x_bc), ("X_BD", &self.x_bd)] {
            if let Some(frame) = transform.base_frame.as_deref().filter(|f| !f.is_empty()) {
                wrong.push(format!(
                    "{field} has the base frame '{frame}', none is expected: it is a pose in the camera body"
                ));
            }
        }
        let fps_is_fine = self.fps > 0.0 && self.fps.is_finite();
        if !fps_is_fine {
            wrong.push(format!(
                "fps is {}, a positive finite number is expected",
                self.fps
            ));
        }
        if !(self.capture_offset >= 0.0 && self.capture_offset.is_finite()) {
            wrong.push(format!(
                "capture_offset is {} s, a finite time of at least 0 is expected",
                self.capture_offset
            ));
        }
        let period = if fps_is_fine {
            1.0 / self.fps
        } else {
            f64::INFINITY
        };
        if !(self.output_delay >= 0.0 && self.output_delay < period) {
            wrong.push(format!(
                "output_delay is {} s, a time of at least 0 and less than 1 / fps = {period} s is expected",
                self.output_delay
            ));
        }
        if let Err(why) = self.x_pb.pose() {
            wrong.push(format!("X_PB: {why}"));
        }
        if let Err(why) = self.renderer_class.check() {
            wrong.push(format!("renderer_class: {why}"));
        }
        if !wrong.is_empty() {
            return Err(self.wrong(wrong.join("; ")));
        }
        self.make_cameras().map(drop)
    }

    /// An error about this camera.
    fn wrong(&self, what: impl std::fmt::Display) -> Error {
        Error::invalid(format!("camera '{}': {what}", self.name))
    }
}
