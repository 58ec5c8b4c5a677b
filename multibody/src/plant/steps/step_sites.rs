//! The constraints of a discrete step but contacts: joint limits, actuators with gains, and the
//! constraints of the model.

use super::tendon_rates::{path_rate, tendon_rate};
use super::transmissions;
use crate::discrete::{
    BodiesSite, ConstraintEnds, ControllerParameters, LengthSite, Site, SiteLaw, SoftRow,
    SpringRow, StepStart,
};
use crate::error::Result;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::{
    BallConstraint, BodyIndex, Constraint, DistanceConstraint, JointIndex, MujocoContact,
    PolynomialConstraint, WeldConstraint,
};
use crate::plant::inputs::StepInputs;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::sleep_state::Sleepers;
use crate::spatial::SpatialVector;
use crate::tree::Topology;
use crate::tree::mobilizer::lift;
use nalgebra::{Isometry3, Vector3};
use smallvec::{SmallVec, smallvec};
use tarragon_framework::{Scalar, math};

/// Origin of a constraint of the step that is not a contact.
#[derive(Clone, Copy, Debug)]
enum SiteRole {
    Actuator(usize),
    /// A force between two bodies.
    Bodies,
    /// A generalized force.
    Joint,
}

/// The constraints of a step but contacts, while they are collected.
#[derive(Clone, Debug)]
pub(super) struct StepSites<T: Scalar> {
    list: Vec<(Site<T>, SiteLaw<T>)>,
    roles: Vec<SiteRole>,
}

impl<T: Scalar> StepSites<T> {
    pub(in crate::plant) fn clear(&mut self) {
        self.list.clear();
        self.roles.clear();
    }
    pub(in crate::plant) fn empty() -> Self {
        Self {
            list: vec![],
            roles: vec![],
        }
    }
    pub(in crate::plant) fn list(&self) -> &[(Site<T>, SiteLaw<T>)] {
        &self.list
    }
    /// Returns all sites with their roles.
    fn iter(&self) -> impl Iterator<Item = (SiteRole, &Site<T>)> {
        let sites = self.list.iter().map(|(site, _)| site);
        self.roles.iter().copied().zip(sites)
    }
    /// Adds the forces (N, N m) on bodies about their origins, and the efforts of actuators, that
    /// the sites had during a step of length `dt` (s). They come after the contacts.
    pub(super) fn add_forces(
        &self,
        positions: &PositionKinematics<T>,
        ends: &ConstraintEnds<T>,
        num_contacts: usize,
        dt: f64,
        spatial: &mut [SpatialVector<T>],
        net_actuation: &mut [T],
    ) {
        for (k, (role, site)) in self.iter().enumerate() {
            let impulse = |row| ends.impulse(num_contacts + k, row);
            if let SiteRole::Actuator(k) = role {
                net_actuation[k] = impulse(0) / dt;
            }
            site.for_bodies(impulse, |body, p_w, impulse| {
                let arm = p_w - positions.x_wb(body).translation.vector;
                let force = impulse * T::from(1.0 / dt);
                spatial[body.index()] += force.force_at(&-arm);
            });
        }
    }
    /// Adds an actuator with gains on the velocity of a site.
    #[inline]
    pub(super) fn push_controller(
        &mut self,
        actuator: usize,
        site: Site<T>,
        law: ControllerParameters<T>,
    ) {
        self.push(SiteRole::Actuator(actuator), site, SiteLaw::Controller(law));
    }
    /// Adds dry friction of at most `force` on a velocity.
    pub(super) fn push_friction(&mut self, velocity: usize, force: f64) {
        let site = Site::Velocities(smallvec![(velocity, 1.0)]);
        self.push(SiteRole::Joint, site, SiteLaw::DryFriction(force));
    }
    #[inline]
    fn push(&mut self, role: SiteRole, site: Site<T>, law: SiteLaw<T>) {
        self.roles.push(role);
        self.list.push((site, law));
    }
    /// Adds rows that act in both directions.
    fn push_equality(&mut self, site: Site<T>, law: SiteLaw<T>) {
        let role = match &site {
            Site::Velocities(_) => SiteRole::Joint,
            Site::Bodies(_) | Site::Length(_) => SiteRole::Bodies,
        };
        self.push(role, site, law);
    }
    /// Adds the limits of a length, by their stiffness and relaxation time. `site` returns the site
    /// of its rate times a sign.
    fn push_stops(
        &mut self,
        (role, length): (SiteRole, T),
        limits: [f64; 2],
        [stiffness, tau]: [f64; 2],
        site: impl Fn(f64) -> Site<T>,
    ) {
        for (limit, sign) in limits.into_iter().zip([1.0, -1.0]) {
            if !limit.is_finite() {
                continue;
            }
            let row = SpringRow {
                g: (length - limit) * sign,
                k: stiffness,
                tau,
            };
            self.push(role, site(sign), SiteLaw::Stop(row));
        }
    }
}

