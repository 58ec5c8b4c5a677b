//! Forces from motion: the recursive Newton-Euler algorithm.

use super::composite_inertia::CompositeInertia;
use super::inertias::Inertias;
use crate::kinematics::{PositionKinematics, VelocityKinematics, spatial_accelerations};
use crate::spatial::SpatialVector;
use crate::tree::KinematicTree;
use tarragon_framework::Scalar;

/// Computes `tau = M(q) vdot + C(q, v) v`, with the reflected inertia of rotors, less the effect of
/// forces `applied` to the bodies; `vdot` is 0 if it is not given.
pub(crate) fn inverse_dynamics<T: Scalar>(
    tree: &KinematicTree,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
    velocities: &VelocityKinematics<T>,
    vdot: Option<&[T]>,
    applied: Option<&[SpatialVector<T>]>,
) -> Vec<T> {
    let mut accelerations = vec![];
    spatial_accelerations(tree, positions, velocities, vdot, &mut accelerations);
    let mut forces = accelerations;
    transmitted_forces(tree, inertias, positions, velocities, applied, &mut forces);
    let mut tau = vec![T::zero(); tree.num_velocities];
    for node in &tree.nodes {
        let force = &forces[node.body as usize];
        if node.is_free {
            let own = &mut tau[node.velocities()];
            own[..3].copy_from_slice(force.rotational.as_slice());
            own[3..].copy_from_slice(force.translational.as_slice());
            if let Some(vdot) = vdot {
                let reflected = inertias.reflected(node);
                for (tau, vdot) in own.iter_mut().zip(&vdot[node.velocities()]) {
                    *tau += *vdot * reflected;
                }
            }
            continue;
        }
        for k in node.velocities() {
            tau[k] = positions.columns[k].dot(force);
            if let Some(vdot) = vdot {
                tau[k] += vdot[k] * inertias.reflected(node);
            }
        }
    }
    tau
}

/// Turns the spatial accelerations of all bodies, in place, into the forces that their inboard
/// joints transmit to them, about the origins of the bodies and expressed in W.
pub(crate) fn transmitted_forces<T: Scalar>(
    tree: &KinematicTree,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
    velocities: &VelocityKinematics<T>,
    applied: Option<&[SpatialVector<T>]>,
    forces: &mut [SpatialVector<T>],
) {
    for node in &tree.nodes {
        let body = node.body as usize;
        let (a, w) = (forces[body], velocities.v_wb[body].rotational);
        let m = CompositeInertia::of(inertias, node, positions);
        forces[body] = m.force(&a, &w);
        if let Some(applied) = applied {
            forces[body] -= applied[body];
        }
    }
    for node in tree.nodes.iter().rev() {
        if node.parent != 0 {
            let force = forces[node.body as usize];
            let r = positions.p_wb(node.body) - positions.p_wb(node.parent);
            forces[node.parent as usize] += force.force_at(&-r);
        }
    }
}
