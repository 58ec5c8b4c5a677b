//! Measurements of a body with all bodies that it carries.

use super::frame::BodyMotion;
use nalgebra::{Matrix3, Vector3};
use std::collections::BTreeSet;
use tarragon_framework::Scalar;
use tarragon_multibody::{
    BodyIndex, BodyInertia, MultibodyPlant, Result, SpatialInertia, SpatialVector,
};

/// Measurement of the bodies of a subtree.
#[derive(Clone, Debug)]
pub(super) struct SubtreeMeasurement {
    /// The first body carries the others. Mass properties are the model's.
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

/// Mass properties of a body.
struct BodyMass<T: Scalar> {
    body: BodyIndex,
    mass: T,
    p_bobcm_b: Vector3<T>,
    /// Rotational inertia about Bo, expressed in B (kg m^2).
    rotational: Matrix3<T>,
}

impl<T: Scalar> BodyMass<T> {
    fn new(body: BodyIndex, model: &SpatialInertia, own: Option<&BodyInertia<T>>) -> Self {
        let p_bobcm_b = model.center_of_mass().map(T::from);
        let Some(own) = own else {
            return Self {
                body,
                mass: T::from(model.mass()),
                p_bobcm_b,
                rotational: model.rotational_inertia().map(T::from),
            };
        };
        Self {
            body,
            mass: own.mass,
            p_bobcm_b: match own.mass.re() {
                0.0 => p_bobcm_b,
                _ => own.moment / own.mass,
            },
            rotational: own.rotational,
        }
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
    /// Creates the measurement of a body of a plant and all bodies that it carries.
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
                let mass = self.mass(motion);
                match mass.re() {
                    0.0 => Vector3::zeros(),
                    _ => momentum * (T::one() / mass),
                }
            }
            SubtreeQuantity::AngularMomentum => {
                let center = self.center_of_mass(motion);
                self.momentum(motion, &center).rotational
            }
        };
        y.copy_from_slice(vector.as_slice());
    }

    /// Returns the mass properties of the bodies.
    fn parts<'a, T: Scalar>(
        &'a self,
        motion: BodyMotion<'a, T>,
    ) -> impl Iterator<Item = BodyMass<T>> + 'a {
        self.bodies.iter().map(move |(body, model)| {
            let own = motion.parameters.and_then(|own| own.body_inertia(*body));
            BodyMass::new(*body, model, own)
        })
    }

    fn mass<T: Scalar>(&self, motion: BodyMotion<'_, T>) -> T {
        let parts = self.parts(motion);
        parts.fold(T::zero(), |sum, part| sum + part.mass)
    }

    /// Returns the position of the center of mass (m); that of the first body without mass.
    fn center_of_mass<T: Scalar>(&self, motion: BodyMotion<'_, T>) -> Vector3<T> {
        let total = self.mass(motion);
        let center = |part: &BodyMass<T>| {
            (motion.poses[part.body.index()] * nalgebra::Point3::from(part.p_bobcm_b)).coords
        };
        let mut parts = self.parts(motion);
        if total.re() == 0.0 {
            return parts
                .next()
                .map_or_else(Vector3::zeros, |part| center(&part));
        }
        parts.fold(Vector3::zeros(), |sum, part| {
            sum + center(&part) * (part.mass / total)
        })
    }

    /// Returns the momentum about a point of the world, expressed in the world.
    fn momentum<T: Scalar>(
        &self,
        motion: BodyMotion<'_, T>,
        about: &Vector3<T>,
    ) -> SpatialVector<T> {
        let mut sum = SpatialVector::zero();
        for part in self.parts(motion) {
            let body = part.body.index();
            let (x_wb, v_wb) = (&motion.poses[body], &motion.velocities[body]);
            let r_wb = &x_wb.rotation;
            let p_bobcm = r_wb * part.p_bobcm_b;
            let w_b = r_wb.inverse_transform_vector(&v_wb.rotational);
            let spin = part.rotational * w_b;
            let momentum = SpatialVector {
                rotational: r_wb * spin + p_bobcm.cross(&v_wb.translational) * part.mass,
                translational: v_wb.velocity_at(&p_bobcm).translational * part.mass,
            };
            sum += momentum.force_at(&(about - x_wb.translation.vector));
        }
        sum
    }
}
