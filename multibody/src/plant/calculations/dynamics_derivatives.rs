//! Analytic derivatives of inverse and forward dynamics.

use crate::dynamics::{
    self, ForceElementState, ForwardDynamicsDerivatives, InverseDynamicsDerivatives,
    MultibodyForces,
};
use crate::error::Result;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::ForceElement;
use crate::plant::multibody_plant::MultibodyPlant;
use nalgebra::DMatrix;
use tarragon_framework::AutoDiff;
use tarragon_framework::autodiff::DIRECTIONS;

impl MultibodyPlant {
    /// Computes the generalized forces `tau` that produce the accelerations `vdot` together with
    /// all force elements, gravity and joint damping among them, and with the `applied` forces, and
    /// their derivatives: `M(q) vdot + C(q, v) v = tau + tau_elements(q, v) + tau_applied`. Applied
    /// spatial forces keep their value in W while the bodies move.
    ///
    /// The cost of the derivatives is that of a few products per pair of a joint and one inboard of
    /// it, far less than that of inverse dynamics in [`AutoDiff`]. Force elements other than
    /// gravity, joint damping and springs on joints are differentiated by [`AutoDiff`].
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if positions, velocities or forces belong to another plant, or `vdot` has
    /// the wrong length or a value that is not finite.
    pub fn calc_inverse_dynamics_derivatives(
        &self,
        positions: &PositionKinematics<f64>,
        velocities: &VelocityKinematics<f64>,
        vdot: &[f64],
        applied: &MultibodyForces<f64>,
    ) -> Result<InverseDynamicsDerivatives> {
        let model = self.model_parameters();
        let here = self.calculation(positions, &model)?.at(velocities)?;
        self.check_forces(applied)?;
        here.inverse_dynamics_derivatives(velocities, vdot, applied)
    }

    /// Computes the accelerations `vdot` that all force elements, gravity and joint damping among
    /// them, and the `applied` forces cause, and their derivatives. Applied spatial forces keep
    /// their value in W while the bodies move.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use tarragon_multibody::*;
    /// let mut plant = MultibodyPlantBuilder::new(0.0)?;
    /// let point_mass = nalgebra::Matrix3::zeros();
    /// let bob = SpatialInertia::from_central(2.0, -Vector3::z(), point_mass)?;
    /// let rod = plant.add_rigid_body("rod", ModelInstanceIndex::DEFAULT, bob)?;
    /// plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, rod, Vector3::y())?)?;
    /// let plant = plant.build()?;
    /// let positions = plant.calc_position_kinematics(&[0.5_f64])?;
    /// let velocities = plant.calc_velocity_kinematics(&positions, &[0.0])?;
    /// let none = plant.zero_forces();
    /// let d = plant.calc_forward_dynamics_derivatives(&positions, &velocities, &none)?;
    /// assert!((d.dvdot_dq[(0, 0)] + 9.81 * 0.5_f64.cos()).abs() < 1e-14); // -g cos(q) / l
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if positions, velocities or forces belong to another plant, or if a joint
    /// moves neither mass nor rotational inertia; the message names the body.
    pub fn calc_forward_dynamics_derivatives(
        &self,
        positions: &PositionKinematics<f64>,
        velocities: &VelocityKinematics<f64>,
        applied: &MultibodyForces<f64>,
    ) -> Result<ForwardDynamicsDerivatives> {
        let model = self.model_parameters();
        let here = self.calculation(positions, &model)?.at(velocities)?;
        self.check_forces(applied)?;
        here.forward_dynamics_derivatives(velocities, applied)
    }

    /// Subtracts the forces of all force elements but gravity and joint damping.
    pub(super) fn subtract_elements(
        &self,
        state: &ForceElementState<'_, f64>,
        from: &mut InverseDynamicsDerivatives,
    ) -> Result<()> {
        if self.force_elements.is_empty() {
            return Ok(());
        }
        let n = self.num_velocities();
        let [mut by_q, mut by_v] = [0; 2].map(|_| DMatrix::zeros(n, n));
        let mut forces = MultibodyForces::zero(0, n);
        let mut others = vec![];
        for element in self.force_elements.iter().enumerate() {
            if state.add_joint_derivatives(element, [&mut by_q, &mut by_v]) {
                state.add_force(element, &mut forces)
            } else {
                others.push(element)
            }
        }
        for (tau, f) in from.tau.iter_mut().zip(&forces.generalized) {
            *tau -= f;
        }
        from.dtau_dq -= by_q;
        from.dtau_dv -= by_v;
        if others.is_empty() {
            Ok(())
        } else {
            self.subtract_by_autodiff(&others, state, from)
        }
    }

    /// Subtracts the forces of elements, which are given with their indices.
    fn subtract_by_autodiff(
        &self,
        elements: &[(usize, &ForceElement)],
        state: &ForceElementState<'_, f64>,
        from: &mut InverseDynamicsDerivatives,
    ) -> Result<()> {
        let lift = |constants: &Vec<f64>| constants.iter().map(|x| AutoDiff::from(*x)).collect();
        let constants: Vec<Vec<AutoDiff>> = state.constants.iter().map(lift).collect();
        let (positions, velocities) = (state.positions, state.velocities);
        let n = self.num_velocities();
        let tree = self.tree_of(positions)?;
        for first in (0..2 * n).step_by(DIRECTIONS) {
            let (mut qdot, mut v) = (vec![], vec![]);
            for (k, x) in velocities.v.iter().enumerate() {
                let direction = |at: usize| at.checked_sub(first).filter(|d| *d < DIRECTIONS);
                let lift = |x: f64, at: usize| match direction(at) {
                    Some(d) => AutoDiff::variable(x, d),
                    None => AutoDiff::from(x),
                };
                qdot.push(lift(0.0, k));
                v.push(lift(*x, n + k));
            }
            let mut q: Vec<AutoDiff> = positions.q.iter().map(|x| AutoDiff::from(*x)).collect();
            let lifted = self.calc_position_kinematics(&q)?;
            let moved = self.map_velocity_to_qdot(&lifted, &qdot)?;
            q.iter_mut().zip(moved).for_each(|(q, moved)| *q += moved);
            let positions = self.calc_position_kinematics(&q)?;
            let velocities = self.calc_velocity_kinematics(&positions, &v)?;
            let mut forces = self.zero_forces();
            let state = self.element_state(&positions, &velocities, &constants);
            for element in elements {
                state.add_force(*element, &mut forces);
            }
            let tau = dynamics::project(tree, &positions, &forces.spatial);
            for (i, (a, b)) in tau.iter().zip(&forces.generalized).enumerate() {
                let tau = *a + *b;
                if first == 0 {
                    from.tau[i] -= tau.re;
                }
                for at in first..(first + DIRECTIONS).min(2 * n) {
                    let change: &mut DMatrix<f64> = if at < n {
                        &mut from.dtau_dq
                    } else {
                        &mut from.dtau_dv
                    };
                    change[(i, at % n)] -= tau.eps[at - first];
                }
            }
        }
        Ok(())
    }
}
