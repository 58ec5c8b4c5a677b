//! Elements of model files besides bodies and joints: named positions, cameras and sites.

use super::index::{BodyIndex, FrameIndex, JointActuatorIndex, JointIndex, ModelInstanceIndex};
use crate::spatial::SpatialVector;
use nalgebra::Isometry3;

/// Named positions and velocities of joints, and the inputs of actuators that belong to them
/// (MJCF's `key`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let door = plant.add_rigid_body("door", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let hinge = plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, door, Vector3::z())?)?;
/// plant.add_keyframe(Keyframe {
///     name: "open".into(),
///     positions: vec![(hinge, vec![1.5])],
///     velocities: vec![(hinge, vec![0.2])],
///     ..Keyframe::default()
/// })?;
/// let mut plant = plant.build()?;
/// let q = plant.keyframe_positions("open")?;
/// assert_eq!(q, [1.5]);
/// assert_eq!(plant.keyframe_velocities("open")?, [0.2]);
/// plant.set_default_positions(&q)?;
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframe {
    /// The name.
    pub name: String,
    /// The model instance of its file.
    pub model_instance: ModelInstanceIndex,
    /// Positions per joint (rad or m); other joints keep their defaults.
    pub positions: Vec<(JointIndex, Vec<f64>)>,
    /// Poses `X_WB` of free bodies, whose floating joints are added when the plant is built.
    pub free_poses: Vec<(BodyIndex, Isometry3<f64>)>,
    /// Velocities per joint (rad/s or m/s); other joints are at rest.
    pub velocities: Vec<(JointIndex, Vec<f64>)>,
    /// Velocities of free bodies, of their origins in W, expressed in W.
    pub free_velocities: Vec<(BodyIndex, SpatialVector<f64>)>,
    /// Inputs of actuators; other actuators have the input 0.
    pub controls: Vec<(JointActuatorIndex, f64)>,
}

impl Default for Keyframe {
    /// Creates a keyframe without a name of the default model instance, which says nothing.
    fn default() -> Self {
        Self {
            name: String::new(),
            model_instance: ModelInstanceIndex::DEFAULT,
            positions: vec![],
            free_poses: vec![],
            velocities: vec![],
            free_velocities: vec![],
            controls: vec![],
        }
    }
}

/// A keyframe of a file, or a part of one, that the plant does not have.
#[derive(Clone, Debug)]
pub struct KeyframeLoss {
    /// Model instance of the keyframe.
    pub model_instance: ModelInstanceIndex,
    /// Name of the keyframe.
    pub keyframe: String,
    /// The missing part.
    pub part: KeyframePart,
    /// Why, as a part of a sentence.
    pub why: String,
}

/// A part of a keyframe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyframePart {
    /// The whole keyframe; the plant does not list it.
    All,
    /// The velocities.
    Velocities,
    /// The inputs of actuators.
    Controls,
}

/// A camera of a model file, from which a sensor can be made.
///
/// ```
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let mut eye = ModelCamera::new("eye", FrameIndex::WORLD);
/// eye.width = 320;
/// plant.add_model_camera(eye)?;
/// assert_eq!(plant.model_cameras()[0].width, 320);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelCamera {
    /// The name.
    pub name: String,
    /// The frame that the camera is fixed to.
    pub frame: FrameIndex,
    /// Pose `X_FC` of the camera in that frame: x of C to the right, y down, z forward.
    pub x_fc: Isometry3<f64>,
    /// Width of the image (pixels).
    pub width: u32,
    /// Height of the image (pixels).
    pub height: u32,
    /// Vertical field of view (rad).
    pub fov_y: f64,
    /// Distance of the near clipping plane (m).
    pub near: f64,
    /// Distance of the far clipping plane (m).
    pub far: f64,
    /// Frame rate (images per second).
    pub fps: f64,
    /// Whether the camera takes colour images.
    pub rgb: bool,
    /// Whether the camera takes depth images.
    pub depth: bool,
}

impl ModelCamera {
    /// Creates a colour camera at a frame, with Drake's defaults: 640x480, 45 degrees, 0.01 m to
    /// 500 m, 10 images per second.
    pub fn new(name: impl Into<String>, frame: FrameIndex) -> Self {
        Self {
            name: name.into(),
            frame,
            x_fc: Isometry3::identity(),
            width: 640,
            height: 480,
            fov_y: std::f64::consts::FRAC_PI_4,
            near: 0.01,
            far: 500.0,
            fps: 10.0,
            rgb: true,
            depth: false,
        }
    }
}
