//! Work space of a body's free motion, and its solution for the linear models.

use super::assembly::{Assembly, Wanted};
use super::factor::SparseCholesky;
use super::model::FemModel;
use super::passes::{LinearPass, StepConstants};
use super::start::{FemStepFailure, FemStepStart, clear_fixed, end_positions, fix_blocks};

/// Number of elements from which a step uses several threads.
const MANY_ELEMENTS: usize = 2000;

/// Work space and result of a body's free motion.
#[derive(Clone, Debug, Default)]
pub(super) struct FemMotion {
    pub(super) assembly: Assembly,
    pub(super) cholesky: SparseCholesky,
    /// Velocities at the start, 0 at fixed vertices.
    pub(super) start_velocities: Vec<f64>,
    pub(super) velocities: Vec<f64>,
    pub(super) positions: Vec<f64>,
    /// Right side of the linear systems, and then their solution.
    pub(super) direction: Vec<f64>,
}

impl FemMotion {
    /// Finds the velocities at the end of a step of a linear model.
    pub(super) fn solve_linear(
        &mut self,
        model: &FemModel,
        start: &FemStepStart<'_>,
        constants: StepConstants,
        parallel: bool,
    ) -> Result<(), FemStepFailure> {
        let pass = LinearPass {
            constants,
            positions: start.positions,
            velocities: &self.start_velocities,
        };
        let wanted = Wanted {
            matrix: true,
            forces: true,
        };
        self.assembly
            .run(&model.groups, &model.pattern, &pass, wanted, parallel);
        self.direction.clear();
        let impulses = self.assembly.forces.as_flattened().iter().zip(start.forces);
        let impulses = impulses.map(|(own, force)| own + start.time_step * force);
        self.direction.extend(impulses);
        clear_fixed(start, &mut self.direction);
        fix_blocks(model, start, &mut self.assembly.blocks);
        if !self.cholesky.factor(&self.assembly.blocks, parallel) {
            return Err(FemStepFailure::Singular);
        }
        self.cholesky.solve(&mut self.direction);
        self.velocities.clear();
        let v = self.start_velocities.iter().zip(&self.direction);
        self.velocities.extend(v.map(|(v, change)| v + change));
        Ok(())
    }

    /// Moves the positions to the end of the step.
    pub(super) fn move_positions(&mut self, start: &FemStepStart<'_>) {
        self.positions.resize(start.positions.len(), 0.0);
        end_positions(
            start,
            &self.start_velocities,
            &self.velocities,
            &mut self.positions,
        );
    }
}

impl StepConstants {
    pub(super) fn new(model: &FemModel, time_step: f64) -> Self {
        let config = model.config();
        Self {
            material: model.material,
            density: config.mass_density,
            dt: time_step,
            alpha: config.mass_damping_coefficient,
            beta: config.stiffness_damping_coefficient,
        }
    }
}

/// Returns true if steps of a model use several threads.
pub(super) fn is_parallel(model: &FemModel) -> bool {
    model.num_elements() >= MANY_ELEMENTS && rayon::current_num_threads() > 1
}
