//! Default positions and limits of a plant, in the order of the state.

use crate::error::{Error, Result};
use crate::model::checks::check_pose;
use crate::model::{BodyIndex, Joint, JointIndex};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::multibody_model::MultibodyModel;
use crate::plant::multibody_plant::MultibodyPlant;
use nalgebra::Isometry3;

impl MultibodyPlantBuilder {
    /// Sets the default positions of one joint (rad or m; `[qw, qx, qy, qz, x, y, z]` for a
    /// floating joint).
    ///
    /// # Errors
    /// Returns an error if the joint is unknown, the number of positions is wrong, one is not
    /// finite, or a quaternion is zero.
    pub fn set_default_joint_positions(&mut self, joint: JointIndex, q: &[f64]) -> Result<()> {
        self.model.set_default_joint_positions(joint, q)
    }

    /// Sets the default pose `X_WB` of a body for the case that it is free in the plant: that no
    /// joint connects it towards the world.
    ///
    /// # Errors
    /// Returns an error if the body is unknown or a number of the pose is not finite.
    pub fn set_default_free_body_pose(
        &mut self,
        body: BodyIndex,
        x_wb: Isometry3<f64>,
    ) -> Result<()> {
        self.check_default_pose(body, &x_wb)?;
        self.model.default_free_poses[body.index()] = Some(x_wb);
        Ok(())
    }
}

impl MultibodyModel {
    fn set_default_joint_positions(&mut self, joint: JointIndex, q: &[f64]) -> Result<()> {
        let checked = self.joint(joint)?.check_default_positions(q);
        checked.map_err(|why| self.joint_error(joint, &why))?;
        self.joints[joint.index()].default_positions = q.to_vec();
        Ok(())
    }

    fn check_default_pose(&self, body: BodyIndex, x_wb: &Isometry3<f64>) -> Result<()> {
        self.body(body)?;
        let what = || format!("body '{}': the default pose", self.scoped_body_name(body));
        check_pose(what, x_wb)
    }

    /// Returns the sum of the masses of all bodies (kg).
    pub fn calc_total_mass(&self) -> f64 {
        self.bodies.iter().map(|b| b.inertia.mass()).sum()
    }
}

impl MultibodyPlant {
    /// Returns the default positions q of all joints, in the order of the state.
    pub fn default_positions(&self) -> Vec<f64> {
        self.gather(|j| &j.default_positions)
    }
    /// Returns the lower position limits, in the order of q.
    pub fn position_lower_limits(&self) -> Vec<f64> {
        self.gather(|j| &j.position_limits.0)
    }
    /// Returns the upper position limits, in the order of q.
    pub fn position_upper_limits(&self) -> Vec<f64> {
        self.gather(|j| &j.position_limits.1)
    }
    /// Returns the lower velocity limits, in the order of v.
    pub fn velocity_lower_limits(&self) -> Vec<f64> {
        self.gather(|j| &j.velocity_limits.0)
    }
    /// Returns the upper velocity limits, in the order of v.
    pub fn velocity_upper_limits(&self) -> Vec<f64> {
        self.gather(|j| &j.velocity_limits.1)
    }

    /// Returns the lower acceleration limits, in the order of v (Drake's
    /// `GetAccelerationLowerLimits`).
    pub fn acceleration_lower_limits(&self) -> Vec<f64> {
        self.gather(|j| &j.acceleration_limits.0)
    }
    /// Returns the upper acceleration limits, in the order of v (Drake's
    /// `GetAccelerationUpperLimits`).
    pub fn acceleration_upper_limits(&self) -> Vec<f64> {
        self.gather(|j| &j.acceleration_limits.1)
    }
    /// Returns the lower effort limits of the actuators (N m or N), by index (Drake's
    /// `GetEffortLowerLimits`).
    pub fn effort_lower_limits(&self) -> Vec<f64> {
        self.actuators.iter().map(|a| a.effort_range()[0]).collect()
    }
    /// Returns the upper effort limits of the actuators (N m or N), by index (Drake's
    /// `GetEffortUpperLimits`).
    pub fn effort_upper_limits(&self) -> Vec<f64> {
        self.actuators.iter().map(|a| a.effort_range()[1]).collect()
    }

    /// Concatenates a per-joint list in tree order.
    fn gather<'a>(&'a self, list: impl Fn(&'a Joint) -> &'a [f64]) -> Vec<f64> {
        let order = self.topology.order.iter();
        order
            .flat_map(|j| list(&self.joints[j.index()]))
            .copied()
            .collect()
    }

    /// Sets the default positions of all joints.
    ///
    /// # Errors
    /// Returns an error if the number of positions is wrong, one is not
    /// finite, or a quaternion is zero.
    pub fn set_default_positions(&mut self, q: &[f64]) -> Result<()> {
        let topology = &self.topology;
        if q.len() != topology.num_positions {
            return Err(Error::invalid(format!(
                "the number of default positions must be {}, got {}",
                topology.num_positions,
                q.len()
            )));
        }
        let of_joint = |joint: &Joint, start: usize| start..start + joint.num_positions();
        for ((index, joint), (start, _)) in self.joints().zip(&topology.starts) {
            let checked = joint.check_default_positions(&q[of_joint(joint, *start)]);
            checked.map_err(|why| self.joint_error(index, &why))?;
        }
        for (joint, (start, _)) in self.model.joints.iter_mut().zip(&topology.starts) {
            joint.default_positions = q[of_joint(joint, *start)].to_vec();
        }
        Ok(())
    }

    /// Sets the default positions of one joint, as
    /// [`MultibodyPlantBuilder::set_default_joint_positions`] does.
    ///
    /// # Errors
    /// Returns the same errors.
    pub fn set_default_joint_positions(&mut self, joint: JointIndex, q: &[f64]) -> Result<()> {
        self.model.set_default_joint_positions(joint, q)
    }

    /// Sets the default pose `X_WB` of a free body.
    ///
    /// # Errors
    /// Returns an error if the body is unknown or not free, or a number of the pose is not finite.
    pub fn set_default_free_body_pose(
        &mut self,
        body: BodyIndex,
        x_wb: Isometry3<f64>,
    ) -> Result<()> {
        self.check_default_pose(body, &x_wb)?;
        let joint = self.floating_joint(body)?;
        let joint = &mut self.model.joints[joint.index()];
        joint.default_positions = joint.floating_positions(&x_wb);
        Ok(())
    }

    /// Returns the joint between the world and a free body.
    pub(in crate::plant) fn floating_joint(&self, body: BodyIndex) -> Result<JointIndex> {
        self.body(body)?;
        let joint = self.inboard_joint(body);
        joint
            .filter(|_| self.is_floating_base(body))
            .ok_or_else(|| {
                Error::invalid(format!(
                    "body '{}' must be a free body; set the positions of its joint instead",
                    self.scoped_body_name(body)
                ))
            })
    }

    /// Returns true if a joint with six degrees of freedom connects the body to the world.
    pub fn is_floating_base(&self, body: BodyIndex) -> bool {
        let joint = self.inboard_joint(body).map(|j| &self.joints[j.index()]);
        joint.is_some_and(|j| j.kind.is_floating() && j.parent == BodyIndex::WORLD)
    }

    /// Returns the joint that connects a body towards the world; `None` for the world.
    pub fn inboard_joint(&self, body: BodyIndex) -> Option<JointIndex> {
        self.topology.inboard.get(body.index()).copied().flatten()
    }
}
