//! Forces from motion: the recursive Newton-Euler algorithm.

use super::composite_inertia::CompositeInertia;
use crate::kinematics::{PositionKinematics, VelocityKinematics, spatial_accelerations};
use crate::spatial::SpatialVector;
use crate::tree::KinematicTree;
use tarragon_framework::Scalar;

/// Computes `tau = M(q) vdot + C(q, v) v`, with the reflected inertia of rotors.
pub(crate) fn inverse_dynamics<T: Scalar>(
    tree: &KinematicTree,
    positions: &PositionKinematics<T>,
    velocities: &VelocityKinematics<T>,
    vdot: &[T],
) -> Vec<T> {
    let mut tau = newton_euler(tree, positions, velocities, Some(vdot));
    for node in &tree.nodes {
        for k in node.velocities() {
            tau[k] += vdot[k] * T::from(node.reflected);
        }
    }
    tau
}

/// Computes `C(q, v) v`.
pub(crate) fn bias_term<T: Scalar>(
    tree: &KinematicTree,
    positions: &PositionKinematics<T>,
    velocities: &VelocityKinematics<T>,
) -> Vec<T> {
    newton_euler(tree, positions, velocities, None)
}

fn newton_euler<T: Scalar>(
    tree: &KinematicTree,
    positions: &PositionKinematics<T>,
    velocities: &VelocityKinematics<T>,
    vdot: Option<&[T]>,
) -> Vec<T> {
    let mut forces = vec![];
    spatial_accelerations(tree, positions, velocities, vdot, &mut forces);
    // Accelerations turn into forces in place, as each is needed only for its own body.
    for node in &tree.nodes {
        let body = node.body as usize;
        let (a, w) = (forces[body], velocities.v_wb[body].rotational);
        let m = CompositeInertia::of(&node.inertia, &positions.r_wb[body]);
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
    tau
}
