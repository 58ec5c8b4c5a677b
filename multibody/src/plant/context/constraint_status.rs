//! Locks of joints and activity of constraints, which a context may change.

use crate::error::{Error, Result};
use crate::model::JointIndex;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::system::MultibodyPlantPorts;
use tarragon_framework::{Context, Scalar};

impl MultibodyPlant {
    /// Locks a joint in a context, or unlocks it (Drake's `Joint::Lock` and `Unlock`). A locked
    /// joint has velocity 0 and takes no part in the discrete step. Locking also sets its
    /// velocities to 0.
    ///
    /// # Errors
    /// Returns an error if the joint is unknown, in continuous time (time step 0), unless the plant
    /// has [`PositionSource::State`](crate::PositionSource::State), or if ports or context belong
    /// to another plant or diagram.
    pub fn set_joint_locked<T: Scalar>(
        &self,
        ports: &MultibodyPlantPorts<T>,
        context: &mut Context<T>,
        joint: JointIndex,
        locked: bool,
    ) -> Result<()> {
        let found = self.joint(joint)?;
        if self.time_step == 0.0 {
            return Err(Error::unsupported(format!(
                "joint '{}' can be locked only with a positive time step, got time step 0",
                found.name()
            )));
        }
        let status = ports.dynamics()?.status;
        context.param_mut(status)?.locked[joint.index()] = locked;
        if locked {
            let start = self.velocity_start(joint)?;
            let mut v = self.velocities(ports, context)?;
            v[start..start + found.num_velocities()].fill(T::zero());
            self.set_velocities(ports, context, &v)?;
        }
        Ok(())
    }

    /// Returns true if a joint is locked in a context.
    ///
    /// # Errors
    /// Returns an error if the joint is unknown, unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if ports or context belong to
    /// another plant or diagram.
    pub fn is_joint_locked<T: Scalar>(
        &self,
        ports: &MultibodyPlantPorts<T>,
        context: &Context<T>,
        joint: JointIndex,
    ) -> Result<bool> {
        self.joint(joint)?;
        let status = context.param(ports.dynamics()?.status)?;
        Ok(status.locked[joint.index()])
    }

    /// Switches a constraint on or off in a context (Drake's `SetConstraintActiveStatus`);
    /// `constraint` is its index in [`Self::constraints`].
    ///
    /// # Errors
    /// Returns an error if the constraint is unknown, unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if ports or context belong to
    /// another plant or diagram.
    pub fn set_constraint_active<T: Scalar>(
        &self,
        ports: &MultibodyPlantPorts<T>,
        context: &mut Context<T>,
        constraint: usize,
        active: bool,
    ) -> Result<()> {
        self.check_constraint(constraint)?;
        let status = ports.dynamics()?.status;
        context.param_mut(status)?.inactive[constraint] = !active;
        Ok(())
    }

    /// Returns true if a constraint acts in a context (Drake's `GetConstraintActiveStatus`).
    ///
    /// # Errors
    /// Returns the errors of [`Self::set_constraint_active`].
    pub fn is_constraint_active<T: Scalar>(
        &self,
        ports: &MultibodyPlantPorts<T>,
        context: &Context<T>,
        constraint: usize,
    ) -> Result<bool> {
        self.check_constraint(constraint)?;
        let status = context.param(ports.dynamics()?.status)?;
        Ok(!status.inactive[constraint])
    }

    /// Switches a constraint on or off in default contexts; constraints are on unless this switches
    /// them off.
    ///
    /// # Errors
    /// Returns an error if the constraint is unknown.
    pub fn set_default_constraint_active(&mut self, constraint: usize, active: bool) -> Result<()> {
        self.check_constraint(constraint)?;
        match active {
            true => self.inactive_constraints.remove(&constraint),
            false => self.inactive_constraints.insert(constraint),
        };
        Ok(())
    }
    /// Returns true if a constraint acts in a default context.
    ///
    /// # Errors
    /// Returns an error if the constraint is unknown.
    pub fn is_default_constraint_active(&self, constraint: usize) -> Result<bool> {
        self.check_constraint(constraint)?;
        Ok(!self.inactive_constraints.contains(&constraint))
    }

    /// Sets the time (s) within which a rigid constraint undoes a deviation, by a factor e, in
    /// discrete steps; `constraint` is its index in [`Self::constraints`]. The default, 0, is a
    /// step or two, which throws apart what is far from its place at the start: a loop that is open
    /// by 0.1 m closes at 100 m/s in steps of 1 ms. Constraints with a stiffness have a damping
    /// instead.
    ///
    /// # Errors
    /// Returns an error if the constraint is unknown, or the time is negative or not finite.
    pub fn set_constraint_relaxation_time(&mut self, constraint: usize, time: f64) -> Result<()> {
        self.check_constraint(constraint)?;
        if !(time >= 0.0 && time.is_finite()) {
            return Err(Error::invalid(format!(
                "constraint {constraint}: the relaxation time must be finite and at least 0, got \
                 {time:?} s"
            )));
        }
        self.relaxation_times.insert(constraint, time);
        Ok(())
    }
    /// Returns the time of [`Self::set_constraint_relaxation_time`] (s).
    ///
    /// # Errors
    /// Returns an error if the constraint is unknown.
    pub fn constraint_relaxation_time(&self, constraint: usize) -> Result<f64> {
        self.check_constraint(constraint)?;
        Ok(self.relaxation_time_of(constraint))
    }
    pub(in crate::plant) fn relaxation_time_of(&self, constraint: usize) -> f64 {
        let time = self.relaxation_times.get(&constraint);
        time.copied().unwrap_or(0.0)
    }

    fn check_constraint(&self, constraint: usize) -> Result<()> {
        let n = self.constraints.len();
        match constraint < n {
            true => Ok(()),
            false => Err(Error::not_found(format!(
                "the constraint index must be below {n}, got {constraint}"
            ))),
        }
    }
}
