//! First mass moment, momentum and kinetic energy of all bodies.

use super::composite_inertia::{CompositeInertia, composites, mass_and_moment};
use super::inertias::Inertias;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::BodyIndex;
use crate::spatial::SpatialVector;
use crate::tree::KinematicTree;
use nalgebra::{Matrix3xX, Vector3};
use tarragon_framework::Scalar;

/// Computes the mass of all bodies times the position of their centre of mass, expressed in W (kg
/// m).
pub(crate) fn first_moment<T: Scalar>(
    tree: &KinematicTree,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
) -> Vector3<T> {
    let mut whole = CompositeInertia::zero();
    for node in &tree.nodes {
        let m = CompositeInertia::of(inertias, node, positions);
        whole.add(&m, positions.p_wb(node.body));
    }
    whole.moment
}

/// Computes the mass of one body times the position of its centre of mass, expressed in W (kg m).
pub(crate) fn first_moment_of<T: Scalar>(
    tree: &KinematicTree,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
    body: BodyIndex,
) -> Vector3<T> {
    let Some(node) = tree.node(body) else {
        return Vector3::zeros();
    };
    let (mass, moment) = mass_and_moment(inertias, node, positions);
    moment + positions.p_wb(node.body) * mass
}

/// Computes the Jacobian of the velocity of the centre of mass of all bodies, whose mass is `total`
/// (kg).
pub(crate) fn center_of_mass_jacobian<T: Scalar>(
    tree: &KinematicTree,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
    total: T,
) -> Matrix3xX<T> {
    let mut jacobian = Matrix3xX::zeros(tree.num_velocities);
    let composites = composites(tree, inertias, positions);
    for (node, composite) in tree.nodes.iter().zip(&composites) {
        for k in node.velocities() {
            let momentum = composite.momentum(&positions.columns[k]).translational;
            jacobian.set_column(k, &(momentum * (T::one() / total)));
        }
    }
    jacobian
}

/// Computes the spatial momentum of all bodies about a point P, `L_WSP_W`.
pub(crate) fn spatial_momentum<T: Scalar>(
    tree: &KinematicTree,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
    velocities: &VelocityKinematics<T>,
    p_wop_w: &Vector3<T>,
) -> SpatialVector<T> {
    let mut sum = SpatialVector::zero();
    for node in &tree.nodes {
        let body = node.body as usize;
        let m = CompositeInertia::of(inertias, node, positions);
        let momentum = m.momentum(&velocities.v_wb[body]);
        sum += momentum.force_at(&(p_wop_w - positions.p_wb(node.body)));
    }
    sum
}

/// Computes the kinetic energy of all bodies and rotors (J).
pub(crate) fn kinetic_energy<T: Scalar>(
    tree: &KinematicTree,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
    velocities: &VelocityKinematics<T>,
) -> T {
    let mut twice = T::zero();
    for node in &tree.nodes {
        let body = node.body as usize;
        let m = CompositeInertia::of(inertias, node, positions);
        let v = &velocities.v_wb[body];
        twice += v.dot(&m.momentum(v));
        for k in node.velocities() {
            twice += velocities.v[k] * velocities.v[k] * inertias.reflected(node);
        }
    }
    twice * T::from(0.5)
}
