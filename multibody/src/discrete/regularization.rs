//! Laws from physical parameters: how compliance and dissipation become regularization, as in
//! Drake's discrete plants.

use nalgebra::Vector3;
use smallvec::SmallVec;
use std::any::Any;
use std::borrow::Cow;
use std::f64::consts::PI;
use tarragon_contact_solvers::{ContactLaw, HuntCrossley, Law, RowLaw};
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;

/// Near-rigid parameter of constraints other than contact.
const NEAR_RIGID: f64 = 0.1;
/// Stiffness of joint limits (N/m or N m/rad).
const LIMIT_STIFFNESS: f64 = 1e12;
/// Regularization of friction relative to that of the inertia of the contact.
const FRICTION_REGULARIZATION: f64 = 1e-3;

/// Approximation of contact in a discrete step (Drake's `DiscreteContactApproximation`). It does
/// not apply to contact between geometries with [`MujocoContact`](crate::MujocoContact), which
/// follows MuJoCo's law.
///
/// ```
/// use tarragon_multibody::DiscreteContactApproximation;
/// let sap: DiscreteContactApproximation = "sap".parse()?;
/// assert_eq!(sap, DiscreteContactApproximation::Sap);
/// assert!("tamsi".parse::<DiscreteContactApproximation>().is_err());
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiscreteContactApproximation {
    /// Linear dissipation by a relaxation time; friction drifts apart in proportion to the slip
    /// speed (Castro et al., "An Unconstrained Convex Formulation of Compliant Contact", 2022).
    Sap,
    /// Hunt and Crossley's dissipation; slip opens the contact a little (Castro et al., "A Convex
    /// Formulation of Frictional Contact for the Material Point Method and Rigid Bodies", 2023).
    Similar,
    /// Hunt and Crossley's dissipation; friction is proportional to the normal force of the last
    /// step (same source).
    #[default]
    Lagged,
}

/// Settings of the discrete step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StepSettings {
    /// Time step (s).
    pub(crate) dt: f64,
    pub(crate) approximation: DiscreteContactApproximation,
    /// Slip speed below which contact sticks (m/s).
    pub(crate) stiction_tolerance: f64,
    /// Near-rigid parameter of contact with [`DiscreteContactApproximation::Sap`].
    pub(crate) near_rigid: f64,
    /// The same with the other approximations; 0 disables it.
    pub(crate) near_rigid_hunt_crossley: f64,
    /// Speed (m/s, rad/s) up to which contact and joint limits push apart; possibly infinite.
    pub(crate) max_recovery_speed: f64,
}

/// Combined parameters of two geometries in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ContactParameters<T> {
    /// Stiffness (N/m).
    pub(crate) k: T,
    /// Hunt and Crossley's dissipation (s/m).
    pub(crate) d: T,
    /// Relaxation time (s).
    pub(crate) tau: T,
    /// Coefficient of friction.
    pub(crate) mu: T,
    /// Depth of penetration (m).
    pub(crate) depth: T,
    /// MuJoCo's law; if present, it replaces all other parameters except `mu`, whatever the
    /// approximation.
    pub(crate) soft: Option<SoftContact<T>>,
}

/// Contact with MuJoCo's law: the relative acceleration is the reference minus the regularization
/// times the force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SoftContact<T> {
    /// Regularization (1/kg) of the tangential and of the normal directions.
    pub(crate) regularization: [T; 2],
    /// Reference acceleration (m/s^2) that undoes the depth.
    pub(crate) reference: T,
    /// Damping of the reference acceleration in all directions (1/s).
    pub(crate) damping: f64,
}

impl ContactParameters<f64> {
    /// Returns the same without derivatives, in another scalar.
    pub(super) fn lift<T: Scalar>(&self) -> ContactParameters<T> {
        ContactParameters {
            k: T::from(self.k),
            d: T::from(self.d),
            tau: T::from(self.tau),
            mu: T::from(self.mu),
            depth: T::from(self.depth),
            soft: self.soft.map(|soft| SoftContact {
                regularization: soft.regularization.map(T::from),
                reference: T::from(soft.reference),
                damping: soft.damping,
            }),
        }
    }
}

/// A spring with damping: one row of a constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpringRow<T> {
    /// Deviation at the start of the step.
    pub(crate) g: T,
    /// Stiffness, infinite for a rigid constraint.
    pub(crate) k: f64,
    /// Damping over stiffness (s).
    pub(crate) tau: f64,
}

