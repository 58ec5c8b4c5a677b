//! The mass matrix and the forces of gravity.

use crate::error::Result;
use crate::kinematics::{PositionKinematics, turned};
use crate::plant::MultibodyPlant;
use nalgebra::{DMatrix, Matrix3, Vector3};
use tarragon_framework::Scalar;

impl MultibodyPlant {
    /// The mass matrix M(q), `num_velocities` square (kg, kg m, kg m^2): kinetic energy is
    /// `v^T M v / 2`. Inertia of rotors is on the diagonal, times the gear ratio squared.
    ///
    /// # Errors
    /// Before `finalize`, or if the positions are of another plant.
    pub fn calc_mass_matrix<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<DMatrix<T>> {
        let n = self.num_velocities();
        let mut m = DMatrix::zeros(n, n);
        let tree = self.tree_of("calc_mass_matrix", positions)?;
        let composites = tree.composites(positions);
        for (node, composite) in tree.nodes.iter().zip(&composites) {
            for j in node.velocities() {
                let column = &positions.columns[j];
                let mut momentum = composite.momentum(column);
                for i in node.velocities().take_while(|i| *i <= j) {
                    let value = positions.columns[i].dot(&momentum);
                    (m[(i, j)], m[(j, i)]) = (value, value);
                }
                m[(j, j)] += T::from(node.reflected);
                let mut at = node;
                while at.parent != 0 {
                    let r = positions.p_wb(at.body) - positions.p_wb(at.parent);
                    momentum = momentum.force_at(&-r);
                    at = &tree.nodes[tree.node_of[at.parent as usize] as usize];
                    for i in at.velocities() {
                        let value = positions.columns[i].dot(&momentum);
                        (m[(i, j)], m[(j, i)]) = (value, value);
                    }
                }
            }
        }
        Ok(m)
    }

    /// Generalized forces of gravity (N, N m), in the order of v: `tau_g(q)` of
    /// `M(q) vdot + C(q, v) v = tau_g(q) + tau`.
    ///
    /// # Errors
    /// Before `finalize`, or if the positions are of another plant.
    pub fn calc_gravity_generalized_forces<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<Vec<T>> {
        let tree = self.tree_of("calc_gravity_generalized_forces", positions)?;
        let g = turned(&Matrix3::identity(), &self.gravity());
        let mut tau = vec![T::zero(); tree.num_velocities];
        let composites = tree.composites(positions);
        for (node, composite) in tree.nodes.iter().zip(&composites) {
            let weight: Vector3<T> = g * T::from(composite.mass);
            let moment = composite.moment.cross(&g);
            for k in node.velocities() {
                let column = &positions.columns[k];
                tau[k] = column.rotational.dot(&moment) + column.translational.dot(&weight);
            }
        }
        Ok(tau)
    }
}
