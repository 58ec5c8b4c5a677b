//! The discrete step of a plant: its forces and constraints, and what the step results in.

use super::controllers::{controller, explicit_effort};
use super::dynamics_result::DynamicsResult;
use super::step_sites::{SiteRole, StepSites};
use super::transmissions;
use crate::discrete::{
    AwakeThreads, ConstraintEnds, ControllerParameters, MANY_CONTACTS, StepFailure,
    StepFailureKind, StepSettings, StepStart, StepStorage, Trees, are_many, join_if,
};
use crate::dynamics::MultibodyForces;
use crate::error::{Error, ErrorKind, Result};
use crate::kinematics::{self, PositionKinematics, VelocityKinematics};
use crate::model::{BodyIndex, JointIndex};
use crate::plant::contact::scene_contacts::SceneContacts;
use crate::plant::deformable::{DeformableStart, DeformableWork, EndedSites};
use crate::plant::inputs::{ConstraintStatus, StepInputs};
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::sleep_state::Sleepers;
use crate::plant::values::contact_materials::ContactMaterials;
use crate::spatial::SpatialVector;
use crate::tree::{CoordinateKind, KinematicTree};
use std::sync::Arc;
use tarragon_framework::Scalar;

/// Work space of dynamics, kept from one computation to the next.
#[derive(Clone, Debug)]
pub(in crate::plant) struct DynamicsWork<T: Scalar> {
    pub(in crate::plant) materials: ContactMaterials,
    step: StepStorage<T>,
    contacts: SceneContacts<T>,
    sites: StepSites<T>,
    forces: MultibodyForces<T>,
    deformable: DeformableWork,
    /// Laws of the controllers that the step solves for, by actuator.
    laws: Vec<Option<ControllerParameters<T>>>,
    /// By velocity.
    locked: Vec<bool>,
    /// An older result, whose place is free as soon as nothing else refers to it.
    retired: Option<Arc<DynamicsResult<T>>>,
}

impl<T: Scalar> DynamicsWork<T> {
    pub(in crate::plant) fn new() -> Self {
        Self {
            materials: ContactMaterials::default(),
            step: StepStorage::new(),
            contacts: SceneContacts::empty(),
            sites: StepSites::empty(),
            forces: MultibodyForces::zero(0, 0),
            deformable: DeformableWork::default(),
            laws: vec![],
            locked: vec![],
            retired: None,
        }
    }

    /// Returns true if the last step was large enough for several threads.
    fn is_large(&self) -> bool {
        are_many(self.contacts.sites.real.len())
    }

