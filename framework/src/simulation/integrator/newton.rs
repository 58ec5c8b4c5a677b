//! Solution of the nonlinear equations of implicit methods.
//!
//! Simplified Newton iterations as in Hairer, Wanner, *Solving Ordinary Differential Equations II*
//! (1996), section IV.8. The Jacobian and the factored matrix are kept from step to step and
//! renewed only when the iterations do not converge, the cheaper one first.

use super::control::largest;
use super::lu::Lu;
use super::{ErrorControl, Ode};
use crate::Result;
use nalgebra::DMatrix;

pub(super) const MAX_ITERATIONS: usize = 10;
/// Fraction of the accuracy that the iterations may miss; Hairer and Wanner recommend 0.01 to 0.1.
const KAPPA: f64 = 0.05;

/// Jacobian that is kept between steps and shared by the stages of one integrator.
pub(super) struct Jacobian {
    pub(super) matrix: DMatrix<f64>,
    /// True if it was computed at the very state that the step starts from.
    fresh: bool,
}

impl Jacobian {
    /// Creates an empty Jacobian.
    pub(super) fn new() -> Self {
        Self {
            matrix: DMatrix::zeros(0, 0),
            fresh: false,
        }
    }

    /// Records the end of a step; must be called after each one. After a failure, the next step
    /// starts from the same state.
    pub(super) fn step_ended(&mut self, converged: bool) {
        self.fresh = !converged;
    }

    /// Returns true if the kept Jacobian is usable for `n` unknowns.
    pub(super) fn is_usable(&self, n: usize) -> bool {
        self.matrix.nrows() == n && self.matrix.iter().all(|x| x.is_finite())
    }
}

/// Convergence test of iterations, based on their updates.
#[derive(Default)]
pub(super) struct Convergence {
    iterations: usize,
    last_norm: f64,
}

impl Convergence {
    /// Judges an iteration that led to `(x, update)` in each element, with an update of this norm.
    /// Returns true if the iterations have converged, false if they diverge, and `None` if that is
    /// undecided.
    pub(super) fn after(
        &mut self,
        mut moved: impl Iterator<Item = (f64, f64)>,
        norm: f64,
        accuracy: f64,
    ) -> Option<bool> {
        if moved.all(|(x, d)| d.abs() <= 10.0 * f64::EPSILON * x.abs().max(1.0)) {
            return Some(true);
        }
        let theta = norm / self.last_norm;
        self.last_norm = norm;
        self.iterations += 1;
        if self.iterations < 3 {
            return None;
        }
        if theta > 1.0 || theta.is_nan() {
            return Some(false);
        }
        // Equation IV.8.10: the rate of convergence predicts the distance from the limit.
        (theta / (1.0 - theta) * norm < KAPPA * accuracy).then_some(true)
    }
}

/// The step that stages are solved for.
pub(super) struct Step<'a> {
    pub(super) t0: f64,
    pub(super) h: f64,
    pub(super) x0: &'a [f64],
    /// Constant added to the increment of every stage.
    pub(super) constant: Option<&'a [f64]>,
    /// First guess of the result; defaults to `x0`.
    pub(super) guess: Option<&'a [f64]>,
}

/// Takes a step as two halves and estimates the error by the difference from one whole step
/// (Hairer, Nørsett, Wanner I, section II.4).
#[derive(Default)]
pub(super) struct Halving {
    x0: Vec<f64>,
    whole: Vec<f64>,
    /// First guess, then the result of the first half.
    guess: Vec<f64>,
    middle: Vec<f64>,
    end: Vec<f64>,
    error: Vec<f64>,
}

impl Halving {
    /// Error control of a first-order method whose error is estimated in this way.
    pub(super) const OF_EULER: ErrorControl = ErrorControl {
        order: 2,
        loosest_accuracy: 0.5,
        first_step: 1.0,
    };

    /// Takes a step of size `h` (s); returns false if one of its parts has no solution. `solve`
    /// solves one part; the guesses for the halves come from the whole step.
    pub(super) fn step(
        &mut self,
        ode: &mut Ode<'_, f64>,
        h: f64,
        mut solve: impl FnMut(&mut Ode<'_, f64>, &Step<'_>, &mut Vec<f64>) -> Result<bool>,
    ) -> Result<bool> {
        let t0 = ode.time();
        self.x0.clear();
        self.x0.extend_from_slice(ode.state());
        let step = Step {
            t0,
            h,
            x0: &self.x0,
            constant: None,
            guess: None,
        };
        if !solve(ode, &step, &mut self.whole)? {
            return Ok(false);
        }
        self.guess.clear();
        let ends = self.x0.iter().zip(&self.whole);
        self.guess.extend(ends.map(|(a, b)| 0.5 * (a + b)));
        let first = Step {
            h: h / 2.0,
            guess: Some(&self.guess),
            ..step
        };
        if !solve(ode, &first, &mut self.middle)? {
            return Ok(false);
        }
        let second = Step {
            t0: t0 + h / 2.0,
            x0: &self.middle,
            guess: Some(&self.whole),
            ..first
        };
        if !solve(ode, &second, &mut self.end)? {
            return Ok(false);
        }
        ode.set(t0 + h, &self.end);
        difference(&self.whole, &self.end, &mut self.error);
        Ok(true)
    }

