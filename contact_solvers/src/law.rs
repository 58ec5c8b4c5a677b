//! Laws of constraints: impulses as the negative gradient of a convex cost of the constraint's
//! velocity.
//!
//! The laws are those of A. Castro et al., "An Unconstrained Convex Formulation of Compliant
//! Contact", 2022 (SAP), and "A Convex Formulation of Frictional Contact for the Material Point
//! Method and Rigid Bodies", 2023 (lagged and similar).

use nalgebra::{Matrix3, Vector3};
use smallvec::{SmallVec, smallvec};
use tarragon_framework::Scalar;

/// Impulse (N s) below which a tangential impulse of SAP counts as zero; it makes its norm smooth.
const SOFT_IMPULSE: f64 = 1e-7;

/// Quadratic cost of one row, with bounds on the impulse:
/// `gamma = clamp((v_hat - v) / r, lower, upper)`.
///
/// Velocities are in m/s and impulses in N s, or in rad/s and N m s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowLaw<T> {
    /// Regularization: velocity per impulse (1/kg), positive.
    pub r: T,
    /// Velocity at which the impulse is zero.
    pub v_hat: T,
    /// Lower bound of the impulse, possibly `-inf`.
    pub lower: T,
    /// Upper bound of the impulse, possibly `inf`.
    pub upper: T,
}

impl<T: Scalar> RowLaw<T> {
    /// Creates the law of a row whose impulse has no bounds.
    #[inline]
    pub fn two_sided(r: T, v_hat: T) -> Self {
        Self {
            r,
            v_hat,
            lower: T::from(f64::NEG_INFINITY),
            upper: T::from(f64::INFINITY),
        }
    }
    /// Creates the law of a row that only pushes.
    #[inline]
    pub fn one_sided(r: T, v_hat: T) -> Self {
        Self {
            lower: T::zero(),
            ..Self::two_sided(r, v_hat)
        }
    }

    fn impulse(&self, v: T) -> T {
        let y = (self.v_hat - v) / self.r;
        match y.re() {
            y if y < self.lower.re() => self.lower,
            y if y > self.upper.re() => self.upper,
            _ => y,
        }
    }
}

impl RowLaw<f64> {
    /// Returns cost, impulse and the negative derivative of the impulse.
    fn evaluate(&self, v: f64) -> (f64, f64, f64) {
        let y = (self.v_hat - v) / self.r;
        let bound = y.clamp(self.lower, self.upper);
        if y == bound {
            return (0.5 * self.r * y * y, y, 1.0 / self.r);
        }
        (self.r * bound * (y - 0.5 * bound), bound, 0.0)
    }
}

/// Law of a contact at a point: two tangential rows, then the normal one. The impulse along the
/// normal pushes; friction is at most `mu` times it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactLaw<T> {
    /// Linear compliance with linear dissipation; friction in the norm of the regularization. This
    /// is also the law of MuJoCo's elliptic cones.
    Sap {
        /// Coefficient of friction.
        mu: T,
        /// Regularization of the tangential directions (1/kg), positive.
        r_tangential: T,
        /// Regularization of the normal direction (1/kg), positive.
        r_normal: T,
        /// Velocity at which the impulse is zero (m/s).
        v_hat: Vector3<T>,
    },
    /// Hunt and Crossley's compliance; friction from the normal impulse of the last step.
    Lagged(HuntCrossley<T>),
    /// Hunt and Crossley's compliance; friction from the normal impulse at a velocity shifted by
    /// the slip.
    Similar(HuntCrossley<T>),
}

/// Parameters of the laws with Hunt and Crossley's dissipation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HuntCrossley<T> {
    /// Coefficient of friction.
    pub mu: T,
    /// Stiffness (N/m).
    pub k: T,
    /// Dissipation (s/m).
    pub d: T,
    /// Elastic force at the start of the step (N).
    pub fe0: T,
    /// Normal impulse at the start of the step (N s).
    pub n0: T,
    /// Slip speed below which contact sticks (m/s).
    pub eps: T,
    /// Inverse of the separation speed at which the force has faded out (s/m); 0 if it does not.
    pub fade: f64,
    /// Time step (s).
    pub dt: f64,
}

