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
use super::conjugate_gradients::{ConjugateGradients, Effort};
use super::lanes::{Matrix, from_fn, load_vectors, store_vectors};
use super::model::FemModel;
use super::passes::{LinearPass, StepConstants};
use super::polar::rotations;
use super::start::{FemStepStart, fix_blocks};
use tarragon_contact_solvers::sparse::SparseCholesky;
use tarragon_framework::simd::{LANES, LaneKernel, Lanes, Pack, dispatch_lanes};

/// Most iterations: less expensive than a factorization in meshes of a thousand elements and more.
const MAX_ITERATIONS: usize = 6;
/// Difference of the rotations of two neighbors above which the error of the bodies of the tests
/// decreases too slowly. A body that bends more is factored at each step, which takes three to six
/// times as long.
const MOST_BEND: f64 = 0.02;

/// Factor of the matrix of a body at rest, and work space of the iterations.
#[derive(Clone, Debug, Default)]
pub(super) struct RestMatrix {
    /// Time step and fixed vertices of the factored matrix.
    time_step: f64,
    fixed: Vec<bool>,
    cholesky: SparseCholesky,
    /// Whether the matrix is positive definite.
    is_definite: bool,
    /// By vertex; empty for the identity.
    rotations: Vec<[f64; 9]>,
    /// Whether the rotations of neighbors differ little.
    is_similar: bool,
    gradients: ConjugateGradients,
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
            MaterialModel::Linear => {
                self.rotations.clear();
                self.is_similar = true;
            }
            _ => {
                self.rotations.resize(model.num_vertices(), [0.0; 9]);
                self.is_similar = dispatch_lanes(VertexRotations {
                    model,
                    positions: start.positions,
                    out: &mut self.rotations,
                });
            }
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
        let mut assembly = Assembly::default();
        let (groups, pattern) = (&model.groups, &model.pattern);
        assembly.run(groups, pattern, &pass, Wanted::MATRIX, parallel);
        fix_blocks(model, start, &mut assembly.blocks);
        model.analyze(&mut self.cholesky, &[]);
        self.is_definite = self.cholesky.factor(&assembly.blocks, parallel);
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
        if !(self.is_definite && self.is_similar) {
            return false;
        }
        let Self {
            cholesky,
            rotations,
            gradients,
            ..
        } = self;
        let effort = Effort {
            tolerance,
            max_iterations: MAX_ITERATIONS,
        };
        gradients.solve(&model.pattern.matrix, blocks, b, effort, |x| {
            // `R A_0^-1 R^T` times the residual.
            turn(x, rotations, true);
            cholesky.solve(x);
            turn(x, rotations, false);
        })
    }
}

/// Multiplies the vectors of all vertices by their rotations.
fn turn(x: &mut [f64], rotations: &[[f64; 9]], transposed: bool) {
    for (x, r) in x.as_chunks_mut::<3>().0.iter_mut().zip(rotations) {
        let row = |i: usize| {
            if transposed {
                [r[i], r[3 + i], r[6 + i]]
            } else {
                [r[3 * i], r[3 * i + 1], r[3 * i + 2]]
            }
        };
        *x = from_fn(|i| {
            let [a, b, c] = row(i);
            a * x[0] + b * x[1] + c * x[2]
        });
    }
}

/// Finds the rotations that take the edges of each vertex from the reference configuration to other
/// positions best. Returns true if those of neighbors differ by at most `MOST_BEND`.
struct VertexRotations<'a> {
    model: &'a FemModel,
    positions: &'a [f64],
    out: &'a mut [[f64; 9]],
}

impl LaneKernel for VertexRotations<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<P: Pack>(self, zero: P) -> bool {
        let (before, _) = self.model.reference().as_chunks::<3>();
        let (after, _) = self.positions.as_chunks::<3>();
        for (n, out) in self.out.chunks_mut(LANES).enumerate() {
            let mut sums = [[0.0; 9]; LANES];
            for (k, sum) in sums.iter_mut().take(out.len()).enumerate() {
                let v = LANES * n + k;
                for (other, _) in self.model.pattern.matrix.neighbors(v as u32) {
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
            let mut r = Matrix::default();
            store_vectors(&rotations(&load_vectors(zero, &f)), &mut r);
            for (k, out) in out.iter_mut().enumerate() {
                *out = from_fn(|i| r[i / 3][i % 3].0[k]);
            }
        }
        let differences = self.model.pattern.matrix.edges().iter().map(|(i, j)| {
            let (a, b) = (&self.out[*i as usize], &self.out[*j as usize]);
            let squares: [f64; 9] = from_fn(|k| (a[k] - b[k]) * (a[k] - b[k]));
            squares.iter().sum()
        });
        let largest = differences.fold(0.0, |most: f64, difference: f64| most.max(difference));
        largest <= MOST_BEND * MOST_BEND
    }
}