    /// Returns the error estimate of the last step.
    pub(super) fn error(&self) -> &[f64] {
        &self.error
    }
}

/// Writes `a - b`.
pub(super) fn difference(a: &[f64], b: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.extend(a.iter().zip(b).map(|(a, b)| a - b));
}

/// Stages `Z_i = constant + h * sum of a[i][j] f(t0 + c[j] h, x0 + Z_j)` of a stiffly accurate
/// implicit Runge-Kutta method: the last stage is the result.
pub(super) struct Stages<const S: usize> {
    a: [[f64; S]; S],
    c: [f64; S],
    factored: Lu,
    z: Vec<f64>,
    residual: Vec<f64>,
    slopes: Vec<f64>,
    x: Vec<f64>,
}

impl<const S: usize> Stages<S> {
    pub(super) fn new(a: [[f64; S]; S], c: [f64; S]) -> Self {
        Self {
            a,
            c,
            factored: Lu::default(),
            z: vec![],
            residual: vec![],
            slopes: vec![],
            x: vec![],
        }
    }

    /// Writes the result of the step; returns false if the iterations do not converge. Leaves time
    /// and state of the context unspecified.
    pub(super) fn solve(
        &mut self,
        jacobian: &mut Jacobian,
        ode: &mut Ode<'_, f64>,
        step: &Step<'_>,
        result: &mut Vec<f64>,
    ) -> Result<bool> {
        for trial in 1..=3 {
            if !self.freshen(jacobian, ode, step, trial)? {
                break;
            }
            if self.iterate(ode, step)? {
                let z = &self.z[(S - 1) * step.x0.len()..];
                result.clear();
                result.extend(step.x0.iter().zip(z).map(|(x, z)| x + z));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Prepares the matrices. The first trial uses those at hand, the second factors anew for this
    /// step, the third computes the Jacobian for this state. Returns false if nothing is left to
    /// improve.
    fn freshen(
        &mut self,
        jacobian: &mut Jacobian,
        ode: &mut Ode<'_, f64>,
        step: &Step<'_>,
        trial: u32,
    ) -> Result<bool> {
        let n = step.x0.len();
        let missing = !jacobian.is_usable(n);
        let of_other_size = !self.factored.is_of(n * S);
        if missing || (trial == 3 && !of_other_size) {
            if jacobian.fresh && !missing {
                return Ok(false);
            }
            ode.set(step.t0, step.x0);
            ode.jacobian(&mut jacobian.matrix)?;
            if !jacobian.is_usable(n) {
                return Ok(false);
            }
        } else if trial == 1 && !of_other_size {
            return Ok(true);
        }
        let j = &jacobian.matrix;
        self.factored.factor(n * S, |row, column| {
            let one = if row == column { 1.0 } else { 0.0 };
            one - step.h * self.a[row / n][column / n] * j[(row % n, column % n)]
        });
        Ok(true)
    }

    /// Runs Newton iterations; returns true if they converged.
    fn iterate(&mut self, ode: &mut Ode<'_, f64>, step: &Step<'_>) -> Result<bool> {
        let (n, x0) = (step.x0.len(), step.x0);
        self.slopes.resize(n * S, 0.0);
        self.x.resize(n, 0.0);
        self.residual.resize(n * S, 0.0);
        self.z.clear();
        match step.guess {
            Some(guess) => {
                let z = |i: usize| guess[i % n] - x0[i % n];
                self.z.extend((0..n * S).map(z));
            }
            None => self.z.resize(n * S, 0.0),
        }
        let mut convergence = Convergence::default();
        for _ in 0..MAX_ITERATIONS {
            for (j, c) in self.c.iter().enumerate() {
                for (i, x) in self.x.iter_mut().enumerate() {
                    *x = x0[i] + self.z[j * n + i];
                }
                ode.set(step.t0 + c * step.h, &self.x);
                ode.derivatives(&mut self.slopes[j * n..(j + 1) * n])?;
            }
            for (row, r) in self.residual.iter_mut().enumerate() {
                let (stage, i) = (row / n, row % n);
                let slope: f64 = (0..S)
                    .map(|j| self.a[stage][j] * self.slopes[j * n + i])
                    .sum();
                *r = step.h * slope + step.constant.map_or(0.0, |c| c[i]) - self.z[row];
            }
            if !self.factored.solve(&mut self.residual) {
                return Ok(false);
            }
            for (z, update) in self.z.iter_mut().zip(&self.residual) {
                *z += update;
            }
            let update = &self.residual[(S - 1) * n..];
            let end = &self.z[(S - 1) * n..];
            let moved = (0..n).map(|i| (x0[i] + end[i], update[i]));
            let norm = largest(update);
            if let Some(converged) = convergence.after(moved, norm, ode.accuracy()) {
                return Ok(converged);
            }
        }
        Ok(false)
    }
}
