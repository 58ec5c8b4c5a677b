//! Conjugate gradients for the matrix of a step.
//!
//! Source: Y. Saad, "Iterative Methods for Sparse Linear Systems", 2003, section 9.2.

use nalgebra::{Matrix3, Vector3};
use tarragon_contact_solvers::sparse::BlockPattern;
use tarragon_framework::simd::dot;

/// Size of a residual by rounding, relative to that of the diagonal's part of the product.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Work space of the iterations, and their solution.
#[derive(Clone, Debug, Default)]
pub(super) struct ConjugateGradients {
    residual: Vec<f64>,
    corrected: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
    solution: Vec<f64>,
}

/// When the iterations end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Error of the solution relative to its size.
    pub(super) tolerance: f64,
    pub(super) max_iterations: usize,
}

impl ConjugateGradients {
    /// Replaces `b` by the solution of `A x = b`; returns false, and leaves b as it is, if that
    /// takes too many iterations or A is not positive definite. `precondition` replaces a residual
    /// by about the solution for it.
    pub(super) fn solve(
        &mut self,
        pattern: &BlockPattern,
        blocks: &[[f64; 9]],
        b: &mut [f64],
        effort: Effort,
        mut precondition: impl FnMut(&mut [f64]),
    ) -> bool {
        let n = b.len();
        b.clone_into(&mut self.residual);
        self.solution.clear();
        self.solution.resize(n, 0.0);
        self.product.resize(n, 0.0);
        self.direction.clear();
        self.direction.resize(n, 0.0);
        let Effort {
            tolerance,
            max_iterations,
        } = effort;
        let (mut first, mut last) = (0.0, 0.0);
        for iteration in 0..=max_iterations {
            self.residual.clone_into(&mut self.corrected);
            precondition(&mut self.corrected);
            let squared = dot(&self.residual, &self.corrected);
            if squared == 0.0 && self.residual.iter().all(|r| *r == 0.0) {
                break;
            }
            if !(squared > 0.0 && squared.is_finite()) {
                return false;
            }
            if iteration == 0 {
                first = squared;
            }
            if squared <= tolerance * tolerance * first {
                break;
            }
            // The error must decrease evenly to reach the tolerance in time.
            let share = iteration as f64 / max_iterations as f64;
            if iteration > 0 && squared > first * tolerance.powf(2.0 * share) {
                return false;
            }
            let by = if iteration == 0 { 0.0 } else { squared / last };
            last = squared;
            for (d, z) in self.direction.iter_mut().zip(&self.corrected) {
                *d = z + by * *d;
            }
            pattern.multiply(blocks, &self.direction, &mut self.product);
            let curvature = dot(&self.direction, &self.product);
            if !(curvature > 0.0 && curvature.is_finite()) {
                return false;
            }
            let step = squared / curvature;
            for (x, d) in self.solution.iter_mut().zip(&self.direction) {
                *x += step * d;
            }
            for (r, p) in self.residual.iter_mut().zip(&self.product) {
                *r -= step * p;
            }
            let by_rounding = ROUNDING * self.diagonal_size(blocks);
            if dot(&self.residual, &self.residual) <= by_rounding * by_rounding {
                break;
            }
        }
        b.copy_from_slice(&self.solution);
        true
    }

    /// Size of the product of the diagonal of A with the solution.
    fn diagonal_size(&self, blocks: &[[f64; 9]]) -> f64 {
        let (x, _) = self.solution.as_chunks::<3>();
        let squares = blocks.iter().zip(x).map(|(block, x)| {
            let [a, b, c] = [block[0] * x[0], block[4] * x[1], block[8] * x[2]];
            a * a + b * b + c * c
        });
        squares.sum::<f64>().sqrt()
    }
}

/// Preconditioner by the 3x3 blocks on the diagonal.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockJacobi {
    inverses: Vec<Matrix3<f64>>,
}

impl BlockJacobi {
    /// Inverts the blocks of the vertices; returns false if one is singular.
    pub(super) fn invert(&mut self, diagonal: &[[f64; 9]]) -> bool {
        self.inverses.clear();
        let blocks = diagonal.iter().map(|block| Matrix3::from_row_slice(block));
        self.inverses
            .extend(blocks.map_while(|block| block.try_inverse()));
        self.inverses.len() == diagonal.len()
    }

    /// Replaces a residual by about the solution for it.
    pub(super) fn apply(&self, x: &mut [f64]) {
        for (x, inverse) in x.as_chunks_mut::<3>().0.iter_mut().zip(&self.inverses) {
            *x = (inverse * Vector3::from(*x)).into();
        }
    }
}
