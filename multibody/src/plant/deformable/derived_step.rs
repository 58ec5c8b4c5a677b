//! Derivatives of a step of deformable bodies by the state.

use super::scalar_cast::{cast, cast_all};
use super::step::{DeformableBodyWork, DeformableStart, DeformableWork};
use crate::discrete::{DeformableDerivatives, DerivedVertices};
use crate::error::{Error, Result};
use crate::plant::deformable_body::DeformableBody;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::values::contact_materials::ContactMaterials;
use tarragon_fem::{FemDerivatives, FemStepFailure, FreeStep, FreeStepStart, parameters_of};
use tarragon_framework::{AutoDiff, Scalar};

impl DeformableWork {
    /// Finds what has derivatives, given the velocities of the active vertices of all bodies at the
    /// end of the step.
    ///
    /// # Errors
    /// Returns an error if the scalar is neither `f64` nor `AutoDiff`, or if the derivatives of a
    /// free motion or of the contact surfaces cannot be found.
    pub(in crate::plant) fn differentiate<T: Scalar>(
        &mut self,
        plant: &MultibodyPlant,
        start: &DeformableStart<'_, T>,
        materials: &ContactMaterials,
        v: &[T],
    ) -> Result<DeformableDerivatives<T>> {
        let mut found = DeformableDerivatives::none();
        if T::NDERIV == 0 || plant.deformables.is_empty() {
            return Ok(found);
        }
        let mut rest = v.iter().map(|v| v.re());
        let bodies = plant.deformables.iter().zip(&start.states.states);
        for ((body, state), work) in bodies.zip(&mut self.bodies) {
            let state: Option<Vec<AutoDiff>> = state.iter().map(cast).collect();
            let Some(state) = state else {
                return Err(Error::unsupported(format!(
                    "{}: the scalar of a step must be f64 or AutoDiff, got another",
                    body.place()
                )));
            };
            let active = rest.by_ref().take(work.num_active());
            let active = active.collect::<Vec<f64>>();
            work.differentiate(plant, body, state, &active)?;
            found.bodies.push(work.derived_vertices());
        }
        found.sites = self.derived_sites(plant, start, materials)?;
        Ok(found)
    }
}

impl DeformableBodyWork {
    /// Finds what has derivatives in a body, given its state and the velocities of its active
    /// vertices at the end of the step.
    fn differentiate(
        &mut self,
        plant: &MultibodyPlant,
        body: &DeformableBody,
        state: Vec<AutoDiff>,
        active: &[f64],
    ) -> Result<()> {
        let size = body.num_dofs();
        if !self.moves {
            // It stays where it is, with the derivatives of that.
            self.derived = state;
            self.derived[size..2 * size].fill(AutoDiff::constant(0.0));
            return Ok(());
        }
        let is_constant = state.iter().all(|x| x.eps.iter().all(|d| *d == 0.0));
        if is_constant && active.is_empty() {
            return Ok(());
        }
        if is_constant {
            let (fem, start) = self.start(body, plant.time_step);
            self.derivatives = Some(fem.constant_derivatives(&start));
            return Ok(());
        }
        let start = FreeStepStart {
            time_step: plant.time_step,
            gravity: plant.gravity_in(body.model_instance),
            positions: self.state[..size].to_vec(),
            velocities: self.state[size..2 * size].to_vec(),
            fixed: body.held.clone(),
            fields: body.forces.clone(),
        };
        let fail = |failure: FemStepFailure| failure.error(&body.place());
        let ends = [&state[..size], &state[size..2 * size]];
        if active.is_empty() {
            let mut step = FreeStep::new(&body.fem, start).map_err(fail)?;
            let parameters = parameters_of(&body.config).map(AutoDiff::constant);
            let [q, v] = step
                .push_forward(&body.fem, ends, parameters)
                .map_err(fail)?;
            self.derived = [&q[..], &v, &state[..size]].concat();
            return Ok(());
        }
        let [_, v] = self.complete(body, plant.time_step, active);
        let found = self.fem.differentiate(&body.fem, start, ends, &v);
        self.derivatives = Some(found.map_err(fail)?);
        Ok(())
    }

    /// Returns the numbers of the active vertices with derivatives.
    fn derived_vertices<T: Scalar>(&self) -> DerivedVertices<T> {
        let derivatives = self.derivatives.as_ref();
        let Some(found) = derivatives.filter(|found| !found.inverse_diagonal().is_empty()) else {
            return DerivedVertices::none();
        };
        DerivedVertices {
            v0: cast_all(&found.start_velocities(&self.fem)),
            v_star: cast_all(&found.free_velocities(&self.fem)),
            inverse_diagonal: cast_all(found.inverse_diagonal()),
        }
    }

    /// Returns the end of the step with derivatives as in [`DeformableEnd`], given the velocities
    /// of the active vertices.
    ///
    /// [`DeformableEnd`]: super::step::DeformableEnd
    pub(super) fn derived_end<T: Scalar>(
        &mut self,
        derivatives: &FemDerivatives,
        time_step: f64,
        active: &[T],
        [q, v]: [&[f64]; 2],
    ) -> Vec<T> {
        let active: Vec<AutoDiff> = cast_all(active);
        let ends = [q, v];
        let [q, v] = self
            .fem
            .complete_derivatives(derivatives, time_step, &active, ends);
        let mut end: Vec<T> = cast_all(&q);
        end.extend(cast_all::<_, T>(&v));
        end.extend(cast_all::<_, T>(derivatives.start_positions()));
        end
    }
}

impl DeformableBody {
    /// Returns an error if a free step of the body cannot be computed.
    pub(super) fn check_free(&self) -> Result<()> {
        if self.fixed.is_empty() {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "{}: a free step must be without vertices that are fixed to rigid bodies; use walls in \
             place of them, or a step of an AutoDiff diagram",
            self.place()
        )))
    }
}
