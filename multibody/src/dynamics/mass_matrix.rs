//! The mass matrix and the forces of gravity, by composite rigid bodies.

use super::composite_inertia::composites;
use crate::kinematics::{PositionKinematics, turned};
use crate::tree::KinematicTree;
use nalgebra::{DMatrix, Matrix3, Vector3};
use tarragon_framework::Scalar;

/// Computes M(q), with the reflected inertia of rotors on the diagonal.
pub(crate) fn mass_matrix<T: Scalar>(
    tree: &KinematicTree,
    positions: &PositionKinematics<T>,
) -> DMatrix<T> {
    let n = tree.num_velocities;
    let mut m = DMatrix::zeros(n, n);
    let composites = composites(tree, positions);
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
    m
}

/// Computes `tau_g(q)` for gravity (m/s^2) expressed in W.
pub(crate) fn gravity_forces<T: Scalar>(
    tree: &KinematicTree,
    positions: &PositionKinematics<T>,
    gravity: &Vector3<f64>,
) -> Vec<T> {
    let g = turned(&Matrix3::identity(), gravity);
    let mut tau = vec![T::zero(); tree.num_velocities];
    let composites = composites(tree, positions);
    for (node, composite) in tree.nodes.iter().zip(&composites) {
        let weight: Vector3<T> = g * T::from(composite.mass);
        let moment = composite.moment.cross(&g);
        for k in node.velocities() {
            let column = &positions.columns[k];
            tau[k] = column.rotational.dot(&moment) + column.translational.dot(&weight);
        }
    }
    tau
}
