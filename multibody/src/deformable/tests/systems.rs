//! Solutions of the systems of a step.

use super::meshes::{ball, flat, model, random, soft};
use super::steps::largest_difference;
use crate::deformable::MaterialModel;
use crate::deformable::conjugate_gradients::{BlockJacobi, ConjugateGradients, Effort};
use crate::deformable::factor::SparseCholesky;
use crate::deformable::start::FemStepStart;
use crate::deformable::step_matrix::{MatrixState, step_matrix};

#[test]
fn conjugate_gradients_find_the_solution_of_the_factor_or_none() {
    let mesh = ball(4, 0.1);
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
    let mut cholesky = SparseCholesky::default();
    cholesky.analyze(&model.dissection, &model.pattern, &[]);
    assert!(cholesky.factor(&blocks, false));
    let b = random(positions.len(), 3);
    let mut expected = b.clone();
    cholesky.solve(&mut expected);
    let size = largest_difference(&expected, &zero);
    let mut jacobi = BlockJacobi::default();
    assert!(jacobi.invert(&blocks[..model.num_vertices()]));
    let solve = |tolerance, max_iterations, x: &mut [f64]| {
        let effort = Effort {
            tolerance,
            max_iterations,
        };
        let mut gradients = ConjugateGradients::default();
        let precondition = |x: &mut [f64]| jacobi.apply(x);
        gradients.solve(&model.pattern, &blocks, x, effort, precondition)
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
