//! Contact between the collision geometries of a plant.

use super::contact_materials::{ContactMaterial, ContactMaterials};
use super::contact_model::ContactModel;
use super::contact_results::PointPairContactInfo;
use super::model_parameters::ModelParameters;
use super::multibody_plant::MultibodyPlant;
use crate::discrete::ContactParameters;
use crate::error::{Error, Result};
use crate::kinematics::VelocityKinematics;
use crate::model::BodyIndex;
use nalgebra::{Matrix3, Vector3};
use tarragon_framework::Scalar;
use tarragon_geometry::{PenetrationAsPointPair, QueryObject, SceneGraphInspector};

/// A contact at a point, before its force is known.
#[derive(Clone, Debug)]
pub(super) struct PointContact<T: Scalar> {
    pub(super) bodies: [BodyIndex; 2],
    pub(super) pair: PenetrationAsPointPair<T>,
    point_id: u32,
    /// Position of the contact point in W.
    pub(super) p_wc: Vector3<T>,
    /// Two tangents and the normal out of A into B, expressed in W, as columns.
    pub(super) r_wc: Matrix3<T>,
    pub(super) parameters: ContactParameters<T>,
    /// Static and dynamic friction.
    friction: (T, T),
}

/// Returns a frame whose z axis is a unit vector, as columns.
fn frame_along<T: Scalar>(z: &Vector3<T>) -> Matrix3<T> {
    let mut least = 0;
    for k in 1..3 {
        if z[k].re().abs() < z[least].re().abs() {
            least = k;
        }
    }
    let x = Vector3::ith(least, T::one()).cross(z).normalize();
    Matrix3::from_columns(&[x, z.cross(&x), *z])
}

/// Returns true if the value is infinite, whatever the derivatives are.
fn is_infinite<T: Scalar>(x: T) -> bool {
    x.re().is_infinite()
}

/// Returns the harmonic mean of two coefficients of friction.
fn combined_friction<T: Scalar>(a: T, b: T) -> T {
    if (a + b).re() > 0.0 {
        a * 2.0 * b / (a + b)
    } else {
        T::zero()
    }
}

impl MultibodyPlant {
    /// Returns all contacts between the geometries of a scene.
    pub(super) fn point_contacts<T: Scalar>(
        &self,
        materials: &mut ContactMaterials,
        query: &QueryObject<T>,
        parameters: &ModelParameters<T>,
    ) -> Result<Vec<PointContact<T>>> {
        let inspector = query.inspector();
        materials.update(&inspector)?;
        let mut contacts = vec![];
        let mut push = |pair: PenetrationAsPointPair<T>, id| {
            let mut material = |id| {
                let registered = materials.get(self, &inspector, id)?;
                registered.with(parameters, id)
            };
            let (a, b) = (material(pair.id_a)?, material(pair.id_b)?);
            contacts.push(self.point_contact(&inspector, (pair, id), (a, b))?);
            Ok::<_, Error>(())
        };
        match self.contact.model {
            ContactModel::PointManifold => {
                for pair in query.compute_penetration_manifolds()? {
                    pair.points
                        .into_iter()
                        .try_for_each(|(point, id)| push(point, id))?;
                }
            }
            _ => {
                for pair in query.compute_point_pair_penetration()? {
                    push(pair, 0)?;
                }
            }
        }
        Ok(contacts)
    }

