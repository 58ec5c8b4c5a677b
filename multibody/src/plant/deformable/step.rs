//! The part of deformable bodies in a step of a plant.

use super::ports::DeformableStates;
use super::results::{EndedDeformableContacts, EndedSites};
use super::scalar_cast::derived_end;
use super::sites::{ActivePlaces, SiteFrame};
use crate::discrete::{ActiveVertices, DeformableProblem, DeformableSite};
use crate::error::Result;
use crate::kinematics::PositionKinematics;
use crate::plant::deformable_body::DeformableBody;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::values::contact_materials::ContactMaterials;
use crate::plant::values::model_parameters::ModelParameters;
use crate::spatial::SpatialVector;
use std::sync::Arc;
use tarragon_fem::{FemDerivatives, FemStep, FemStepStart};
use tarragon_framework::{AutoDiff, Scalar};
use tarragon_geometry::{DeformableContact, QueryObject};

/// Largest guess of a velocity, relative to the largest velocity: that of one which the last step
/// reversed.
const LARGEST_GUESS: f64 = 3.0;

/// The start of a step of deformable bodies.
#[derive(Clone, Copy)]
pub(in crate::plant) struct DeformableStart<'a, T: Scalar> {
    pub(in crate::plant) states: &'a DeformableStates<'a, T>,
    pub(in crate::plant) positions: &'a PositionKinematics<T>,
    pub(in crate::plant) query: Option<&'a QueryObject<T>>,
    pub(in crate::plant) parameters: &'a ModelParameters<T>,
}

/// Deformable bodies at the end of a step.
#[derive(Clone, Debug)]
pub(in crate::plant) struct DeformableEnd<T> {
    /// By body: positions, velocities, and positions at the start of the step.
    pub(in crate::plant) next: Vec<Vec<T>>,
    pub(in crate::plant) contacts: EndedDeformableContacts,
}

impl<T> DeformableEnd<T> {
    /// Returns the end of a step of a plant without deformable bodies.
    pub(in crate::plant) fn empty() -> Self {
        Self {
            next: vec![],
            contacts: EndedDeformableContacts::default(),
        }
    }
}

/// Work space of steps.
#[derive(Clone, Debug, Default)]
pub(in crate::plant) struct DeformableWork {
    pub(super) bodies: Vec<DeformableBodyWork>,
    pub(in crate::plant) problem: DeformableProblem,
    contact: Option<Arc<DeformableContact>>,
    /// Surface and face of the first sites of the problem.
    pub(super) faces: Vec<(u32, u32)>,
}

/// Work space of one body.
#[derive(Clone, Debug, Default)]
pub(super) struct DeformableBodyWork {
    pub(super) fem: FemStep,
    /// Positions, velocities, and positions before, at the start of the step.
    pub(super) state: Vec<f64>,
    /// External forces at the vertices.
    forces: Vec<f64>,
    /// Vertices that constraints may move.
    participants: Vec<u32>,
    places: ActivePlaces,
    pub(super) moves: bool,
    /// The end of the step as in [`DeformableEnd`], if it has derivatives and constraints do not
    /// change it; else empty.
    pub(super) derived: Vec<AutoDiff>,
    /// Derivatives by the state if constraints may move vertices.
    pub(super) derivatives: Option<FemDerivatives>,
}

impl DeformableWork {
    /// Computes the free motion of all bodies and where they touch others.
    ///
    /// # Errors
    /// Returns an error if a body has no finite motion, or if a geometry in contact lacks a
    /// property.
    pub(in crate::plant) fn begin<T: Scalar>(
        &mut self,
        plant: &MultibodyPlant,
        start: &DeformableStart<'_, T>,
        materials: &mut ContactMaterials,
    ) -> Result<()> {
        self.problem.sites.clear();
        self.faces.clear();
        if plant.deformables.is_empty() {
            return Ok(());
        }
        self.contact = match start.query {
            Some(query) => Some(Arc::new(query.compute_deformable_contact()?)),
            None => None,
        };
        self.move_freely(plant, start.states)?;
        self.add_sites(plant, start, materials)
    }

