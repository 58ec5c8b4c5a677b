//! Newton's method for the nonlinear models.
//!
//! The velocity at the end of a step minimizes an objective, as long as the matrix of damping is
//! constant. It is Drake's: the positive semidefinite part of the stiffness at the end of the step.
//! The first iterations update it, and further ones as long as the gradient decreases; all others
//! keep it, so that they cannot cycle.

use super::acceleration::Acceleration;
use super::assembly::{Assembly, Wanted};
use super::free_motion::FemMotion;
use super::model::FemModel;
use super::passes::{DampingPass, IterateVelocities, ObjectivePass, StepConstants};
use super::start::{FemStepFailure, FemStepStart, clear_fixed, end_positions, fix_blocks};
use crate::simd::dot;

/// Most iterations. Ordinary steps take two to five.
const MAX_ITERATIONS: usize = 200;
/// Iterations that update the matrix of damping in any case.
const DAMPING_UPDATES: usize = 20;
/// Error of a system's solution relative to its size, if it is found by iterations.
const SYSTEM_TOLERANCE: f64 = 1e-9;
/// Tolerance from which on the response to impulses is that at the solution, which takes one more
/// factorization, and not that at the last iterate before.
const EXACT_RESPONSE: f64 = 1e-8;
/// Ratio of successive gradients up to which the next step is found with the same matrix.
const CHORD_DECREASE: f64 = 0.1;
/// Ratio of successive gradients, relative to that of the step before, that another step with the
/// same matrix reaches in any case. A step that is bound to be the last is not looked at.
const EXPECTED: f64 = 10.0;
/// Ratio of successive gradients, if rounding hides the decrease of the objective, from which on
/// rounding hides that of the gradient, too.
const STALLED: f64 = 0.9;
/// Rounding error of a gradient or an objective relative to the size of its terms.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Decrease of the objective relative to that of its tangent which a step must reach.
const SUFFICIENT_DECREASE: f64 = 1e-4;
/// Most halvings of a step.
const MAX_HALVINGS: usize = 40;

/// Work space of Newton's method.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    damping: Assembly,
    gradient: Vec<f64>,
    trial: Vec<f64>,
    trial_positions: Vec<f64>,
    /// Products of the matrix of damping with velocity and step.
    damped: Vec<f64>,
    damped_step: Vec<f64>,
    acceleration: Acceleration,
}

/// The problem of one step.
#[derive(Clone, Copy)]
struct Problem<'a> {
    model: &'a FemModel,
    start: &'a FemStepStart<'a>,
    constants: StepConstants,
    parallel: bool,
}

/// An objective without damping, and the sizes of its terms and those of its gradient.
#[derive(Clone, Copy)]
struct Objective {
    value: f64,
    size: f64,
    gradient_size: f64,
}

/// How far an iteration went.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Progress {
    WholeStep,
    PartOfStep,
    /// The whole step, because rounding hides its decrease.
    Hidden,
    /// No step decreases the objective.
    Stuck,
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

const MATRIX: Wanted = Wanted {
    matrix: true,
    forces: false,
};
const FORCES: Wanted = Wanted {
    matrix: false,
    forces: true,
};

