//! Mass matrix and bias forces of one tree of the plant, in one sweep over its bodies.

use super::composite_inertia::CompositeInertia;
use super::inertias::Inertias;
use super::mass_matrix::calc_columns;
use crate::kinematics::{PositionKinematics, VelocityKinematics, acceleration_across};
use crate::spatial::SpatialVector;
use crate::tree::{KinematicTree, MobilizedBody};
use nalgebra::Vector3;
use std::ops::Range;

/// Values of one body during the sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyWork {
    /// Of the body and all bodies outboard of it.
    composite: CompositeInertia<f64>,
    acceleration: SpatialVector<f64>,
    /// Force that the inboard joint transmits.
    force: SpatialVector<f64>,
}

impl BodyWork {
    pub(crate) fn zero() -> Self {
        Self {
            composite: CompositeInertia::zero(),
            acceleration: SpatialVector::zero(),
            force: SpatialVector::zero(),
        }
    }
}

/// The motion of a plant and the spatial forces on its bodies.
#[derive(Clone, Copy)]
pub(crate) struct ForcedMotion<'a> {
    pub(crate) tree: &'a KinematicTree,
    pub(crate) inertias: &'a Inertias<f64>,
    pub(crate) positions: &'a PositionKinematics<f64>,
    pub(crate) velocities: &'a VelocityKinematics<f64>,
    /// By body, about Bo and expressed in W.
    pub(crate) applied: &'a [SpatialVector<f64>],
}

impl ForcedMotion<'_> {
    /// Computes the mass matrix of the bodies of a range of nodes, a whole tree, row by row and
    /// with the reflected inertia of rotors, and the generalized forces `C(q, v) v` less those of
    /// the applied spatial forces. `work` has one element per node of the range.
    pub(crate) fn calc_tree(
        &self,
        nodes: Range<usize>,
        work: &mut [BodyWork],
        mass_matrix: &mut [f64],
        bias: &mut [f64],
    ) {
        let all = &self.tree.nodes;
        if let [node] = &all[nodes.clone()]
            && node.is_free
        {
            return self.calc_free_body(node, mass_matrix, bias);
        }
        let (first, n) = (nodes.start, bias.len());
        let inboard = |node: &MobilizedBody| match node.parent {
            0 => None,
            parent => (self.tree.node_of[parent as usize] as usize).checked_sub(first),
        };
        for (i, node) in all[nodes.clone()].iter().enumerate() {
            let body = node.body as usize;
            let base = inboard(node).map(|parent| work[parent].acceleration);
            let base = base.unwrap_or_else(SpatialVector::zero);
            let mut a = base;
            acceleration_across(node, self.positions, self.velocities, &base, &mut a);
            let own = CompositeInertia::of(self.inertias, node, self.positions);
            let mut needed = SpatialVector::zero();
            own.force(&a, &self.velocities.v_wb[body].rotational, &mut needed);
            work[i] = BodyWork {
                composite: own,
                acceleration: a,
                force: needed - self.applied[body],
            };
        }
        mass_matrix.fill(0.0);
        let v_start = all[first].v_start as usize;
        for (i, node) in all[nodes].iter().enumerate().rev() {
            let BodyWork {
                composite, force, ..
            } = work[i];
            for k in node.velocities() {
                bias[k - v_start] = self.positions.columns[k].dot(&force);
            }
            let mut set = |i: usize, j: usize, value: f64| {
                let (i, j) = (i - v_start, j - v_start);
                (mass_matrix[i * n + j], mass_matrix[j * n + i]) = (value, value);
            };
            let (tree, inertias, positions) = (self.tree, self.inertias, self.positions);
            calc_columns(tree, inertias, positions, node, &composite, &mut set);
            if let Some(parent) = inboard(node) {
                let r = self.arm(node);
                work[parent].force += force.force_at(&-r);
                work[parent].composite.add(&composite, &r);
            }
        }
    }

    /// Returns the position of a body's origin from that of its inboard body, expressed in W.
    fn arm(&self, node: &MobilizedBody) -> Vector3<f64> {
        self.positions.p_wb(node.body) - self.positions.p_wb(node.parent)
    }

    /// Does the same for a body whose velocities are its angular velocity and the velocity of Bo.
    fn calc_free_body(&self, node: &MobilizedBody, mass_matrix: &mut [f64], bias: &mut [f64]) {
        let body = node.body as usize;
        let own = CompositeInertia::of(self.inertias, node, self.positions);
        let w = &self.velocities.v_wb[body].rotational;
        let mut force = SpatialVector::zero();
        own.force(&SpatialVector::zero(), w, &mut force);
        force -= self.applied[body];
        bias[..3].copy_from_slice(force.rotational.as_slice());
        bias[3..].copy_from_slice(force.translational.as_slice());
        let (rotational, coupling) = (own.rotational(), own.moment.cross_matrix());
        for i in 0..3 {
            for j in 0..3 {
                mass_matrix[i * 6 + j] = rotational[(i, j)];
                mass_matrix[i * 6 + 3 + j] = coupling[(i, j)];
                mass_matrix[(i + 3) * 6 + j] = coupling[(j, i)];
                mass_matrix[(i + 3) * 6 + 3 + j] = if i == j { own.mass } else { 0.0 };
            }
        }
        for k in 0..6 {
            mass_matrix[k * 6 + k] += self.inertias.reflected(node);
        }
    }
}