    /// Computes the free motion of all bodies.
    fn move_freely<T: Scalar>(
        &mut self,
        plant: &MultibodyPlant,
        states: &DeformableStates<'_, T>,
    ) -> Result<()> {
        let n = plant.deformables.len();
        self.bodies.resize_with(n, DeformableBodyWork::default);
        self.problem.bodies.resize_with(n, ActiveVertices::default);
        let all = plant.deformables.iter().zip(&states.states);
        let work = self.bodies.iter_mut().zip(&mut self.problem.bodies);
        for ((body, state), (work, active)) in all.zip(work) {
            active.clear();
            work.state.clear();
            work.state.extend(state.iter().map(|x| x.re()));
            work.derived.clear();
            work.derivatives = None;
            work.moves = !states.is_disabled(body.index);
            work.participants.clear();
            if !work.moves {
                work.places.update(body.num_vertices(), &[]);
                continue;
            }
            if let Some(contact) = &self.contact {
                let touched = contact.participating_vertices(body.geometry);
                work.participants.extend_from_slice(touched);
            }
            let fixed = body.fixed.iter().flat_map(|fixed| &fixed.vertices);
            work.participants.extend(fixed.map(|(vertex, _)| *vertex));
            let gravity = plant.gravity_in(body.model_instance);
            work.forces.clear();
            work.forces.resize(body.num_dofs(), 0.0);
            body.fem.add_gravity(&gravity, &mut work.forces);
            let q = &work.state[..body.num_dofs()];
            body.fem
                .add_force_densities(q, &body.forces, &mut work.forces);
            let (fem, start) = work.start(body, plant.time_step);
            let moved = fem.advance(&body.fem, &start);
            moved.map_err(|failure| failure.error(&body.place()))?;
            let active_vertices = fem.participants();
            let add_active = |from: &[f64], to: &mut Vec<f64>| {
                let vertices = active_vertices.iter().map(|v| 3 * *v as usize);
                vertices.for_each(|at| to.extend_from_slice(&from[at..at + 3]));
            };
            active.a.extend_from_slice(fem.schur_complement());
            add_active(fem.velocities(), &mut active.v_star);
            add_active(start.velocities, &mut active.v0);
            work.guess_velocities(plant.time_step, active);
            work.places
                .update(body.num_vertices(), work.fem.participants());
        }
        Ok(())
    }

    /// Finds where bodies touch others or are fixed to them.
    fn add_sites<T: Scalar>(
        &mut self,
        plant: &MultibodyPlant,
        start: &DeformableStart<'_, T>,
        materials: &mut ContactMaterials,
    ) -> Result<()> {
        let places: Vec<&ActivePlaces> = self.bodies.iter().map(|work| &work.places).collect();
        let frame = SiteFrame {
            plant,
            places: &places,
        };
        let is_disabled = |id| {
            let body = plant.deformable_body_from_geometry_id(id);
            body.is_some_and(|body| start.states.is_disabled(body))
        };
        if let (Some(query), Some(contact)) = (start.query, &self.contact) {
            let inspector = query.inspector();
            materials.update(plant, &inspector)?;
            let material = |id| {
                let known = materials.get(plant, &inspector, id)?;
                Ok(known.with(start.parameters, id)?.real())
            };
            for (s, surface) in contact.surfaces().iter().enumerate() {
                if is_disabled(surface.id_a()) || is_disabled(surface.id_b()) {
                    continue;
                }
                let known = frame.known(surface, &inspector, material)?;
                for f in 0..surface.num_faces() {
                    if let Some(site) = frame.site(&known, f) {
                        self.problem.sites.push(site);
                        self.faces.push((s as u32, f as u32));
                    }
                }
            }
        }
        for (body, work) in plant.deformables.iter().zip(&self.bodies) {
            if work.moves {
                let sites = &mut self.problem.sites;
                frame.add_fixed(body, &work.state, start.positions.real(), sites);
            }
        }
        Ok(())
    }

    /// Returns the sites of the problem with derivatives.
    ///
    /// # Errors
    /// Returns an error if the contact surfaces with derivatives cannot be computed.
    pub(super) fn derived_sites<T: Scalar>(
        &self,
        plant: &MultibodyPlant,
        start: &DeformableStart<'_, T>,
        materials: &ContactMaterials,
    ) -> Result<Vec<DeformableSite<T>>> {
        let places: Vec<&ActivePlaces> = self.bodies.iter().map(|work| &work.places).collect();
        let frame = SiteFrame {
            plant,
            places: &places,
        };
        let mut sites = vec![];
        if let (Some(query), false) = (start.query, self.faces.is_empty()) {
            let contact = query.compute_deformable_contact_with_derivatives()?;
            let inspector = query.inspector();
            let material = |id| {
                let known = materials.get(plant, &inspector, id)?;
                known.with(start.parameters, id)
            };
            let all = self.faces.iter().zip(&self.problem.sites);
            let mut known = None;
            for ((s, f), real) in all {
                if known.as_ref().is_none_or(|(last, _)| last != s) {
                    let surface = &contact.surfaces()[*s as usize];
                    known = Some((*s, frame.known(surface, &inspector, material)?));
                }
                let site = known
                    .as_ref()
                    .and_then(|(_, known)| frame.site(known, *f as usize));
                // Rounding may tell that the face counts for nothing after all.
                sites.push(site.unwrap_or_else(|| real.lift()));
            }
        }
        let bodies = plant.deformables.iter().zip(&start.states.states);
        for ((body, state), work) in bodies.zip(&self.bodies) {
            if work.moves {
                frame.add_fixed(body, state, start.positions, &mut sites);
            }
        }
        Ok(sites)
    }