    #[inline]
    fn point_contact<T: Scalar>(
        &self,
        inspector: &SceneGraphInspector<'_>,
        (pair, point_id): (PenetrationAsPointPair<T>, u32),
        (a, b): (ContactMaterial<T>, ContactMaterial<T>),
    ) -> Result<PointContact<T>> {
        let points = [ContactModel::Point, ContactModel::PointManifold];
        if !points.contains(&self.contact.model) && a.is_hydroelastic && b.is_hydroelastic {
            return Err(Error::unsupported(format!(
                "contact between '{}' and '{}' must have a hydroelastic contact surface, which is \
                 not supported yet; call `set_contact_model(ContactModel::Point)` on the plant",
                inspector.name(pair.id_a)?,
                inspector.name(pair.id_b)?
            )));
        }
        // How much of the deformation is that of B.
        let (k, share_b) = match (is_infinite(a.stiffness), is_infinite(b.stiffness)) {
            (true, true) => {
                return Err(Error::unsupported(format!(
                    "contact between '{}' and '{}': the point_contact_stiffness of at least one \
                     must be finite, got two infinite ones",
                    inspector.name(pair.id_a)?,
                    inspector.name(pair.id_b)?
                )));
            }
            (true, false) => (b.stiffness, T::one()),
            (false, true) => (a.stiffness, T::zero()),
            (false, false) => {
                let sum = a.stiffness + b.stiffness;
                // Divides first, because the product of large numbers is infinite.
                (a.stiffness * (b.stiffness / sum), a.stiffness / sum)
            }
        };
        let d = (T::one() - share_b) * a.dissipation + share_b * b.dissipation;
        let tau = a.relaxation_time + b.relaxation_time;
        let mu = combined_friction(a.dynamic_friction, b.dynamic_friction);
        let p_wc = pair.p_wca * share_b + pair.p_wcb * (T::one() - share_b);
        Ok(PointContact {
            bodies: [a.body, b.body],
            p_wc,
            r_wc: frame_along(&-pair.nhat_ba_w),
            parameters: ContactParameters {
                k,
                d,
                tau,
                mu,
                depth: pair.depth,
            },
            friction: (combined_friction(a.static_friction, b.static_friction), mu),
            pair,
            point_id,
        })
    }
}

/// Drake's quintic step from 0 to 1.
fn smooth_step<T: Scalar>(x: T) -> T {
    let cube = x * x * x;
    cube * (x * (x * 6.0 - 15.0) + 10.0)
}

impl<T: Scalar> PointContact<T> {
    /// Returns the coefficient of friction at a slip speed divided by the stiction tolerance.
    fn stribeck_friction(&self, s: T) -> T {
        let (stiction, sliding) = self.friction;
        match s.re() {
            x if x < 1.0 => smooth_step(s) * stiction,
            x if x < 3.0 => smooth_step((s - 1.0) * 0.5) * (sliding - stiction) + stiction,
            _ => sliding,
        }
    }

    /// Computes force and speeds of a contact in continuous time, as a function of the state alone.
    /// The contact point is midway between the witness points, as in Drake.
    pub(super) fn continuous(
        mut self,
        x_wb: &[nalgebra::Isometry3<T>],
        velocities: &VelocityKinematics<T>,
        stiction_tolerance: f64,
    ) -> PointPairContactInfo<T> {
        self.p_wc = (self.pair.p_wca + self.pair.p_wcb) * T::from(0.5);
        let at = |body: BodyIndex| {
            let arm = self.p_wc - x_wb[body.index()].translation.vector;
            velocities.v_wb(body).velocity_at(&arm).translational
        };
        let v_c = self.r_wc.tr_mul(&(at(self.bodies[1]) - at(self.bodies[0])));
        let c = &self.parameters;
        let damping = T::one() - c.d * v_c.z;
        let normal = match damping.re() > 0.0 {
            true => c.k * c.depth * damping,
            false => T::zero(),
        };
        let slip_squared = v_c.x * v_c.x + v_c.y * v_c.y;
        let (slip, friction) = match slip_squared.re() > 0.0 {
            true => {
                let slip = slip_squared.sqrt();
                let mu = self.stribeck_friction(slip / stiction_tolerance);
                (slip, -mu * normal / slip)
            }
            false => (T::zero(), T::zero()),
        };
        let force = Vector3::new(friction * v_c.x, friction * v_c.y, normal);
        self.with_force(force, v_c.z, slip)
    }

    /// Returns the contact with its force, expressed in the contact's frame, and its speeds.
    pub(super) fn with_force(
        self,
        force: Vector3<T>,
        separation_speed: T,
        slip_speed: T,
    ) -> PointPairContactInfo<T> {
        PointPairContactInfo {
            body_a: self.bodies[0],
            body_b: self.bodies[1],
            contact_force: self.r_wc * force,
            contact_point: self.p_wc,
            separation_speed,
            slip_speed,
            point_pair: self.pair,
            point_id: self.point_id,
        }
    }
}