/// Returns rigid rows for deviations, which are undone within a relaxation time (s).
fn rigid<T: Scalar>(deviations: &[T], tau: f64) -> Vec<SpringRow<T>> {
    let row = |g: &T| SpringRow {
        g: *g,
        k: f64::INFINITY,
        tau,
    };
    deviations.iter().map(row).collect()
}

/// Returns rows that are as soft as in MuJoCo for a time step (s), from their deviations and rates.
/// All rows have the impedance at the norm of the deviations. Without an effective `mass` (kg), the
/// step uses the inertia of the constraint.
///
/// Source: "Computation" of MuJoCo's documentation, "Constraint model".
fn soft<T: Scalar>(
    rows: impl Iterator<Item = (T, T)> + Clone,
    (parameters, time_step): (&MujocoContact, f64),
    mass: Option<f64>,
) -> SiteLaw<T> {
    let square = rows.clone().fold(T::zero(), |sum, (g, _)| sum + g * g);
    let deviation = if square.re() > 0.0 {
        square.sqrt()
    } else {
        T::zero()
    };
    let [k, b] = parameters.reference(time_step);
    let d = parameters.impedance(deviation);
    let row = |(g, rate): (T, T)| SoftRow {
        rate,
        reference: -(d * g * k) - rate * b,
        softness: d.recip() - 1.0,
        mass,
    };
    SiteLaw::Soft(rows.map(row).collect())
}

fn translations<T: Scalar>() -> SmallVec<[SpatialVector<T>; 3]> {
    (0..3)
        .map(|k| SpatialVector {
            rotational: Vector3::zeros(),
            translational: Vector3::ith(k, T::one()),
        })
        .collect()
}

impl MultibodyPlant {
    /// Finds where joint limits, controllers and constraints act, at the start of a step with its
    /// free motion. `laws` has one entry per actuator.
    pub(super) fn update_sites<T: Scalar>(
        &self,
        sites: &mut StepSites<T>,
        step: &StepInputs<'_, T>,
        start: &StepStart<'_, T>,
        v_star: &[f64],
        sleepers: &Sleepers,
        laws: &[Option<ControllerParameters<T>>],
    ) -> Result<()> {
        let topology = &self.topology;
        let (positions, status) = (step.positions, step.status);
        sites.clear();
        self.add_limits(sites, start, v_star);
        for (k, (actuator, law)) in self.actuators.iter().zip(laws).enumerate() {
            let Some(law) = law else {
                continue;
            };
            let mut trees = self.actuator_trees(actuator).into_iter();
            if trees.any(|tree| sleepers.is_asleep(tree)) {
                continue;
            }
            sites.push_controller(k, transmissions::site(topology, actuator, positions), *law);
        }
        self.add_dry_friction(sites, start);
        for (i, constraint) in self.constraints.iter().enumerate() {
            let is_active = !status.inactive.get(i).copied().unwrap_or(false);
            let asleep = |tree: &usize| sleepers.is_asleep(*tree);
            if is_active && !self.constraint_trees(constraint).iter().any(asleep) {
                self.add_step_constraint(sites, positions, start.velocities, i)?;
            }
        }
        Ok(())
    }

    /// Adds the limits that joints may reach in this step.
    fn add_limits<T: Scalar>(
        &self,
        sites: &mut StepSites<T>,
        start: &StepStart<'_, T>,
        v_star: &[f64],
    ) {
        let topology = &self.topology;
        let is_asleep = |v: usize| start.is_asleep(start.trees.of_velocity(v));
        for (joint, (q, v)) in self.joints.iter().zip(&topology.starts) {
            if joint.num_positions() != 1 || joint.num_velocities() != 1 {
                continue;
            }
            if start.locked[*v] || is_asleep(*v) {
                continue;
            }
            let (lower, upper) = (joint.position_limits.0[0], joint.position_limits.1[0]);
            let (q0, v0) = (start.positions.q[*q], start.velocities.v[*v].re());
            let reach = 2.0 * start.settings.dt * v0.abs().max(v_star[*v].abs());
            let mut limit = |sign: f64, g: T| {
                let site = Site::Velocities(smallvec![(*v, sign)]);
                sites.push(SiteRole::Joint, site, SiteLaw::Limit(g));
            };
            if lower.is_finite() && q0.re() - reach <= lower {
                limit(1.0, q0 - lower);
            }
            if upper.is_finite() && q0.re() + reach >= upper {
                limit(-1.0, -q0 + upper);
            }
        }
    }

