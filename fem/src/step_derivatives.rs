//! Derivatives of a step with impulses on its participants.
//!
//! Impulses J change the velocities of the free motion v* by `A^-1 J`, so that
//! `A dv = dJ + A dv* - dA (v - v*)`. With `dx = dv* - A^-1 dA (v - v*)` in place of dv*, the
//! response to impulses is that of a constant A.

use super::free_step::{FreeStep, FreeStepStart};
use super::model::FemModel;
use super::residual::parameters_of;
use super::start::{FemStepFailure, FemStepStart, clear_fixed};
use super::step::FemStep;
use super::step_matrix::{MatrixState, matrix_change};
use tarragon_framework::AutoDiff;
use tarragon_framework::autodiff::DIRECTIONS;

/// The derivatives of a body's free motion and of its response to impulses.
#[derive(Clone, Debug)]
pub struct FemDerivatives {
    /// Positions and velocities at the start of the step, those of held vertices 0.
    start: [Vec<AutoDiff>; 2],
    /// Velocities of all vertices at the end of the free motion, such that the matrix is constant.
    v_star: Vec<AutoDiff>,
    /// By coordinate of the participants: inverse of the diagonal of the Schur complement.
    inverse_diagonal: Vec<AutoDiff>,
}

impl FemDerivatives {
    /// Returns the numbers of the participants among those of a list.
    fn of_participants(fem: &FemStep, list: &[AutoDiff]) -> Vec<AutoDiff> {
        let vertices = fem.participants().iter().map(|v| 3 * *v as usize);
        vertices
            .flat_map(|at| list[at..at + 3].iter().copied())
            .collect()
    }
    /// Velocities of the participants at the start of the step.
    pub fn start_velocities(&self, fem: &FemStep) -> Vec<AutoDiff> {
        Self::of_participants(fem, &self.start[1])
    }
    /// Velocities of the participants at the end of the free motion.
    pub fn free_velocities(&self, fem: &FemStep) -> Vec<AutoDiff> {
        Self::of_participants(fem, &self.v_star)
    }
    /// Positions of all vertices at the start of the step.
    pub fn start_positions(&self) -> &[AutoDiff] {
        &self.start[0]
    }
    /// By coordinate of the participants: inverse of the diagonal of the Schur complement; empty if
    /// nothing has derivatives.
    pub fn inverse_diagonal(&self) -> &[AutoDiff] {
        &self.inverse_diagonal
    }
}

impl FemStep {
    /// Computes derivatives by the state `[q0, v0]`, given the velocities of all vertices at the
    /// end of the step. In the nonlinear models, the matrix counts as that at the end of the free
    /// motion, from which that of the step differs by as much as its iterations left.
    ///
    /// # Errors
    /// Returns the reason why there is no result.
    pub fn differentiate(
        &mut self,
        model: &FemModel,
        free: FreeStepStart,
        [q0, v0]: [&[AutoDiff]; 2],
        velocities: &[f64],
    ) -> Result<FemDerivatives, FemStepFailure> {
        let mut step = FreeStep::new(model, free)?;
        let parameters = parameters_of(model.config()).map(AutoDiff::constant);
        let [q_free, v_free] = step.push_forward(model, [q0, v0], parameters)?;
        let start = step.fem_start();
        let mut own = v0.to_vec();
        for (v, fixed) in own.as_chunks_mut::<3>().0.iter_mut().zip(start.fixed) {
            if *fixed {
                *v = [AutoDiff::constant(0.0); 3];
            }
        }
        let mut derivatives = FemDerivatives {
            start: [q0.to_vec(), own],
            v_star: with_derivatives_of(self.velocities(), &v_free),
            inverse_diagonal: vec![],
        };
        let n = 3 * self.participants().len();
        let schur = self.schur_complement();
        let diagonal: Vec<f64> = (0..n).map(|i| schur[i * n + i]).collect();
        let inverse = diagonal.iter().map(|s| AutoDiff::constant(1.0 / s));
        derivatives.inverse_diagonal.extend(inverse);
        let responses = self.unit_responses(velocities.len());
        let pairs = velocities.iter().zip(self.velocities());
        let by_impulses: Vec<f64> = pairs.map(|(v, free)| v - free).collect();
        let at = MatrixState {
            start_positions: start.positions,
            positions: step.positions(),
        };
        let mut product = vec![0.0; velocities.len()];
        for direction in 0..DIRECTIONS {
            let of = |x: &[AutoDiff]| -> Vec<f64> { x.iter().map(|x| x.eps[direction]).collect() };
            let changes = [of(q0), of(&q_free)];
            let changes = changes.each_ref().map(Vec::as_slice);
            let Some(change) = matrix_change(model, &start, at, changes) else {
                continue;
            };
            for ((inverse, s), response) in derivatives
                .inverse_diagonal
                .iter_mut()
                .zip(&diagonal)
                .zip(&responses)
            {
                model
                    .pattern
                    .matrix
                    .multiply(&change, response, &mut product);
                let moved: f64 = product.iter().zip(response).map(|(a, b)| a * b).sum();
                inverse.eps[direction] = -moved / (s * s);
            }
            model
                .pattern
                .matrix
                .multiply(&change, &by_impulses, &mut product);
            clear_fixed(&start, &mut product);
            self.motion.cholesky.solve(&mut product);
            for (v, change) in derivatives.v_star.iter_mut().zip(&product) {
                v.eps[direction] -= change;
            }
        }
        Ok(derivatives)
    }