/// One row of a constraint as in MuJoCo: its acceleration is a reference less a softness times the
/// force per effective mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SoftRow<T> {
    /// Velocity at the start of the step.
    pub(crate) rate: T,
    /// Reference acceleration, which undoes the deviation.
    pub(crate) reference: T,
    /// Softness: (1 - d) / d for an impedance d.
    pub(crate) softness: T,
    /// Effective mass (kg); `None` for the inertia of the constraint in the step.
    pub(crate) mass: Option<f64>,
}

/// Law of what acts at a site other than a contact, by its physical parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SiteLaw<T: Scalar> {
    /// A spring per row.
    Springs(Vec<SpringRow<T>>),
    /// Rows of one unit.
    Soft(SmallVec<[SoftRow<T>; 3]>),
    /// A spring that only pushes.
    Stop(SpringRow<T>),
    /// A joint limit at a distance.
    Limit(T),
    Controller(ControllerParameters<T>),
    /// Dry friction of at most a force.
    DryFriction(f64),
}

impl<T: Scalar> SiteLaw<T> {
    /// Returns the same without derivatives.
    pub(super) fn real(&self) -> Cow<'_, SiteLaw<f64>> {
        if let Some(real) = (self as &dyn Any).downcast_ref() {
            return Cow::Borrowed(real);
        }
        let real = |row: &SpringRow<T>| SpringRow {
            g: row.g.re(),
            k: row.k,
            tau: row.tau,
        };
        Cow::Owned(match self {
            Self::Springs(rows) => SiteLaw::Springs(rows.iter().map(real).collect()),
            Self::Soft(rows) => {
                let real = |row: &SoftRow<T>| SoftRow {
                    rate: row.rate.re(),
                    reference: row.reference.re(),
                    softness: row.softness.re(),
                    mass: row.mass,
                };
                SiteLaw::Soft(rows.iter().map(real).collect())
            }
            Self::Stop(row) => SiteLaw::Stop(real(row)),
            Self::Limit(g) => SiteLaw::Limit(g.re()),
            Self::Controller(c) => SiteLaw::Controller(ControllerParameters {
                gains: [c.gains[0].re(), c.gains[1].re()],
                effort_at_rest: c.effort_at_rest.re(),
                feed_forward: c.feed_forward.re(),
                effort_range: c.effort_range,
            }),
            Self::DryFriction(force) => SiteLaw::DryFriction(*force),
        })
    }
    /// Returns true if nothing in it has derivatives, certainly.
    pub(super) fn is_constant(&self) -> bool {
        match self {
            Self::Springs(rows) => rows.iter().all(|row| is_constant(&row.g)),
            Self::Soft(rows) => rows.iter().all(|row| {
                [row.rate, row.reference, row.softness]
                    .iter()
                    .all(is_constant)
            }),
            Self::Stop(row) => is_constant(&row.g),
            Self::Limit(g) => is_constant(g),
            Self::Controller(c) => {
                let [p, d] = c.gains;
                let numbers = [p, d, c.effort_at_rest, c.feed_forward];
                numbers.iter().all(is_constant)
            }
            Self::DryFriction(_) => true,
        }
    }
}

/// Parameters of an actuator with gains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ControllerParameters<T> {
    /// Proportional and derivative gain, not both 0.
    pub(crate) gains: [T; 2],
    /// Effort by the gains at the position at the start of the step and without velocity. It is
    /// reduced with the gains, which does not move their set point.
    pub(crate) effort_at_rest: T,
    /// Further effort, which is never reduced.
    pub(crate) feed_forward: T,
    /// Least and largest effort.
    pub(crate) effort_range: [f64; 2],
}

fn greater<T: Scalar>(a: T, b: T) -> T {
    if a.re() >= b.re() { a } else { b }
}
fn less<T: Scalar>(a: T, b: f64) -> T {
    if a.re() <= b { a } else { T::from(b) }
}

fn near_rigid<T: Scalar>(beta: f64, w: T) -> T {
    w * (beta * beta / (4.0 * PI * PI))
}

/// Size w of `J diag(A)^-1 J^T` per row. Its derivatives take long to compute, and few laws depend
/// on them.
pub(crate) struct InverseInertia<'a, T> {
    pub(crate) real: f64,
    /// Computes it with derivatives.
    pub(crate) differentiate: &'a dyn Fn() -> T,
}

impl<T: Scalar> InverseInertia<'_, T> {
    fn value(&self) -> T {
        match T::NDERIV {
            0 => T::from(self.real),
            _ => (self.differentiate)(),
        }
    }
}

