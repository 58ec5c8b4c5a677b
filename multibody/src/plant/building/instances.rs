//! Elements and coordinates of single model instances.
//!
//! The positions of an instance are those of its joints, in the order of the state; a free body's
//! floating joint belongs to the instance of the body.

use crate::error::{Error, Result};
use crate::model::checks::check_length;
use crate::model::{BodyIndex, JointActuatorIndex, JointIndex, ModelInstanceIndex};
use crate::plant::multibody_model::MultibodyModel;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::tree::{CoordinateKind, Topology};
use std::ops::Range;
use tarragon_framework::Scalar;

impl MultibodyModel {
    /// Returns the bodies of a model instance, by index (Drake's `GetBodyIndices`).
    ///
    /// # Errors
    /// Returns an error if the instance is unknown.
    pub fn body_indices_in(&self, instance: ModelInstanceIndex) -> Result<Vec<BodyIndex>> {
        self.check_instance(instance)?;
        let own = self.bodies().filter(|(_, b)| b.model_instance == instance);
        Ok(own.map(|(i, _)| i).collect())
    }
    /// Returns the joints of a model instance, by index (Drake's `GetJointIndices`). A
    /// plant also has the floating joints of free bodies.
    ///
    /// # Errors
    /// Returns an error if the instance is unknown.
    pub fn joint_indices_in(&self, instance: ModelInstanceIndex) -> Result<Vec<JointIndex>> {
        self.check_instance(instance)?;
        let own = self
            .joints()
            .filter(|(_, j)| j.model_instance() == instance);
        Ok(own.map(|(i, _)| i).collect())
    }
    /// Returns the actuators of a model instance, by index (Drake's `GetJointActuatorIndices`).
    ///
    /// # Errors
    /// Returns an error if the instance is unknown.
    pub fn joint_actuator_indices_in(
        &self,
        instance: ModelInstanceIndex,
    ) -> Result<Vec<JointActuatorIndex>> {
        self.check_instance(instance)?;
        let all = self.actuators.iter().enumerate();
        let own = all.filter(|(_, a)| a.model_instance == instance);
        Ok(own.map(|(i, _)| JointActuatorIndex::new(i)).collect())
    }
    /// Returns the number of actuators of a model instance (Drake's
    /// `num_actuators(model_instance)`).
    ///
    /// # Errors
    /// Returns an error if the instance is unknown.
    pub fn num_actuators_in(&self, instance: ModelInstanceIndex) -> Result<usize> {
        Ok(self.joint_actuator_indices_in(instance)?.len())
    }
}

impl MultibodyPlant {
    /// Returns the number of positions of a model instance (Drake's
    /// `num_positions(model_instance)`).
    ///
    /// # Errors
    /// Returns an error if the instance is unknown.
    pub fn num_positions_in(&self, instance: ModelInstanceIndex) -> Result<usize> {
        self.count_in(instance, CoordinateKind::Positions)
    }
    /// Returns the number of velocities of a model instance (Drake's
    /// `num_velocities(model_instance)`).
    ///
    /// # Errors
    /// Returns an error if the instance is unknown.
    pub fn num_velocities_in(&self, instance: ModelInstanceIndex) -> Result<usize> {
        self.count_in(instance, CoordinateKind::Velocities)
    }

    /// Extracts the positions of a model instance from those of the plant, q (Drake's
    /// `GetPositionsFromArray`).
    ///
    /// # Errors
    /// Returns an error if the instance is unknown, or q has the wrong length.
    pub fn positions_from_array<T: Scalar>(
        &self,
        instance: ModelInstanceIndex,
        q: &[T],
    ) -> Result<Vec<T>> {
        self.take(instance, CoordinateKind::Positions, q)
    }
    /// Extracts the velocities of a model instance from those of the plant, v (Drake's
    /// `GetVelocitiesFromArray`).
    ///
    /// # Errors
    /// Returns an error if the instance is unknown, or v has the wrong length.
    pub fn velocities_from_array<T: Scalar>(
        &self,
        instance: ModelInstanceIndex,
        v: &[T],
    ) -> Result<Vec<T>> {
        self.take(instance, CoordinateKind::Velocities, v)
    }
    /// Writes the positions of a model instance into those of the plant, q (Drake's
    /// `SetPositionsInArray`).
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use tarragon_multibody::{BodyIndex, Joint, MultibodyPlantBuilder, SpatialInertia};
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let mut arms = vec![];
    /// for name in ["left", "right"] {
    ///     let arm = plant.add_model_instance(name)?;
    ///     let link = plant.add_rigid_body("link", arm, SpatialInertia::zero())?;
    ///     plant.add_joint(Joint::revolute("elbow", BodyIndex::WORLD, link, Vector3::z())?)?;
    ///     arms.push(arm);
    /// }
    /// let plant = plant.build()?;
    /// let mut q = plant.default_positions();
    /// plant.set_positions_in_array(arms[1], &[0.5], &mut q)?;
    /// assert_eq!(q, [0.0, 0.5]);
    /// assert_eq!(plant.positions_from_array(arms[1], &q)?, [0.5]);
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the instance is unknown, or a length is wrong; q is then unchanged.
    pub fn set_positions_in_array<T: Scalar>(
        &self,
        instance: ModelInstanceIndex,
        q_instance: &[T],
        q: &mut [T],
    ) -> Result<()> {
        self.put(instance, CoordinateKind::Positions, q_instance, q)
    }
    /// Writes the velocities of a model instance into those of the plant, v (Drake's
    /// `SetVelocitiesInArray`).
    ///
    /// # Errors
    /// Returns an error if the instance is unknown, or a length is wrong; v is then unchanged.
    pub fn set_velocities_in_array<T: Scalar>(
        &self,
        instance: ModelInstanceIndex,
        v_instance: &[T],
        v: &mut [T],
    ) -> Result<()> {
        self.put(instance, CoordinateKind::Velocities, v_instance, v)
    }

