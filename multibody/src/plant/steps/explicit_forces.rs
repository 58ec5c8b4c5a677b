//! Forces, controllers and locks at the start of a step, before contact and constraints.

use super::controllers::{controller, explicit_effort};
use super::transmissions;
use crate::discrete::ControllerParameters;
use crate::dynamics::MultibodyForces;
use crate::kinematics;
use crate::model::JointIndex;
use crate::plant::inputs::{ConstraintStatus, StepInputs};
use crate::plant::multibody_plant::MultibodyPlant;
use tarragon_framework::Scalar;

impl MultibodyPlant {
    /// Computes the forces at a state, without contact, joint damping, and actuators with gains
    /// that have a desired state, and the part of the net actuation in it, in place of what
    /// `forces` and `net_actuation` hold.
    pub(super) fn explicit_forces<T: Scalar>(
        &self,
        step: &StepInputs<'_, T>,
        implicit: impl Fn(usize) -> bool,
        forces: &mut MultibodyForces<T>,
        net_actuation: &mut Vec<T>,
    ) {
        let StepInputs {
            positions,
            velocities,
            inputs,
            parameters,
            ..
        } = *step;
        self.spring_and_gravity_forces(positions, velocities, parameters, forces);
        let topology = &self.topology;
        net_actuation.clear();
        net_actuation.resize(self.actuators.len(), T::zero());
        for (k, actuator) in self.actuators.iter().enumerate() {
            if implicit(k) {
                continue;
            }
            let motion = || transmissions::motion(topology, actuator, positions, velocities);
            let u = explicit_effort(actuator, inputs.actuation[k], motion);
            net_actuation[k] = u;
            transmissions::add_effort(topology, actuator, positions, u, forces);
        }
        for (sum, f) in forces.generalized.iter_mut().zip(inputs.generalized_force) {
            *sum += *f;
        }
        for force in inputs.spatial_force {
            let arm = kinematics::turned(&positions.r_wb[force.body.index()], &force.p_bobq_b);
            forces.add_at(force.body, &arm, force.f_bq_w);
        }
    }

    /// Computes the laws of the actuators with controllers that the step solves for.
    pub(super) fn update_laws<T: Scalar>(
        &self,
        step: &StepInputs<'_, T>,
        laws: &mut Vec<Option<ControllerParameters<T>>>,
    ) {
        let topology = &self.topology;
        let (inputs, status) = (step.inputs, step.status);
        let is_locked =
            |joint: JointIndex| status.locked.get(joint.index()).copied().unwrap_or(false);
        laws.clear();
        laws.extend(self.actuators.iter().enumerate().map(|(k, actuator)| {
            let position = || transmissions::position(topology, actuator, step.positions);
            let law = controller(actuator, inputs.actuation[k], inputs.desired[k], position)?;
            // The step solves for the motion of those that are not locked.
            let moves = match actuator.path() {
                None => actuator.joints().any(|(joint, _)| !is_locked(joint)),
                Some(path) => self.any_joint_moves(path, is_locked),
            };
            moves.then_some(law)
        }));
    }

    /// Finds which velocities are locked.
    pub(super) fn update_locked(&self, status: &ConstraintStatus, locked: &mut Vec<bool>) {
        let topology = &self.topology;
        locked.clear();
        locked.resize(topology.num_velocities, false);
        for ((joint, (_, v)), is) in self.joints.iter().zip(&topology.starts).zip(&status.locked) {
            if *is {
                locked[*v..*v + joint.num_velocities()].fill(true);
            }
        }
    }
}
