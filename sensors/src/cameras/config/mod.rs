//! Cameras as data: Drake's `CameraConfig`, its YAML, and the systems that are made from it.

mod apply;
mod engine_params;
mod engines;
mod environment;
mod focal;
mod model_camera;
mod renderer;
mod yaml;

pub use apply::{
    AppliedCamera, CameraConnections, CameraSensor, apply_camera_config, apply_camera_config_with,
};
pub use engine_params::{
    GltfExtension, RenderEngineGlParams, RenderEngineVtkParams, SsaoParameter,
};
pub use engines::{add_camera_renderers, add_camera_renderers_with_environment};
pub use focal::Focal;
pub use renderer::{RendererClass, make_render_engine_gl, make_render_engine_vtk};
pub use tarragon_formats::schema::{Rotation, Transform};

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use tarragon_geometry::Rgba;
use tarragon_geometry::render::{
    CameraInfo, ClippingRange, ColorRenderCamera, DepthRange, DepthRenderCamera, RenderCameraCore,
};

/// Configuration of one camera (Drake's `CameraConfig`, with the same names in YAML and the same
/// defaults).
///
/// The fields are checked by [`validate`](Self::validate), which [`apply_camera_config`] and the
/// functions that read and write YAML call. If `rgb`, `depth` and `label` are all false, the camera
/// is switched off and is always valid.
///
/// `show_rgb` is passed to the render engine. The engines of this workspace open no windows; they
/// warn about this once.
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
/// assert!(error.to_string().starts_with("camera configuration:2:6: "));
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
    /// Column of the principal point (pixels); `None` means the middle, `width / 2 - 0.5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub center_x: Option<f64>,
    /// Row of the principal point (pixels); `None` means the middle, `height / 2 - 0.5`.
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
    /// `X_PB`: pose of the camera body B in the frame P, which is `base_frame` of the plant, or the
    /// world frame if there is no base frame.
    #[serde(rename = "X_PB")]
    pub x_pb: Transform,
    /// `X_BC`: pose of the colour camera in the body; it must have no base frame.
    #[serde(rename = "X_BC")]
    pub x_bc: Transform,
    /// `X_BD`: pose of the depth camera in the body; it must have no base frame.
    #[serde(rename = "X_BD")]
    pub x_bd: Transform,
    /// Name of the render engine in the scene; cameras with the same name share one engine.
    pub renderer_name: String,
    /// Class of that engine, and its parameters.
    pub renderer_class: RendererClass,
    /// Background of colour images, used if `renderer_class` has no parameters of its own.
    #[serde(with = "yaml::rgba")]
    pub background: Rgba,
    /// Name of the camera; its system is called `rgbd_sensor_{name}`.
    pub name: String,
    /// Images per second.
    pub fps: f64,
    /// Time of the first image (s).
    pub capture_offset: f64,
    /// Time from the capture of an image to its output (s), less than `1 / fps`. If it is positive,
    /// images are rendered while the simulation continues.
    pub output_delay: f64,
    /// Whether colour images are produced.
    pub rgb: bool,
    /// Whether depth images are produced.
    pub depth: bool,
    /// Whether label images are produced.
    pub label: bool,
    /// Whether the render engine is asked to show the images in a window.
    pub show_rgb: bool,
    /// Whether images are compressed when they are published.
    pub do_compress: bool,
    /// Name of the bus on which images are published, one of those given to
    /// [`apply_camera_config_with`].
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
    /// Maximum width and height (pixels).
    pub const MAX_SIDE: usize = 16_384;

    /// Reads a configuration from YAML.
    ///
    /// # Errors
    /// Returns an error if the text is not valid YAML, has an unknown field or tag, or a value of
    /// the wrong type (with line and column), or if [`validate`](Self::validate) fails.
    pub fn from_yaml(text: &str) -> Result<Self> {
        let config: Self = yaml::read("camera configuration", text, renderer::unknown_tag_hint)?;
        config.validate()?;
        Ok(config)
    }
    /// Reads a configuration from a YAML file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or for the reasons of
    /// [`from_yaml`](Self::from_yaml).
    pub fn from_yaml_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
        let file = path.display().to_string();
        let config: Self = yaml::read(&file, &text, renderer::unknown_tag_hint)?;
        config.validate().map_err(|e| e.at(file))?;
        Ok(config)
    }
    /// Reads several configurations from one YAML mapping, such as that below `cameras` in Drake's
    /// scenario files. A key does not name its camera; the field `name` does.
    ///
    /// ```
    /// use tarragon_sensors::CameraConfig;
    /// let cameras = CameraConfig::map_from_yaml("
    /// left: {name: left, fps: 30}
    /// right: {name: right, depth: true}
    /// ")?;
    /// assert_eq!(cameras["left"].fps, 30.0);
    /// assert!(cameras.values().all(|camera| camera.rgb));
    /// # Ok::<(), tarragon_sensors::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`from_yaml`](Self::from_yaml); one that a single configuration causes
    /// names its key.
    pub fn map_from_yaml(text: &str) -> Result<BTreeMap<String, Self>> {
        let what = "camera configurations";
        let configs: BTreeMap<String, Self> = yaml::read(what, text, renderer::unknown_tag_hint)?;
        for (key, config) in &configs {
            let place = format!("{what}: '{key}'");
            config.validate().map_err(|e| e.at(place))?;
        }
        Ok(configs)
    }
    /// Writes the configuration as YAML, which Drake reads too unless the engine is
    /// `RenderEngineCpu`.
    ///
    /// # Errors
    /// Same as [`validate`](Self::validate).
    pub fn to_yaml(&self) -> Result<String> {
        self.validate()?;
        yaml::write(self)
    }

    /// Returns true if any kind of image is produced.
    pub fn is_enabled(&self) -> bool {
        self.rgb || self.depth || self.label
    }

    /// Returns the focal length along x (pixels).
    ///
    /// # Errors
    /// Returns an error if `focal` has neither x nor y.
    pub fn focal_x(&self) -> Result<f64> {
        Ok(self.focal_lengths()?[0])
    }
    /// Returns the focal length along y (pixels).
    ///
    /// # Errors
    /// Returns an error if `focal` has neither x nor y.
    pub fn focal_y(&self) -> Result<f64> {
        Ok(self.focal_lengths()?[1])
    }
    fn focal_lengths(&self) -> Result<[f64; 2]> {
        let lengths = self.focal.lengths([self.width, self.height]);
        lengths.ok_or_else(|| self.wrong("focal must have x or y, got neither"))
    }
    /// Returns the column and the row of the principal point (pixels).
    pub fn principal_point(&self) -> [f64; 2] {
        let middle = |size: usize| size as f64 * 0.5 - 0.5;
        [
            self.center_x.unwrap_or(middle(self.width)),
            self.center_y.unwrap_or(middle(self.height)),
        ]
    }

    /// Returns the colour and the depth camera for a sensor (Drake's `MakeCameras`).
    ///
    /// # Errors
    /// Returns an error if the intrinsics, clipping planes, depth range or poses are invalid.
    pub fn make_cameras(&self) -> Result<(ColorRenderCamera, DepthRenderCamera)> {
        let at = |e: Error| e.at(format!("camera '{}'", self.name));
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
        let color = ColorRenderCamera::from_core(core(&self.x_bc, "X_BC")?);
        let range = DepthRange::new(self.z_near, self.z_far).map_err(at)?;
        let depth = DepthRenderCamera::from_core(core(&self.x_bd, "X_BD")?, range).map_err(at)?;
        Ok((color.with_show_window(self.show_rgb), depth))
    }

    /// Checks all fields (Drake's `ValidateOrThrow`).
    ///
    /// # Errors
    /// Returns an error that names every invalid field, its value and the allowed values.
    pub fn validate(&self) -> Result<()> {
        if !self.is_enabled() {
            return Ok(());
        }
        let mut wrong = vec![];
        for (field, side) in [("width", self.width), ("height", self.height)] {
            if side > Self::MAX_SIDE {
                wrong.push(format!("{field} {}", too_large(side)));
            }
        }
        for (field, value) in [("name", &self.name), ("renderer_name", &self.renderer_name)] {
            if value.is_empty() {
                wrong.push(format!("{field} must not be empty"));
            }
        }
        for (field, transform) in [("X_BC", &self.x_bc), ("X_BD", &self.x_bd)] {
            if let Some(frame) = transform.base_frame.as_deref().filter(|f| !f.is_empty()) {
                wrong.push(format!(
                    "{field} is a pose in the camera body and must have no base frame, got '{frame}'"
                ));
            }
        }
        let fps_is_fine = self.fps > 0.0 && self.fps.is_finite();
        if !fps_is_fine {
            wrong.push(format!(
                "fps must be positive and finite, got {:?}",
                self.fps
            ));
        }
        if !(self.capture_offset >= 0.0 && self.capture_offset.is_finite()) {
            wrong.push(format!(
                "capture_offset must be finite and at least 0, got {:?} s",
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
                "output_delay must be at least 0 and less than 1 / fps = {period:?} s, got {:?} s",
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

    /// Returns an error about this camera.
    fn wrong(&self, what: impl std::fmt::Display) -> Error {
        Error::invalid(format!("camera '{}': {what}", self.name))
    }
}

/// Returns what is wrong with a width or height (pixels) over the limit.
fn too_large(side: impl std::fmt::Display) -> String {
    let limit = CameraConfig::MAX_SIDE;
    format!("must be at most {limit} pixels, got {side}; make the image smaller")
}
