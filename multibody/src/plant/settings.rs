//! Settings that may change after loading, also after `finalize`: limits and damping.
//!
//! None of it changes the tree. A diagram keeps the plant that it was given, so settings are made
//! before the plant is added to one.

use super::multibody_plant::MultibodyPlant;
use crate::error::Result;
use crate::model::{Joint, JointActuatorIndex, JointIndex, check_effort_limit};

impl MultibodyPlant {
    /// Sets the position limits of a joint (rad or m), as Drake's `Joint::set_position_limits`;
    /// infinite means none.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use tarragon_multibody::*;
    /// let mut plant = MultibodyPlant::new(0.001)?;
    /// let cabin = plant.add_rigid_body("cabin", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
    /// let lift = Joint::prismatic("lift", BodyIndex::WORLD, cabin, Vector3::z())?;
    /// let lift = plant.add_joint(lift)?;
    /// plant.finalize()?;
    /// plant.set_joint_position_limits(lift, &[0.0], &[30.0])?;
    /// assert_eq!(plant.position_upper_limits(), [30.0]);
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the joint is unknown, their number is not that of the positions, or a
    /// lower one is above its upper one. Nothing is changed then.
    pub fn set_joint_position_limits(
        &mut self,
        joint: JointIndex,
        lower: &[f64],
        upper: &[f64],
    ) -> Result<()> {
        self.change_joint(joint, |j| {
            j.set_position_limits(lower.to_vec(), upper.to_vec())
        })
    }
    /// Sets the velocity limits of a joint (rad/s or m/s), as Drake's `Joint::set_velocity_limits`;
    /// infinite means none.
    ///
    /// # Errors
    /// Returns an error if the joint is unknown, their number is not that of the velocities, or a
    /// lower one is above its upper one. Nothing is changed then.
    pub fn set_joint_velocity_limits(
        &mut self,
        joint: JointIndex,
        lower: &[f64],
        upper: &[f64],
    ) -> Result<()> {
        self.change_joint(joint, |j| {
            j.set_velocity_limits(lower.to_vec(), upper.to_vec())
        })
    }
    /// Sets the acceleration limits of a joint (rad/s^2 or m/s^2), as Drake's
    /// `Joint::set_acceleration_limits`; infinite means none.
    ///
    /// # Errors
    /// Returns the errors of [`Self::set_joint_velocity_limits`].
    pub fn set_joint_acceleration_limits(
        &mut self,
        joint: JointIndex,
        lower: &[f64],
        upper: &[f64],
    ) -> Result<()> {
        self.change_joint(joint, |j| {
            j.set_acceleration_limits(lower.to_vec(), upper.to_vec())
        })
    }
    /// Sets the damping of a joint per velocity (N m s/rad or N s/m), as Drake's
    /// `Joint::set_default_damping_vector`, which Drake refuses after `Finalize`.
    ///
    /// # Errors
    /// Returns an error if the joint is unknown, their number is not that of the velocities, or one
    /// is negative or not finite. Nothing is changed then.
    pub fn set_joint_damping(&mut self, joint: JointIndex, damping: &[f64]) -> Result<()> {
        self.change_joint(joint, |j| j.set_dampings(damping.to_vec()))
    }

    /// Sets the largest effort of an actuator (N m or N); infinite means no limit.
    ///
    /// # Errors
    /// Returns an error if the actuator is unknown or the limit is not positive. Nothing is changed
    /// then.
    pub fn set_effort_limit(&mut self, actuator: JointActuatorIndex, limit: f64) -> Result<()> {
        self.joint_actuator(actuator)?;
        check_effort_limit(limit).map_err(|why| self.actuator_error(actuator, &why))?;
        self.actuators[actuator.index()].effort_limit = limit;
        Ok(())
    }

    /// Changes a joint; a refusal names it.
    fn change_joint(
        &mut self,
        joint: JointIndex,
        change: impl FnOnce(&mut Joint) -> Result<(), String>,
    ) -> Result<()> {
        self.joint(joint)?;
        let changed = change(&mut self.joints[joint.index()]);
        changed.map_err(|why| self.joint_error(joint, &why))
    }
}
