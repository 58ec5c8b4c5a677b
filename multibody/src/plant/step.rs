//! The discrete step of a plant: its forces and constraints, and what the step results in.

use super::contact::PointContacts;
use super::contact_materials::ContactMaterials;
use super::contact_results::ContactResults;
use super::inputs::ForceInputs;
use super::multibody_plant::MultibodyPlant;
use crate::discrete::{
    ControllerParameters, Site, SiteLaw, SpringRow, StepEnd, StepFailure, StepFailureKind,
    StepSettings, StepStart, StepStorage, Trees,
};
use crate::dynamics::MultibodyForces;
use crate::error::{Error, ErrorKind, Result};
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::{
    BallConstraint, BodyIndex, Constraint, DistanceConstraint, JointIndex, WeldConstraint,
};
use crate::spatial::SpatialVector;
use crate::tree::mobilizer::lift;
use nalgebra::{Isometry3, Vector3};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;
use tarragon_framework::{Scalar, math};

/// Locks and activity of constraints, which a context may change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ConstraintStatus {
    /// By joint.
    pub(super) locked: Vec<bool>,
    /// By constraint.
    pub(super) inactive: Vec<bool>,
}

/// Accelerations and forces at some state: those of a discrete step that starts there, or those at
/// a moment of continuous time.
#[derive(Clone, Debug)]
pub(super) struct DynamicsResult<T: Scalar> {
    /// The state `[q; v]`; empty before the first step.
    pub(super) x: Vec<T>,
    /// Time derivatives of the velocities.
    pub(super) vdot: Vec<T>,
    /// The state at the end of the step; empty in continuous time.
    pub(super) next: Vec<T>,
    /// By actuator.
    pub(super) net_actuation: Vec<T>,
    /// All spatial forces on the bodies, and those of contact among them, about the origins of the
    /// bodies and expressed in W.
    pub(super) spatial: Vec<SpatialVector<T>>,
    pub(super) contact_forces: Vec<SpatialVector<T>>,
    pub(super) contacts: ContactResults<T>,
}

impl<T: Scalar> DynamicsResult<T> {
    pub(super) fn empty() -> Self {
        Self {
            x: vec![],
            vdot: vec![],
            next: vec![],
            net_actuation: vec![],
            spatial: vec![],
            contact_forces: vec![],
            contacts: ContactResults::default(),
        }
    }
}

/// Work space of dynamics, kept from one computation to the next.
#[derive(Clone, Debug)]
pub(super) struct DynamicsWork<T: Scalar> {
    pub(super) materials: ContactMaterials,
    step: StepStorage<T>,
    contacts: PointContacts<T>,
    sites: StepSites<T>,
    /// An older result, whose place is free as soon as nothing else refers to it.
    retired: Option<Arc<DynamicsResult<T>>>,
}

impl<T: Scalar> DynamicsWork<T> {
    pub(super) fn new() -> Self {
        Self {
            materials: ContactMaterials::default(),
            step: StepStorage::new(),
            contacts: PointContacts::empty(),
            sites: StepSites {
                list: vec![],
                roles: vec![],
            },
            retired: None,
        }
    }

    /// Returns a result to be overwritten.
    pub(super) fn spare_result(&mut self) -> Arc<DynamicsResult<T>> {
        let retired = self.retired.take();
        let unique = retired.filter(|result| Arc::strong_count(result) == 1);
        unique.unwrap_or_else(|| Arc::new(DynamicsResult::empty()))
    }

    /// Keeps the place of a result that is no longer the present one.
    pub(super) fn retire(&mut self, result: Arc<DynamicsResult<T>>) {
        self.retired = Some(result);
    }
}

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
struct StepSites<T: Scalar> {
    list: Vec<(Site<T>, SiteLaw<T>)>,
    roles: Vec<SiteRole>,
}

impl<T: Scalar> StepSites<T> {
    fn clear(&mut self) {
        self.list.clear();
        self.roles.clear();
    }
    fn push(&mut self, role: SiteRole, site: Site<T>, law: SiteLaw<T>) {
        self.roles.push(role);
        self.list.push((site, law));
    }
    /// Adds rows that are springs.
    fn push_springs(&mut self, site: Site<T>, rows: Springs<T>) {
        let role = match &site {
            Site::Velocities(_) => SiteRole::Joint,
            Site::Bodies { .. } => SiteRole::Bodies,
        };
        self.push(role, site, SiteLaw::Springs(rows));
    }
}

type Springs<T> = Vec<SpringRow<T>>;

