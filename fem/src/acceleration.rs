//! Extrapolation of iterations that converge linearly.
//!
//! Source: D. G. Anderson, "Iterative Procedures for Nonlinear Integral Equations", Journal of the
//! ACM, 1965.

use tarragon_framework::simd::dot;

/// Most steps that are remembered.
const DEPTH: usize = 3;
/// Part of a change that must not be in the span of the others.
const INDEPENDENT: f64 = 1e-12;
/// Largest factor of a change. Larger ones extrapolate rounding.
const LARGEST_FACTOR: f64 = 10.0;

/// Steps of an iteration that leaves out a part of the derivative.
#[derive(Clone, Debug, Default)]
pub(super) struct Acceleration {
    /// The last iterate and the step from there that was to be accelerated; empty at the start.
    last: [Vec<f64>; 2],
    /// Changes of iterates and of steps, of which the first `len` are known, the oldest first.
    changes: [[Vec<f64>; 2]; DEPTH],
    len: usize,
}

/// Replaces a list by the differences of two others.
fn set_difference(to: &mut Vec<f64>, x: &[f64], y: &[f64]) {
    to.clear();
    to.extend(x.iter().zip(y).map(|(x, y)| x - y));
}

impl Acceleration {
    /// Forgets all steps.
    pub(super) fn reset(&mut self) {
        self.last.iter_mut().for_each(Vec::clear);
        self.len = 0;
    }

    /// Changes a step from an iterate such that a step from its end would be least, as far as past
    /// changes tell.
    pub(super) fn apply(&mut self, iterate: &[f64], step: &mut [f64]) {
        let [last_iterate, last_step] = &mut self.last;
        if last_step.len() == step.len() {
            if self.len == DEPTH {
                self.changes.rotate_left(1);
                self.len -= 1;
            }
            let [of_iterate, of_step] = &mut self.changes[self.len];
            set_difference(of_iterate, iterate, last_iterate);
            set_difference(of_step, step, last_step);
            self.len += 1;
        }
        iterate.clone_into(last_iterate);
        step.clone_into(last_step);
        let factors = self.factors(step);
        for ([of_iterate, of_step], factor) in self.changes[..self.len].iter().zip(factors) {
            let both = of_iterate.iter().zip(of_step);
            for (x, (a, b)) in step.iter_mut().zip(both) {
                *x -= factor * (a + b);
            }
        }
    }

    /// Factors of the changes of steps whose sum is closest to a step, 0 if they are not reliable.
    fn factors(&self, step: &[f64]) -> [f64; DEPTH] {
        let n = self.len;
        let changes = &self.changes[..n];
        // Cholesky's factor of the normal equations.
        let mut l = [[0.0; DEPTH]; DEPTH];
        let mut factors = [0.0; DEPTH];
        for i in 0..n {
            let own = &changes[i][1];
            for j in 0..=i {
                let product = dot(own, &changes[j][1]);
                let rest = product - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
                l[i][j] = match i == j {
                    false => rest / l[j][j],
                    true if rest > INDEPENDENT * product => rest.sqrt(),
                    true => return [0.0; DEPTH],
                };
            }
            let known: f64 = (0..i).map(|k| l[i][k] * factors[k]).sum();
            factors[i] = (dot(own, step) - known) / l[i][i];
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|k| l[k][i] * factors[k]).sum();
            factors[i] = (factors[i] - known) / l[i][i];
        }
        if factors.iter().all(|f| f.abs() <= LARGEST_FACTOR) {
            factors
        } else {
            [0.0; DEPTH]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear iteration in three unknowns ends after four steps.
    #[test]
    fn linear_iterations_end_after_a_few_steps() {
        let step = |x: &[f64]| -> Vec<f64> {
            let y = [
                0.6 * x[0] + 0.2 * x[1] + 1.0,
                0.7 * x[1] - 0.1 * x[2],
                0.1 * x[0] + 0.5 * x[2] - 2.0,
            ];
            y.iter().zip(x).map(|(y, x)| y - x).collect()
        };
        let (mut x, mut acceleration) = (vec![0.0; 3], Acceleration::default());
        for _ in 0..5 {
            let mut d = step(&x);
            acceleration.apply(&x, &mut d);
            x.iter_mut().zip(&d).for_each(|(x, d)| *x += d);
        }
        // The condition number of the normal equations is below 1e4.
        assert!(step(&x).iter().all(|d| d.abs() < 1e-11), "{x:?}");
        acceleration.reset();
        let mut d = vec![1.0, 2.0, 3.0];
        acceleration.apply(&x, &mut d);
        assert_eq!(d, [1.0, 2.0, 3.0]);
        // A second step that is the same tells nothing.
        acceleration.apply(&x, &mut d);
        assert_eq!(d, [1.0, 2.0, 3.0]);
    }
}
