//! Forces from motion.

use super::composite::Composite;
use crate::coordinates::Coordinates;
use crate::error::Result;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::plant::MultibodyPlant;
use crate::spatial::SpatialVector;
use tarragon_framework::Scalar;

impl MultibodyPlant {
    /// The generalized forces `tau = M(q) vdot + C(q, v) v` (N, N m) that a motion takes, without
    /// gravity and damping. Rotors count with their reflected inertia.
    ///
    /// # Errors
    /// Before `finalize`, if positions or velocities are of another plant, or `vdot` has the wrong
    /// length or a value that is not finite.
    pub fn calc_inverse_dynamics<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        vdot: &[T],
    ) -> Result<Vec<T>> {
        let asked = "calc_inverse_dynamics";
        let tree = self.tree_of(asked, positions)?;
        let topology = self.finalized(asked)?;
        topology.check(Coordinates::Accelerations, vdot)?;
        let mut tau = self.newton_euler(positions, velocities, Some(vdot))?;
        for node in &tree.nodes {
            for k in node.velocities() {
                tau[k] += vdot[k] * T::from(node.reflected);
            }
        }
        Ok(tau)
    }

    /// The forces `C(q, v) v` (N, N m) of centripetal and Coriolis acceleration, in the order of v.
    ///
    /// # Errors
    /// Before `finalize`, or if positions or velocities are of another plant.
    pub fn calc_bias_term<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> Result<Vec<T>> {
        self.newton_euler(positions, velocities, None)
    }

    fn newton_euler<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        vdot: Option<&[T]>,
    ) -> Result<Vec<T>> {
        let tree = self.tree_of("calc_inverse_dynamics", positions)?;
        tree.check_velocities(velocities)?;
        let mut forces = vec![];
        tree.spatial_accelerations(positions, velocities, vdot, &mut forces);
        // Accelerations turn into forces in place, as each is needed only for its own body.
        for node in &tree.nodes {
            let body = node.body as usize;
            let (a, w) = (forces[body], velocities.v_wb[body].rotational);
            let m = Composite::of(&node.inertia, &positions.r_wb[body]);
            let spin = w.cross(&m.turn(&w));
            let pull = w.cross(&w.cross(&m.moment));
            forces[body] = m.momentum(&a)
                + SpatialVector {
                    rotational: spin,
                    translational: pull,
                };
        }
        let mut tau = vec![T::zero(); tree.num_velocities];
        for node in tree.nodes.iter().rev() {
            let force = forces[node.body as usize];
            for k in node.velocities() {
                tau[k] = positions.columns[k].dot(&force);
            }
            let r = positions.p_wb(node.body) - positions.p_wb(node.parent);
            forces[node.parent as usize] += force.force_at(&-r);
        }
        Ok(tau)
    }
}
