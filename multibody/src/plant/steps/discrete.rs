//! The discrete step of a plant, from its inputs to its result.

use super::dynamics_result::DynamicsResult;
use super::step_work::DynamicsWork;
use crate::discrete::{SolvedSites, join_if};
use crate::error::Result;
use crate::kinematics::{self, PositionKinematics};
use crate::plant::contact::scene_contacts::SceneContacts;
use crate::plant::deformable::{DeformableStart, EndedSites};
use crate::plant::inputs::StepInputs;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::sleep_state::Sleepers;
use crate::plant::values::contact_materials::ContactMaterials;
use crate::spatial::SpatialVector;
use crate::tree::CoordinateKind;
use tarragon_framework::Scalar;

impl MultibodyPlant {
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
        let is_large = work.is_large();
        let soft = DeformableStart {
            states: step.deformable,
            positions: step.positions,
            query: step.inputs.query,
            parameters: step.parameters,
        };
        work.deformable.begin(self, &soft, &mut work.materials)?;
        self.update_locked(step.status, &mut work.locked);
        self.update_laws(step, &mut work.laws);
        let mut sleepers = match last {
            Some(last) => self.sleepers(last, step)?,
            None => Sleepers::default(),
        };
        self.find_contacts_and_move_freely(work, step, &mut sleepers, &mut out.net_actuation)?;
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
        let start = self.step_start(step, forces, locked, &sleepers);
        self.update_sites(sites, step, &start, solver.v_star(), &sleepers, laws)?;
        let fail = |failure| self.step_error(&failure);
        let solved = SolvedSites {
            contacts: &contacts.sites,
            others: sites.list(),
        };
        solver
            .solve(&start, solved, &deformable.problem)
            .map_err(fail)?;
        let soft_v = solver.deformable_velocities(&start);
        let derived = deformable.differentiate(self, &soft, materials, soft_v)?;
        let end = solver.finish(&start, solved, &derived).map_err(fail)?;

        let (v, soft_v) = end.v.split_at(step.velocities.v.len());
        let ends = &mut end.constraints;
        let DynamicsResult {
            x,
            vdot,
            next,
            net_actuation,
            spatial,
            contact_forces,
            contacts: ended,
            deformable: soft_end,
            ..
        } = &mut *out;
        let sum_forces = || {
            spatial.clone_from(&forces.spatial);
            contact_forces.clear();
            contact_forces.resize(spatial.len(), SpatialVector::zero());
            let num_contacts = contacts.sites.real.len();
            sites.add_forces(
                step.positions,
                ends,
                num_contacts,
                self.time_step,
                spatial,
                net_actuation,
            );
            let soft_ends = EndedSites::new(ends, &deformable.problem, &derived.sites);
            let sums = [&mut spatial[..], contact_forces];
            deformable.finish(self, (soft_v, &soft_ends), step.positions, sums, soft_end);
            ended.take(contacts, ends, self.time_step);
            ended.add_forces(step.positions, [spatial, contact_forces]);
        };
        let advance = || {
            x.clear();
            x.extend_from_slice(&step.positions.q);
            x.extend_from_slice(&step.velocities.v);
            self.update_acceleration(v, &step.velocities.v, locked, vdot);
            self.advance(v, step.positions, next)
        };
        join_if(is_large, sum_forces, advance).1?;
        out.parameters.clone_from(step.parameters);
        if let Some(last) = last {
            self.finish_sleep(last, step, &sleepers, out);
        }
        Ok(())
    }

    /// Finds the contacts, wakes who is touched, and computes the motion without constraints; both
    /// side by side if the last step had many contacts.
    fn find_contacts_and_move_freely<T: Scalar>(
        &self,
        work: &mut DynamicsWork<T>,
        step: &StepInputs<'_, T>,
        sleepers: &mut Sleepers,
        net_actuation: &mut Vec<T>,
    ) -> Result<()> {
        let is_large = work.is_large();
        let DynamicsWork {
            materials,
            step: solver,
            contacts,
            forces,
            laws,
            locked,
            ..
        } = work;
        let mut move_freely = |sleepers: &Sleepers| -> Result<()> {
            let is_implicit = |actuator: usize| laws[actuator].is_some();
            self.explicit_forces(step, is_implicit, forces, net_actuation);
            let start = self.step_start(step, forces, locked, sleepers);
            solver
                .free_motion(&start)
                .map_err(|failure| self.step_error(&failure))
        };
        // Sleepers do not move, and only the contacts tell which of them wake.
        if is_large && !sleepers.any() {
            let find = || self.find_contacts(contacts, materials, step, sleepers);
            let (found, moved) = rayon::join(find, || move_freely(&Sleepers::default()));
            found.and(moved)
        } else {
            self.find_contacts(contacts, materials, step, sleepers)?;
            move_freely(sleepers)
        }
    }

    /// Finds the contacts of those who are awake, and of those whom they wake.
    fn find_contacts<T: Scalar>(
        &self,
        contacts: &mut SceneContacts<T>,
        materials: &mut ContactMaterials,
        step: &StepInputs<'_, T>,
        sleepers: &mut Sleepers,
    ) -> Result<()> {
        let Some(query) = step.inputs.query else {
            contacts.clear();
            return Ok(());
        };
        loop {
            self.update_scene_contacts(contacts, materials, query, step.parameters, sleepers)?;
            // Contacts of those who wake are still missing.
            if !self.wake_touched(sleepers, contacts) {
                return Ok(());
            }
        }
    }

    /// Computes the mean accelerations during the step.
    fn update_acceleration<T: Scalar>(
        &self,
        v: &[T],
        v0: &[T],
        locked: &[bool],
        vdot: &mut Vec<T>,
    ) {
        vdot.clear();
        vdot.extend(v.iter().zip(v0).zip(locked).map(|((v, v0), locked)| {
            if *locked {
                T::zero()
            } else {
                (*v - *v0) / self.time_step
            }
        }));
    }

    /// Computes the state `[q; v]` at the end of the step from the velocities there.
    fn advance<T: Scalar>(
        &self,
        v: &[T],
        positions: &PositionKinematics<T>,
        next: &mut Vec<T>,
    ) -> Result<()> {
        self.topology.check(CoordinateKind::Velocities, v)?;
        next.clear();
        let (tree, how) = (&self.topology.tree, (self.time_step, self.exact_rotations));
        let moved = kinematics::advance_positions(tree, positions, v, how, next);
        moved.map_err(|at| self.singular(&at))?;
        next.extend_from_slice(v);
        Ok(())
    }
}
