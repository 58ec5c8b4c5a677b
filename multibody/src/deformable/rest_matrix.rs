//! Systems of the free motion without a factorization of their matrix.
//!
//! Where a body only turns, the matrix of its step is that of the body at rest, turned vertex by
//! vertex: `R A_0 R^T`. So the factor of `A_0`, made once, preconditions conjugate gradients: one
//! iteration solves the system of a body that only turns, and some ten that of one that bends. All
//! depends on the state alone, not on earlier steps.
//!
//! Sources: M. Müller, J. Dorsey, L. McMillan, R. Jagnow, B. Cutler, "Stable Real-Time
//! Deformations", Symposium on Computer Animation, 2002 (matrices turned by vertex); M. Müller, B.
//! Heidelberger, M. Teschner, M. Gross, "Meshless Deformations Based on Shape Matching", ACM
//! Transactions on Graphics, 2005 (rotations of vertices).

use super::assembly::{Assembly, Wanted};
use super::config::MaterialModel;
use super::factor::SparseCholesky;
use super::lanes::{LANES, Lanes, Matrix};
use super::model::FemModel;
use super::passes::{LinearPass, StepConstants};
use super::polar::rotations;
use super::start::{FemStepStart, fix_blocks};
use std::array::from_fn;

/// Most iterations: as expensive as a factorization in meshes of a few thousand elements.
const MAX_ITERATIONS: usize = 24;
/// Iterations after which the error must have decreased by `EARLY_DECREASE`, so that the others
/// are worth their time.
const EARLY_ITERATIONS: usize = 8;
const EARLY_DECREASE: f64 = 1e-3;

/// Factor of the matrix of a body at rest, and work space of the iterations.
#[derive(Clone, Debug, Default)]
pub(super) struct RestMatrix {
    /// What the factor belongs to: time step and fixed vertices.
    time_step: f64,
    fixed: Vec<bool>,
    cholesky: SparseCholesky,
    /// Whether the matrix is positive definite.
    is_definite: bool,
    /// By vertex; empty for the identity.
    rotations: Vec<[f64; 9]>,
    residual: Vec<f64>,
    corrected: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
    solution: Vec<f64>,
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

impl RestMatrix {
    /// Prepares for the systems of a step, in which bodies are turned as at some positions.
    pub(super) fn begin(
        &mut self,
        model: &FemModel,
        start: &FemStepStart<'_>,
        constants: StepConstants,
        parallel: bool,
    ) {
        let is_known = self.time_step == start.time_step && self.fixed == start.fixed;
        if !is_known {
            self.factor(model, start, constants, parallel);
        }
        match model.config().material_model {
            MaterialModel::Linear => self.rotations.clear(),
            _ => self.find_rotations(model, start.positions),
        }
    }

    fn factor(
        &mut self,
        model: &FemModel,
        start: &FemStepStart<'_>,
        constants: StepConstants,
        parallel: bool,
    ) {
        self.time_step = start.time_step;
        start.fixed.clone_into(&mut self.fixed);
        let pass = LinearPass {
            constants,
            positions: model.reference(),
            velocities: &vec![0.0; start.positions.len()],
        };
        let wanted = Wanted {
            matrix: true,
            forces: true,
        };
        let mut assembly = Assembly::default();
        assembly.run(&model.groups, &model.pattern, &pass, wanted, parallel);
        fix_blocks(model, start, &mut assembly.blocks);
        self.cholesky
            .analyze(&model.dissection, &model.pattern, &[]);
        self.is_definite = self.cholesky.factor(&assembly.blocks, parallel);
    }

    /// Finds the rotations that take the edges of each vertex from the reference configuration to
    /// other positions best.
    fn find_rotations(&mut self, model: &FemModel, positions: &[f64]) {
        let (before, _) = model.reference().as_chunks::<3>();
        let (after, _) = positions.as_chunks::<3>();
        let n = before.len();
        self.rotations.resize(n, [0.0; 9]);
        for (first, out) in (0..n).step_by(LANES).zip(self.rotations.chunks_mut(LANES)) {
            let mut sums = [[0.0; 9]; LANES];
            for (v, sum) in (first..n).zip(&mut sums) {
                for (other, _) in model.pattern.neighbors(v as u32) {
                    let edge = |x: &[[f64; 3]]| -> [f64; 3] {
                        from_fn(|i| x[*other as usize][i] - x[v][i])
                    };
                    let (before, after) = (edge(before), edge(after));
                    for (k, sum) in sum.iter_mut().enumerate() {
                        *sum += after[k / 3] * before[k % 3];
                    }
                }
            }
            let f: Matrix = from_fn(|i| from_fn(|j| Lanes(from_fn(|k| sums[k][3 * i + j]))));
            let r = rotations(&f);
            for (k, out) in out.iter_mut().enumerate() {
                *out = from_fn(|i| r[i / 3][i % 3].0[k]);
            }
        }
    }

    /// Replaces `b` by the solution of `A x = b`, with an error of about `tolerance` relative to
    /// its size; returns false, and leaves b as it is, if that takes too many iterations or A is
    /// not positive definite.
    pub(super) fn solve(
        &mut self,
        model: &FemModel,
        blocks: &[[f64; 9]],
        b: &mut [f64],
        tolerance: f64,
    ) -> bool {
        if !self.is_definite {
            return false;
        }
        let n = b.len();
        b.clone_into(&mut self.residual);
        self.solution.clear();
        self.solution.resize(n, 0.0);
        self.product.resize(n, 0.0);
        self.direction.clear();
        self.direction.resize(n, 0.0);
        let (mut first, mut last) = (0.0, 0.0);
        for iteration in 0..=MAX_ITERATIONS {
            self.correct();
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
            let too_slow =
                iteration == EARLY_ITERATIONS && squared > EARLY_DECREASE * EARLY_DECREASE * first;
            if too_slow || iteration == MAX_ITERATIONS {
                return false;
            }
            let by = if iteration == 0 { 0.0 } else { squared / last };
            last = squared;
            for (d, z) in self.direction.iter_mut().zip(&self.corrected) {
                *d = z + by * *d;
            }
            model
                .pattern
                .multiply(blocks, &self.direction, &mut self.product);
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
        }
        b.copy_from_slice(&self.solution);
        true
    }

    /// `R A_0^-1 R^T` times the residual.
    fn correct(&mut self) {
        self.residual.clone_into(&mut self.corrected);
        let turn = |x: &mut [f64], rotations: &[[f64; 9]], transposed: bool| {
            for (x, r) in x.as_chunks_mut::<3>().0.iter_mut().zip(rotations) {
                let row = |i: usize| match transposed {
                    true => [r[i], r[3 + i], r[6 + i]],
                    false => [r[3 * i], r[3 * i + 1], r[3 * i + 2]],
                };
                *x = from_fn(|i| dot(&row(i), x));
            }
        };
        turn(&mut self.corrected, &self.rotations, true);
        self.cholesky.solve(&mut self.corrected);
        turn(&mut self.corrected, &self.rotations, false);
    }
}
