//! Combined properties of two geometries in contact.

use super::contact_materials::ContactMaterial;
use crate::discrete::{ContactParameters, ContactSite, SoftContact};
use crate::model::{BodyIndex, MujocoCompliance};
use crate::plant::multibody_plant::MultibodyPlant;
use nalgebra::{Matrix3, Vector3};
use std::cmp::Ordering;
use std::ops::Mul;
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;
use tarragon_geometry::{GeometryId, PenetrationAsPointPair};

/// Combined properties of two geometries in contact.
#[derive(Clone, Copy, Debug)]
pub(in crate::plant) struct CombinedMaterial<T> {
    /// Stiffness (N/m) or modulus (Pa).
    k: T,
    /// Fraction of the deformation that is that of B, which places the contact point.
    share_b: T,
    /// Hunt and Crossley's dissipation (s/m).
    pub(in crate::plant) d: T,
    /// Relaxation time (s).
    pub(in crate::plant) tau: T,
    /// Coefficients of dynamic and of static friction.
    pub(in crate::plant) mu: T,
    pub(in crate::plant) stiction: T,
    /// Distance (m) at which the force is 0. Depths count from there.
    offset: f64,
    /// MuJoCo's compliance, if it applies; `k` and `tau` are then the values at rest.
    soft: Option<MujocoCompliance>,
}

impl<T: Scalar> CombinedMaterial<T> {
    /// Combines the materials of two geometries by stiffnesses or moduli, of which at least one is
    /// finite; `None` stands for the stiffnesses of contact at a point.
    #[inline]
    pub(in crate::plant) fn new(
        plant: &MultibodyPlant,
        ids: [GeometryId; 2],
        materials: [ContactMaterial<T>; 2],
        stiffness: Option<[T; 2]>,
    ) -> Self {
        MaterialPair::new(plant, ids, materials).combined(stiffness)
    }

    /// Returns the same for contact whose force is 0 at a distance (m) of the surfaces.
    #[inline]
    pub(in crate::plant) fn with_offset(self, offset: f64) -> Self {
        Self {
            // The layer between surfaces that are apart belongs to neither: MuJoCo's contact point
            // is midway.
            share_b: if offset > 0.0 {
                T::from(0.5)
            } else {
                self.share_b
            },
            offset,
            ..self
        }
    }
}

/// Materials of two geometries, of which each knows the other.
pub(in crate::plant) struct MaterialPair<T> {
    materials: [ContactMaterial<T>; 2],
    /// Coefficients of dynamic and of static friction.
    friction: [T; 2],
    /// MuJoCo's compliance, if both materials follow MuJoCo.
    soft: Option<MujocoCompliance>,
}

impl<T: Scalar> MaterialPair<T> {
    #[inline]
    pub(in crate::plant) fn new(
        plant: &MultibodyPlant,
        ids: [GeometryId; 2],
        [mut a, mut b]: [ContactMaterial<T>; 2],
    ) -> Self {
        let pair = plant.properties_of_pair(ids);
        let friction = match pair.and_then(|pair| pair.friction) {
            None => combined_friction(&a, &b),
            Some(own) => [own.dynamic_friction(), own.static_friction()].map(T::from),
        };
        let contact = match (
            pair.and_then(|pair| pair.solver_parameters),
            a.as_in_mujoco,
            b.as_in_mujoco,
        ) {
            (Some(own), ..) => Some(own),
            (None, Some(a), Some(b)) => Some(a.mixed_with(&b)),
            _ => None,
        };
        let compliance = contact.map(|of| plant.mujoco_compliance(&of, friction[0].re()));
        if let Some(compliance) = &compliance {
            [a, b] = [a, b].map(|material| material.with_compliance(compliance));
        }
        let is_as_in_mujoco = [&a, &b].iter().all(|of| of.is_as_in_mujoco());
        Self {
            materials: [a, b],
            friction,
            soft: compliance.filter(|_| is_as_in_mujoco),
        }
    }

    /// Combines the materials as [`CombinedMaterial::new`] does.
    #[inline]
    pub(in crate::plant) fn combined(&self, stiffness: Option<[T; 2]>) -> CombinedMaterial<T> {
        let ([a, b], [mu, stiction]) = (&self.materials, self.friction);
        let [k_a, k_b] = stiffness.unwrap_or([a.stiffness, b.stiffness]);
        let (k, share_b) = in_series(k_a, k_b);
        CombinedMaterial {
            k,
            share_b,
            d: (T::one() - share_b) * a.dissipation + share_b * b.dissipation,
            tau: a.relaxation_time + b.relaxation_time,
            mu,
            stiction,
            offset: 0.0,
            soft: self.soft.filter(|_| stiffness.is_none()),
        }
    }
}

impl<T: Scalar> CombinedMaterial<T> {
    /// Returns the parameters of a contact without MuJoCo's law. `depth` maps the stiffness (N/m)
    /// to the depth (m).
    pub(in crate::plant) fn parameters(&self, depth: impl FnOnce(T) -> T) -> ContactParameters<T> {
        ContactParameters {
            k: self.k,
            d: self.d,
            tau: self.tau,
            mu: self.mu,
            depth: depth(self.k),
            soft: None,
        }
    }

