//! Derivatives of a step of deformable bodies by their state.

use super::ports::DeformableStates;
use super::scalar_cast::cast;
use super::step::DeformableWork;
use crate::deformable::{FreeStep, FreeStepStart, parameters_of};
use crate::error::{Error, Result};
use crate::plant::deformable_body::DeformableBody;
use crate::plant::multibody_plant::MultibodyPlant;
use tarragon_framework::{AutoDiff, Scalar};

impl DeformableWork {
    /// Finds the ends of the bodies whose state has derivatives.
    ///
    /// # Errors
    /// Returns an error if the scalar is neither `f64` nor `AutoDiff`, or if constraints or force
    /// fields act on any body.
    pub(super) fn differentiate<T: Scalar>(
        &mut self,
        plant: &MultibodyPlant,
        states: &DeformableStates<'_, T>,
    ) -> Result<()> {
        let bodies = plant.deformables.iter().zip(&states.states);
        for ((body, state), work) in bodies.zip(&mut self.bodies) {
            let state: Option<Vec<AutoDiff>> = state.iter().map(cast).collect();
            let Some(state) = state else {
                return Err(Error::unsupported(format!(
                    "{}: the scalar of a step must be f64 or AutoDiff, got another",
                    body.place()
                )));
            };
            let size = body.num_dofs();
            if !work.moves {
                // It stays where it is, with the derivatives of that.
                work.derived = state;
                work.derived[size..2 * size].fill(AutoDiff::constant(0.0));
                continue;
            }
            // The convex problem would have to differentiate where they touch.
            body.check_free(work.has_participants())?;
            if state.iter().all(|x| x.eps.iter().all(|d| *d == 0.0)) {
                continue;
            }
            let start = FreeStepStart {
                time_step: plant.time_step,
                gravity: plant.gravity_in(body.model_instance),
                positions: work.state[..size].to_vec(),
                velocities: work.state[size..2 * size].to_vec(),
                fixed: body.held.clone(),
            };
            let fail = |failure: crate::deformable::FemStepFailure| failure.error(&body.place());
            let mut step = FreeStep::new(&body.fem, start).map_err(fail)?;
            let parameters = parameters_of(&body.config).map(AutoDiff::constant);
            let ends = [&state[..size], &state[size..2 * size]];
            let [q, v] = step
                .push_forward(&body.fem, ends, parameters)
                .map_err(fail)?;
            work.derived = [&q[..], &v, &state[..size]].concat();
        }
        Ok(())
    }
}

impl DeformableBody {
    /// Returns an error if a step of the body cannot be differentiated.
    pub(super) fn check_free(&self, is_constrained: bool) -> Result<()> {
        let what = match (is_constrained, self.forces.is_empty()) {
            (true, _) => "contact and of vertices that are fixed to a rigid body",
            (_, false) => "external force fields",
            _ => return Ok(()),
        };
        Err(Error::unsupported(format!(
            "{}: derivatives of a step must be without {what}, which are not differentiated yet; \
             use f64, or walls in place of fixed vertices",
            self.place()
        )))
    }
}