impl StepSettings {
    /// Returns the law of a constraint.
    pub(crate) fn law<T: Scalar>(&self, site: &SiteLaw<T>, w: &InverseInertia<'_, T>) -> Law<T> {
        match site {
            SiteLaw::Springs(rows) => {
                Law::Rows(rows.iter().map(|row| self.spring(row, w)).collect())
            }
            SiteLaw::Soft(rows) => Law::Rows(rows.iter().map(|row| self.soft(row, w)).collect()),
            SiteLaw::Stop(row) => {
                let law = self.spring(row, w);
                Law::single(RowLaw::one_sided(law.r, law.v_hat))
            }
            SiteLaw::Limit(g) => Law::single(self.limit(*g, w)),
            SiteLaw::Controller(c) => Law::single(self.controller(c, w)),
            SiteLaw::DryFriction(force) => {
                let r = w.value() * FRICTION_REGULARIZATION;
                let bound = T::from(self.dt * force);
                let (lower, upper) = (-bound, bound);
                Law::single(RowLaw {
                    lower,
                    upper,
                    ..RowLaw::two_sided(r, T::zero())
                })
            }
        }
    }

    /// Returns regularization and unforced velocity of a constraint's row.
    fn spring<T: Scalar>(&self, row: &SpringRow<T>, w: &InverseInertia<'_, T>) -> RowLaw<T> {
        let dt = self.dt;
        let compliance = 1.0 / (dt * (dt + row.tau) * row.k);
        let (r, tau) = match compliance < near_rigid(NEAR_RIGID, w.real) {
            // A rigid row takes as long as it asks for to undo a deviation, at least a step.
            true if row.k.is_infinite() => (near_rigid(NEAR_RIGID, w.value()), dt.max(row.tau)),
            true => (near_rigid(NEAR_RIGID, w.value()), dt),
            false => (T::from(compliance), row.tau),
        };
        RowLaw::two_sided(r, -row.g / (dt + tau))
    }

    /// Returns regularization and unforced velocity of a row that is as soft as in MuJoCo.
    fn soft<T: Scalar>(&self, row: &SoftRow<T>, w: &InverseInertia<'_, T>) -> RowLaw<T> {
        let r = match row.mass {
            Some(mass) => row.softness / mass,
            None => row.softness * w.value(),
        };
        let r = if r.re() < near_rigid(NEAR_RIGID, w.real) {
            near_rigid(NEAR_RIGID, w.value())
        } else {
            r
        };
        RowLaw::two_sided(r, row.rate + row.reference * self.dt)
    }

    /// Returns the law of a joint limit at a distance g.
    fn limit<T: Scalar>(&self, g: T, w: &InverseInertia<'_, T>) -> RowLaw<T> {
        let row = SpringRow {
            g,
            k: LIMIT_STIFFNESS,
            tau: self.dt,
        };
        let law = self.spring(&row, w);
        RowLaw::one_sided(law.r, less(law.v_hat, self.max_recovery_speed))
    }

    /// Returns the law of an actuator with gains.
    fn controller<T: Scalar>(
        &self,
        c: &ControllerParameters<T>,
        w: &InverseInertia<'_, T>,
    ) -> RowLaw<T> {
        let [p, d] = c.gains;
        let dt = self.dt;
        let compliance = ((p * dt + d) * dt).recip();
        // Gains too large for the inertia are both reduced.
        let (r, scale) = if compliance.re() < near_rigid(NEAR_RIGID, w.real) {
            let rigid = near_rigid(NEAR_RIGID, w.value());
            (rigid, compliance / rigid)
        } else {
            (compliance, T::one())
        };
        let effort = c.effort_at_rest * scale + c.feed_forward;
        RowLaw {
            r,
            v_hat: effort * r * dt,
            lower: T::from(dt * c.effort_range[0]),
            upper: T::from(dt * c.effort_range[1]),
        }
    }

