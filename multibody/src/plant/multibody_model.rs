//! The elements of a plant, and checks that all additions share.

use super::contact_model::ContactSettings;
use super::deformable_body::DeformableBody;
use super::element_names::{ElementNames, NameIndex};
use super::geometry_registration::GeometryRegistration;
use crate::error::{Error, Result};
use crate::model::{
    BodyIndex, CollisionFilterGroup, Constraint, ContactPairProperties, FixedOffsetFrame,
    ForceElement, Joint, JointActuator, Keyframe, KeyframeLoss, ModelCamera, ModelEquality,
    ModelInstanceIndex, ModelSensor, MujocoContact, RigidBody,
};
use nalgebra::{Isometry3, Vector3};
use std::collections::{BTreeMap, BTreeSet};
use tarragon_geometry::GeometryId;

/// Source of the positions of the plant as a system.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_framework::prelude::*;
/// use tarragon_formats::*;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let cabin = plant.add_rigid_body("cabin", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// plant.add_joint(Joint::prismatic("lift", BodyIndex::WORLD, cabin, Vector3::z())?)?;
/// plant.set_position_source(PositionSource::InputPort);
/// let mut b = DiagramBuilder::new();
/// let plant = b.add("plant", plant.build()?);
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(plant.position()?, vec![4.0])?;
/// assert_eq!(ctx.eval(plant.body_poses)?[cabin.index()].translation.z, 4.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionSource {
    /// The state `[q; v]`: discrete with a positive time step, continuous otherwise.
    #[default]
    State,
    /// The input port `position`: another system supplies the positions.
    InputPort,
}

/// Elements and settings of a plant: bodies, frames, joints, actuators and everything else that is
/// added to a [`MultibodyPlantBuilder`](crate::MultibodyPlantBuilder), with their names.
///
/// Builder and plant dereference to it, so that both answer its questions, and writers of files
/// accept both. In a plant, it also has the joints of free bodies.
///
/// Bodies, joints and frames have names that are unique within their model instance; look-ups take
/// `name` or `model::name`.
///
/// ```
/// use tarragon_multibody::*;
/// fn heaviest(model: &MultibodyModel) -> Option<&str> {
///     let mass = |body: &&RigidBody| body.spatial_inertia().mass();
///     let bodies = model.bodies().map(|(_, body)| body);
///     Some(bodies.max_by(|a, b| mass(a).total_cmp(&mass(b)))?.name())
/// }
/// let mut builder = MultibodyPlantBuilder::new(0.001)?;
/// let anvil = SpatialInertia::plausible(150.0, nalgebra::Vector3::zeros())?;
/// builder.add_rigid_body("anvil", ModelInstanceIndex::DEFAULT, anvil)?;
/// assert_eq!(heaviest(&builder), Some("anvil"));
/// let plant = builder.build()?;
/// assert_eq!(heaviest(&plant), Some("anvil"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultibodyModel {
    pub(super) time_step: f64,
    pub(super) model_instances: Vec<String>,
    pub(super) bodies: Vec<RigidBody>,
    pub(super) frames: Vec<FixedOffsetFrame>,
    pub(super) joints: Vec<Joint>,
    pub(super) actuators: Vec<JointActuator>,
    pub(super) constraints: Vec<Constraint>,
    /// Constraints that are off in a default context.
    pub(super) inactive_constraints: BTreeSet<usize>,
    /// Solver parameters of rigid constraints that have some.
    pub(super) solver_parameters: BTreeMap<usize, MujocoContact>,
    pub(super) equalities: Vec<ModelEquality>,
    pub(super) force_elements: Vec<ForceElement>,
    pub(super) deformables: Vec<DeformableBody>,
    pub(super) gravity: Vector3<f64>,
    /// Model instances on which gravity does not act.
    pub(super) weightless: BTreeSet<ModelInstanceIndex>,
    pub(super) contact: ContactSettings,
    pub(super) adjacent_bodies_collision_filters: bool,
    /// Whether quaternions turn by exactly `w dt` in a discrete step.
    pub(super) exact_rotations: bool,
    pub(super) keyframes: Vec<Keyframe>,
    pub(super) keyframe_losses: Vec<KeyframeLoss>,
    pub(super) cameras: Vec<ModelCamera>,
    pub(super) sites: Vec<FixedOffsetFrame>,
    pub(super) sensors: Vec<ModelSensor>,
    pub(super) filter_groups: Vec<CollisionFilterGroup>,
    /// Pairs of bodies that are not tested against each other.
    pub(super) excluded: Vec<(BodyIndex, BodyIndex)>,
    /// Parents in MJCF of bodies that are filtered as in MuJoCo; `None` without such a filter.
    pub(super) mjcf_parents: BTreeMap<BodyIndex, Option<BodyIndex>>,
    /// Type and affinity of collision geometry that has its own.
    pub(super) collision_masks: Vec<(GeometryId, [u32; 2])>,
    /// Pairs that collide whatever the filters are, the lower first.
    pub(super) contact_pairs: Vec<([GeometryId; 2], ContactPairProperties)>,
    pub(super) default_free_poses: Vec<Option<Isometry3<f64>>>,
    /// Per body the number of joints whose child it is.
    pub(super) num_joints_as_child: Vec<u32>,
    pub(super) taken: ElementNames,
    pub(super) position_source: PositionSource,
    pub(super) registration: Option<GeometryRegistration>,
    /// Number of frames at the end of the list that building the plant added.
    pub(super) num_internal_frames: usize,
}

impl MultibodyModel {
    /// Returns the source of the positions of the plant as a system.
    pub fn position_source(&self) -> PositionSource {
        self.position_source
    }

    pub(super) fn check_instance(&self, instance: ModelInstanceIndex) -> Result<()> {
        match self.model_instances.get(instance.index()) {
            Some(_) => Ok(()),
            None => Err(out_of_range("model instance", instance.index())),
        }
    }

    pub(super) fn check_new(
        &self,
        kind: &str,
        instance: ModelInstanceIndex,
        name: &str,
        taken: &NameIndex<impl Copy>,
    ) -> Result<()> {
        let model = &self.model_instances[instance.index()];
        if name.is_empty() {
            return Err(Error::invalid(format!(
                "the name of a {kind} must not be empty, got an empty one in model instance \
                 '{model}'"
            )));
        }
        if taken.contains(instance, name) {
            return Err(Error::exists(format!(
                "{kind} '{model}::{name}' exists already; names must be unique within a model \
                 instance"
            )));
        }
        Ok(())
    }
}

#[cold]
pub(super) fn out_of_range(kind: &str, index: usize) -> Error {
    Error::not_found(format!(
        "the {kind} index must belong to this plant, got {index}"
    ))
}

/// Checks a time step (s).
pub(super) fn check_time_step(time_step: f64) -> Result<()> {
    if !(time_step >= 0.0 && time_step.is_finite()) {
        return Err(Error::invalid(format!(
            "MultibodyPlant: the time step must be finite and at least 0, got {time_step:?} s"
        )));
    }
    Ok(())
}
