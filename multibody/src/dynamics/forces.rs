//! Forces on the bodies and joints of a plant.

use super::composite_inertia::mass_and_moment;
use super::inertias::Inertias;
use crate::kinematics::PositionKinematics;
use crate::model::BodyIndex;
use crate::spatial::SpatialVector;
use crate::tree::{KinematicTree, MobilizedBody};
use nalgebra::Vector3;
use std::any::Any;
use std::borrow::Cow;
use tarragon_framework::Scalar;

/// Applied forces of a plant: spatial forces on bodies and generalized forces (Drake's
/// `MultibodyForces`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.0)?;
/// let point_mass = nalgebra::Matrix3::zeros();
/// let bob = SpatialInertia::from_central(2.0, -Vector3::z(), point_mass)?;
/// let rod = plant.add_rigid_body("rod", ModelInstanceIndex::DEFAULT, bob)?;
/// plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, rod, Vector3::y())?)?;
/// let plant = plant.build()?;
/// let positions = plant.calc_position_kinematics(&[0.5_f64])?;
/// let velocities = plant.calc_velocity_kinematics(&positions, &[0.0])?;
/// let forces = plant.calc_force_elements_contribution(&positions, &velocities)?;
/// let vdot = plant.calc_forward_dynamics(&positions, &velocities, &forces)?;
/// assert!((vdot[0] + 9.81 * 0.5_f64.sin()).abs() < 1e-14); // -g sin(q) / l
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MultibodyForces<T: Scalar> {
    /// Generalized forces (N, N m), in the order of v.
    pub(crate) generalized: Vec<T>,
    /// `F_Bo_W` by body: moment about Bo (N m) and force (N), expressed in W.
    pub(crate) spatial: Vec<SpatialVector<T>>,
}

impl<T: Scalar> MultibodyForces<T> {
    pub(crate) fn zero(num_bodies: usize, num_velocities: usize) -> Self {
        Self {
            generalized: vec![T::zero(); num_velocities],
            spatial: vec![SpatialVector::zero(); num_bodies],
        }
    }
    /// Sets all forces to zero, for a plant of some size.
    pub(crate) fn reset(&mut self, num_bodies: usize, num_velocities: usize) {
        self.generalized.clear();
        self.generalized.resize(num_velocities, T::zero());
        self.spatial.clear();
        self.spatial.resize(num_bodies, SpatialVector::zero());
    }
    /// Returns the same without derivatives.
    pub(crate) fn real(&self) -> Cow<'_, MultibodyForces<f64>> {
        if let Some(real) = (self as &dyn Any).downcast_ref() {
            return Cow::Borrowed(real);
        }
        Cow::Owned(MultibodyForces {
            generalized: self.generalized.iter().map(|x| x.re()).collect(),
            spatial: self.spatial.iter().map(SpatialVector::real).collect(),
        })
    }
    /// Returns the generalized forces (N, N m), in the order of v.
    pub fn generalized_forces(&self) -> &[T] {
        &self.generalized
    }
    /// Returns the generalized forces (N, N m), in the order of v, to be changed.
    pub fn generalized_forces_mut(&mut self) -> &mut [T] {
        &mut self.generalized
    }
    /// Returns `F_Bo_W` by [`BodyIndex`]: moment about Bo (N m) and force (N), expressed in W.
    pub fn body_forces(&self) -> &[SpatialVector<T>] {
        &self.spatial
    }
    /// Adds a spatial force `F_Bo_W` on a body of the plant.
    ///
    /// # Panics
    /// Panics if the body does not exist.
    pub fn add_body_force(&mut self, body: BodyIndex, f_bo_w: SpatialVector<T>) {
        self.spatial[body.index()] += f_bo_w;
    }
    /// Adds a force at a point P of a body, expressed in W; `p_bop_w` is the position of P from Bo.
    pub(crate) fn add_at(&mut self, body: BodyIndex, p_bop_w: &Vector3<T>, f: SpatialVector<T>) {
        self.spatial[body.index()] += f.force_at(&-p_bop_w);
    }

    /// Adds the weight of every body; `gravity` tells the acceleration (m/s^2) that acts on a body.
    pub(crate) fn add_gravity(
        &mut self,
        tree: &KinematicTree,
        inertias: &Inertias<T>,
        positions: &PositionKinematics<T>,
        gravity: impl Fn(BodyIndex) -> Vector3<f64>,
    ) {
        for node in &tree.nodes {
            let body = node.body as usize;
            let g = gravity(BodyIndex::new(body));
            let is_model = inertias.body(node).is_none();
            self.spatial[body] += if is_model && positions.lacks_derivatives(node.body) {
                let weight = weight(&Inertias::of_model(), node, positions.real(), &g);
                SpatialVector::lift(&weight)
            } else {
                weight(inertias, node, positions, &g)
            };
        }
    }
}

/// Returns the weight of a body about Bo, expressed in W.
#[inline(always)]
fn weight<T: Scalar>(
    inertias: &Inertias<T>,
    node: &MobilizedBody,
    positions: &PositionKinematics<T>,
    g: &Vector3<f64>,
) -> SpatialVector<T> {
    let (mass, m) = mass_and_moment(inertias, node, positions);
    SpatialVector {
        rotational: Vector3::new(
            m.y * g.z - m.z * g.y,
            m.z * g.x - m.x * g.z,
            m.x * g.y - m.y * g.x,
        ),
        translational: g.map(|g| mass * g),
    }
}

/// Computes the generalized forces equivalent to spatial forces on the bodies.
pub(crate) fn project<T: Scalar>(
    tree: &KinematicTree,
    positions: &PositionKinematics<T>,
    spatial: &[SpatialVector<T>],
) -> Vec<T> {
    let mut forces = spatial.to_vec();
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