impl<T: Scalar> DynamicsResult<T> {
    /// Adds contacts and their forces at the end of a step.
    fn add_contacts(
        &mut self,
        positions: &PositionKinematics<T>,
        contacts: &PointContacts<T>,
        end: &StepEnd<T>,
        dt: f64,
    ) {
        let point_pairs = &mut self.contacts.point_pairs;
        point_pairs.clear();
        let ends = end.impulses.iter().zip(&end.constraint_v);
        let all = contacts.sites.iter().zip(&contacts.pairs).zip(ends);
        for ((site, pair), (impulse, v)) in all {
            let impulse = Vector3::new(impulse[0], impulse[1], impulse[2]);
            let force = site.r_wc * (impulse * T::from(1.0 / dt));
            for (body, force) in site.bodies.iter().zip([-force, force]) {
                let arm = site.p_wc - positions.x_wb(*body).translation.vector;
                let force = SpatialVector {
                    rotational: arm.cross(&force),
                    translational: force,
                };
                self.spatial[body.index()] += force;
                self.contact_forces[body.index()] += force;
            }
            let slip = v[0] * v[0] + v[1] * v[1];
            let slip = match slip.re() > 0.0 {
                true => slip.sqrt(),
                false => T::zero(),
            };
            point_pairs.push(pair.with_force(site, force, v[2], slip));
        }
    }

    /// Adds the forces of other constraints at the end of a step.
    fn add_sites(
        &mut self,
        positions: &PositionKinematics<T>,
        sites: &StepSites<T>,
        impulses: &[[T; 6]],
        dt: f64,
    ) {
        for ((role, (site, _)), impulse) in sites.roles.iter().zip(&sites.list).zip(impulses) {
            if let SiteRole::Actuator(k) = role {
                self.net_actuation[*k] = impulse[0] / dt;
            }
            let Some(impulse) = site.impulse(impulse) else {
                continue;
            };
            let force = impulse.on_b * T::from(1.0 / dt);
            let ends = impulse.bodies.iter().zip(&impulse.points);
            for ((body, p), force) in ends.zip([-force, force]) {
                let arm = p - positions.x_wb(*body).translation.vector;
                self.spatial[body.index()] += force.force_at(&-arm);
            }
        }
    }
}

