//! The plant type, and checks that all additions share.

use super::contact_model::ContactSettings;
use super::deformable_body::DeformableBody;
use super::element_names::{ElementNames, NameIndex};
use super::geometry_registration::GeometryRegistration;
use crate::discrete::Trees;
use crate::error::{Error, Result};
use crate::model::{
    BodyIndex, CollisionFilterGroup, Constraint, ContactPairProperties, FixedOffsetFrame,
    ForceElement, Joint, JointActuator, Keyframe, KeyframeLoss, ModelCamera, ModelEquality,
    ModelInstanceIndex, ModelSensor, MujocoContact, RigidBody,
};
use crate::spatial::SpatialInertia;
use crate::tree::{Islands, Topology};
use nalgebra::{Isometry3, Vector3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use tarragon_geometry::GeometryId;

/// Source of the positions of the plant as a system.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_framework::prelude::*;
/// use tarragon_formats::*;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let cabin = plant.add_rigid_body("cabin", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// plant.add_joint(Joint::prismatic("lift", BodyIndex::WORLD, cabin, Vector3::z())?)?;
/// plant.set_position_source(PositionSource::InputPort);
/// plant.finalize()?;
/// let mut b = DiagramBuilder::new();
/// let plant = b.add("plant", plant);
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

/// Rigid bodies connected by joints (Drake's `MultibodyPlant`).
///
/// Bodies and joints are added, by hand or by a parser, until [`Self::finalize`]
/// connects them to a tree, in which every body without a joint towards the world gets a floating
/// joint. After that the plant computes body poses and can be added to a diagram.
///
/// | port | name | type | exists |
/// |---|---|---|---|
/// | input | `position` | vector of `num_positions` | with [`PositionSource::InputPort`] |
/// | input | `velocity` | vector of `num_velocities` | with [`PositionSource::InputPort`] |
/// | output | `state` | vector `[q; v]` | with [`PositionSource::State`] |
/// | output | `body_poses` | `Vec<Isometry3<T>>`, `X_WB` by [`BodyIndex`] | always |
/// | output | `body_spatial_velocities` | `Vec<SpatialVector<T>>`, `V_WB` by body | always |
/// | output | `parameters` | [`PlantParameters`](crate::PlantParameters) of the context | always |
/// | output | `geometry_pose` | `FramePoseVector<T>` | once registered with a SceneGraph |
///
/// A plant whose positions are its state moves under forces, and has the ports of
/// [`PlantDynamicsPorts`](crate::PlantDynamicsPorts), too: in discrete steps with a positive time
/// step, else as a system of differential equations.
///
/// In discrete time, the velocities at the end of a step minimize a convex cost that contains
/// contact, friction, joint limits, constraints and the built-in controllers of actuators. In
/// continuous time, contact is a stiff spring; the gains of controllers, joint limits and dry
/// friction of joints have no effect, and constraints are an error.
///
/// Bodies, joints and frames have names that are unique within their model instance; look-ups take
/// `name` or `model::name`.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_formats::*;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let arm = plant.add_rigid_body("arm", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let rail = Joint::prismatic("rail", BodyIndex::WORLD, arm, Vector3::x())?
///     .with_pose_on_parent(Isometry3::translation(0.0, 0.0, 1.0));
/// plant.add_joint(rail)?;
/// plant.finalize()?;
/// let mut poses = vec![];
/// plant.calc_body_poses(&[0.25], &mut poses)?;
/// assert_eq!(poses[arm.index()].translation.vector, Vector3::new(0.25, 0.0, 1.0));
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultibodyPlant {
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
    /// Effective masses (kg) of bodies for soft constraints, in the default configuration. They are
    /// computed when first needed.
    pub(super) constrained_masses: OnceLock<Vec<f64>>,
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
    /// The pairs that have their own properties; empty before `finalize`.
    pub(super) pair_properties: BTreeMap<[GeometryId; 2], ContactPairProperties>,
    pub(super) default_free_poses: Vec<Option<Isometry3<f64>>>,
    /// Per body the number of joints whose child it is.
    pub(super) num_joints_as_child: Vec<u32>,
    pub(super) taken: ElementNames,
    pub(super) islands: Islands,
    pub(super) position_source: PositionSource,
    pub(super) topology: Option<Topology>,
    /// Number of frames before `finalize` added its own; `None` until then.
    pub(super) num_declared_frames: Option<usize>,
    /// The trees of the topology; empty before `finalize`.
    pub(super) trees: Trees,
    /// Velocities with dry friction and its largest force (N m or N); empty before `finalize`.
    pub(super) dry_friction: Vec<(usize, f64)>,
    pub(super) registration: Option<GeometryRegistration>,
}

impl MultibodyPlant {
    /// Creates a plant that contains only the world body. A `time_step` (s) of 0 means continuous
    /// time.
    ///
    /// # Errors
    /// Returns an error if the time step is negative or not finite.
    pub fn new(time_step: f64) -> Result<Self> {
        check_time_step(time_step)?;
        let mut plant = Self {
            time_step,
            model_instances: vec![],
            bodies: vec![],
            frames: vec![],
            joints: vec![],
            actuators: vec![],
            constraints: vec![],
            inactive_constraints: BTreeSet::new(),
            solver_parameters: BTreeMap::new(),
            constrained_masses: OnceLock::new(),
            equalities: vec![],
            force_elements: vec![],
            deformables: vec![],
            gravity: Vector3::new(0.0, 0.0, -9.81),
            weightless: BTreeSet::new(),
            contact: ContactSettings::default(),
            adjacent_bodies_collision_filters: true,
            exact_rotations: true,
            keyframes: vec![],
            keyframe_losses: vec![],
            cameras: vec![],
            sites: vec![],
            sensors: vec![],
            filter_groups: vec![],
            excluded: vec![],
            mjcf_parents: BTreeMap::new(),
            collision_masks: vec![],
            contact_pairs: vec![],
            pair_properties: BTreeMap::new(),
            default_free_poses: vec![],
            num_joints_as_child: vec![],
            taken: ElementNames::default(),
            islands: Islands::default(),
            position_source: PositionSource::State,
            topology: None,
            num_declared_frames: None,
            trees: Trees::default(),
            dry_friction: vec![],
            registration: None,
        };
        // In the order of `ModelInstanceIndex::WORLD` and `DEFAULT`.
        for name in ["WorldModelInstance", "DefaultModelInstance"] {
            plant.add_model_instance(name)?;
        }
        plant.push_body("world", ModelInstanceIndex::WORLD, SpatialInertia::zero());
        Ok(plant)
    }

    /// Chooses the source of the positions of the plant as a system.
    pub fn set_position_source(&mut self, source: PositionSource) {
        self.position_source = source;
    }
    /// Returns the source of the positions of the plant as a system.
    pub fn position_source(&self) -> PositionSource {
        self.position_source
    }

    pub(super) fn check_open(&self, what: impl Fn() -> String) -> Result<()> {
        match self.topology {
            None => Ok(()),
            Some(_) => Err(Error::state(format!(
                "{} cannot be added: the plant is finalized; add it before `finalize`",
                what()
            ))),
        }
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
