//! Velocity-implicit Euler.

use super::newton::{Convergence, MAX_ITERATIONS, Step, forward_differences, whole_and_halves};
use super::{ErrorControl, Integrator, Ode};
use crate::Result;
use nalgebra::{DMatrix, DVector, Dyn, LU};

/// Implicit Euler whose iterations solve for velocities and further state y = (v, z) only; positions
/// follow as `q = q0 + h N(q) v`. First order, for stiff mechanical systems, with linear systems of
/// about half the size: Drake's `VelocityImplicitEulerIntegrator`. Takes two steps of half the size
/// and estimates the error by the difference to one whole step. In `f64` only.
///
/// The rate of positions is taken from the time derivatives, at the cost of further evaluations.
pub struct VelocityImplicitEuler {
    solver: Solver,
    error: Vec<f64>,
}

#[derive(Default)]
struct Solver {
    /// Of the rate of y to y, positions following.
    jacobian: Option<DMatrix<f64>>,
    factored: Option<LU<f64, Dyn, Dyn>>,
    /// Where q and y are in the state.
    q: Vec<usize>,
    y: Vec<usize>,
    slopes: Vec<f64>,
    x: Vec<f64>,
}

impl VelocityImplicitEuler {
    /// Ready to step any context.
    #[allow(
        clippy::new_without_default,
        reason = "integrators are configured, not defaulted"
    )]
    pub fn new() -> Self {
        Self {
            solver: Solver::default(),
            error: vec![],
        }
    }
}

impl Solver {
    fn solve(&mut self, ode: &mut Ode<'_, f64>, step: &Step<'_>) -> Result<Option<Vec<f64>>> {
        for trial in 1..=3 {
            self.freshen(ode, step, trial)?;
            if let Some(found) = self.iterate(ode, step)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Gets the matrices ready: in the first trial those at hand, in the second a factorization for
    /// this step, in the third a Jacobian for this state.
    fn freshen(&mut self, ode: &mut Ode<'_, f64>, step: &Step<'_>, trial: u32) -> Result<()> {
        let n = self.y.len();
        let kept = |j: &DMatrix<f64>| j.nrows() == n && j.iter().all(|x| x.is_finite());
        if trial == 3 || !self.jacobian.as_ref().is_some_and(kept) {
            let y0: Vec<f64> = self.y.iter().map(|i| step.x0[*i]).collect();
            let rate = |y: &[f64], out: &mut [f64]| {
                self.x = step.x0.to_vec();
                for (i, y) in self.y.iter().zip(y) {
                    self.x[*i] = *y;
                }
                self.follow(ode, step, step.t0)?;
                self.rates(ode, step.t0)?;
                for (i, out) in self.y.iter().zip(out) {
                    *out = self.slopes[*i];
                }
                Ok(())
            };
            self.jacobian = Some(forward_differences(&y0, rate)?);
        } else if trial == 1 && self.factored.is_some() {
            return Ok(());
        }
        if let Some(j) = &self.jacobian {
            self.factored = Some((DMatrix::identity(n, n) - j * step.h).lu());
        }
        Ok(())
    }

    /// Derivatives at time `t` and state `self.x`.
    fn rates(&mut self, ode: &mut Ode<'_, f64>, t: f64) -> Result<()> {
        self.slopes.resize(self.x.len(), 0.0);
        ode.set(t, &self.x);
        ode.derivatives(&mut self.slopes)
    }

    /// Moves the positions of `self.x` to where its velocities take them from those of the step's
    /// start.
    fn follow(&mut self, ode: &mut Ode<'_, f64>, step: &Step<'_>, t: f64) -> Result<()> {
        if !self.q.is_empty() {
            self.rates(ode, t)?;
            for i in &self.q {
                self.x[*i] = step.x0[*i] + step.h * self.slopes[*i];
            }
        }
        Ok(())
    }

    /// Newton iterations; the state at the end of the step if they converge.
    fn iterate(&mut self, ode: &mut Ode<'_, f64>, step: &Step<'_>) -> Result<Option<Vec<f64>>> {
        let (t1, x0) = (step.t0 + step.h, step.x0);
        let Some(factored) = self.factored.take() else {
            return Ok(None);
        };
        let mut at = step.guess.unwrap_or(x0).to_vec();
        let mut convergence = Convergence::default();
        let mut result = None;
        for _ in 0..MAX_ITERATIONS {
            self.x.clone_from(&at);
            self.follow(ode, step, t1)?;
            self.rates(ode, t1)?;
            let mut dy = DVector::from_iterator(
                self.y.len(),
                self.y
                    .iter()
                    .map(|i| x0[*i] + step.h * self.slopes[*i] - at[*i]),
            );
            if !factored.solve_mut(&mut dy) {
                break;
            }
            self.x.clone_from(&at);
            for (i, dy) in self.y.iter().zip(dy.iter()) {
                self.x[*i] += dy;
            }
            self.follow(ode, step, t1)?;
            let norm = |(x, at): (&f64, &f64)| (x - at).powi(2);
            let norm = self.x.iter().zip(&at).map(norm).sum::<f64>().sqrt();
            let moved = self.x.iter().zip(&at).map(|(x, at)| (*x, x - at));
            let converged = convergence.after(moved, norm, ode.accuracy());
            at.clone_from(&self.x);
            match converged {
                Some(true) => {
                    result = Some(at);
                    break;
                }
                Some(false) => break,
                None => {}
            }
        }
        self.factored = Some(factored);
        Ok(result)
    }
}

impl Integrator<f64> for VelocityImplicitEuler {
    fn name(&self) -> &'static str {
        "velocity_implicit_euler"
    }

    fn step(&mut self, ode: &mut Ode<'_, f64>, dt: f64) -> Result<bool> {
        let t1 = ode.time() + dt;
        let solver = &mut self.solver;
        solver.q = ode.positions().flatten().collect();
        let is_y = |i: &usize| solver.q.binary_search(i).is_err();
        solver.y = (0..ode.state().len()).filter(is_y).collect();
        let found = whole_and_halves(ode, dt, |ode, step| solver.solve(ode, step))?;
        let Some([whole, end]) = found else {
            return Ok(false);
        };
        ode.set(t1, &end);
        self.error = whole.iter().zip(&end).map(|(a, b)| a - b).collect();
        Ok(true)
    }

    fn error_control(&self) -> Option<ErrorControl> {
        Some(ErrorControl {
            order: 2,
            loosest_accuracy: 0.5,
            first_step: 1.0,
        })
    }

    fn error_estimate(&self) -> &[f64] {
        &self.error
    }
}