    /// Returns what is known of a body whose state has no derivatives.
    pub fn constant_derivatives(&self, start: &FemStepStart<'_>) -> FemDerivatives {
        let lift = |x: &[f64]| x.iter().map(|x| AutoDiff::constant(*x)).collect();
        FemDerivatives {
            start: [lift(start.positions), lift(&self.motion.start_velocities)],
            v_star: lift(self.velocities()),
            inverse_diagonal: vec![],
        }
    }

    /// Changes of all vertices when one coordinate of a participant changes by 1, and nothing but
    /// the participants is acted on; by coordinate of the participants.
    fn unit_responses(&mut self, len: usize) -> Vec<Vec<f64>> {
        let n = 3 * self.participants().len();
        let mut unit = vec![0.0; n];
        let of = |i: usize| {
            unit.fill(0.0);
            unit[i] = 1.0;
            let mut all = vec![0.0; len];
            self.motion.cholesky.extend(&unit, &mut all);
            all
        };
        (0..n).map(of).collect()
    }

    /// Returns positions and velocities at the end of a step with derivatives, given both without
    /// and the velocities of the participants.
    pub fn complete_derivatives(
        &mut self,
        derivatives: &FemDerivatives,
        time_step: f64,
        participant_velocities: &[AutoDiff],
        [positions, velocities]: [&[f64]; 2],
    ) -> [Vec<AutoDiff>; 2] {
        let mut v = with_derivatives_of(velocities, &derivatives.v_star);
        let free = derivatives.free_velocities(self);
        let mut all = vec![0.0; v.len()];
        for direction in 0..DIRECTIONS {
            let pairs = participant_velocities.iter().zip(&free);
            let changes = pairs.map(|(v, free)| v.eps[direction] - free.eps[direction]);
            let changes: Vec<f64> = changes.collect();
            if changes.iter().all(|change| *change == 0.0) {
                continue;
            }
            self.motion.cholesky.extend(&changes, &mut all);
            for (v, change) in v.iter_mut().zip(&all) {
                v.eps[direction] += change;
            }
        }
        let [q0, v0] = &derivatives.start;
        let moved = q0.iter().zip(v0).zip(&v);
        let moved: Vec<AutoDiff> = moved
            .map(|((q0, v0), v1)| *q0 + (*v0 + *v1) * (0.5 * time_step))
            .collect();
        [with_derivatives_of(positions, &moved), v]
    }
}

/// Returns numbers with the derivatives of others.
fn with_derivatives_of(values: &[f64], derived: &[AutoDiff]) -> Vec<AutoDiff> {
    let pairs = values.iter().zip(derived);
    pairs
        .map(|(re, derived)| AutoDiff {
            re: *re,
            eps: derived.eps,
        })
        .collect()
}
