//! Combined properties of two geometries in contact.

use super::contact_materials::{ContactMaterial, FrictionRule};
use super::multibody_plant::MultibodyPlant;
use crate::discrete::{ContactParameters, ContactSite};
use crate::model::BodyIndex;
use nalgebra::{Matrix3, Vector3};
use std::ops::Mul;
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;
use tarragon_geometry::{GeometryId, PenetrationAsPointPair};

/// Combined properties of two geometries in contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct CombinedMaterial<T> {
    /// Stiffness (N/m) or modulus (Pa).
    k: T,
    /// Fraction of the deformation that is that of B.
    share_b: T,
    /// Hunt and Crossley's dissipation (s/m).
    pub(super) d: T,
    /// Relaxation time (s).
    pub(super) tau: T,
    /// Coefficients of dynamic and of static friction.
    pub(super) mu: T,
    pub(super) stiction: T,
}

impl<T: Scalar> CombinedMaterial<T> {
    /// Combines two materials by their stiffnesses or moduli, of which at least one is finite.
    pub(super) fn new([a, b]: [ContactMaterial<T>; 2], [k_a, k_b]: [T; 2]) -> Self {
        let (k, share_b) = in_series(k_a, k_b);
        Self {
            k,
            share_b,
            d: (T::one() - share_b) * a.dissipation + share_b * b.dissipation,
            tau: a.relaxation_time + b.relaxation_time,
            mu: combined_friction(&a, &b, |m| m.dynamic_friction),
            stiction: combined_friction(&a, &b, |m| m.static_friction),
        }
    }

    /// Returns the same with the friction of a pair that has its own.
    #[inline]
    pub(super) fn with_friction_of(self, plant: &MultibodyPlant, pair: [GeometryId; 2]) -> Self {
        match plant.friction_of_pair(pair) {
            None => self,
            Some(friction) => Self {
                mu: T::from(friction.dynamic_friction()),
                stiction: T::from(friction.static_friction()),
                ..self
            },
        }
    }
}

impl CombinedMaterial<f64> {
    /// Returns the parameters of a contact, given its depth (m) by its stiffness (N/m).
    pub(super) fn parameters(&self, depth: impl FnOnce(f64) -> f64) -> ContactParameters<f64> {
        ContactParameters {
            k: self.k,
            d: self.d,
            tau: self.tau,
            mu: self.mu,
            depth: depth(self.k),
        }
    }
}

impl<T: Scalar> CombinedMaterial<T> {
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
    pub(super) fn is_constant(&self) -> bool {
        self.numbers().iter().all(is_constant)
    }
    /// Returns the same without derivatives.
    pub(super) fn real(&self) -> CombinedMaterial<f64> {
        let [k, share_b, d, tau, mu, stiction] = self.numbers().map(|x| x.re());
        CombinedMaterial {
            k,
            share_b,
            d,
            tau,
            mu,
            stiction,
        }
    }
}

impl<T: Scalar> CombinedMaterial<T> {
    /// Returns the site of a contact, possibly in a scalar with derivatives that these properties
    /// lack.
    pub(super) fn site<S>(
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
            parameters: ContactParameters {
                k: S::from(self.k),
                d: S::from(self.d),
                tau: S::from(self.tau),
                mu: S::from(self.mu),
                depth: pair.depth,
            },
        }
    }
}

/// Returns a frame whose z axis is a unit vector, as columns.
pub(super) fn frame_along<T: Scalar>(z: &Vector3<T>) -> Matrix3<T> {
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

/// Combines a coefficient of friction of two geometries: the harmonic mean, as in Drake, unless
/// both follow the rules of MuJoCo.
#[inline]
fn combined_friction<T: Scalar>(
    a: &ContactMaterial<T>,
    b: &ContactMaterial<T>,
    coefficient: impl Fn(&ContactMaterial<T>) -> T,
) -> T {
    let (x, y) = (coefficient(a), coefficient(b));
    if a.friction_rule.is_some() || b.friction_rule.is_some() {
        return ruled_friction([(a.friction_rule, x), (b.friction_rule, y)]);
    }
    harmonic_mean(x, y)
}

fn harmonic_mean<T: Scalar>(a: T, b: T) -> T {
    if (a + b).re() > 0.0 {
        a * 2.0 * b / (a + b)
    } else {
        T::zero()
    }
}

/// Combines coefficients of friction of which at least one has a rule of MuJoCo.
fn ruled_friction<T: Scalar>([(a, x), (b, y)]: [(Option<FrictionRule>, T); 2]) -> T {
    let alone = |rule: FrictionRule, other: T| match rule.is_frictionless {
        true => T::zero(),
        false => other,
    };
    match (a, b) {
        (Some(a), Some(b)) if a.priority > b.priority => alone(a, x),
        (Some(a), Some(b)) if a.priority < b.priority => alone(b, y),
        (Some(a), Some(b)) if a.is_frictionless && b.is_frictionless => T::zero(),
        (Some(_), Some(_)) if x.re() >= y.re() => x,
        (Some(_), Some(_)) => y,
        (Some(rule), None) | (None, Some(rule)) => alone(rule, harmonic_mean(x, y)),
        (None, None) => harmonic_mean(x, y),
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