    /// Adds a constraint of the model by its index.
    fn add_step_constraint<T: Scalar>(
        &self,
        sites: &mut StepSites<T>,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        index: usize,
    ) -> Result<()> {
        let constraint = &self.constraints[index];
        let parameters = self.solver_parameters.get(&index);
        let relaxation = parameters.map_or(0.0, MujocoContact::reference_time);
        let equality = |site: &Site<T>, deviations: &[T], mass: Option<f64>| match parameters {
            Some(parameters) => {
                let rate = |(row, g): (usize, &T)| (*g, site.velocity(row, positions, velocities));
                let rows = deviations.iter().enumerate().map(rate);
                soft(rows, (parameters, self.time_step), mass)
            }
            None => SiteLaw::Springs(rigid(deviations, 0.0)),
        };
        let time = |stiffness: f64, damping: f64| {
            if stiffness.is_infinite() {
                relaxation
            } else {
                damping / stiffness
            }
        };
        let topology = &self.topology;
        let joint = |joint: JointIndex| topology.starts[joint.index()];
        match constraint {
            Constraint::Coupler(c) => {
                let ((q0, v0), (q1, v1)) = (joint(c.joint0), joint(c.joint1));
                let g = positions.q[q0] - positions.q[q1] * c.gear_ratio - c.offset;
                let site = Site::Velocities(smallvec![(v0, 1.0), (v1, -c.gear_ratio)]);
                let law = equality(&site, &[g], None);
                sites.push_equality(site, law);
            }
            Constraint::Tendon(c) => {
                let terms = c.joints.iter().zip(&c.coefficients);
                let mut length = T::from(c.offset);
                let mut rates: SmallVec<[(usize, f64); 2]> = SmallVec::new();
                for (index, coefficient) in terms {
                    let (q, v) = joint(*index);
                    length += positions.q[q] * *coefficient;
                    rates.push((v, *coefficient));
                }
                let site = |sign: f64| {
                    let rates = rates.iter().map(|(v, x)| (*v, sign * x));
                    Site::Velocities(rates.collect())
                };
                let limits = [c.lower, c.upper];
                let spring = [c.stiffness, time(c.stiffness, c.damping)];
                sites.push_stops((SiteRole::Joint, length), limits, spring, site);
            }
            Constraint::SpatialTendon(c) => {
                let (length, rate) = path_rate(positions, &c.path);
                let site = |sign: f64| length_site(&[(&rate, T::from(sign))]);
                let limits = [c.lower, c.upper];
                let spring = [c.stiffness, time(c.stiffness, c.damping)];
                sites.push_stops((SiteRole::Bodies, length), limits, spring, site);
            }
            Constraint::Polynomial(c) => {
                let (site, g) = polynomial_site(topology, positions, c);
                let law = equality(&site, &[g], None);
                sites.push_equality(site, law);
            }
            Constraint::Ball(c) => {
                let (site, p_pq) = self.ball_site(positions, c)?;
                let mass = parameters.and_then(|_| self.effective_mass_between(c.body_a, c.body_b));
                let law = equality(&site, p_pq.as_slice(), mass);
                sites.push_equality(site, law);
            }
            Constraint::Weld(c) => {
                let (site, deviations) = weld_site(positions, c);
                // Rows of two units have no common effective mass.
                let rows = rigid(deviations.as_flattened(), relaxation);
                sites.push_equality(site, SiteLaw::Springs(rows));
            }
            Constraint::Distance(c) => {
                if let Some((site, row)) = distance_site(positions, c) {
                    sites.push_equality(site, SiteLaw::Springs(vec![row]));
                }
            }
        }
        Ok(())
    }

