//! Free motion of a body in one step, and its response to impulses.
//!
//! The unknown is the velocity `v1` at the end, with positions `q1 = q0 + dt/2 (v0 + v1)` and
//! accelerations `(v1 - v0) / dt` (Newmark's scheme with beta 1/2 and gamma 1):
//!
//! `M (v1 - v0) - dt f(q1) + dt D v1 = dt f_ext`, with the damping `D = alpha M + beta K`.
//!
//! The derivative A of the left side by v1 is symmetric. An impulse J on some vertices adds
//! `A^-1 J` to v1, exactly in the linear models. If those vertices are named as participants
//! beforehand, they are eliminated last, so that the factorization yields their Schur complement
//! on the way.
//!
//! Sources: N. Newmark, "A Method of Computation for Structural Dynamics", Journal of the
//! Engineering Mechanics Division, 1959; X. Han, J. Masterjohn, A. Castro, "A Convex Formulation
//! of Frictional Contact between Rigid and Deformable Bodies", IEEE Robotics and Automation
//! Letters, 2023.

use super::free_motion::{FemMotion, is_parallel};
use super::model::FemModel;
use super::newton::Newton;
use super::passes::StepConstants;
use super::start::{FemStepFailure, FemStepStart, clear_fixed, end_positions};

/// Work space and result of the steps of one body.
#[derive(Clone, Debug, Default)]
pub struct FemStep {
    /// Model of the last step.
    model: u64,
    pub(super) motion: FemMotion,
    newton: Newton,
}

impl FemStep {
    /// Work space of steps that factor their matrix, though nothing acts on the body: what is best
    /// for a single step.
    pub fn factored() -> Self {
        let mut step = Self::default();
        step.motion.always_factors = true;
        step
    }

    /// Computes the free motion, without impulses on the participants.
    ///
    /// # Errors
    /// Returns the reason why there is no result; the results of the last step are lost then.
    pub fn advance(
        &mut self,
        model: &FemModel,
        start: &FemStepStart<'_>,
    ) -> Result<(), FemStepFailure> {
        self.begin(model, start)?;
        let constants = StepConstants::new(model, start.time_step);
        let parallel = is_parallel(model);
        let Self { motion, newton, .. } = self;
        if model.material.is_linear() {
            motion.solve_linear(model, start, constants, parallel)?;
        } else {
            newton.solve(motion, model, start, constants, parallel)?;
        }
        motion.move_positions(start);
        if are_finite(&motion.velocities) && are_finite(&motion.positions) {
            Ok(())
        } else {
            Err(FemStepFailure::NotFinite)
        }
    }

    fn begin(&mut self, model: &FemModel, start: &FemStepStart<'_>) -> Result<(), FemStepFailure> {
        let n = model.num_vertices();
        let fields = [start.positions, start.velocities, start.forces];
        if fields.iter().any(|x| x.len() != 3 * n)
            || !(start.fixed.is_empty() || start.fixed.len() == n)
            || start.participants.iter().any(|v| *v as usize >= n)
        {
            return Err(FemStepFailure::WrongSize);
        }
        let step = start.time_step;
        let are_finite = fields.iter().all(|x| are_finite(x));
        if !(are_finite && step > 0.0 && step.is_finite()) {
            return Err(FemStepFailure::NotFinite);
        }
        if self.model != model.id() {
            let mut fresh = if self.motion.always_factors {
                Self::factored()
            } else {
                Self::default()
            };
            fresh.model = model.id();
            *self = fresh;
        }
        let motion = &mut self.motion;
        motion.participants.clear();
        let free = start.participants.iter();
        let free = free.filter(|v| !start.is_fixed(**v as usize));
        motion.participants.extend(free);
        motion.participants.sort_unstable();
        motion.participants.dedup();
        start.velocities.clone_into(&mut motion.start_velocities);
        clear_fixed(start, &mut motion.start_velocities);
        Ok(())
    }

    /// Velocities at the end of the free motion.
    pub fn velocities(&self) -> &[f64] {
        &self.motion.velocities
    }

    /// Positions at the end of the free motion.
    #[cfg(test)]
    pub fn positions(&self) -> &[f64] {
        &self.motion.positions
    }

    /// Participants of the step that are not fixed, in ascending order.
    pub fn participants(&self) -> &[u32] {
        &self.motion.participants
    }

    /// Full symmetric matrix S with three rows per participant: impulses J on them change their
    /// velocities by `S^-1 J` (kg). It is the Schur complement `A_pp - A_pr A_rr^-1 A_rp`.
    pub fn schur_complement(&self) -> &[f64] {
        if self.participants().is_empty() {
            &[]
        } else {
            self.motion.cholesky.schur()
        }
    }

    /// Replaces impulses on all vertices by the changes of velocity that they cause. Fixed vertices
    /// do not move. The matrix must have been factored.
    #[cfg(test)]
    pub fn solve(&mut self, start: &FemStepStart<'_>, impulses: &mut [f64]) {
        clear_fixed(start, impulses);
        self.motion.cholesky.solve(impulses);
    }

    /// Velocities and positions of all vertices at the end of the step, given the velocities of the
    /// participants: all other vertices follow without impulses on them.
    pub fn complete(
        &mut self,
        start: &FemStepStart<'_>,
        participant_velocities: &[f64],
        velocities: &mut [f64],
        positions: &mut [f64],
    ) {
        if self.participants().is_empty() {
            velocities.copy_from_slice(&self.motion.velocities);
            positions.copy_from_slice(&self.motion.positions);
            return;
        }
        let FemMotion {
            cholesky,
            participants,
            start_velocities,
            velocities: all_free,
            direction: changes,
            ..
        } = &mut self.motion;
        changes.clear();
        let (given, _) = participant_velocities.as_chunks::<3>();
        for (v, given) in participants.iter().zip(given) {
            let free = &all_free[3 * *v as usize..][..3];
            changes.extend(given.iter().zip(free).map(|(given, free)| given - free));
        }
        cholesky.extend(changes, velocities);
        for (v, free) in velocities.iter_mut().zip(&*all_free) {
            *v += free;
        }
        end_positions(start, start_velocities, velocities, positions);
    }
}

fn are_finite(x: &[f64]) -> bool {
    x.iter().all(|x| x.is_finite())
}