    /// Wakes the other threads of the pool that a step as large as the last needs; none if the
    /// present thread is not one of the pool.
    pub(super) fn wake_threads(&self) -> Option<AwakeThreads> {
        let num_contacts = self.contacts.sites.real.len();
        let own = rayon::current_thread_index().filter(|_| self.is_large())?;
        Some(AwakeThreads::new(own, num_contacts / MANY_CONTACTS))
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

/// Adds the forces on bodies and the efforts of actuators by constraints at other sites, which come
/// after the contacts.
fn add_sites<T: Scalar>(
    positions: &PositionKinematics<T>,
    sites: &StepSites<T>,
    (ends, num_contacts): (&ConstraintEnds<T>, usize),
    dt: f64,
    (spatial, net_actuation): (&mut [SpatialVector<T>], &mut [T]),
) {
    for (k, (role, site)) in sites.iter().enumerate() {
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

    /// Computes the forces at a state but for contact, joint damping, and actuators with gains that
    /// have a desired state, and the part of the net actuation in it, in place of what `forces` and
    /// `net_actuation` hold.
    pub(super) fn explicit_forces<T: Scalar>(
        &self,
        step: &StepInputs<'_, T>,
        implicit: impl Fn(usize) -> bool,
        forces: &mut MultibodyForces<T>,
        net_actuation: &mut Vec<T>,
    ) -> Result<()> {
        let StepInputs {
            positions,
            velocities,
            inputs,
            parameters,
            ..
        } = *step;
        self.spring_and_gravity_forces(positions, velocities, parameters, forces)?;
        let topology = self.finalized("forces")?;
        net_actuation.clear();
        net_actuation.resize(self.actuators.len(), T::zero());
        for (k, actuator) in self.actuators.iter().enumerate() {
            if implicit(k) {
                continue;
            }
            let motion = || transmissions::motion(topology, actuator, positions, velocities);
            let u = explicit_effort(actuator, inputs.actuation[k], motion);
            net_actuation[k] = u;
            transmissions::add_effort(topology, actuator, positions, u, forces);
        }
        for (sum, f) in forces.generalized.iter_mut().zip(inputs.generalized_force) {
            *sum += *f;
        }
        for force in inputs.spatial_force {
            let arm = kinematics::turned(&positions.r_wb[force.body.index()], &force.p_bobq_b);
            forces.add_at(force.body, &arm, force.f_bq_w);
        }
        Ok(())
    }

    /// Computes one discrete step. If bodies may sleep, `last` is the result of the step before,
    /// which is empty for the first one.
    pub(super) fn calc_step<T: Scalar>(
        &self,
        work: &mut DynamicsWork<T>,
        step: &StepInputs<'_, T>,
        last: Option<&DynamicsResult<T>>,
        out: &mut DynamicsResult<T>,
    ) -> Result<()> {
        if work.is_large() && rayon::current_thread_index().is_none() {
            // As one task of the pool, it is not handed over to its threads several times.
            return rayon::scope(|_| {
                let _awake = work.wake_threads();
                self.calc_step_here(work, step, last, out)
            });
        }
        self.calc_step_here(work, step, last, out)
    }

    /// Computes one discrete step as one task.
    fn calc_step_here<T: Scalar>(
        &self,
        work: &mut DynamicsWork<T>,
        step: &StepInputs<'_, T>,
        last: Option<&DynamicsResult<T>>,
        out: &mut DynamicsResult<T>,
    ) -> Result<()> {
        let StepInputs {
            positions,
            velocities,
            inputs,
            status,
            parameters,
            ..
        } = *step;
        let topology = self.finalized("the discrete step")?;
        let (tree, trees) = (&topology.tree, &self.trees);
        let DynamicsWork {
            materials,
            step: solver,
            contacts,
            sites,
            forces,
            deformable,
            laws,
            locked,
            ..
        } = work;
        let soft = DeformableStart {
            states: step.deformable,
            positions,
            query: inputs.query,
            parameters,
        };
        deformable.begin(self, &soft, materials)?;
        self.update_locked(status, locked)?;
        let locked = &*locked;
        let mut sleepers = match last {
            Some(last) => self.sleepers(last, step)?,
            None => Sleepers::default(),
        };
        let is_large = are_many(contacts.sites.real.len());
        let mut find_contacts = |sleepers: &mut Sleepers| -> Result<()> {
            let Some(query) = inputs.query else {
                contacts.clear();
                return Ok(());
            };
            loop {
                self.update_scene_contacts(contacts, materials, query, parameters, sleepers)?;
                // Contacts of those who wake are still missing.
                if !self.wake_touched(sleepers, contacts) {
                    return Ok(());
                }
            }
        };
        self.update_laws(step, laws)?;
        let laws = &*laws;
        let fail = |failure| self.step_error(trees, &failure);
        let net_actuation = &mut out.net_actuation;
        let mut move_freely = |sleepers: &Sleepers| -> Result<()> {
            let implicit = |k: usize| laws[k].is_some();
            self.explicit_forces(step, implicit, forces, net_actuation)?;
            let start = self.step_start(tree, step, (forces, locked), sleepers);
            solver.free_motion(&start).map_err(fail)
        };
        // The contacts tell who wakes.
        if is_large && !sleepers.any() {
            let none = Sleepers::default();
            let find_contacts = || find_contacts(&mut sleepers);
            let (found, moved) = rayon::join(find_contacts, || move_freely(&none));
            found.and(moved)?;
        } else {
            find_contacts(&mut sleepers)?;
            move_freely(&sleepers)?;
        }
        if self.contact.sleep.is_some() && !contacts.surfaces.is_empty() {
            return Err(Error::unsupported(
                "MultibodyPlant: bodies with hydroelastic contact cannot sleep yet; do without \
                 sleep settings, or choose ContactModel::Point",
            ));
        }
        let start = self.step_start(tree, step, (forces, locked), &sleepers);
        self.update_sites(sites, step, (&start, solver.v_star()), &sleepers, laws)?;
        let constraints = (&contacts.sites, sites.list());
        solver
            .solve(&start, constraints, &deformable.problem)
            .map_err(fail)?;
        let v = solver.deformable_velocities(&start);
        let derived = deformable.differentiate(self, &soft, materials, v)?;
        let end = solver.finish(&start, constraints, &derived).map_err(fail)?;

        let DynamicsResult {
            x,
            vdot,
            next,
            net_actuation,
            spatial,
            contact_forces,
            contacts: ended,
            deformable: deformable_end,
            ..
        } = &mut *out;
        let dt = self.time_step;
        let (v, deformable_v) = end.v.split_at(velocities.v.len());
        let ends = &mut end.constraints;
        let add_forces = || {
            let num_contacts = contacts.sites.real.len();
            spatial.clone_from(&forces.spatial);
            add_sites(
                positions,
                sites,
                (ends, num_contacts),
                dt,
                (spatial, net_actuation),
            );
            contact_forces.clear();
            contact_forces.resize(spatial.len(), SpatialVector::zero());
            let ended_sites = EndedSites::new(ends, &deformable.problem, &derived.sites);
            let sums = [&mut spatial[..], contact_forces];
            let ended_sites = (deformable_v, &ended_sites);
            deformable.finish(self, ended_sites, positions, sums, deformable_end);
            ended.take(contacts, ends, dt);
            ended.add_forces(positions, [spatial, contact_forces]);
        };
        let advance = || -> Result<()> {
            x.clear();
            x.extend_from_slice(&positions.q);
            x.extend_from_slice(&velocities.v);
            self.update_acceleration(v, velocities, locked, vdot);
            topology.check(CoordinateKind::Velocities, v)?;
            next.clear();
            let moved =
                kinematics::advance_positions(tree, positions, v, (dt, self.exact_rotations), next);
            moved.map_err(|at| self.singular(&at))?;
            next.extend_from_slice(v);
            Ok(())
        };
        join_if(is_large, add_forces, advance).1?;
        out.parameters.clone_from(parameters);
        if let Some(last) = last {
            self.finish_sleep(last, step, &sleepers, out);
        }
        Ok(())
    }

    /// Computes the laws of the actuators with controllers that the step solves for.
    fn update_laws<T: Scalar>(
        &self,
        step: &StepInputs<'_, T>,
        laws: &mut Vec<Option<ControllerParameters<T>>>,
    ) -> Result<()> {
        let topology = self.finalized("the discrete step")?;
        let (inputs, status) = (step.inputs, step.status);
        let is_locked =
            |joint: JointIndex| status.locked.get(joint.index()).copied().unwrap_or(false);
        laws.clear();
        laws.extend(self.actuators.iter().enumerate().map(|(k, actuator)| {
            let position = || transmissions::position(topology, actuator, step.positions);
            let law = controller(actuator, inputs.actuation[k], inputs.desired[k], position)?;
            // The step solves for the motion of those that are not locked.
            let moves = match actuator.path() {
                None => actuator.joints().any(|(joint, _)| !is_locked(joint)),
                Some(path) => self.any_joint_moves(path, is_locked),
            };
            moves.then_some(law)
        }));
        Ok(())
    }

    /// Finds where joint limits, controllers and constraints act, at the start of a step with its
    /// free motion. `laws` are those of all actuators.
    fn update_sites<T: Scalar>(
        &self,
        sites: &mut StepSites<T>,
        step: &StepInputs<'_, T>,
        (start, v_star): (&StepStart<'_, T>, &[f64]),
        sleepers: &Sleepers,
        laws: &[Option<ControllerParameters<T>>],
    ) -> Result<()> {
        let topology = self.finalized("the discrete step")?;
        let (positions, status) = (step.positions, step.status);
        sites.clear();
        self.add_limits(sites, start, v_star)?;
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
                let motion = (positions, start.velocities);
                self.add_step_constraint(sites, motion, (i, constraint))?;
            }
        }
        Ok(())
    }

    /// Returns the start of a step with forces, which velocities are locked, and what sleeps.
    fn step_start<'a, T: Scalar>(
        &'a self,
        tree: &'a KinematicTree,
        step: &StepInputs<'a, T>,
        (forces, locked): (&'a MultibodyForces<T>, &'a [bool]),
        sleepers: &'a Sleepers,
    ) -> StepStart<'a, T> {
        StepStart {
            tree,
            trees: &self.trees,
            inertias: &step.parameters.inertias,
            positions: step.positions,
            velocities: step.velocities,
            forces,
            damping: &step.parameters.damping,
            locked,
            asleep: sleepers.asleep(),
            settings: self.step_settings(),
        }
    }

    fn update_acceleration<T: Scalar>(
        &self,
        v: &[T],
        velocities: &VelocityKinematics<T>,
        locked: &[bool],
        vdot: &mut Vec<T>,
    ) {
        let ends = v.iter().zip(&velocities.v).zip(locked);
        vdot.clear();
        vdot.extend(ends.map(|((v1, v0), locked)| match locked {
            true => T::zero(),
            false => (*v1 - *v0) / self.time_step,
        }));
    }

    /// Finds which velocities are locked.
    fn update_locked(&self, status: &ConstraintStatus, locked: &mut Vec<bool>) -> Result<()> {
        let topology = self.finalized("locked joints")?;
        locked.clear();
        locked.resize(topology.num_velocities, false);
        for ((joint, (_, v)), is) in self.joints.iter().zip(&topology.starts).zip(&status.locked) {
            if *is {
                locked[*v..*v + joint.num_velocities()].fill(true);
            }
        }
        Ok(())
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
                 definite; give the bodies that its joints move mass and rotational inertia, or weld \
                 its base to the world (`weld_frames`; `--weld` of the command)"
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
