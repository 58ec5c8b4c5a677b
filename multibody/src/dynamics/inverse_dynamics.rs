//! Forces from motion: the recursive Newton-Euler algorithm.

use super::composite_inertia::CompositeInertia;
use super::inertias::Inertias;
use crate::kinematics::{PositionKinematics, VelocityKinematics, spatial_accelerations_of};
use crate::spatial::SpatialVector;
use crate::tree::{KinematicTree, MobilizedBody};
use nalgebra::Vector3;
use tarragon_framework::Scalar;

/// Motion of a plant whose forces are asked for.
#[derive(Clone, Copy)]
pub(crate) struct GivenMotion<'a, T: Scalar> {
    pub(crate) inertias: &'a Inertias<T>,
    pub(crate) positions: &'a PositionKinematics<T>,
    pub(crate) velocities: &'a VelocityKinematics<T>,
    /// Time derivatives of the velocities; 0 if they are not given.
    pub(crate) vdot: Option<&'a [T]>,
    /// Forces on the bodies, which count as if they were needed less; 0 if they are not given.
    pub(crate) applied: Option<&'a [SpatialVector<T>]>,
}

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
    let motion = GivenMotion {
        inertias,
        positions,
        velocities,
        vdot,
        applied,
    };
    let mut forces = vec![SpatialVector::zero(); tree.nodes.len() + 1];
    let mut tau = vec![T::zero(); tree.num_velocities];
    motion.calc_forces(&tree.nodes, &mut forces, &mut tau);
    tau
}

/// Returns the position of a body's origin from that of its inboard body, expressed in W.
#[inline]
fn arm<T: Scalar>(positions: &PositionKinematics<T>, node: &MobilizedBody) -> Vector3<T> {
    positions.p_wb(node.body) - positions.p_wb(node.parent)
}

impl<T: Scalar> GivenMotion<'_, T> {
    /// Computes the elements of tau that belong to the nodes of a tree, or of all trees. `forces`,
    /// by body, is work space.
    pub(crate) fn calc_forces(
        &self,
        nodes: &[MobilizedBody],
        forces: &mut [SpatialVector<T>],
        tau: &mut [T],
    ) {
        let Some(base) = nodes.first() else {
            return;
        };
        let (positions, velocities, vdot) = (self.positions, self.velocities, self.vdot);
        // The bodies that trees are fixed to do not move.
        forces[base.parent as usize] = SpatialVector::zero();
        spatial_accelerations_of(nodes, positions, velocities, vdot, forces);
        self.transmit(nodes, forces);
        for node in nodes {
            let force = &forces[node.body as usize];
            if node.is_free {
                let own = &mut tau[node.velocities()];
                own[..3].copy_from_slice(force.rotational.as_slice());
                own[3..].copy_from_slice(force.translational.as_slice());
                if let Some(vdot) = vdot {
                    let reflected = self.inertias.reflected(node);
                    for (tau, vdot) in own.iter_mut().zip(&vdot[node.velocities()]) {
                        *tau += *vdot * reflected;
                    }
                }
                continue;
            }
            let only_turns = node.only_turns();
            for k in node.velocities() {
                let column = &positions.columns[k];
                tau[k] = if only_turns {
                    column.rotational.dot(&force.rotational)
                } else {
                    column.dot(force)
                };
                if let Some(vdot) = vdot {
                    tau[k] += vdot[k] * self.inertias.reflected(node);
                }
            }
        }
    }

    /// Turns the spatial accelerations of bodies, in place, into the forces that their inboard
    /// joints transmit to them, about the origins of the bodies and expressed in W.
    pub(super) fn transmit(&self, nodes: &[MobilizedBody], forces: &mut [SpatialVector<T>]) {
        for node in nodes {
            let (body, positions) = (node.body as usize, self.positions);
            let w = &self.velocities.v_wb[body].rotational;
            let force = &mut forces[body];
            let a = *force;
            if self.inertias.body(node).is_none() && positions.lacks_derivatives(node.body) {
                let model = Inertias::of_model();
                CompositeInertia::of(&model, node, positions.real()).force(&a, w, force);
            } else {
                CompositeInertia::of(self.inertias, node, positions).force(&a, w, force)
            }
            if let Some(applied) = self.applied {
                force.rotational -= &applied[body].rotational;
                force.translational -= &applied[body].translational;
            }
        }
        for node in nodes.iter().rev().filter(|node| node.parent != 0) {
            let two = forces.get_disjoint_mut([node.body as usize, node.parent as usize]);
            let [force, inboard] = two.expect("a body is not its own parent");
            if self.positions.lacks_derivatives(node.body) {
                inboard.add_force_from(force, &arm(self.positions.real(), node))
            } else {
                inboard.add_force_from(force, &arm(self.positions, node))
            }
        }
    }
}