impl Newton {
    /// Finds the velocities at the end of a step.
    pub(super) fn solve(
        &mut self,
        m: &mut FemMotion,
        model: &FemModel,
        start: &FemStepStart<'_>,
        constants: StepConstants,
        parallel: bool,
    ) -> Result<(), FemStepFailure> {
        let p = Problem {
            model,
            start,
            constants,
            parallel,
        };
        m.start_velocities.clone_into(&mut m.velocities);
        m.move_positions(start);
        m.velocities.clone_into(&mut self.trial);
        m.positions.clone_into(&mut self.trial_positions);
        m.begin_systems(model, start, constants, parallel);
        let mut objective = self.evaluate_trial(m, &p);
        let mut projected = false;
        let mut progress = Progress::WholeStep;
        let (mut first_size, mut last_size) = (None, f64::INFINITY);
        let mut updates_damping = true;
        self.acceleration.reset();
        for iteration in 0..MAX_ITERATIONS {
            if constants.beta > 0.0 && updates_damping {
                self.update_damping(m, &p);
            }
            let damped = self.find_gradient(m, &p);
            let size = dot(&self.gradient, &self.gradient).sqrt();
            updates_damping &= iteration < DAMPING_UPDATES || size < last_size;
            if !((objective.value + damped).is_finite() && size.is_finite()) {
                return Err(FemStepFailure::NotFinite);
            }
            let first: f64 = *first_size.get_or_insert(size);
            let relative = model.config().relative_tolerance;
            let tolerance = (relative * first).max(ROUNDING * objective.gradient_size);
            let stalled = progress == Progress::Hidden && size > STALLED * last_size;
            // One system at least, so that the matrix is that of this step.
            if iteration > 0 && (size <= tolerance || stalled) {
                let has_response = relative > EXACT_RESPONSE && m.is_factored;
                if !(has_response || m.participants.is_empty()) {
                    self.find_direction(m, &p, projected, false)?;
                }
                return Ok(());
            }
            // After a large decrease, the matrix changes little.
            let decrease = size / last_size;
            let is_chord = iteration > 1 && decrease <= CHORD_DECREASE;
            last_size = size;
            if !(is_chord && self.solve_again(m, &p)) {
                // The error of the first step is not that of its system alone: the system leaves
                // out how damping changes.
                projected = self.find_direction(m, &p, projected, iteration == 0)?;
            }
            if constants.beta > 0.0 {
                if progress == Progress::PartOfStep {
                    self.acceleration.reset();
                }
                self.acceleration.apply(&m.velocities, &mut m.direction);
            }
            progress = self.search(m, &p, &mut objective, damped);
            if progress == Progress::Stuck {
                // Newton's own step decreases the objective.
                self.acceleration.reset();
                projected = self.find_direction(m, &p, projected, false)?;
                progress = self.search(m, &p, &mut objective, damped);
            }
            match progress {
                Progress::Stuck => return Err(FemStepFailure::NotConverged),
                Progress::WholeStep => {
                    projected = false;
                    let expected = EXPECTED * decrease * size;
                    if is_chord && relative > EXACT_RESPONSE && expected <= tolerance {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        Err(FemStepFailure::NotConverged)
    }

    fn update_damping(&mut self, m: &FemMotion, p: &Problem<'_>) {
        let pass = DampingPass {
            constants: p.constants,
            positions: &m.positions,
        };
        let (groups, pattern) = (&p.model.groups, &p.model.pattern);
        self.damping.run(groups, pattern, &pass, MATRIX, p.parallel);
    }

    /// Computes the objective without damping, and its gradient into the assembly, at the trial
    /// velocities.
    fn evaluate_trial(&mut self, m: &mut FemMotion, p: &Problem<'_>) -> Objective {
        let pass = ObjectivePass {
            constants: p.constants,
            velocities: IterateVelocities {
                start: &m.start_velocities,
                end: &self.trial,
            },
            positions: &self.trial_positions,
            projected: false,
        };
        let (groups, pattern) = (&p.model.groups, &p.model.pattern);
        m.assembly.run(groups, pattern, &pass, FORCES, p.parallel);
        let (energy, elastic) = m.assembly.energy();
        let external = p.constants.dt * dot(p.start.forces, &self.trial);
        let elements = p.model.volume() * p.constants.material.modulus();
        let speed = largest(&m.start_velocities) + largest(&self.trial);
        let forces = p.constants.dt * dot(p.start.forces, p.start.forces).sqrt();
        Objective {
            value: energy - external,
            size: energy.abs() + external.abs() + elements,
            gradient_size: elastic
                + forces
                + p.model.total_mass() * speed
                + p.constants.dt * p.model.rigidity() * largest(&self.trial_positions),
        }
    }

    /// Completes the gradient at the present velocities. Returns the part of damping in the
    /// objective.
    fn find_gradient(&mut self, m: &FemMotion, p: &Problem<'_>) -> f64 {
        self.gradient.clear();
        let own = m.assembly.forces.as_flattened().iter();
        let gradient = own.zip(p.start.forces);
        self.gradient
            .extend(gradient.map(|(own, force)| own - p.constants.dt * force));
        let mut damped = 0.0;
        if p.constants.beta > 0.0 {
            self.damped.resize(m.velocities.len(), 0.0);
            let blocks = &self.damping.blocks;
            let pattern = &p.model.pattern;
            pattern.multiply(blocks, &m.velocities, &mut self.damped);
            for (g, damped) in self.gradient.iter_mut().zip(&self.damped) {
                *g += damped;
            }
            damped = 0.5 * dot(&self.damped, &m.velocities);
        }
        clear_fixed(p.start, &mut self.gradient);
        damped
    }

    /// Assembles the Hessian at the present velocities, or its positive semidefinite part.
    fn assemble(&self, m: &mut FemMotion, p: &Problem<'_>, projected: bool) {
        let pass = ObjectivePass {
            constants: p.constants,
            velocities: IterateVelocities {
                start: &m.start_velocities,
                end: &m.velocities,
            },
            positions: &m.positions,
            projected,
        };
        let (groups, pattern) = (&p.model.groups, &p.model.pattern);
        m.assembly.run(groups, pattern, &pass, MATRIX, p.parallel);
        if p.constants.beta > 0.0 {
            let blocks = m.assembly.blocks.as_flattened_mut().iter_mut();
            for (a, d) in blocks.zip(self.damping.blocks.as_flattened()) {
                *a += d;
            }
        }
        fix_blocks(p.model, p.start, &mut m.assembly.blocks);
    }

    /// Assembles the Hessian at the present velocities, or its positive semidefinite part if
    /// `projected` or if it is not positive definite, and solves for the step, which may be a rough
    /// one. Returns whether it was that part.
    fn find_direction(
        &self,
        m: &mut FemMotion,
        p: &Problem<'_>,
        projected: bool,
        may_be_rough: bool,
    ) -> Result<bool, FemStepFailure> {
        for projected in [projected, true] {
            self.assemble(m, p, projected);
            m.set_direction(&self.gradient);
            if may_be_rough && m.solve_roughly(p.model)
                || m.solve_system(p.model, SYSTEM_TOLERANCE, p.parallel)
            {
                return Ok(projected);
            }
        }
        Err(FemStepFailure::Singular)
    }

    /// Solves for the step with the matrix of an iteration before; returns false if that fails.
    fn solve_again(&self, m: &mut FemMotion, p: &Problem<'_>) -> bool {
        m.set_direction(&self.gradient);
        m.solve_system_again(p.model, SYSTEM_TOLERANCE)
    }

    /// Shortens the step until the objective decreases.
    fn search(
        &mut self,
        m: &mut FemMotion,
        p: &Problem<'_>,
        objective: &mut Objective,
        damped: f64,
    ) -> Progress {
        let slope = dot(&m.direction, &self.gradient);
        if slope.is_nan() || slope > 0.0 {
            return Progress::Stuck;
        }
        let (mut by_velocity, mut by_step) = (0.0, 0.0);
        if p.constants.beta > 0.0 {
            self.damped_step.resize(m.direction.len(), 0.0);
            let blocks = &self.damping.blocks;
            let pattern = &p.model.pattern;
            pattern.multiply(blocks, &m.direction, &mut self.damped_step);
            by_velocity = dot(&self.damped_step, &m.velocities);
            by_step = dot(&self.damped_step, &m.direction);
        }
        let rounding = ROUNDING * (objective.size + damped);
        let is_hidden = -slope < rounding;
        let mut s = 1.0;
        for _ in 0..MAX_HALVINGS {
            self.try_step(m, p, s);
            let trial = self.evaluate_trial(m, p);
            let change = trial.value - objective.value + s * by_velocity + 0.5 * s * s * by_step;
            if is_hidden || change <= SUFFICIENT_DECREASE * s * slope + rounding {
                std::mem::swap(&mut m.velocities, &mut self.trial);
                std::mem::swap(&mut m.positions, &mut self.trial_positions);
                *objective = trial;
                return match (is_hidden, s == 1.0) {
                    (true, _) => Progress::Hidden,
                    (_, true) => Progress::WholeStep,
                    _ => Progress::PartOfStep,
                };
            }
            s *= 0.5;
        }
        Progress::Stuck
    }

    /// Sets the trial velocities to those after a part of the step.
    fn try_step(&mut self, m: &FemMotion, p: &Problem<'_>, s: f64) {
        self.trial.clear();
        let moved = m.velocities.iter().zip(&m.direction);
        self.trial.extend(moved.map(|(v, step)| v + s * step));
        self.trial_positions.resize(self.trial.len(), 0.0);
        let positions = &mut self.trial_positions;
        end_positions(p.start, &m.start_velocities, &self.trial, positions);
    }
}
