//! Measurements of a body with all bodies that it carries.

use super::frame::BodyMotion;
use nalgebra::Vector3;
use std::collections::BTreeSet;
use tarragon_framework::Scalar;
use tarragon_multibody::{BodyIndex, MultibodyPlant, Result, SpatialInertia, SpatialVector};

/// Measurement of the bodies of a subtree.
#[derive(Clone, Debug)]
pub(super) struct SubtreeMeasurement {
    /// The first body carries the others.
    bodies: Vec<(BodyIndex, SpatialInertia)>,
    pub(super) quantity: SubtreeQuantity,
}

/// Quantity of a subtree, expressed in the world.
#[derive(Clone, Copy, Debug)]
pub(super) enum SubtreeQuantity {
    /// Position of the center of mass (m).
    CenterOfMass,
    /// Velocity of the center of mass (m/s).
    Velocity,
    /// Angular momentum about the center of mass (N m s).
    AngularMomentum,
}

impl SubtreeQuantity {
    /// Returns true if it depends on velocities.
    pub(super) fn has_velocity(self) -> bool {
        !matches!(self, Self::CenterOfMass)
    }
}

/// Returns a body with all bodies that joints connect to it from parents to children; all bodies
/// for the world.
fn carried_by(plant: &MultibodyPlant, root: BodyIndex) -> Vec<BodyIndex> {
    if root == BodyIndex::WORLD {
        return plant.bodies().map(|(body, _)| body).collect();
    }
    let mut children = vec![vec![]; plant.num_bodies()];
    for (_, joint) in plant.joints() {
        children[joint.parent_body().index()].push(joint.child_body());
    }
    let (mut found, mut seen) = (vec![root], BTreeSet::from([root]));
    let mut next = 0;
    while let Some(body) = found.get(next) {
        let new = children[body.index()].iter().copied();
        let new: Vec<BodyIndex> = new.filter(|child| seen.insert(*child)).collect();
        found.extend(new);
        next += 1;
    }
    found
}

impl SubtreeMeasurement {
    /// Creates the measurement of a body of a finalized plant and all bodies that it carries.
    pub(super) fn new(
        plant: &MultibodyPlant,
        root: BodyIndex,
        quantity: SubtreeQuantity,
    ) -> Result<Self> {
        plant.body(root)?;
        let bodies = carried_by(plant, root).into_iter();
        let bodies = bodies.map(|body| Ok((body, *plant.body(body)?.spatial_inertia())));
        Ok(Self {
            bodies: bodies.collect::<Result<_>>()?,
            quantity,
        })
    }

    /// Computes the measurement.
    pub(super) fn measure<T: Scalar>(&self, motion: BodyMotion<'_, T>, y: &mut [T]) {
        let vector = match self.quantity {
            SubtreeQuantity::CenterOfMass => self.center_of_mass(motion),
            SubtreeQuantity::Velocity => {
                let momentum = self.momentum(motion, &Vector3::zeros()).translational;
                match self.mass() {
                    0.0 => Vector3::zeros(),
                    mass => momentum * T::from(1.0 / mass),
                }
            }
            SubtreeQuantity::AngularMomentum => {
                let center = self.center_of_mass(motion);
                self.momentum(motion, &center).rotational
            }
        };
        y.copy_from_slice(vector.as_slice());
    }

    fn mass(&self) -> f64 {
        self.bodies.iter().map(|(_, inertia)| inertia.mass()).sum()
    }

    /// Returns the position of the center of mass (m); that of the first body without mass.
    fn center_of_mass<T: Scalar>(&self, motion: BodyMotion<'_, T>) -> Vector3<T> {
        let total = self.mass();
        let center = |(body, inertia): &(BodyIndex, SpatialInertia)| {
            let p_bobcm_b = inertia.center_of_mass().map(T::from);
            (motion.poses[body.index()] * nalgebra::Point3::from(p_bobcm_b)).coords
        };
        if total == 0.0 {
            return self.bodies.first().map_or_else(Vector3::zeros, center);
        }
        let weighted =
            |part: &(BodyIndex, SpatialInertia)| center(part) * T::from(part.1.mass() / total);
        let parts = self.bodies.iter().map(weighted);
        parts.fold(Vector3::zeros(), |sum, part| sum + part)
    }

    /// Returns the momentum about a point of the world, expressed in the world.
    fn momentum<T: Scalar>(
        &self,
        motion: BodyMotion<'_, T>,
        about: &Vector3<T>,
    ) -> SpatialVector<T> {
        let mut sum = SpatialVector::zero();
        for (body, inertia) in &self.bodies {
            let (x_wb, v_wb) = (
                &motion.poses[body.index()],
                &motion.velocities[body.index()],
            );
            let r_wb = &x_wb.rotation;
            let mass = T::from(inertia.mass());
            let p_bobcm = r_wb * inertia.center_of_mass().map(T::from);
            let w_b = r_wb.inverse_transform_vector(&v_wb.rotational);
            let spin = inertia.rotational_inertia().map(T::from) * w_b;
            let momentum = SpatialVector {
                rotational: r_wb * spin + p_bobcm.cross(&v_wb.translational) * mass,
                translational: v_wb.velocity_at(&p_bobcm).translational * mass,
            };
            sum += momentum.force_at(&(about - x_wb.translation.vector));
        }
        sum
    }
}
