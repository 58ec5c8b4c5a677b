//! Solutions of the systems of a step.

use super::meshes::{ball, flat, model, random, soft};
use super::steps::largest_difference;
use crate::MaterialModel;
use crate::conjugate_gradients::{BlockJacobi, ConjugateGradients, Effort};
use crate::model::FemModel;
use crate::start::FemStepStart;
use crate::step_matrix::{MatrixState, step_matrix};
use tarragon_contact_solvers::sparse::SparseCholesky;

/// A soft ball of `6 n^3` tetrahedra with the matrix of a step at rest.
fn resting_ball(n: usize) -> (FemModel, Vec<[f64; 9]>) {
    let mesh = ball(n, 0.1);
    let model = model(&mesh, &soft(MaterialModel::NeoHookean));
    let positions = flat(&mesh.0);
    let zero = vec![0.0; positions.len()];
    let start = FemStepStart {
        time_step: 5e-3,
        positions: &positions,
        velocities: &zero,
        forces: &zero,
        fixed: &[],
        participants: &[],
    };
    let at = MatrixState {
        start_positions: &positions,
        positions: &positions,
    };
    let blocks = step_matrix(&model, &start, at);
    (model, blocks)
}

#[test]
fn conjugate_gradients_find_the_solution_of_the_factor_or_none() {
    let (model, blocks) = resting_ball(4);
    let mut cholesky = SparseCholesky::default();
    model.analyze(&mut cholesky, &[]);
    assert!(cholesky.factor(&blocks, false));
    let b = random(3 * model.num_vertices(), 3);
    let mut expected = b.clone();
    cholesky.solve(&mut expected);
    let size = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let mut jacobi = BlockJacobi::default();
    assert!(jacobi.invert(&blocks[..model.num_vertices()]));
    let solve = |tolerance, max_iterations, x: &mut [f64]| {
        let effort = Effort {
            tolerance,
            max_iterations,
        };
        let mut gradients = ConjugateGradients::default();
        let precondition = |x: &mut [f64]| jacobi.apply(x);
        gradients.solve(&model.pattern.matrix, &blocks, x, effort, precondition)
    };
    for tolerance in [1e-2, 1e-6, 1e-10] {
        let mut x = b.clone();
        assert!(solve(tolerance, 500, &mut x));
        let error = largest_difference(&x, &expected) / size;
        // The norm of the iterations is another one.
        assert!(error < 10.0 * tolerance, "{tolerance}: {error}");
        let mut x = b.clone();
        assert!(!solve(tolerance, 2, &mut x), "{tolerance}");
        assert_eq!(x, b);
    }
    let mut singular = blocks[..model.num_vertices()].to_vec();
    singular[5] = [0.0; 9];
    assert!(!jacobi.invert(&singular));
}

/// Residual relative to forces that come from random motions, whose terms hardly cancel. That of
/// Cholesky's method is the rounding of some thousand operations, whatever the condition.
const ROUNDING: f64 = 1e-12;

/// With and without vertices that are eliminated last.
#[test]
fn large_systems_are_solved_by_tasks() {
    let (model, blocks) = resting_ball(10);
    let largest = |x: &[f64], of: &dyn Fn(&usize) -> bool| {
        let all = (0..x.len()).filter(of).map(|i| x[i].abs());
        all.fold(0.0_f64, f64::max)
    };
    let motion = random(3 * model.num_vertices(), 3);
    let mut b = motion.clone();
    model.pattern.matrix.multiply(&blocks, &motion, &mut b);
    let mut cholesky = SparseCholesky::default();
    for participants in [&[][..], &[3, 100, 700]] {
        model.analyze(&mut cholesky, participants);
        assert!(cholesky.has_tasks(), "{participants:?}");
        assert!(cholesky.factor(&blocks, true));
        let mut x = b.clone();
        cholesky.solve(&mut x);
        let mut product = b.clone();
        model.pattern.matrix.multiply(&blocks, &x, &mut product);
        let error = largest_difference(&product, &b) / largest(&b, &|_| true);
        assert!(error < ROUNDING, "{error:e}");
    }
    // Where nothing acts on the others, they follow the participants.
    let mut all = b.clone();
    let moved: Vec<f64> = (0..9).map(f64::from).collect();
    cholesky.extend(&moved, &mut all);
    let mut forces = all.clone();
    model.pattern.matrix.multiply(&blocks, &all, &mut forces);
    let is_free = |i: &usize| ![3, 100, 700].contains(&(i / 3));
    assert_eq!(all[9..12], moved[..3]);
    assert!(largest(&forces, &is_free) < ROUNDING * largest(&forces, &|_| true));
}