    /// Returns the default positions of a model instance (Drake's
    /// `GetDefaultPositions(model_instance)`).
    ///
    /// # Errors
    /// Returns an error if the instance is unknown.
    pub fn default_positions_in(&self, instance: ModelInstanceIndex) -> Result<Vec<f64>> {
        let (q, which) = (self.default_positions(), CoordinateKind::Positions);
        self.take(instance, which, &q)
    }
    /// Sets the default positions of all joints of a model instance (Drake's
    /// `SetDefaultPositions(model_instance, q_instance)`).
    ///
    /// # Errors
    /// Returns an error if the instance is unknown, the number of positions is wrong, one is not
    /// finite, or a quaternion is zero. Nothing changes in that case.
    pub fn set_default_positions_in(
        &mut self,
        instance: ModelInstanceIndex,
        q_instance: &[f64],
    ) -> Result<()> {
        let which = CoordinateKind::Positions;
        let mut q = self.default_positions();
        self.put(instance, which, q_instance, &mut q)?;
        self.set_default_positions(&q)
    }

    /// Returns the ranges of an instance's coordinates among those of the plant, joint by joint.
    fn ranges_in<'a>(
        &'a self,
        topology: &'a Topology,
        instance: ModelInstanceIndex,
        which: CoordinateKind,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let order = topology.order.iter().map(|j| j.index());
        let own = order.filter(move |j| self.joints[*j].model_instance() == instance);
        own.map(move |j| {
            let (joint, (q, v)) = (&self.joints[j], topology.starts[j]);
            match which {
                CoordinateKind::Positions | CoordinateKind::PositionRates => {
                    q..q + joint.num_positions()
                }
                CoordinateKind::Velocities | CoordinateKind::Accelerations => {
                    v..v + joint.num_velocities()
                }
            }
        })
    }

    fn count_in(&self, instance: ModelInstanceIndex, which: CoordinateKind) -> Result<usize> {
        self.check_instance(instance)?;
        let ranges = self.ranges_in(&self.topology, instance, which);
        Ok(ranges.map(|range| range.len()).sum())
    }

    pub(crate) fn take<T: Clone>(
        &self,
        instance: ModelInstanceIndex,
        which: CoordinateKind,
        all: &[T],
    ) -> Result<Vec<T>> {
        let topology = &self.topology;
        self.check_instance(instance)?;
        check_length(which.name(), all.len(), topology.count(which))?;
        let own = self.ranges_in(topology, instance, which);
        Ok(own.flat_map(|range| &all[range]).cloned().collect())
    }

    pub(crate) fn put<T: Scalar>(
        &self,
        instance: ModelInstanceIndex,
        which: CoordinateKind,
        own: &[T],
        all: &mut [T],
    ) -> Result<()> {
        let topology = &self.topology;
        let expected = self.count_in(instance, which)?;
        check_length(which.name(), all.len(), topology.count(which))?;
        check_length(which.name(), own.len(), expected).map_err(|e| {
            let name = &self.model_instances[instance.index()];
            Error::invalid(format!("model instance '{name}': {e}"))
        })?;
        let mut rest = own;
        for range in self.ranges_in(topology, instance, which) {
            let (first, others) = rest.split_at(range.len());
            all[range].copy_from_slice(first);
            rest = others;
        }
        Ok(())
    }
}