/// Returns rigid rows for deviations.
fn rigid<T: Scalar>(deviations: &[Vector3<T>]) -> Springs<T> {
    let rows = deviations.iter().flat_map(|g| g.iter());
    rows.map(|g| SpringRow {
        g: *g,
        k: f64::INFINITY,
        tau: 0.0,
    })
    .collect()
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
    /// Returns the settings of the discrete step.
    pub(super) fn step_settings(&self) -> StepSettings {
        StepSettings {
            dt: self.time_step,
            approximation: self.contact.approximation,
            stiction_tolerance: self.contact.stiction_tolerance,
            near_rigid: self.contact.sap_near_rigid_threshold,
            near_rigid_hunt_crossley: self.contact.near_rigid_threshold,
            max_recovery_speed: self.contact.max_recovery_speed,
        }
    }

    /// Returns the forces at a state but for contact, joint damping, and actuators with gains that
    /// have a desired state, and the part of the net actuation in it.
    pub(super) fn explicit_forces<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        inputs: &ForceInputs<'_, T>,
        implicit: impl Fn(usize) -> bool,
    ) -> Result<(MultibodyForces<T>, Vec<T>)> {
        let mut forces = self.spring_and_gravity_forces(positions, velocities)?;
        let topology = self.finalized("forces")?;
        let mut net_actuation = vec![T::zero(); self.actuators.len()];
        for (k, actuator) in self.actuators.iter().enumerate() {
            if implicit(k) {
                continue;
            }
            let u = clamped(inputs.actuation[k], actuator.effort_limit);
            net_actuation[k] = u;
            forces.generalized[topology.starts[actuator.joint.index()].1] += u;
        }
        for (sum, f) in forces.generalized.iter_mut().zip(inputs.generalized_force) {
            *sum += *f;
        }
        for force in inputs.spatial_force {
            let arm =
                crate::kinematics::turned(&positions.r_wb[force.body.index()], &force.p_bobq_b);
            forces.add_at(force.body, &arm, force.f_bq_w);
        }
        Ok((forces, net_actuation))
    }

    /// Computes one discrete step.
    pub(super) fn calc_step<T: Scalar>(
        &self,
        work: &mut DynamicsWork<T>,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        inputs: &ForceInputs<'_, T>,
        status: &ConstraintStatus,
        out: &mut DynamicsResult<T>,
    ) -> Result<()> {
        let topology = self.finalized("the discrete step")?;
        let (tree, settings) = (&topology.tree, self.step_settings());
        let trees = &self.trees;
        let locked = self.locked_velocities(status)?;
        let joint_locked =
            |joint: JointIndex| status.locked.get(joint.index()).copied().unwrap_or(false);
        let controlled = |k: usize| {
            let actuator = &self.actuators[k];
            let gains = actuator.controller_gains.filter(|g| g.p + g.d > 0.0)?;
            let desired = inputs.desired[k]?;
            (!joint_locked(actuator.joint)).then_some((gains, desired))
        };
        let (forces, net_actuation) =
            self.explicit_forces(positions, velocities, inputs, |k| controlled(k).is_some())?;
        let damping = self.damping_vector();
        let start = StepStart {
            tree,
            trees,
            positions,
            velocities,
            forces: &forces,
            damping: &damping,
            locked: &locked,
            settings,
        };
        let fail = |failure| self.step_error(trees, &failure);
        let v_star = work.step.free_motion(&start).map_err(fail)?;
        let contacts = &mut work.contacts;
        match inputs.query {
            Some(query) => self.update_point_contacts(contacts, &mut work.materials, query)?,
            None => contacts.clear(),
        }
        let sites = &mut work.sites;
        sites.clear();
        self.add_limits(sites, positions, velocities, v_star, &locked)?;
        for (k, actuator) in self.actuators.iter().enumerate() {
            let Some((gains, (qd, vd))) = controlled(k) else {
                continue;
            };
            let (q, v) = topology.starts[actuator.joint.index()];
            let law = ControllerParameters {
                gains: (gains.p, gains.d),
                error: qd - positions.q[q],
                desired_velocity: vd,
                feed_forward: inputs.actuation[k],
                effort_limit: actuator.effort_limit,
            };
            let site = Site::Velocities(smallvec![(v, 1.0)]);
            sites.push(SiteRole::Actuator(k), site, SiteLaw::Controller(law));
        }
        for (i, constraint) in self.constraints.iter().enumerate() {
            if !status.inactive.get(i).copied().unwrap_or(false) {
                self.add_constraint(sites, positions, constraint)?;
            }
        }
        let end = work.step.finish(&start, &contacts.sites, &sites.list);
        let end = end.map_err(fail)?;

        out.net_actuation = net_actuation;
        out.spatial.clone_from(&forces.spatial);
        out.contact_forces.clear();
        out.contact_forces
            .resize(tree.nodes.len() + 1, SpatialVector::zero());
        out.add_contacts(positions, contacts, end, settings.dt);
        out.add_sites(
            positions,
            sites,
            &end.impulses[contacts.sites.len()..],
            settings.dt,
        );
        out.x.clear();
        out.x.extend_from_slice(&positions.q);
        out.x.extend_from_slice(&velocities.v);
        self.update_acceleration(end, velocities, &locked, &mut out.vdot);
        let qdot = self.map_velocity_to_qdot(positions, &end.v)?;
        let next = positions.q.iter().zip(qdot);
        out.next.clear();
        out.next
            .extend(next.map(|(q, rate)| *q + rate * settings.dt));
        out.next.extend_from_slice(&end.v);
        Ok(())
    }

    fn update_acceleration<T: Scalar>(
        &self,
        end: &StepEnd<T>,
        velocities: &VelocityKinematics<T>,
        locked: &[bool],
        vdot: &mut Vec<T>,
    ) {
        let ends = end.v.iter().zip(&velocities.v).zip(locked);
        vdot.clear();
        vdot.extend(ends.map(|((v1, v0), locked)| match locked {
            true => T::zero(),
            false => (*v1 - *v0) / self.time_step,
        }));
    }

    /// Adds the limits that joints may reach in this step.
    fn add_limits<T: Scalar>(
        &self,
        sites: &mut StepSites<T>,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        v_star: &[f64],
        locked: &[bool],
    ) -> Result<()> {
        let (topology, settings) = (self.finalized("joint limits")?, self.step_settings());
        for (joint, (q, v)) in self.joints.iter().zip(&topology.starts) {
            if joint.num_positions() != 1 || joint.num_velocities() != 1 || locked[*v] {
                continue;
            }
            let (lower, upper) = (joint.position_limits.0[0], joint.position_limits.1[0]);
            let (q0, v0) = (positions.q[*q], velocities.v[*v].re());
            let reach = 2.0 * settings.dt * v0.abs().max(v_star[*v].abs());
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
        Ok(())
    }

    /// Adds a constraint of the model.
    fn add_constraint<T: Scalar>(
        &self,
        sites: &mut StepSites<T>,
        positions: &PositionKinematics<T>,
        constraint: &Constraint,
    ) -> Result<()> {
        let topology = self.finalized("constraints")?;
        let joint = |joint: JointIndex| topology.starts[joint.index()];
        match constraint {
            Constraint::Coupler(c) => {
                let ((q0, v0), (q1, v1)) = (joint(c.joint0), joint(c.joint1));
                let g = positions.q[q0] - positions.q[q1] * c.gear_ratio - c.offset;
                let site = Site::Velocities(smallvec![(v0, 1.0), (v1, -c.gear_ratio)]);
                sites.push_springs(site, rigid(&[Vector3::new(g, g, g)])[..1].into());
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
                for (limit, sign) in [(c.lower, 1.0), (c.upper, -1.0)] {
                    if !limit.is_finite() {
                        continue;
                    }
                    let row = SpringRow {
                        g: (length - limit) * sign,
                        k: c.stiffness,
                        tau: c.damping / c.stiffness,
                    };
                    let rates = rates.iter().map(|(v, x)| (*v, sign * x)).collect();
                    let site = Site::Velocities(rates);
                    sites.push(SiteRole::Joint, site, SiteLaw::Stop(row));
                }
            }
            Constraint::Ball(c) => {
                let (site, p_pq) = self.ball_site(positions, c)?;
                sites.push_springs(site, rigid(&[p_pq]));
            }
            Constraint::Weld(c) => {
                let (site, deviations) = weld_site(positions, c);
                sites.push_springs(site, rigid(&deviations));
            }
            Constraint::Distance(c) => {
                if let Some((site, row)) = distance_site(positions, c) {
                    sites.push_springs(site, vec![row]);
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
        let site = Site::Bodies {
            bodies: [c.body_a, c.body_b],
            points: [p, q],
            rows: translations(),
        };
        Ok((site, q - p))
    }

    /// Returns which velocities are locked.
    pub(super) fn locked_velocities(&self, status: &ConstraintStatus) -> Result<Vec<bool>> {
        let topology = self.finalized("locked joints")?;
        let mut locked = vec![false; topology.num_velocities];
        for ((joint, (_, v)), is) in self.joints.iter().zip(&topology.starts).zip(&status.locked) {
            if *is {
                locked[*v..*v + joint.num_velocities()].fill(true);
            }
        }
        Ok(locked)
    }

    #[cold]
    fn step_error(&self, trees: &Trees, failure: &StepFailure) -> Error {
        let base = |tree: &usize| {
            let moves = |i: &usize| trees.of_body(BodyIndex::new(*i)) == Some(*tree);
            let body = (1..self.bodies.len()).find(moves).unwrap_or(0);
            format!("'{}'", self.scoped_body_name(BodyIndex::new(body)))
        };
        let mut names: Vec<String> = failure.trees.iter().take(5).map(base).collect();
        if failure.trees.len() > names.len() {
            names.push(format!("{} more", failure.trees.len() - names.len()));
        }
        let (names, dt) = (names.join(", "), self.time_step);
        match failure.why {
            StepFailureKind::SingularInertia => Error::invalid(format!(
                "MultibodyPlant: the mass matrix of the tree with body {names} must be positive \
                 definite; give its outermost bodies mass and rotational inertia"
            )),
            StepFailureKind::NotFinite => Error::new(
                ErrorKind::NumericalFailure,
                format!(
                    "MultibodyPlant: the step of {dt:?} s has no finite solution for the trees with \
                     bodies {names}; their velocities or forces are too large, reduce them or the \
                     time step"
                ),
            ),
            StepFailureKind::NotConverged => Error::new(
                ErrorKind::NumericalFailure,
                format!(
                    "MultibodyPlant: the solver of the step of {dt:?} s did not converge for the \
                     trees with bodies {names}; reduce the time step, or stiffness and dissipation \
                     of their contacts"
                ),
            ),
        }
    }
}

fn clamped<T: Scalar>(u: T, limit: f64) -> T {
    match u.re() {
        x if x > limit => T::from(limit),
        x if x < -limit => T::from(-limit),
        _ => u,
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
) -> (Site<T>, [Vector3<T>; 2]) {
    let pose = |body: BodyIndex, x: &Isometry3<f64>| positions.x_wb(body) * lift::<T>(x);
    let (x_wp, x_wq) = (pose(c.body_a, &c.x_ap), pose(c.body_b, &c.x_bq));
    let (p, q) = (x_wp.translation.vector, x_wq.translation.vector);
    let turn = math::rotation_log(&(x_wp.rotation.inverse() * x_wq.rotation));
    let middle = (p + q) * T::from(0.5);
    let rotations = (0..3).map(|k| SpatialVector {
        rotational: Vector3::ith(k, T::one()),
        translational: Vector3::zeros(),
    });
    let site = Site::Bodies {
        bodies: [c.body_a, c.body_b],
        points: [middle; 2],
        rows: rotations.chain(translations()).collect(),
    };
    (site, [x_wp.rotation * turn, q - p])
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
    let site = Site::Bodies {
        bodies: [c.body_a, c.body_b],
        points: [p, q],
        rows: smallvec![SpatialVector {
            rotational: Vector3::zeros(),
            translational: line / length,
        }],
    };
    let row = SpringRow {
        g: length - c.distance,
        k: c.stiffness,
        tau: c.damping / c.stiffness,
    };
    Some((site, row))
}