    fn ball_site<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        c: &BallConstraint,
    ) -> Result<(Site<T>, Vector3<T>)> {
        let p_bq = match c.p_bq {
            Some(p_bq) => p_bq,
            None => {
                let mut x_wb = vec![];
                self.calc_body_poses(&self.default_positions(), &mut x_wb)?;
                let p_w = x_wb[c.body_a.index()] * nalgebra::Point3::from(c.p_ap);
                x_wb[c.body_b.index()].inverse_transform_point(&p_w).coords
            }
        };
        let p = point(positions, c.body_a, &c.p_ap);
        let q = point(positions, c.body_b, &p_bq);
        let site = Site::Bodies(Box::new(BodiesSite {
            bodies: [c.body_a, c.body_b],
            points: [p, q],
            rows: translations(),
        }));
        Ok((site, q - p))
    }
}

/// Returns the position in W of a point of a body.
fn point<T: Scalar>(
    positions: &PositionKinematics<T>,
    body: BodyIndex,
    p: &Vector3<f64>,
) -> Vector3<T> {
    let arm = crate::kinematics::turned(&positions.r_wb[body.index()], p);
    positions.x_wb(body).translation.vector + arm
}

fn weld_site<T: Scalar>(
    positions: &PositionKinematics<T>,
    c: &WeldConstraint,
) -> (Site<T>, [[T; 3]; 2]) {
    let pose = |body: BodyIndex, x: &Isometry3<f64>| positions.x_wb(body) * lift::<T>(x);
    let (x_wp, x_wq) = (pose(c.body_a, &c.x_ap), pose(c.body_b, &c.x_bq));
    let (p, q) = (x_wp.translation.vector, x_wq.translation.vector);
    let turn = math::rotation_log(&(x_wp.rotation.inverse() * x_wq.rotation));
    let middle = (p + q) * T::from(0.5);
    let rotations = (0..3).map(|k| SpatialVector {
        rotational: Vector3::ith(k, T::one()),
        translational: Vector3::zeros(),
    });
    let site = Site::Bodies(Box::new(BodiesSite {
        bodies: [c.body_a, c.body_b],
        points: [middle; 2],
        rows: rotations.chain(translations()).collect(),
    }));
    let (turn, way) = (x_wp.rotation * turn, q - p);
    (site, [turn.into(), way.into()])
}

/// Returns a site of the sum of rates, each times a factor.
fn length_site<T: Scalar>(rates: &[(&LengthSite<T>, T)]) -> Site<T> {
    let mut site = LengthSite::constant();
    for (rate, factor) in rates {
        site.add_scaled(rate, *factor);
    }
    Site::Length(Box::new(site))
}

/// Returns the site of a polynomial, linear in the lengths at the start of the step, and how much
/// longer than the polynomial the first tendon is.
fn polynomial_site<T: Scalar>(
    topology: &Topology,
    positions: &PositionKinematics<T>,
    c: &PolynomialConstraint,
) -> (Site<T>, T) {
    let tendons = c.tendons.each_ref();
    let [(l0, rate0), (l1, rate1)] = tendons.map(|tendon| tendon_rate(topology, positions, tendon));
    let x = l1 - c.references[1];
    let (value, slope) = polynomial(&c.coefficients, x);
    let site = length_site(&[(&rate0, T::one()), (&rate1, -slope)]);
    (site, l0 - c.references[0] - value)
}

/// Returns a polynomial and its derivative, by coefficients from the constant one on.
fn polynomial<T: Scalar>(coefficients: &[f64; 5], x: T) -> (T, T) {
    let (mut value, mut slope) = (T::zero(), T::zero());
    for coefficient in coefficients.iter().rev() {
        slope = slope * x + value;
        value = value * x + *coefficient;
    }
    (value, slope)
}

/// Returns `None` where the points coincide and their line has no direction.
fn distance_site<T: Scalar>(
    positions: &PositionKinematics<T>,
    c: &DistanceConstraint,
) -> Option<(Site<T>, SpringRow<T>)> {
    let p = point(positions, c.body_a, &c.p_ap);
    let q = point(positions, c.body_b, &c.p_bq);
    let line = q - p;
    if line.norm_squared().re() == 0.0 {
        return None;
    }
    let length = line.norm();
    let site = Site::Bodies(Box::new(BodiesSite {
        bodies: [c.body_a, c.body_b],
        points: [p, q],
        rows: smallvec![SpatialVector {
            rotational: Vector3::zeros(),
            translational: line / length,
        }],
    }));
    let row = SpringRow {
        g: length - c.distance,
        k: c.stiffness,
        tau: c.damping / c.stiffness,
    };
    Some((site, row))
}
