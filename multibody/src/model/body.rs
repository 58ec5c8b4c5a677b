//! Rigid bodies.

use super::index::{FrameIndex, ModelInstanceIndex};
use crate::spatial::SpatialInertia;

/// A rigid body B with its mass properties about its origin Bo (Drake's `RigidBody`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::{ModelInstanceIndex, MultibodyPlantBuilder, RigidBody, SpatialInertia};
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
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
    pub(crate) gravity_compensation: f64,
}

impl RigidBody {
    /// Returns the name, unique within the model instance.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Returns the model instance.
    pub fn model_instance(&self) -> ModelInstanceIndex {
        self.model_instance
    }
    /// Returns the body's own frame B.
    pub fn body_frame(&self) -> FrameIndex {
        self.frame
    }
    /// Returns the mass properties about Bo, expressed in B. Zero for the world.
    pub fn spatial_inertia(&self) -> &SpatialInertia {
        &self.inertia
    }
    /// Returns the fraction of the weight that an opposite force at the center of mass carries
    /// (MuJoCo's `gravcomp`): 0 by default, and 1 for a body that seems weightless.
    pub fn gravity_compensation(&self) -> f64 {
        self.gravity_compensation
    }
}
