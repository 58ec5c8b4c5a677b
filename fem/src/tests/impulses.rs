//! Properties of the response to impulses.

use super::meshes::{ALL_MODELS, block, model, random};
use super::steps::{State, damped, largest, largest_difference};
use crate::step::FemStep;
use crate::{FemStepStart, MaterialModel};
use nalgebra::{DMatrix, DVector, Vector3};

/// Matrix of the response to impulses, column by column.
fn compliance(step: &mut FemStep, start: &FemStepStart<'_>, n: usize) -> DMatrix<f64> {
    let mut columns = DMatrix::identity(n, n);
    for mut column in columns.column_iter_mut() {
        step.solve(start, column.as_mut_slice());
    }
    columns
}

fn fixed_below(points: &[Vector3<f64>], x: f64) -> Vec<bool> {
    points.iter().map(|p| p.x < x).collect()
}

#[test]
fn schur_complement_is_the_inverse_of_the_compliance_of_the_participants() {
    let mesh = block([4, 2, 2], [0.2, 0.1, 0.1]);
    let fixed = fixed_below(&mesh.0, -0.19);
    let chosen: Vec<Vec<u32>> = vec![
        vec![44],
        vec![3, 44, 17, 20, 21, 17],
        (9..45).collect(),
        (0..45).collect(),
    ];
    for material in ALL_MODELS {
        let model = model(&mesh, &damped(material));
        let state = State::new(&mesh.0, &model);
        let mut step = FemStep::default();
        for participants in &chosen {
            let start = state.start(&fixed, participants);
            step.advance(&model, &start).unwrap();
            // Fixed vertices and repetitions are left out.
            let kept = step.participants().to_vec();
            assert!(kept.is_sorted() && kept.iter().all(|v| !fixed[*v as usize]));
            let n = 3 * kept.len();
            let all = compliance(&mut step, &start, 135);
            let part = DMatrix::from_fn(n, n, |i, j| {
                all[(
                    3 * kept[i / 3] as usize + i % 3,
                    3 * kept[j / 3] as usize + j % 3,
                )]
            });
            let schur = DMatrix::from_column_slice(n, n, step.schur_complement());
            let error = (part * schur - DMatrix::identity(n, n)).amax();
            // The condition of these matrices is about 1e4.
            assert!(error < 1e-10, "{material:?}: {error:e}");
        }
    }
}

#[test]
fn completing_the_velocities_is_applying_the_impulses() {
    let mesh = block([4, 2, 2], [0.2, 0.1, 0.1]);
    let fixed = fixed_below(&mesh.0, -0.19);
    let model = model(&mesh, &damped(MaterialModel::LinearCorotated));
    let state = State::new(&mesh.0, &model);
    let participants = [20, 21, 44, 30];
    let start = state.start(&fixed, &participants);
    let mut step = FemStep::default();
    step.advance(&model, &start).unwrap();
    let free = step.velocities().to_vec();
    let impulses = random(12, 3);
    let kept = step.participants().to_vec();
    let schur = DMatrix::from_column_slice(12, 12, step.schur_complement());
    let change = schur
        .cholesky()
        .unwrap()
        .solve(&DVector::from_column_slice(&impulses));
    let of = |k: usize| 3 * kept[k / 3] as usize + k % 3;
    let given: Vec<f64> = (0..12).map(|k| free[of(k)] + change[k]).collect();
    let (mut velocities, mut positions) = (vec![0.0; 135], vec![0.0; 135]);
    step.complete(&start, &given, &mut velocities, &mut positions);
    let mut wanted = vec![0.0; 135];
    for k in 0..12 {
        wanted[of(k)] = impulses[k];
    }
    step.solve(&start, &mut wanted);
    for (w, free) in wanted.iter_mut().zip(&free) {
        *w += free;
    }
    let error = largest_difference(&velocities, &wanted);
    assert!(error < 1e-11 * largest(wanted.iter().copied()), "{error:e}");
    for (k, fixed) in fixed.iter().enumerate().filter(|(_, fixed)| **fixed) {
        assert!(*fixed && positions[3 * k..3 * k + 3] == state.q[3 * k..3 * k + 3]);
    }
}
