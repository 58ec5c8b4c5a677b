//! Solving the equations of implicit methods.
//!
//! Simplified Newton iterations as in Hairer, Wanner, *Solving Ordinary Differential Equations II*
//! (1996), section IV.8: the Jacobian and the factored matrix are kept from step to step, and made
//! anew only where the iterations do not converge, the cheaper one first.

use super::Ode;
use crate::Result;
use nalgebra::{DMatrix, DVector, Dyn, LU};

pub(super) const MAX_ITERATIONS: usize = 10;
/// Part of the accuracy that the iterations may miss; Hairer and Wanner recommend 0.01 to 0.1.
const KAPPA: f64 = 0.05;

/// The Jacobian of the time derivatives, shared by the stages of one integrator.
#[derive(Default)]
pub(super) struct Jacobian {
    matrix: Option<DMatrix<f64>>,
    /// Made for the very state that the step starts from.
    fresh: bool,
}

impl Jacobian {
    /// To be called after each step. After a failed one the next starts from the same state.
    pub(super) fn step_ended(&mut self, converged: bool) {
        self.fresh = !converged;
    }

    /// The kept Jacobian, if it is of use for a state of `n` elements.
    fn kept(&self, n: usize) -> Option<&DMatrix<f64>> {
        self.matrix
            .as_ref()
            .filter(|j| j.nrows() == n && j.iter().all(|x| x.is_finite()))
    }

    /// Makes it anew, around (t, x).
    fn make(&mut self, ode: &mut Ode<'_, f64>, t: f64, x: &[f64]) -> Result<()> {
        let rate = |x: &[f64], out: &mut [f64]| {
            ode.set(t, x);
            ode.derivatives(out)
        };
        self.matrix = Some(forward_differences(x, rate)?);
        Ok(())
    }
}

/// The Jacobian of `f` around x.
pub(super) fn forward_differences(
    x: &[f64],
    mut f: impl FnMut(&[f64], &mut [f64]) -> Result<()>,
) -> Result<DMatrix<f64>> {
    let n = x.len();
    let (mut at_x, mut moved, mut at) = (vec![0.0; n], vec![0.0; n], x.to_vec());
    let mut jacobian = DMatrix::zeros(n, n);
    f(x, &mut at_x)?;
    for i in 0..n {
        at[i] = x[i] + f64::EPSILON.sqrt() * x[i].abs().max(1.0);
        // The difference that was really made, free of rounding.
        let dx = at[i] - x[i];
        f(&at, &mut moved)?;
        for (k, (moved, at_x)) in moved.iter().zip(&at_x).enumerate() {
            jacobian[(k, i)] = (moved - at_x) / dx;
        }
        at[i] = x[i];
    }
    Ok(jacobian)
}

/// Judges iterations by their updates.
#[derive(Default)]
pub(super) struct Convergence {
    iterations: usize,
    last_norm: f64,
}

impl Convergence {
    /// After an iteration that led to `(x, update)` in each element, of this norm: whether the
    /// iterations have converged, `None` if that is open.
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
        // The rate of convergence tells how far the limit is, equation IV.8.10.
        (theta / (1.0 - theta) * norm < KAPPA * accuracy).then_some(true)
    }
}

/// The step that stages are solved for.
pub(super) struct Step<'a> {
    pub(super) t0: f64,
    pub(super) h: f64,
    pub(super) x0: &'a [f64],
    /// Added to the increment of every stage.
    pub(super) constant: Option<&'a [f64]>,
    /// First guess of the result, `x0` without one.
    pub(super) guess: Option<&'a [f64]>,
}

/// The results of one step of size `h` and of two half ones, `None` if one of them has none. `solve`
/// makes a step; guesses for the half ones come from the whole one.
pub(super) fn whole_and_halves(
    ode: &mut Ode<'_, f64>,
    h: f64,
    mut solve: impl FnMut(&mut Ode<'_, f64>, &Step<'_>) -> Result<Option<Vec<f64>>>,
) -> Result<Option<[Vec<f64>; 2]>> {
    let (t0, x0) = (ode.time(), ode.state().to_vec());
    let step = Step {
        t0,
        h,
        x0: &x0,
        constant: None,
        guess: None,
    };
    let Some(whole) = solve(ode, &step)? else {
        return Ok(None);
    };
    let middle: Vec<f64> = x0.iter().zip(&whole).map(|(a, b)| 0.5 * (a + b)).collect();
    let first = Step {
        h: h / 2.0,
        guess: Some(&middle),
        ..step
    };
    let Some(middle) = solve(ode, &first)? else {
        return Ok(None);
    };
    let second = Step {
        t0: t0 + h / 2.0,
        x0: &middle,
        guess: Some(&whole),
        ..first
    };
    Ok(solve(ode, &second)?.map(|end| [whole, end]))
}