    /// Returns the law of a contact; `velocity(row)` is a component of its velocity at the start of
    /// the step.
    #[inline]
    pub(crate) fn contact<T: Scalar>(
        &self,
        c: &ContactParameters<T>,
        w: &InverseInertia<'_, T>,
        velocity: impl Fn(usize) -> T,
    ) -> Law<T> {
        if let Some(soft) = &c.soft {
            let start = Vector3::from_fn(|row, _| velocity(row));
            return Law::Contact(self.soft_contact(c.mu, soft, start));
        }
        let sigma = FRICTION_REGULARIZATION;
        Law::Contact(match self.approximation {
            DiscreteContactApproximation::Sap => {
                let (r_normal, v_hat) = self.linear(c, w);
                ContactLaw::Sap {
                    mu: c.mu,
                    r_tangential: w.value() * sigma,
                    r_normal,
                    v_hat: Vector3::new(T::zero(), T::zero(), v_hat),
                }
            }
            approximation => {
                let mut law = self.hunt_crossley(c, w, velocity(2));
                if c.mu.re() * w.real * law.n0.re() * sigma > self.stiction_tolerance {
                    law.eps = c.mu * w.value() * law.n0 * sigma;
                }
                match approximation {
                    DiscreteContactApproximation::Similar => ContactLaw::Similar(law),
                    _ => ContactLaw::Lagged(law),
                }
            }
        })
    }

    /// Returns the regularization of a contact's normal direction whose force is linear in depth
    /// and speed, and the velocity at which its impulse is zero.
    #[inline]
    fn linear<T: Scalar>(&self, c: &ContactParameters<T>, w: &InverseInertia<'_, T>) -> (T, T) {
        let dt = self.dt;
        let compliance = (c.k * (c.tau + dt) * dt).recip();
        let mut r = if compliance.re() < near_rigid(self.near_rigid, w.real) {
            near_rigid(self.near_rigid, w.value())
        } else {
            compliance
        };
        let mut v_hat = c.depth / (c.tau + dt);
        if v_hat.re() > self.max_recovery_speed {
            // The impulse at rest stays as it is.
            r *= v_hat.recip() * self.max_recovery_speed;
            v_hat = T::from(self.max_recovery_speed);
        }
        (r, v_hat)
    }

    /// Returns the parameters of a contact with Hunt and Crossley's dissipation.
    #[inline]
    fn hunt_crossley<T: Scalar>(
        &self,
        c: &ContactParameters<T>,
        w: &InverseInertia<'_, T>,
        vn: T,
    ) -> HuntCrossley<T> {
        let dt = self.dt;
        // A stiffness k with the regularization of a near-rigid contact, 1 / (k dt^2).
        let scale = self.near_rigid_hunt_crossley;
        let k = if near_rigid(scale, w.real) * (dt * dt) * c.k.re() > 1.0 {
            (near_rigid(scale, w.value()) * (dt * dt)).recip()
        } else {
            c.k
        };
        let fe0 = k * c.depth;
        let damping = greater(T::one() - c.d * vn, T::zero());
        HuntCrossley {
            mu: c.mu,
            k,
            d: c.d,
            fe0,
            n0: greater(fe0, T::zero()) * damping * dt,
            eps: T::from(self.stiction_tolerance),
            fade: 1.0 / self.max_recovery_speed,
            dt,
        }
    }

    /// Returns the law of a contact as in MuJoCo with a coefficient of friction, given its velocity
    /// at the start of the step.
    #[inline]
    fn soft_contact<T: Scalar>(
        &self,
        mu: T,
        soft: &SoftContact<T>,
        start: Vector3<T>,
    ) -> ContactLaw<T> {
        let [r_tangential, mut r_normal] = soft.regularization;
        let mut push = soft.reference * self.dt;
        if push.re() > self.max_recovery_speed {
            // The impulse at rest stays as it is.
            r_normal *= push.recip() * self.max_recovery_speed;
            push = T::from(self.max_recovery_speed);
        }
        let mut v_hat = start * T::from(1.0 - soft.damping * self.dt);
        v_hat.z += push;
        ContactLaw::Sap {
            mu,
            r_tangential,
            r_normal,
            v_hat,
        }
    }
}

impl std::str::FromStr for DiscreteContactApproximation {
    type Err = crate::Error;
    /// Reads Drake's names: `sap`, `similar` and `lagged`.
    ///
    /// # Errors
    /// Returns an error for any other name; `tamsi` is refused by name.
    fn from_str(name: &str) -> crate::Result<Self> {
        match name {
            "sap" => Ok(Self::Sap),
            "similar" => Ok(Self::Similar),
            "lagged" => Ok(Self::Lagged),
            "tamsi" => Err(crate::Error::unsupported(
                "discrete_contact_approximation 'tamsi' is deprecated, and gone from Drake after \
                 2026-09-01; use 'lagged', 'similar' or 'sap'",
            )),
            other => Err(crate::Error::invalid(format!(
                "discrete_contact_approximation must be 'lagged', 'similar' or 'sap', got '{other}'"
            ))),
        }
    }
}