    /// Returns the parameters of a contact at a depth (m).
    #[inline]
    fn parameters_at<S>(&self, depth: S) -> ContactParameters<S>
    where
        S: Scalar + Mul<T, Output = S> + From<T>,
    {
        let soft = self.soft.as_ref().map(|compliance| {
            let [stiffness, damping] = compliance.reference;
            let impedance = compliance.impedance.at(depth);
            let [_, normal] = compliance.softness;
            let mass = self.k * (normal / compliance.stiffness_per_mass);
            let softness = (impedance.recip() - 1.0) * mass.recip();
            SoftContact {
                regularization: compliance.softness.map(|ratio| softness * ratio),
                reference: impedance * depth * stiffness,
                damping,
            }
        });
        ContactParameters {
            k: S::from(self.k),
            d: S::from(self.d),
            tau: S::from(self.tau),
            mu: S::from(self.mu),
            depth,
            soft,
        }
    }

    fn numbers(&self) -> [T; 6] {
        [
            self.k,
            self.share_b,
            self.d,
            self.tau,
            self.mu,
            self.stiction,
        ]
    }
    pub(in crate::plant) fn is_constant(&self) -> bool {
        self.numbers().iter().all(is_constant)
    }
    /// Returns the same without derivatives.
    pub(in crate::plant) fn real(&self) -> CombinedMaterial<f64> {
        let [k, share_b, d, tau, mu, stiction] = self.numbers().map(|x| x.re());
        CombinedMaterial {
            k,
            share_b,
            d,
            tau,
            mu,
            stiction,
            offset: self.offset,
            soft: self.soft,
        }
    }
}

impl<T: Scalar> CombinedMaterial<T> {
    /// Returns the site of a contact, possibly in a scalar with derivatives that these properties
    /// lack.
    pub(in crate::plant) fn site<S>(
        &self,
        bodies: [BodyIndex; 2],
        pair: &PenetrationAsPointPair<S>,
    ) -> ContactSite<S>
    where
        S: Scalar + Mul<T, Output = S> + From<T>,
    {
        let share_a = T::one() - self.share_b;
        let between = |b: S, a: S| b * self.share_b + a * share_a;
        ContactSite {
            bodies,
            p_wc: pair.p_wca.zip_map(&pair.p_wcb, between),
            r_wc: frame_along(&-pair.nhat_ba_w),
            parameters: self.parameters_at(pair.depth + self.offset),
        }
    }
}

/// Returns a frame whose z axis is a unit vector, as columns.
pub(in crate::plant) fn frame_along<T: Scalar>(z: &Vector3<T>) -> Matrix3<T> {
    let [a, b, c] = [z.x, z.y, z.z].map(|x| x.re().abs());
    // The cross product of the axis of the least component and z. Branches are faster than
    // components by a computed index.
    let x = if b < a && b <= c {
        Vector3::new(z.z, T::zero(), -z.x)
    } else if c < a && c < b {
        Vector3::new(-z.y, z.x, T::zero())
    } else {
        Vector3::new(T::zero(), -z.z, z.y)
    };
    let x = x.normalize();
    Matrix3::from_columns(&[x, z.cross(&x), *z])
}

/// Combines coefficients of dynamic and of static friction of two geometries: the harmonic means,
/// as in Drake, unless both follow the rules of MuJoCo.
#[inline]
fn combined_friction<T: Scalar>(a: &ContactMaterial<T>, b: &ContactMaterial<T>) -> [T; 2] {
    let [x, y] = [a, b].map(|of| [of.dynamic_friction, of.static_friction]);
    let each = |f: fn(T, T) -> T| [f(x[0], y[0]), f(x[1], y[1])];
    let none = [T::zero(); 2];
    match (&a.as_in_mujoco, &b.as_in_mujoco) {
        (None, None) => each(harmonic_mean),
        (Some(rule), None) | (None, Some(rule)) if rule.is_frictionless => none,
        (Some(_), None) | (None, Some(_)) => each(harmonic_mean),
        (Some(a), Some(b)) => match a.priority.cmp(&b.priority) {
            Ordering::Greater if a.is_frictionless => none,
            Ordering::Greater => x,
            Ordering::Less if b.is_frictionless => none,
            Ordering::Less => y,
            Ordering::Equal if a.is_frictionless && b.is_frictionless => none,
            Ordering::Equal => each(|x, y| if x.re() >= y.re() { x } else { y }),
        },
    }
}

fn harmonic_mean<T: Scalar>(a: T, b: T) -> T {
    if (a + b).re() > 0.0 {
        a * 2.0 * b / (a + b)
    } else {
        T::zero()
    }
}

/// Returns the share of the deformation that is that of B, given stiffnesses or moduli, of which at
/// least one is finite, and their combination.
fn in_series<T: Scalar>(a: T, b: T) -> (T, T) {
    match (a.re().is_infinite(), b.re().is_infinite()) {
        (true, _) => (b, T::one()),
        (false, true) => (a, T::zero()),
        (false, false) => {
            let sum = a + b;
            // Divides first, because the product of large numbers is infinite.
            (a * (b / sum), a / sum)
        }
    }
}
