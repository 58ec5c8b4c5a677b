//! Accelerations from forces, and the forces in joints.

use super::articulated_body::{ArticulatedBodies, SingularInertia};
use super::forces::MultibodyForces;
use super::inertias::Inertias;
use super::inverse_dynamics::{GivenMotion, inverse_dynamics};
use crate::kinematics::{PositionKinematics, VelocityKinematics, spatial_accelerations};
use crate::spatial::SpatialVector;
use crate::tree::KinematicTree;
use tarragon_framework::Scalar;

/// Computes `vdot` of `M(q) vdot + C(q, v) v = tau`, for applied forces.
///
/// Derivatives follow from the implicit function theorem: `M vdot = b` gives `M dvdot = db - dM
/// vdot`, whose right-hand side is one pass of inverse dynamics with dual numbers. The factored
/// mass matrix never has derivatives. Each such step is exact in one order of derivatives more.
pub(crate) fn forward_dynamics<T: Scalar>(
    tree: &KinematicTree,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
    velocities: &VelocityKinematics<T>,
    forces: &MultibodyForces<T>,
) -> Result<Vec<T>, SingularInertia> {
    let real = positions.real();
    let mut factored = ArticulatedBodies::default();
    let (real_v, real_forces) = (velocities.real(), forces.real());
    let values = factored.update(tree, &inertias.real(), real, real_v, &real_forces)?;
    let mut vdot: Vec<T> = values.into_iter().map(T::from).collect();
    for _ in 0..T::NDERIV {
        let applied = Some(&*forces.spatial);
        let needed = inverse_dynamics(tree, inertias, positions, velocities, Some(&vdot), applied);
        let missing = forces.generalized.iter().zip(needed);
        let mut missing: Vec<T> = missing.map(|(have, need)| *have - need).collect();
        factored.solve(tree, real, &mut missing, &mut vec![]);
        for (x, correction) in vdot.iter_mut().zip(missing) {
            *x += correction;
        }
    }
    Ok(vdot)
}

/// Computes the forces that joints transmit to their outboard bodies, by body, about the body's
/// origin and expressed in W.
pub(crate) fn reaction_forces<T: Scalar>(
    tree: &KinematicTree,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
    velocities: &VelocityKinematics<T>,
    vdot: &[T],
    applied: &[SpatialVector<T>],
) -> Vec<SpatialVector<T>> {
    let mut forces = vec![];
    spatial_accelerations(tree, positions, velocities, Some(vdot), &mut forces);
    let motion = GivenMotion {
        inertias,
        positions,
        velocities,
        vdot: Some(vdot),
        applied: Some(applied),
    };
    motion.transmit(&tree.nodes, &mut forces);
    forces
}