    /// Finds the end of a step, given the velocities of the active vertices of all bodies and how
    /// the sites ended, and adds forces on rigid bodies to sums about their origins: all forces,
    /// and those of contact.
    pub(in crate::plant) fn finish<T: Scalar>(
        &mut self,
        plant: &MultibodyPlant,
        (v, ends): (&[T], &EndedSites<'_, T>),
        positions: &PositionKinematics<T>,
        sums: [&mut [SpatialVector<T>]; 2],
        out: &mut DeformableEnd<T>,
    ) {
        let n = plant.deformables.len();
        out.next.resize_with(n, Vec::new);
        let dt = plant.time_step;
        let mut rest = v;
        let bodies = plant.deformables.iter().zip(&mut self.bodies);
        for ((body, work), next) in bodies.zip(&mut out.next) {
            let active;
            (active, rest) = rest.split_at(work.num_active());
            if let Some(derived) = derived_end::<T>(&work.derived) {
                next.clear();
                next.extend(derived);
                continue;
            }
            let size = body.num_dofs();
            if !work.moves {
                let mut end = work.state.clone();
                end[size..2 * size].fill(0.0);
                lift(&end, next);
                continue;
            }
            let real: Vec<f64> = active.iter().map(|v| v.re()).collect();
            let [q, v] = work.complete(body, dt, &real);
            if let Some(derivatives) = work.derivatives.take() {
                *next = work.derived_end(&derivatives, dt, active, [&q, &v]);
                continue;
            }
            let end = [&q[..], &v, &work.state[..size]].concat();
            lift(&end, next);
        }
        ends.add_forces(&self.problem, dt, positions, sums, self.faces.len());
        out.contacts.set(
            self.contact.take(),
            &self.problem,
            &self.faces,
            ends.real(),
            dt,
        );
    }
}

/// Replaces numbers by those of another scalar.
fn lift<T: Scalar>(from: &[f64], to: &mut Vec<T>) {
    to.clear();
    to.extend(from.iter().map(|x| T::from(*x)));
}

impl DeformableBodyWork {
    /// Guesses that the velocities of active vertices change as they did in the step before.
    fn guess_velocities(&self, dt: f64, active: &mut ActiveVertices) {
        let (q, rest) = self.state.split_at(self.state.len() / 3);
        let (v, q_before) = rest.split_at(q.len());
        let vertices = self.fem.participants().iter().map(|v| 3 * *v as usize);
        // Positions move by the mean of the velocities before and after.
        let guess = |i: usize| 3.0 * v[i] - 2.0 / dt * (q[i] - q_before[i]);
        let all = vertices.flat_map(|at| (at..at + 3).map(guess));
        active.guess.extend(all);
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let most = LARGEST_GUESS * largest(&active.v0).max(largest(&active.v_star));
        // No step ended in a state that a user has set.
        if !active.guess.iter().all(|v| v.abs() <= most) {
            active.v0.clone_into(&mut active.guess);
        }
    }

    /// Returns the number of velocities of active vertices.
    pub(super) fn num_active(&self) -> usize {
        if self.moves {
            3 * self.fem.participants().len()
        } else {
            0
        }
    }

    /// Returns positions and velocities at the end of the step, given the velocities of the active
    /// vertices.
    pub(super) fn complete(
        &mut self,
        body: &DeformableBody,
        time_step: f64,
        active: &[f64],
    ) -> [Vec<f64>; 2] {
        let (mut q, mut v) = (vec![0.0; body.num_dofs()], vec![0.0; body.num_dofs()]);
        let (fem, start) = self.start(body, time_step);
        fem.complete(&start, active, &mut v, &mut q);
        [q, v]
    }

    /// Returns the finite elements and the start of the step.
    pub(super) fn start<'a>(
        &'a mut self,
        body: &'a DeformableBody,
        time_step: f64,
    ) -> (&'a mut FemStep, FemStepStart<'a>) {
        let size = body.num_dofs();
        let start = FemStepStart {
            time_step,
            positions: &self.state[..size],
            velocities: &self.state[size..2 * size],
            forces: &self.forces,
            fixed: &body.held,
            participants: &self.participants,
        };
        (&mut self.fem, start)
    }
}
