//! The mass matrix, by composite rigid bodies.

use super::composite_inertia::composites;
use crate::kinematics::PositionKinematics;
use crate::tree::KinematicTree;
use nalgebra::DMatrix;
use tarragon_framework::Scalar;

/// Computes M(q), with the reflected inertia of rotors on the diagonal.
pub(crate) fn mass_matrix<T: Scalar>(
    tree: &KinematicTree,
    positions: &PositionKinematics<T>,
) -> DMatrix<T> {
    let n = tree.num_velocities;
    let mut m = DMatrix::zeros(n, n);
    let mut set = |i: usize, j: usize, value| (m[(i, j)], m[(j, i)]) = (value, value);
    let composites = composites(tree, positions);
    for (node, composite) in tree.nodes.iter().zip(&composites) {
        for j in node.velocities() {
            let column = &positions.columns[j];
            let mut momentum = composite.momentum(column);
            for i in node.velocities().take_while(|i| *i < j) {
                set(i, j, positions.columns[i].dot(&momentum));
            }
            set(j, j, column.dot(&momentum) + node.reflected);
            let mut at = node;
            while at.parent != 0 {
                let r = positions.p_wb(at.body) - positions.p_wb(at.parent);
                momentum = momentum.force_at(&-r);
                at = &tree.nodes[tree.node_of[at.parent as usize] as usize];
                for i in at.velocities() {
                    set(i, j, positions.columns[i].dot(&momentum));
                }
            }
        }
    }
    m
}

/// Computes the diagonal of M(q).
pub(crate) fn mass_matrix_diagonal<T: Scalar>(
    tree: &KinematicTree,
    positions: &PositionKinematics<T>,
) -> Vec<T> {
    let composites = composites(tree, positions);
    let mut diagonal = Vec::with_capacity(tree.num_velocities);
    for (node, composite) in tree.nodes.iter().zip(&composites) {
        for k in node.velocities() {
            let column = &positions.columns[k];
            diagonal.push(column.dot(&composite.momentum(column)) + node.reflected);
        }
    }
    diagonal
}
