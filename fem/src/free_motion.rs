//! Work space of a body's free motion, and its solution for the linear models.

use super::assembly::{Assembly, Wanted};
use super::conjugate_gradients::{BlockJacobi, ConjugateGradients, Effort};
use super::model::FemModel;
use super::passes::{LinearPass, StepConstants};
use super::rest_matrix::RestMatrix;
use super::start::{FemStepFailure, FemStepStart, clear_fixed, end_positions, fix_blocks};
use tarragon_contact_solvers::sparse::SparseCholesky;

/// Number of elements from which a step uses several threads.
const MANY_ELEMENTS: usize = 2000;
/// Error of a linear step's iterations relative to the change of velocity.
const TOLERANCE: f64 = 1e-12;
/// Error of a rough solution relative to its size.
const ROUGH: f64 = 0.05;
/// Iterations that take half of the time of a factorization, times the number of blocks of the
/// matrix and by the products of tiles of the factorization.
const PRODUCTS_PER_BLOCK: usize = 20;
/// Number of iterations that is not enough for a rough solution.
const FEW_ITERATIONS: usize = 20;

/// Work space and result of a body's free motion.
#[derive(Clone, Debug, Default)]
pub(super) struct FemMotion {
    pub(super) assembly: Assembly,
    pub(super) cholesky: SparseCholesky,
    pub(super) rest: RestMatrix,
    gradients: ConjugateGradients,
    preconditioner: BlockJacobi,
    /// Participants that are not fixed.
    pub(super) participants: Vec<u32>,
    /// Whether the matrix of each step is factored.
    pub(super) always_factors: bool,
    /// Whether the matrix of the last system was.
    pub(super) is_factored: bool,
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
        let wanted = Wanted::MATRIX_AND_FORCES;
        self.assembly
            .run(&model.groups, &model.pattern, &pass, wanted, parallel);
        self.direction.clear();
        let impulses = self.assembly.forces.as_flattened().iter().zip(start.forces);
        let impulses = impulses.map(|(own, force)| own + start.time_step * force);
        self.direction.extend(impulses);
        clear_fixed(start, &mut self.direction);
        fix_blocks(model, start, &mut self.assembly.blocks);
        self.begin_systems(model, start, constants, parallel);
        if !self.solve_system(model, TOLERANCE, parallel) {
            return Err(FemStepFailure::Singular);
        }
        self.velocities.clear();
        let v = self.start_velocities.iter().zip(&self.direction);
        self.velocities.extend(v.map(|(v, change)| v + change));
        Ok(())
    }

    /// Prepares for the systems of a step.
    pub(super) fn begin_systems(
        &mut self,
        model: &FemModel,
        start: &FemStepStart<'_>,
        constants: StepConstants,
        parallel: bool,
    ) {
        if self.iterates() {
            self.rest.begin(model, start, constants, parallel);
        }
    }

    /// Returns true if nothing needs the factor of a step's matrix.
    fn iterates(&self) -> bool {
        self.participants.is_empty() && !self.always_factors
    }

    /// Replaces the direction by the solution of the system with the assembled matrix and the
    /// direction as its right side; returns false if the matrix is not positive definite.
    pub(super) fn solve_system(
        &mut self,
        model: &FemModel,
        tolerance: f64,
        parallel: bool,
    ) -> bool {
        let iterates = self.iterates();
        let (blocks, direction) = (&self.assembly.blocks, &mut self.direction);
        self.is_factored = false;
        if iterates && self.rest.solve(model, blocks, direction, tolerance) {
            return true;
        }
        self.is_factored = true;
        model.analyze(&mut self.cholesky, &self.participants);
        let is_definite = self.cholesky.factor(blocks, parallel);
        if is_definite {
            self.cholesky.solve(direction);
        }
        is_definite
    }

    /// Replaces the direction by about the solution of the system, which takes less time than a
    /// factorization; returns false, and leaves it as it is, if the matrix does not allow that.
    pub(super) fn solve_roughly(&mut self, model: &FemModel) -> bool {
        if self.iterates() {
            return false;
        }
        let (blocks, direction) = (&self.assembly.blocks, &mut self.direction);
        self.is_factored = false;
        model.analyze(&mut self.cholesky, &self.participants);
        let max_iterations = PRODUCTS_PER_BLOCK * self.cholesky.num_products() / blocks.len();
        if max_iterations < FEW_ITERATIONS {
            return false;
        }
        let effort = Effort {
            tolerance: ROUGH,
            max_iterations,
        };
        let preconditioner = &mut self.preconditioner;
        preconditioner.invert(&blocks[..model.num_vertices()])
            && self
                .gradients
                .solve(&model.pattern.matrix, blocks, direction, effort, |x| {
                    preconditioner.apply(x);
                })
    }

    /// Solves a system with the matrix of the last one.
    pub(super) fn solve_system_again(&mut self, model: &FemModel, tolerance: f64) -> bool {
        let (blocks, direction) = (&self.assembly.blocks, &mut self.direction);
        if !self.is_factored {
            return self.rest.solve(model, blocks, direction, tolerance);
        }
        self.cholesky.solve(direction);
        true
    }

    /// Sets the direction to the negative of a gradient.
    pub(super) fn set_direction(&mut self, gradient: &[f64]) {
        self.direction.clear();
        self.direction.extend(gradient.iter().map(|g| -g));
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
