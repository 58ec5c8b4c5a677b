//! The matrix of a step, and how it changes with the state.

use super::assembly::{Assembly, Wanted};
use super::config::MaterialModel;
use super::free_motion::is_parallel;
use super::model::FemModel;
use super::passes::{HessianPass, LinearPass, StepConstants};
use super::start::{FemStepStart, fix_blocks};

/// Size of differences of the matrix relative to the smallest element. Their error is the square
/// of it, and that of rounding its inverse times 1e-16. Larger ones cross more kinks of damping.
const STEP: f64 = 1e-6;

/// State on which the matrix depends: positions at the start and at the end of a step.
#[derive(Clone, Copy)]
pub(super) struct MatrixState<'a> {
    pub(super) start_positions: &'a [f64],
    pub(super) positions: &'a [f64],
}

/// Returns the derivative of the residual by the velocities at the end of a step, but for the part
/// that comes from the change of the matrix of damping. Blocks have the order of the pattern.
pub(super) fn step_matrix(
    model: &FemModel,
    start: &FemStepStart<'_>,
    at: MatrixState<'_>,
) -> Vec<[f64; 9]> {
    let constants = StepConstants::new(model, start.time_step);
    let parallel = is_parallel(model);
    let (groups, pattern) = (&model.groups, &model.pattern);
    let mut assembly = Assembly::default();
    if model.material.is_linear() {
        let pass = LinearPass {
            constants,
            positions: at.start_positions,
            velocities: start.velocities,
        };
        assembly.run(groups, pattern, &pass, Wanted::MATRIX, parallel);
    } else {
        let pass = HessianPass {
            constants,
            positions: at.positions,
            projected: false,
        };
        assembly.run(groups, pattern, &pass, Wanted::MATRIX, parallel);
    }
    fix_blocks(model, start, &mut assembly.blocks);
    assembly.blocks
}

/// Returns the derivative of the matrix along changes of the positions at the start and at the end
/// of a step, from central differences; `None` if it is constant.
pub(super) fn matrix_change(
    model: &FemModel,
    start: &FemStepStart<'_>,
    at: MatrixState<'_>,
    [start_change, change]: [&[f64]; 2],
) -> Option<Vec<[f64; 9]>> {
    let largest = |x: &[f64]| x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let moved = match model.config().material_model {
        MaterialModel::Linear => return None,
        MaterialModel::LinearCorotated => largest(start_change),
        MaterialModel::Corotated | MaterialModel::NeoHookean => largest(change),
    };
    if moved == 0.0 {
        return None;
    }
    let elements = model.groups.iter().flat_map(|group| group.elements());
    let square = elements.fold(0.0_f64, |most, (_, e)| {
        most.max(e.gradients.iter().map(|g| g.norm_squared()).sum())
    });
    let h = STEP / (square.sqrt() * moved);
    let displaced = |h: f64| {
        let along = |x: &[f64], d: &[f64]| -> Vec<f64> {
            x.iter().zip(d).map(|(x, d)| x + h * d).collect()
        };
        let start_positions = along(at.start_positions, start_change);
        let positions = along(at.positions, change);
        let state = MatrixState {
            start_positions: &start_positions,
            positions: &positions,
        };
        step_matrix(model, start, state)
    };
    let (mut above, below) = (displaced(h), displaced(-h));
    let values = above.as_flattened_mut().iter_mut();
    for (a, b) in values.zip(below.as_flattened()) {
        *a = (*a - b) / (2.0 * h);
    }
    Some(above)
}
