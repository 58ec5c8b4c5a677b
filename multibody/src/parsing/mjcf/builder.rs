//! The state of adding one document to a plant.

use super::sections::GlobalSections;
use crate::model::{BodyIndex, JointIndex, ModelInstanceIndex};
use crate::parsing::target::ParseTarget;
use nalgebra::Isometry3;
use std::collections::BTreeMap;

/// Coordinates of MuJoCo's `qpos`, in its order.
#[derive(Clone, Copy, Debug)]
pub(super) enum QposBlock {
    /// Position and quaternion of a body in the world.
    Free(BodyIndex),
    /// A quaternion.
    Ball(JointIndex),
    /// An angle or a distance.
    Single(JointIndex),
}

/// Adds what a document has to a plant.
pub(super) struct MjcfBuilder<'d, 't, 'p> {
    pub(super) document: &'d GlobalSections,
    pub(super) target: &'t mut ParseTarget<'p>,
    pub(super) instance: ModelInstanceIndex,
    /// Bodies of the file and their poses in the world as the file puts them.
    pub(super) poses: BTreeMap<BodyIndex, Isometry3<f64>>,
    pub(super) bodies: BTreeMap<&'d str, BodyIndex>,
    pub(super) joints: BTreeMap<&'d str, JointIndex>,
    /// Where geoms with collision geometry are.
    pub(super) collision_bodies: BTreeMap<String, BodyIndex>,
    /// Inertia that is added along a joint.
    pub(super) armatures: BTreeMap<JointIndex, f64>,
    pub(super) coordinates: Vec<QposBlock>,
    pub(super) num_cameras: usize,
}