impl<T: Scalar> HuntCrossley<T> {
    /// Returns the normal impulse at a normal velocity, and its derivative.
    fn normal(&self, v: T) -> (T, T) {
        let elastic = self.fe0 - self.k * v * self.dt;
        let damping = T::one() - self.d * v;
        if elastic.re() <= 0.0 || damping.re() <= 0.0 {
            return (T::zero(), T::zero());
        }
        let slope = self.k * damping * self.dt + self.d * elastic;
        let (impulse, slope) = (elastic * damping * self.dt, -slope * self.dt);
        if v.re() <= 0.0 || self.fade == 0.0 {
            return (impulse, slope);
        }
        let faded = T::one() - v * self.fade;
        if faded.re() > 0.0 {
            (impulse * faded, slope * faded - impulse * self.fade)
        } else {
            (T::zero(), T::zero())
        }
    }
    /// Returns the tangential velocity as a smooth speed and a direction, which is shorter than 1
    /// at low speed.
    fn slip(&self, v: &Vector3<T>) -> (T, T, [T; 2]) {
        let length = (v.x * v.x + v.y * v.y + self.eps * self.eps).sqrt();
        (length - self.eps, length, [v.x / length, v.y / length])
    }
}

impl HuntCrossley<f64> {
    /// Integral of the normal impulse over the normal velocity, from 0.
    fn integral(&self, v: f64) -> f64 {
        let zero_force = self.fe0 / (self.dt * self.k).max(f64::MIN_POSITIVE);
        let zero_damping = 1.0 / self.d.max(f64::MIN_POSITIVE);
        let v = v.min(zero_force.min(zero_damping));
        let change = -self.dt * self.k * v;
        if v <= 0.0 || self.fade == 0.0 {
            return self.dt
                * (v * (self.fe0 + change / 2.0)
                    - self.d * v * v / 2.0 * (self.fe0 + 2.0 / 3.0 * change));
        }
        // Of (fe0 - k dt v) (1 - d v) (1 - fade v).
        let v = v.min(1.0 / self.fade);
        let (k, sum, product) = (self.k * self.dt, self.d + self.fade, self.d * self.fade);
        let first = k + self.fe0 * sum;
        let second = k * sum + self.fe0 * product;
        let third = k * product;
        self.dt * v * (self.fe0 - v * (first / 2.0 - v * (second / 3.0 - v * third / 4.0)))
    }
}

impl<T: Scalar> ContactLaw<T> {
    /// Returns the impulse `[t, t, n]` at a velocity of the contact.
    fn impulse(&self, v: &Vector3<T>) -> Vector3<T> {
        match self {
            Self::Sap {
                mu,
                r_tangential,
                r_normal,
                v_hat,
            } => {
                let y = v_hat - v;
                let y = Vector3::new(y.x / *r_tangential, y.y / *r_tangential, y.z / *r_normal);
                let soft = T::from(SOFT_IMPULSE * SOFT_IMPULSE);
                let yr = (y.x * y.x + y.y * y.y + soft).sqrt();
                let ratio = *r_tangential / *r_normal;
                if yr.re() <= (*mu * y.z).re() {
                    return y;
                }
                if (-*mu * ratio * yr).re() >= y.z.re() {
                    return Vector3::zeros();
                }
                let n = (y.z + *mu * ratio * yr) / (*mu * *mu * ratio + T::one());
                Vector3::new(*mu * n * y.x / yr, *mu * n * y.y / yr, n)
            }
            Self::Lagged(law) => {
                let (_, _, t) = law.slip(v);
                let f = -law.mu * law.n0;
                Vector3::new(f * t[0], f * t[1], law.normal(v.z).0)
            }
            Self::Similar(law) => {
                let (speed, _, t) = law.slip(v);
                let n = law.normal(v.z - law.mu * speed).0;
                let f = -law.mu * n;
                Vector3::new(f * t[0], f * t[1], n)
            }
        }
    }
}

impl ContactLaw<f64> {
    /// Returns cost, impulse and the negative Jacobian of the impulse.
    #[inline]
    fn evaluate(&self, v: &Vector3<f64>) -> (f64, Vector3<f64>, Matrix3<f64>) {
        match self {
            Self::Sap {
                mu,
                r_tangential,
                r_normal,
                v_hat,
            } => sap(*mu, *r_tangential, *r_normal, &(v_hat - v)),
            Self::Lagged(law) => {
                let (speed, length, t) = law.slip(v);
                let (n, dn) = law.normal(v.z);
                let f = law.mu * law.n0;
                let mut g = across(f / length, t);
                g[(2, 2)] = -dn;
                let cost = f * speed - law.integral(v.z);
                (cost, Vector3::new(-f * t[0], -f * t[1], n), g)
            }
            Self::Similar(law) => {
                let (speed, length, t) = law.slip(v);
                let z = v.z - law.mu * speed;
                let (n, dn) = law.normal(z);
                let mut g = across(law.mu * n / length, t);
                for i in 0..2 {
                    for j in 0..2 {
                        g[(i, j)] -= law.mu * law.mu * dn * t[i] * t[j];
                    }
                    g[(i, 2)] = law.mu * dn * t[i];
                    g[(2, i)] = g[(i, 2)];
                }
                g[(2, 2)] = -dn;
                let f = -law.mu * n;
                (-law.integral(z), Vector3::new(f * t[0], f * t[1], n), g)
            }
        }
    }
}

