//! Locks of joints and activity of constraints, which a context may change.

use crate::error::{Error, Result};
use crate::model::{JointIndex, MujocoContact};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::multibody_model::MultibodyModel;
use crate::plant::ports::MultibodyPlantPorts;
use tarragon_framework::{Context, Scalar};

impl MultibodyPlantBuilder {
    /// Switches a constraint on or off in default contexts; constraints are on unless this switches
    /// them off.
    ///
    /// # Errors
    /// Returns an error if the constraint is unknown.
    pub fn set_default_constraint_active(&mut self, constraint: usize, active: bool) -> Result<()> {
        self.check_constraint(constraint)?;
        if active {
            self.model.inactive_constraints.remove(&constraint)
        } else {
            self.model.inactive_constraints.insert(constraint)
        };
        Ok(())
    }

    /// Sets MuJoCo's `solref` and `solimp` for a rigid constraint, which is then as soft in
    /// discrete steps as an equality of MuJoCo; `constraint` is its index in
    /// [`MultibodyModel::constraints`].
    ///
    /// Without these parameters, a deviation is undone within two steps. That throws apart a
    /// mechanism that is far from its place at the start: a loop that is open by 0.1 m closes at
    /// 100 m/s in steps of 1 ms. Constraints with a stiffness have a damping instead.
    ///
    /// For welds and tendons, only the relaxation time of `solref` matters: they undo a deviation
    /// in that time, and are otherwise as stiff as the time step allows.
    ///
    /// # Errors
    /// Returns an error if the constraint is unknown, or a number is not finite.
    pub fn set_constraint_solver_parameters(
        &mut self,
        constraint: usize,
        solref: [f64; 2],
        solimp: [f64; 5],
    ) -> Result<()> {
        self.check_constraint(constraint)?;
        if let Some(x) = solref.iter().chain(&solimp).find(|x| !x.is_finite()) {
            return Err(Error::invalid(format!(
                "constraint {constraint}: solver parameters must be finite, got {x:?}"
            )));
        }
        let parameters = MujocoContact::from_solver_parameters(solref, solimp);
        self.model.solver_parameters.insert(constraint, parameters);
        Ok(())
    }
}

impl<T: Scalar> MultibodyPlantPorts<T> {
    /// Locks a joint in a context, or unlocks it (Drake's `Joint::Lock` and `Unlock`). A locked
    /// joint has velocity 0 and takes no part in the discrete step. Locking also sets its
    /// velocities to 0.
    ///
    /// # Errors
    /// Returns an error if the joint is unknown, in continuous time (time step 0), unless the plant
    /// has [`PositionSource::State`](crate::PositionSource::State), or if the context belongs to
    /// another diagram.
    pub fn set_joint_locked(
        &self,
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
        let status = self.dynamics()?.status;
        context.param_mut(status)?.locked[joint.index()] = locked;
        if locked {
            let start = self.velocity_start(joint)?;
            let mut v = self.velocities(context)?;
            v[start..start + found.num_velocities()].fill(T::zero());
            self.set_velocities(context, &v)?;
        }
        Ok(())
    }

    /// Returns true if a joint is locked in a context.
    ///
    /// # Errors
    /// Returns an error if the joint is unknown, unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the context belongs to
    /// another diagram.
    pub fn is_joint_locked(&self, context: &Context<T>, joint: JointIndex) -> Result<bool> {
        self.joint(joint)?;
        let status = context.param(self.dynamics()?.status)?;
        Ok(status.locked[joint.index()])
    }

    /// Switches a constraint on or off in a context (Drake's `SetConstraintActiveStatus`);
    /// `constraint` is its index in [`MultibodyModel::constraints`].
    ///
    /// # Errors
    /// Returns an error if the constraint is unknown, if it is switched on in continuous time (time
    /// step 0), unless the plant has [`PositionSource::State`](crate::PositionSource::State), or if
    /// the context belongs to another diagram.
    pub fn set_constraint_active(
        &self,
        context: &mut Context<T>,
        constraint: usize,
        active: bool,
    ) -> Result<()> {
        self.check_constraint(constraint)?;
        let status = self.dynamics()?.status;
        if active && self.time_step == 0.0 {
            return Err(Error::unsupported(format!(
                "constraint {constraint} can act only with a positive time step, got time step 0"
            )));
        }
        context.param_mut(status)?.inactive[constraint] = !active;
        Ok(())
    }

    /// Returns true if a constraint acts in a context (Drake's `GetConstraintActiveStatus`).
    ///
    /// # Errors
    /// Returns the errors of [`Self::set_constraint_active`].
    pub fn is_constraint_active(&self, context: &Context<T>, constraint: usize) -> Result<bool> {
        self.check_constraint(constraint)?;
        let status = context.param(self.dynamics()?.status)?;
        Ok(!status.inactive[constraint])
    }
}

impl MultibodyModel {
    fn check_constraint(&self, constraint: usize) -> Result<()> {
        let n = self.constraints.len();
        if constraint < n {
            Ok(())
        } else {
            Err(Error::not_found(format!(
                "the constraint index must be below {n}, got {constraint}"
            )))
        }
    }

    /// Returns true if a constraint acts in a default context.
    ///
    /// # Errors
    /// Returns an error if the constraint is unknown.
    pub fn is_default_constraint_active(&self, constraint: usize) -> Result<bool> {
        self.check_constraint(constraint)?;
        Ok(!self.inactive_constraints.contains(&constraint))
    }

    /// Returns the numbers of [`MultibodyPlantBuilder::set_constraint_solver_parameters`], if a
    /// constraint has them.
    ///
    /// # Errors
    /// Returns an error if the constraint is unknown.
    pub fn constraint_solver_parameters(
        &self,
        constraint: usize,
    ) -> Result<Option<([f64; 2], [f64; 5])>> {
        self.check_constraint(constraint)?;
        let parameters = self.solver_parameters.get(&constraint);
        Ok(parameters.map(|of| (of.solref, of.solimp)))
    }
}
