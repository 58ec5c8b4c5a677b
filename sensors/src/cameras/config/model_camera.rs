//! Camera configurations from the cameras of model files.

use super::{CameraConfig, Focal, Transform};
use crate::{Error, Result};
use tarragon_multibody::{ModelCamera, MultibodyModel};

impl CameraConfig {
    /// Returns the configuration of a camera of a model file (a `<sensor>` of SDFormat, a
    /// `<camera>` of MJCF). Its pose and its name are those of the file.
    ///
    /// ```
    /// use tarragon_formats::Parser;
    /// use tarragon_multibody::MultibodyPlantBuilder;
    /// use tarragon_sensors::CameraConfig;
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let mjcf = "<mujoco model='m'><worldbody><body name='head'><geom size='1'/>
    ///     <camera name='eye' pos='0 0 2' fovy='60'/></body></worldbody></mujoco>";
    /// Parser::new(&mut plant).add_models_from_string(mjcf, "xml")?;
    /// let eye = CameraConfig::of_model_camera(&plant, &plant.model_cameras()[0])?;
    /// assert_eq!((eye.name.as_str(), eye.x_pb.base_frame.as_deref()), ("eye", Some("m::head")));
    /// assert_eq!(eye.x_pb.pose().unwrap().translation.z, 2.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the camera belongs to another plant, or its values are invalid (a size
    /// of 0, clipping planes in the wrong order).
    pub fn of_model_camera(plant: &MultibodyModel, camera: &ModelCamera) -> Result<Self> {
        let lookup = |e: Error| e.at(format!("camera '{}'", camera.name));
        let frame = plant.frame(camera.frame).map_err(lookup)?;
        let model = plant
            .model_instance_name(frame.model_instance())
            .map_err(lookup)?;
        let config = Self {
            name: camera.name.clone(),
            width: camera.width as usize,
            height: camera.height as usize,
            focal: Focal::FovDegrees {
                x: None,
                y: Some(camera.fov_y.to_degrees()),
            },
            clipping_near: camera.near,
            clipping_far: camera.far,
            // Model files have no depth range, so everything visible is measurable.
            z_near: camera.near,
            z_far: camera.far,
            x_pb: Transform {
                base_frame: Some(format!("{model}::{}", frame.name())),
                ..Transform::from(&camera.x_fc)
            },
            fps: camera.fps,
            rgb: camera.rgb,
            depth: camera.depth,
            ..Self::default()
        };
        config.validate()?;
        Ok(config)
    }
}