/// Returns `factor (1 - t t^T)` in the tangential directions.
#[inline]
fn across(factor: f64, t: [f64; 2]) -> Matrix3<f64> {
    let mut g = Matrix3::zeros();
    for i in 0..2 {
        for j in 0..2 {
            let one = if i == j { 1.0 } else { 0.0 };
            g[(i, j)] = factor * (one - t[i] * t[j]);
        }
    }
    g
}

/// Evaluates SAP's law; `missing` is `v_hat - v`, the velocity short of the one at which the
/// impulse is zero.
#[inline]
fn sap(mu: f64, rt: f64, rn: f64, missing: &Vector3<f64>) -> (f64, Vector3<f64>, Matrix3<f64>) {
    // Divisions would take most of the time.
    let (of_t, of_n) = (1.0 / rt, 1.0 / rn);
    let y = missing.component_mul(&Vector3::new(of_t, of_t, of_n));
    let yr = (y.x * y.x + y.y * y.y + SOFT_IMPULSE * SOFT_IMPULSE).sqrt();
    let mu_hat = mu * rt * of_n;
    let cost = |g: &Vector3<f64>| 0.5 * (rt * (g.x * g.x + g.y * g.y) + rn * g.z * g.z);
    if yr <= mu * y.z {
        let g = Matrix3::from_diagonal(&Vector3::new(of_t, of_t, of_n));
        return (cost(&y), y, g);
    }
    if -mu_hat * yr >= y.z {
        return (0.0, Vector3::zeros(), Matrix3::zeros());
    }
    let (f, of_yr) = (1.0 / (1.0 + mu * mu_hat), 1.0 / yr);
    let t = [y.x * of_yr, y.y * of_yr];
    let n = (y.z + mu_hat * yr) * f;
    let gamma = Vector3::new(mu * n * t[0], mu * n * t[1], n);
    let mut g = across(mu * n * of_yr * of_t, t);
    let along = mu * f * of_n;
    for i in 0..2 {
        for j in 0..2 {
            g[(i, j)] += mu * along * t[i] * t[j];
        }
        g[(i, 2)] = along * t[i];
        g[(2, i)] = g[(i, 2)];
    }
    g[(2, 2)] = f * of_n;
    (cost(&gamma), gamma, g)
}

/// Law of a constraint: the impulse is the negative gradient of a convex cost.
#[derive(Clone, Debug, PartialEq)]
pub enum Law<T> {
    /// At most six rows that do not depend on each other.
    Rows(SmallVec<[RowLaw<T>; 1]>),
    /// Two tangential rows and a normal one.
    Contact(ContactLaw<T>),
}

impl<T: Scalar> Law<T> {
    /// Creates the law of a constraint with one row.
    #[inline]
    pub fn single(law: RowLaw<T>) -> Self {
        Self::Rows(smallvec![law])
    }

    /// Returns the number of rows.
    #[inline]
    pub fn num_rows(&self) -> usize {
        match self {
            Self::Rows(laws) => laws.len(),
            Self::Contact(_) => 3,
        }
    }

    /// Computes the impulse at a velocity of the constraint; both have at least one number per row.
    ///
    /// # Panics
    /// Panics if a contact has fewer than three numbers.
    pub fn impulse(&self, v: &[T], out: &mut [T]) {
        match self {
            Self::Rows(laws) => {
                for ((law, v), out) in laws.iter().zip(v).zip(out) {
                    *out = law.impulse(*v);
                }
            }
            Self::Contact(law) => {
                let impulse = law.impulse(&Vector3::new(v[0], v[1], v[2]));
                out[..3].copy_from_slice(impulse.as_slice());
            }
        }
    }
}

