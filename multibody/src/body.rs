//! Bodies and frames.

use crate::index::{BodyIndex, FrameIndex, ModelInstanceIndex};
use crate::inertia::SpatialInertia;
use nalgebra::Isometry3;

/// A rigid body B with its mass properties about its origin Bo (Drake's `RigidBody`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::{ModelInstanceIndex, MultibodyPlant, RigidBody, SpatialInertia};
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let inertia = SpatialInertia::plausible(2.0, Vector3::zeros())?;
/// let brick = plant.add_rigid_body("brick", ModelInstanceIndex::DEFAULT, inertia)?;
/// let brick: &RigidBody = plant.body(brick)?;
/// assert_eq!((brick.name(), brick.spatial_inertia().mass()), ("brick", 2.0));
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RigidBody {
    pub(crate) name: String,
    pub(crate) model_instance: ModelInstanceIndex,
    /// The body's own frame.
    pub(crate) frame: FrameIndex,
    pub(crate) inertia: SpatialInertia,
}

impl RigidBody {
    /// Name, unique within the model instance.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The model instance it belongs to.
    pub fn model_instance(&self) -> ModelInstanceIndex {
        self.model_instance
    }
    /// The frame of the body itself.
    pub fn body_frame(&self) -> FrameIndex {
        self.frame
    }
    /// Mass properties about Bo, expressed in B. Zero for the world.
    pub fn spatial_inertia(&self) -> &SpatialInertia {
        &self.inertia
    }
}

/// A frame F fixed on a body B (Drake's `FixedOffsetFrame` and `BodyFrame`).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_multibody::{BodyIndex, FixedOffsetFrame, MultibodyPlant};
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let above = Isometry3::translation(0.0, 0.0, 0.7);
/// let table = plant.add_frame(FixedOffsetFrame::new("table", BodyIndex::WORLD, above))?;
/// assert_eq!(plant.frame_by_name("table")?, table);
/// assert_eq!(plant.frame(table)?.pose_in_body(), &above);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FixedOffsetFrame {
    pub(crate) name: String,
    pub(crate) body: BodyIndex,
    pub(crate) x_bf: Isometry3<f64>,
    pub(crate) model_instance: Option<ModelInstanceIndex>,
}

impl FixedOffsetFrame {
    /// The frame `name` at `X_BF` on `body`, in the body's model instance.
    pub fn new(name: impl Into<String>, body: BodyIndex, x_bf: Isometry3<f64>) -> Self {
        Self {
            name: name.into(),
            body,
            x_bf,
            model_instance: None,
        }
    }
    /// Puts the frame into another model instance than the body's.
    #[must_use]
    pub fn with_model_instance(mut self, instance: ModelInstanceIndex) -> Self {
        self.model_instance = Some(instance);
        self
    }
    /// Name, unique within the model instance.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The body that carries the frame.
    pub fn body(&self) -> BodyIndex {
        self.body
    }
    /// Pose of the frame in its body.
    pub fn pose_in_body(&self) -> &Isometry3<f64> {
        &self.x_bf
    }
    /// The model instance it belongs to.
    pub fn model_instance(&self) -> ModelInstanceIndex {
        self.model_instance.unwrap_or(ModelInstanceIndex::DEFAULT)
    }
}
