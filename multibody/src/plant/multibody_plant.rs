//! The plant type.

use super::multibody_model::MultibodyModel;
use crate::discrete::Trees;
use crate::error::Result;
use crate::model::{ContactPairProperties, Joint, JointIndex, ModelInstanceIndex};
use crate::tree::{CoordinateKind, Topology};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::OnceLock;
use tarragon_geometry::GeometryId;

/// Rigid bodies connected by joints (Drake's `MultibodyPlant`).
///
/// A [`MultibodyPlantBuilder`](crate::MultibodyPlantBuilder) makes it of bodies and joints, which
/// it connects to a tree. The plant computes what depends on positions and velocities, on its own
/// or as a system of a diagram; there, [`MultibodyPlantPorts`](crate::MultibodyPlantPorts) has its
/// ports and everything that is asked of it in a context. It dereferences to its elements, a
/// [`MultibodyModel`]. Once built, only its default positions change.
///
/// A plant whose positions are its state moves under forces: in discrete steps with a positive time
/// step, else as a system of differential equations.
///
/// In discrete time, the velocities at the end of a step minimize a convex cost that contains
/// contact, friction, joint limits, constraints and the built-in controllers of actuators. In
/// continuous time, contact is a stiff spring; the gains of controllers, joint limits and dry
/// friction of joints have no effect, and constraints are an error.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut builder = MultibodyPlantBuilder::new(0.001)?;
/// let cart = builder.add_rigid_body("cart", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// builder.add_joint(Joint::prismatic("rail", BodyIndex::WORLD, cart, Vector3::x())?)?;
/// let plant = builder.build()?;
/// let here = plant.calc_position_kinematics(&[0.25])?;
/// assert_eq!(here.x_wb(cart).translation.x, 0.25);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultibodyPlant {
    pub(super) model: MultibodyModel,
    pub(super) topology: Topology,
    /// The trees of the topology.
    pub(super) trees: Trees,
    /// Velocities with dry friction and its largest force (N m or N).
    pub(super) dry_friction: Vec<(usize, f64)>,
    /// The pairs that have their own properties.
    pub(super) pair_properties: BTreeMap<[GeometryId; 2], ContactPairProperties>,
    /// Effective masses (kg) of bodies for soft constraints, in the default configuration. They are
    /// computed when first needed.
    pub(super) constrained_masses: OnceLock<Vec<f64>>,
}

impl Deref for MultibodyPlant {
    type Target = MultibodyModel;
    fn deref(&self) -> &MultibodyModel {
        &self.model
    }
}

impl MultibodyPlant {
    /// Returns the number of generalized positions q.
    pub fn num_positions(&self) -> usize {
        self.topology.num_positions
    }
    /// Returns the number of generalized velocities v.
    pub fn num_velocities(&self) -> usize {
        self.topology.num_velocities
    }
    /// Returns the names of the positions: the joint's name, with a suffix if the joint has several
    /// positions (`base_qw`, ..., `base_z`).
    pub fn position_names(&self) -> &[String] {
        &self.topology.position_names
    }
    /// Returns the names of the velocities: the joint's name, with a suffix if the joint has
    /// several velocities (`base_wx`, ..., `base_vz`).
    pub fn velocity_names(&self) -> &[String] {
        &self.topology.velocity_names
    }
    /// Returns the names of the state `[q; v]`, each with its model instance: `arm::elbow.q`,
    /// `arm::elbow.v`. Logs of the port `state` have them as columns.
    pub fn state_names(&self) -> Vec<String> {
        // Coordinates have the order of the tree.
        let models = |count: fn(&Joint) -> usize| {
            let joints = self.topology.order.iter();
            joints.flat_map(move |joint| {
                let joint = &self.joints[joint.index()];
                let model = &self.model_instances[joint.model_instance().index()];
                std::iter::repeat_n(model, count(joint))
            })
        };
        let q = models(Joint::num_positions).zip(self.position_names());
        let v = models(Joint::num_velocities).zip(self.velocity_names());
        let q = q.map(|(model, name)| format!("{model}::{name}.q"));
        q.chain(v.map(|(model, name)| format!("{model}::{name}.v")))
            .collect()
    }
    /// Returns the names of the state `[q; v]` of a model instance, as [`Self::state_names`] has
    /// them. Logs of the port `{model}_state` have them as columns.
    ///
    /// # Errors
    /// Returns an error if the instance is unknown.
    pub fn state_names_in(&self, instance: ModelInstanceIndex) -> Result<Vec<String>> {
        let model = self.model_instance_name(instance)?;
        let q = self.take(instance, CoordinateKind::Positions, self.position_names())?;
        let v = self.take(instance, CoordinateKind::Velocities, self.velocity_names())?;
        let q = q.iter().map(|name| format!("{model}::{name}.q"));
        Ok(q.chain(v.iter().map(|name| format!("{model}::{name}.v")))
            .collect())
    }
    /// Returns the index of the first position of a joint.
    ///
    /// # Errors
    /// Returns an error if the joint is unknown.
    pub fn position_start(&self, joint: JointIndex) -> Result<usize> {
        self.joint(joint)?;
        Ok(self.topology.starts[joint.index()].0)
    }
    /// Returns the index of the first velocity of a joint.
    ///
    /// # Errors
    /// Returns an error if the joint is unknown.
    pub fn velocity_start(&self, joint: JointIndex) -> Result<usize> {
        self.joint(joint)?;
        Ok(self.topology.starts[joint.index()].1)
    }
}