/// Velocity and impulse of a constraint at the end of a step, by row; 0 beyond the last row.
#[derive(Clone, Copy, Debug)]
pub struct ConstraintEnd<T> {
    /// Velocity (m/s, rad/s).
    pub v: [T; 6],
    /// Impulse (N s, N m s).
    pub impulse: [T; 6],
}

impl<T: Scalar> ConstraintEnd<T> {
    /// Returns the end of a constraint where nothing moves.
    #[inline]
    pub fn zero() -> Self {
        Self {
            v: [T::zero(); 6],
            impulse: [T::zero(); 6],
        }
    }
}

impl ConstraintEnd<f64> {
    /// Returns the same values in another scalar.
    #[inline]
    pub fn lift<T: Scalar>(&self) -> ConstraintEnd<T> {
        ConstraintEnd {
            v: self.v.map(T::from),
            impulse: self.impulse.map(T::from),
        }
    }
}

/// Negative Jacobian of an impulse by the velocity of its constraint (kg), symmetric.
#[derive(Clone, Copy, Debug)]
pub enum Stiffness {
    /// Rows that do not depend on each other; 0 beyond the last row.
    Diagonal([f64; 6]),
    /// A contact.
    Full(Matrix3<f64>),
}

impl Stiffness {
    /// Returns the stiffness of an impulse that does not change.
    #[inline]
    pub fn zero() -> Self {
        Self::Diagonal([0.0; 6])
    }
}

impl Law<f64> {
    /// Computes impulse and stiffness at a velocity of the constraint; returns the cost (J).
    ///
    /// `v` and `impulse` have at least one number per row.
    ///
    /// # Panics
    /// Panics if they have fewer.
    // A stiffness that is returned would be copied, and the copy wait for all of its stores.
    pub fn evaluate(&self, v: &[f64], impulse: &mut [f64], stiffness: &mut Stiffness) -> f64 {
        match self {
            Self::Rows(laws) => {
                let (mut cost, mut diagonal) = (0.0, [0.0; 6]);
                for (i, law) in laws.iter().enumerate() {
                    let row = law.evaluate(v[i]);
                    cost += row.0;
                    impulse[i] = row.1;
                    diagonal[i] = row.2;
                }
                *stiffness = Stiffness::Diagonal(diagonal);
                cost
            }
            Self::Contact(law) => {
                let (cost, gamma, g) = law.evaluate(&Vector3::new(v[0], v[1], v[2]));
                impulse[..3].copy_from_slice(gamma.as_slice());
                *stiffness = Stiffness::Full(g);
                cost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The impulse is the negative gradient of the cost, and the stiffness its negative Jacobian.
    #[test]
    fn derivatives_of_contact_laws_match_differences() {
        let compliant = |fade: f64| HuntCrossley {
            mu: 0.6,
            k: 2e4,
            d: 3.0,
            fe0: 40.0,
            n0: 0.03,
            eps: 1e-2,
            fade,
            dt: 1e-3,
        };
        let laws = [
            ContactLaw::Lagged(compliant(0.0)),
            ContactLaw::Lagged(compliant(4.0)),
            ContactLaw::Similar(compliant(0.0)),
            ContactLaw::Similar(compliant(4.0)),
            ContactLaw::Sap {
                mu: 0.6,
                r_tangential: 2.0,
                r_normal: 5.0,
                v_hat: Vector3::new(0.1, -0.05, 0.2),
            },
        ];
        let velocities = [-0.3, -0.02, 0.05, 0.13, 0.24, 0.5].into_iter();
        let velocities = velocities.flat_map(|z| {
            [[0.0, 0.0], [0.003, -0.001], [0.4, 0.9]].map(|[x, y]| Vector3::new(x, y, z))
        });
        for (v, law) in velocities.flat_map(|v| laws.map(|law| (v, law))) {
            let (_, impulse, stiffness) = law.evaluate(&v);
            assert!((law.impulse(&v) - impulse).amax() < 1e-15);
            let h = 1e-6;
            for k in 0..3 {
                let at = |h: f64| law.evaluate(&(v + Vector3::ith(k, h)));
                let (above, below) = (at(h), at(-h));
                let slope = (above.0 - below.0) / (2.0 * h);
                assert!(
                    (slope + impulse[k]).abs() < 1e-7,
                    "{law:?} {v:?}: {slope} {impulse}"
                );
                let column = (above.1 - below.1) / (2.0 * h);
                let error = (column + stiffness.column(k)).amax();
                assert!(error < 1e-4, "{law:?} {v:?}: {error}");
            }
        }
    }
}
