//! The mass matrix, by composite rigid bodies.

use super::composite_inertia::{CompositeInertia, composites, composites_of};
use super::inertias::Inertias;
use crate::kinematics::PositionKinematics;
use crate::tree::{KinematicTree, MobilizedBody};
use nalgebra::DMatrix;
use std::ops::Range;
use tarragon_framework::Scalar;

/// Computes M(q), with the reflected inertia of rotors on the diagonal.
pub(crate) fn mass_matrix<T: Scalar>(
    tree: &KinematicTree,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
) -> DMatrix<T> {
    let n = tree.num_velocities;
    let mut m = DMatrix::zeros(n, n);
    let mut set = |i: usize, j: usize, value| (m[(i, j)], m[(j, i)]) = (value, value);
    let composites = composites(tree, inertias, positions);
    for (node, composite) in tree.nodes.iter().zip(&composites) {
        calc_columns(tree, inertias, positions, node, composite, &mut set);
    }
    m
}

/// Computes the elements of M(q) on and above the diagonal, in the columns of a node's velocities,
/// that are not zero because their joints are in different branches; `composite` is the inertia of
/// the body and all bodies outboard of it. Passes row, column and value.
#[inline]
pub(super) fn calc_columns<T: Scalar>(
    tree: &KinematicTree,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
    node: &MobilizedBody,
    composite: &CompositeInertia<T>,
    set: &mut impl FnMut(usize, usize, T),
) {
    for j in node.velocities() {
        let column = &positions.columns[j];
        let mut momentum = composite.momentum(column);
        for i in node.velocities().take_while(|i| *i < j) {
            set(i, j, positions.columns[i].dot(&momentum));
        }
        set(j, j, column.dot(&momentum) + inertias.reflected(node));
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

/// Computes the elements of the diagonal of M(q) that belong to the nodes of a tree.
pub(crate) fn mass_matrix_diagonal<T: Scalar>(
    tree: &KinematicTree,
    nodes: Range<usize>,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
) -> Vec<T> {
    let composites = composites_of(tree, nodes.clone(), inertias, positions);
    let mut diagonal = vec![];
    for (node, composite) in tree.nodes[nodes].iter().zip(&composites) {
        if node.is_free {
            let reflected = inertias.reflected(node);
            diagonal.extend(composite.diagonal().map(|m| m + reflected));
            continue;
        }
        for k in node.velocities() {
            let column = &positions.columns[k];
            let w = &column.rotational;
            let m = if node.only_turns() {
                w.dot(&composite.turn(w))
            } else {
                column.dot(&composite.momentum(column))
            };
            diagonal.push(m + inertias.reflected(node));
        }
    }
    diagonal
}
