//! The part of deformable bodies in a step of a plant.

use super::ports::DeformableStates;
use super::results::{EndedDeformableContacts, add_forces};
use super::scalar_cast::derived_end;
use super::sites::{ActivePlaces, SiteFrame};
use crate::deformable::{FemStep, FemStepStart};
use crate::discrete::{ActiveVertices, ConstraintEnd, DeformableProblem};
use crate::error::Result;
use crate::kinematics::PositionKinematics;
use crate::plant::deformable_body::DeformableBody;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::values::contact_materials::ContactMaterials;
use crate::spatial::SpatialVector;
use nalgebra::Vector3;
use std::sync::Arc;
use tarragon_framework::{AutoDiff, Scalar};
use tarragon_geometry::{DeformableContact, QueryObject};

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
    faces: Vec<(u32, u32)>,
}

/// Work space of one body.
#[derive(Clone, Debug, Default)]
pub(super) struct DeformableBodyWork {
    fem: FemStep,
    /// Positions, velocities, and positions before, at the start of the step.
    pub(super) state: Vec<f64>,
    /// External forces at the vertices.
    forces: Vec<f64>,
    /// Vertices that constraints may move.
    participants: Vec<u32>,
    places: ActivePlaces,
    pub(super) moves: bool,
    /// The end of the step as in [`DeformableEnd`], if it has derivatives; else empty.
    pub(super) derived: Vec<AutoDiff>,
}

impl DeformableWork {
    /// Computes the free motion of all bodies and where they touch others.
    ///
    /// # Errors
    /// Returns an error if a body has no finite motion, or if a geometry in contact lacks a
    /// property; with derivatives also if a body is in contact, fixed to a rigid body or in a force
    /// field.
    pub(in crate::plant) fn begin<T: Scalar>(
        &mut self,
        plant: &MultibodyPlant,
        states: &DeformableStates<'_, T>,
        positions: &PositionKinematics<T>,
        query: Option<&QueryObject<T>>,
        materials: &mut ContactMaterials,
    ) -> Result<()> {
        self.problem.sites.clear();
        self.faces.clear();
        if plant.deformables.is_empty() {
            return Ok(());
        }
        self.contact = match query {
            Some(query) => Some(Arc::new(query.compute_deformable_contact()?)),
            None => None,
        };
        self.move_freely(plant, states)?;
        self.add_sites(plant, states, positions, query, materials)?;
        if T::NDERIV > 0 {
            self.differentiate(plant, states)?;
        }
        Ok(())
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
            for field in &body.forces {
                let density = |p: &Vector3<f64>| field.evaluate_at(p);
                let (q, volume) = (&work.state[..body.num_dofs()], field.volume());
                body.fem
                    .add_force_density(q, volume, density, &mut work.forces);
            }
            let (fem, start) = work.start(body, plant.time_step);
            let moved = fem.advance(&body.fem, &start);
            moved.map_err(|failure| failure.error(&body.place()))?;
            let active_vertices = fem.participants();
            let free = fem.velocities();
            let at = |list: &[f64]| -> Vec<f64> {
                let vertices = active_vertices.iter().map(|v| 3 * *v as usize);
                vertices
                    .flat_map(|at| list[at..at + 3].iter().copied())
                    .collect()
            };
            active.a.extend_from_slice(fem.schur_complement());
            active.v_star = at(free);
            active.v0 = at(start.velocities);
            work.places
                .update(body.num_vertices(), work.fem.participants());
        }
        Ok(())
    }

    /// Finds where bodies touch others or are fixed to them.
    fn add_sites<T: Scalar>(
        &mut self,
        plant: &MultibodyPlant,
        states: &DeformableStates<'_, T>,
        positions: &PositionKinematics<T>,
        query: Option<&QueryObject<T>>,
        materials: &mut ContactMaterials,
    ) -> Result<()> {
        let places: Vec<&ActivePlaces> = self.bodies.iter().map(|work| &work.places).collect();
        let frame = SiteFrame {
            plant,
            places: &places,
        };
        let is_disabled = |id| {
            let body = plant.deformable_body_from_geometry_id(id);
            body.is_some_and(|body| states.is_disabled(body))
        };
        if let (Some(query), Some(contact)) = (query, &self.contact) {
            let inspector = query.inspector();
            materials.update(plant, &inspector)?;
            for (s, surface) in contact.surfaces().iter().enumerate() {
                if is_disabled(surface.id_a()) || is_disabled(surface.id_b()) {
                    continue;
                }
                let faces = &mut self.faces;
                let note = |f| faces.push((s as u32, f));
                let known = (&*materials, &inspector);
                frame.add_surface(surface, known, &mut self.problem.sites, note)?;
            }
        }
        for (body, work) in plant.deformables.iter().zip(&self.bodies) {
            if work.moves {
                let sites = &mut self.problem.sites;
                frame.add_fixed(body, &work.state, positions, sites);
            }
        }
        Ok(())
    }

    /// Finds the end of a step, given the velocities of the active vertices of all bodies and how
    /// the sites ended, and adds forces on rigid bodies to sums about their origins: all forces,
    /// and those of contact.
    pub(in crate::plant) fn finish<T: Scalar>(
        &mut self,
        plant: &MultibodyPlant,
        (v, ends): (&[T], &[ConstraintEnd<f64>]),
        positions: &PositionKinematics<T>,
        sums: [&mut [SpatialVector<T>]; 2],
        out: &mut DeformableEnd<T>,
    ) {
        let n = plant.deformables.len();
        out.next.resize_with(n, Vec::new);
        let dt = plant.time_step;
        let mut rest = v.iter().map(|v| v.re());
        let bodies = plant.deformables.iter().zip(&mut self.bodies);
        for ((body, work), next) in bodies.zip(&mut out.next) {
            let size = body.num_dofs();
            if let Some(derived) = derived_end::<T>(&work.derived) {
                next.clear();
                next.extend(derived);
                continue;
            }
            let mut end = work.state.clone();
            if !work.moves {
                end[size..2 * size].fill(0.0);
                lift(&end, next);
                continue;
            }
            let num_active = 3 * work.fem.participants().len();
            let active: Vec<f64> = rest.by_ref().take(num_active).collect();
            let (fem, start) = work.start(body, dt);
            let (q, others) = end.split_at_mut(size);
            let (v, q0) = others.split_at_mut(size);
            q0.copy_from_slice(start.positions);
            fem.complete(&start, &active, v, q);
            lift(&end, next);
        }
        add_forces(&self.problem, ends, dt, positions, sums, self.faces.len());
        out.contacts
            .set(self.contact.take(), &self.problem, &self.faces, ends, dt);
    }
}

/// Replaces numbers by those of another scalar.
fn lift<T: Scalar>(from: &[f64], to: &mut Vec<T>) {
    to.clear();
    to.extend(from.iter().map(|x| T::from(*x)));
}

impl DeformableBodyWork {
    /// Returns true if constraints may move a vertex.
    pub(super) fn has_participants(&self) -> bool {
        !self.fem.participants().is_empty()
    }

    /// Returns the finite elements and the start of the step.
    fn start<'a>(
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
