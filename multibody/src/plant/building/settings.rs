//! Settings of joints and actuators: limits and damping.

use crate::error::Result;
use crate::model::{Joint, JointActuatorIndex, JointIndex, Limited, check_effort_limit};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::multibody_model::MultibodyModel;

impl MultibodyPlantBuilder {
    /// Sets how quaternions advance in a discrete step. With `true` (the default), they turn by
    /// exactly `w dt` and keep their length. With `false`, `N(q) v dt` is added to them as in
    /// Drake, which turns them by only `2 atan(|w| dt / 2)` and makes them longer.
    pub fn set_exact_rotations(&mut self, exact: bool) {
        self.model.exact_rotations = exact;
    }

    /// Sets the position limits of a joint (rad or m); infinite means none (Drake's
    /// `Joint::set_position_limits`).
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use tarragon_multibody::*;
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let inertia = SpatialInertia::zero();
    /// let cabin = plant.add_rigid_body("cabin", ModelInstanceIndex::DEFAULT, inertia)?;
    /// let lift = Joint::prismatic("lift", BodyIndex::WORLD, cabin, Vector3::z())?;
    /// let lift = plant.add_joint(lift)?;
    /// plant.set_joint_position_limits(lift, &[0.0], &[30.0])?;
    /// assert_eq!(plant.build()?.position_upper_limits(), [30.0]);
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the joint is unknown, there are not as many limits as positions, or a
    /// lower limit is above its upper limit. Nothing changes in that case.
    pub fn set_joint_position_limits(
        &mut self,
        joint: JointIndex,
        lower: &[f64],
        upper: &[f64],
    ) -> Result<()> {
        self.set_joint_limits(joint, Limited::Position, lower, upper)
    }
    /// Sets the velocity limits of a joint (rad/s or m/s); infinite means none (Drake's
    /// `Joint::set_velocity_limits`).
    ///
    /// # Errors
    /// Returns an error if the joint is unknown, there are not as many limits as velocities, or a
    /// lower limit is above its upper limit. Nothing changes in that case.
    pub fn set_joint_velocity_limits(
        &mut self,
        joint: JointIndex,
        lower: &[f64],
        upper: &[f64],
    ) -> Result<()> {
        self.set_joint_limits(joint, Limited::Velocity, lower, upper)
    }
    /// Sets the acceleration limits of a joint (rad/s^2 or m/s^2); infinite means none (Drake's
    /// `Joint::set_acceleration_limits`).
    ///
    /// # Errors
    /// Returns the errors of [`Self::set_joint_velocity_limits`].
    pub fn set_joint_acceleration_limits(
        &mut self,
        joint: JointIndex,
        lower: &[f64],
        upper: &[f64],
    ) -> Result<()> {
        self.set_joint_limits(joint, Limited::Acceleration, lower, upper)
    }
    /// Sets the damping of a joint per velocity (N m s/rad or N s/m; Drake's
    /// `Joint::set_default_damping_vector`).
    ///
    /// # Errors
    /// Returns an error if the joint is unknown, there are not as many values as velocities, or one
    /// is negative or not finite. Nothing changes in that case.
    pub fn set_joint_damping(&mut self, joint: JointIndex, damping: &[f64]) -> Result<()> {
        self.change_joint(joint, |j| j.set_dampings(damping.to_vec()))
    }

    /// Sets the effort limit of an actuator (N m or N); infinite means none.
    ///
    /// # Errors
    /// Returns an error if the actuator is unknown or the limit is not positive. Nothing changes in
    /// that case.
    pub fn set_effort_limit(&mut self, actuator: JointActuatorIndex, limit: f64) -> Result<()> {
        self.joint_actuator(actuator)?;
        check_effort_limit(limit).map_err(|why| self.actuator_error(actuator, &why))?;
        self.model.actuators[actuator.index()].effort_limit = limit;
        Ok(())
    }

    fn set_joint_limits(
        &mut self,
        joint: JointIndex,
        of: Limited,
        lower: &[f64],
        upper: &[f64],
    ) -> Result<()> {
        self.change_joint(joint, |j| j.set_limits(of, lower.to_vec(), upper.to_vec()))
    }

    /// Changes a joint; adds its name to an error.
    fn change_joint(
        &mut self,
        joint: JointIndex,
        change: impl FnOnce(&mut Joint) -> Result<(), String>,
    ) -> Result<()> {
        self.joint(joint)?;
        let changed = change(&mut self.model.joints[joint.index()]);
        changed.map_err(|why| self.joint_error(joint, &why))
    }
}

impl MultibodyModel {
    /// Returns true if quaternions turn by exactly `w dt` in a discrete step.
    pub fn exact_rotations(&self) -> bool {
        self.exact_rotations
    }
}