/// The stages `Z_i = constant + h * sum of a[i][j] f(t0 + c[j] h, x0 + Z_j)` of a stiffly accurate
/// implicit Runge-Kutta method: its result is that of its last stage.
pub(super) struct Stages<const S: usize> {
    a: [[f64; S]; S],
    c: [f64; S],
    factored: Option<LU<f64, Dyn, Dyn>>,
    z: DVector<f64>,
    residual: DVector<f64>,
    slopes: Vec<f64>,
    x: Vec<f64>,
}

impl<const S: usize> Stages<S> {
    pub(super) fn new(a: [[f64; S]; S], c: [f64; S]) -> Self {
        Self {
            a,
            c,
            factored: None,
            z: DVector::zeros(0),
            residual: DVector::zeros(0),
            slopes: vec![],
            x: vec![],
        }
    }

    /// The result of the step, `None` if the iterations do not converge. Leaves time and state of the
    /// context anywhere.
    pub(super) fn solve(
        &mut self,
        jacobian: &mut Jacobian,
        ode: &mut Ode<'_, f64>,
        step: &Step<'_>,
    ) -> Result<Option<Vec<f64>>> {
        for trial in 1..=3 {
            if !self.freshen(jacobian, ode, step, trial)? {
                break;
            }
            if self.iterate(ode, step)? {
                let z = self.z.iter().skip((S - 1) * step.x0.len());
                return Ok(Some(step.x0.iter().zip(z).map(|(x, z)| x + z).collect()));
            }
        }
        Ok(None)
    }

    /// Gets the matrices ready: in the first trial those at hand, in the second a factorization for
    /// this step, in the third a Jacobian for this state. False if there is nothing left to improve.
    fn freshen(
        &mut self,
        jacobian: &mut Jacobian,
        ode: &mut Ode<'_, f64>,
        step: &Step<'_>,
        trial: u32,
    ) -> Result<bool> {
        let n = step.x0.len();
        let missing = jacobian.kept(n).is_none();
        let of_other_size = self
            .factored
            .as_ref()
            .is_none_or(|f| f.l().nrows() != n * S);
        if missing || (trial == 3 && !of_other_size) {
            if jacobian.fresh && !missing {
                return Ok(false);
            }
            jacobian.make(ode, step.t0, step.x0)?;
        } else if trial == 1 && !of_other_size {
            return Ok(true);
        }
        let Some(j) = jacobian.kept(n) else {
            return Ok(false);
        };
        let a = DMatrix::from_fn(S, S, |i, k| -step.h * self.a[i][k]);
        self.factored = Some((DMatrix::identity(n * S, n * S) + a.kronecker(j)).lu());
        Ok(true)
    }

    /// Newton iterations; true if they converged.
    fn iterate(&mut self, ode: &mut Ode<'_, f64>, step: &Step<'_>) -> Result<bool> {
        let (n, x0) = (step.x0.len(), step.x0);
        let Some(factored) = &self.factored else {
            return Ok(false);
        };
        self.slopes.resize(n * S, 0.0);
        self.x.resize(n, 0.0);
        self.residual = DVector::zeros(n * S);
        self.z = match step.guess {
            Some(guess) => DVector::from_fn(n * S, |i, _| guess[i % n] - x0[i % n]),
            None => DVector::zeros(n * S),
        };
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
            if !factored.solve_mut(&mut self.residual) {
                return Ok(false);
            }
            self.z += &self.residual;
            let update = self.residual.rows((S - 1) * n, n);
            let end = self.z.rows((S - 1) * n, n);
            let moved = (0..n).map(|i| (x0[i] + end[i], update[i]));
            if let Some(converged) = convergence.after(moved, update.amax(), ode.accuracy()) {
                return Ok(converged);
            }
        }
        Ok(false)
    }
}
