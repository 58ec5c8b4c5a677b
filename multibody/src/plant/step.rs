//! The discrete step of a plant: its forces and constraints, and what the step results in.

use super::contact_materials::ContactMaterials;
use super::contact_results::{ContactResults, PointPairContactInfo};
use super::inputs::ForceInputs;
use super::model_parameters::ModelParameters;
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
    /// The parameters that all of this was computed with.
    pub(super) parameters: Arc<ModelParameters<T>>,
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
            parameters: Arc::new(ModelParameters::empty()),
        }
    }
}

/// Work space of dynamics, kept from one computation to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct DynamicsWork {
    pub(super) step: StepStorage,
    pub(super) materials: ContactMaterials,
}

/// Origin of a constraint of the step.
enum SiteRole {
    Contact,
    Actuator(usize),
    /// A force between two bodies.
    Bodies,
    /// A generalized force.
    Joint,
}

/// The constraints of a step, while they are collected.
struct StepSites<T: Scalar> {
    list: Vec<(Site<T>, SiteLaw<T>)>,
    roles: Vec<SiteRole>,
}

impl<T: Scalar> StepSites<T> {
    fn push(&mut self, role: SiteRole, site: Site<T>, law: SiteLaw<T>) {
        self.roles.push(role);
        self.list.push((site, law));
    }
    /// Adds rows that are springs.
    fn push_springs(&mut self, site: Site<T>, rows: Springs<T>) {
        let role = match &site {
            Site::Velocities(_) => SiteRole::Joint,
            _ => SiteRole::Bodies,
        };
        self.push(role, site, SiteLaw::Springs(rows));
    }
}

type Springs<T> = Vec<SpringRow<T>>;

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
        parameters: &ModelParameters<T>,
        implicit: impl Fn(usize) -> bool,
    ) -> Result<(MultibodyForces<T>, Vec<T>)> {
        let mut forces = self.spring_and_gravity_forces(positions, velocities, parameters)?;
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
        work: &mut DynamicsWork,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        inputs: &ForceInputs<'_, T>,
        status: &ConstraintStatus,
        parameters: &Arc<ModelParameters<T>>,
    ) -> Result<DynamicsResult<T>> {
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
        let implicit = |k| controlled(k).is_some();
        let (forces, mut net_actuation) =
            self.explicit_forces(positions, velocities, inputs, parameters, implicit)?;
        let start = StepStart {
            tree,
            trees,
            inertias: &parameters.inertias,
            positions,
            velocities,
            forces: &forces,
            damping: &parameters.damping,
            locked: &locked,
            settings,
        };
        let fail = |failure| self.step_error(trees, &failure);
        let v_star = work.step.free_motion(&start).map_err(fail)?.to_vec();
        let mut sites = StepSites {
            list: vec![],
            roles: vec![],
        };
        let contacts = match inputs.query {
            Some(query) => self.point_contacts(&mut work.materials, query, parameters)?,
            None => vec![],
        };
        sites.list.reserve(contacts.len());
        sites.roles.reserve(contacts.len());
        for contact in &contacts {
            let site = Site::Point {
                bodies: contact.bodies,
                p_w: contact.p_wc,
                directions: contact.r_wc,
            };
            sites.push(
                SiteRole::Contact,
                site,
                SiteLaw::Contact(contact.parameters),
            );
        }
        self.add_limits(&mut sites, positions, velocities, &v_star, &locked)?;
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
                self.add_constraint(&mut sites, positions, constraint)?;
            }
        }
        let end = work.step.finish(&start, &sites.list).map_err(fail)?;

        let mut spatial = forces;
        let mut contact_forces = MultibodyForces::zero(tree.nodes.len() + 1, 0);
        let all = sites.roles.iter().zip(&sites.list).zip(&end.impulses);
        for ((role, (site, _)), impulse) in all {
            if let SiteRole::Actuator(k) = role {
                net_actuation[*k] = impulse[0] / settings.dt;
            }
            let Some(impulse) = site.impulse(impulse) else {
                continue;
            };
            let force = impulse.on_b * T::from(1.0 / settings.dt);
            let of_contact = matches!(role, SiteRole::Contact);
            for ((body, p), force) in impulse
                .bodies
                .iter()
                .zip(&impulse.points)
                .zip([-force, force])
            {
                let arm = p - positions.x_wb(*body).translation.vector;
                spatial.add_at(*body, &arm, force);
                if of_contact {
                    contact_forces.add_at(*body, &arm, force);
                }
            }
        }
        let results = contacts
            .into_iter()
            .zip(&end.impulses)
            .zip(&end.constraint_v);
        let point_pairs: Vec<PointPairContactInfo<T>> = results
            .map(|((contact, impulse), v)| {
                let force = Vector3::new(impulse[0], impulse[1], impulse[2]) / T::from(settings.dt);
                let slip = v[0] * v[0] + v[1] * v[1];
                let slip = match slip.re() > 0.0 {
                    true => slip.sqrt(),
                    false => T::zero(),
                };
                contact.with_force(force, v[2], slip)
            })
            .collect();
        let vdot = self.step_acceleration(&end, velocities, &locked);
        let mut next = positions.q.clone();
        let qdot = self.map_velocity_to_qdot(positions, &end.v)?;
        for (q, rate) in next.iter_mut().zip(qdot) {
            *q += rate * settings.dt;
        }
        next.extend_from_slice(&end.v);
        Ok(DynamicsResult {
            x: [&*positions.q, &velocities.v].concat(),
            vdot,
            next,
            net_actuation,
            spatial: spatial.spatial,
            contact_forces: contact_forces.spatial,
            contacts: ContactResults { point_pairs },
            parameters: parameters.clone(),
        })
    }

    fn step_acceleration<T: Scalar>(
        &self,
        end: &StepEnd<T>,
        velocities: &VelocityKinematics<T>,
        locked: &[bool],
    ) -> Vec<T> {
        let ends = end.v.iter().zip(&velocities.v).zip(locked);
        ends.map(|((v1, v0), locked)| match locked {
            true => T::zero(),
            false => (*v1 - *v0) / self.time_step,
        })
        .collect()
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
