//! Newton's method for the nonlinear models.
//!
//! The velocity at the end of a step minimizes an objective, as long as the matrix of damping is
//! constant. It is Drake's: the positive semidefinite part of the stiffness at the end of the step.
//! The first iterations update it, and further ones as long as the gradient decreases; all others
//! keep it, so that they cannot cycle. With the first factor alone, the response to contact would
//! be that of the start of the step.

use super::acceleration::Acceleration;
use super::assembly::{GROUPS_PER_TASK, Wanted};
use super::free_motion::FemMotion;
use super::model::FemModel;
use super::passes::{HessianPass, ObjectivePass, StartGradients, StartKernel, StepConstants};
use super::start::{FemStepFailure, FemStepStart, clear_fixed, fix_blocks};
use rayon::prelude::*;
use tarragon_framework::simd::dispatch_lanes;
use tarragon_framework::simd::dot;

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
    gradient: Vec<f64>,
    /// By group.
    start: Vec<StartGradients>,
    /// Velocities of a trial, and their change in the step.
    trial: Vec<f64>,
    trial_change: Vec<f64>,
    /// Product of the matrix of damping with the velocities; empty without damping.
    damped: Vec<f64>,
    /// Change of the velocities that this matrix is taken from, once it is kept.
    damping_change: Option<Vec<f64>>,
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
        self.find_start_gradients(m, &p);
        m.start_velocities.clone_into(&mut m.velocities);
        m.velocities.clone_into(&mut self.trial);
        m.begin_systems(model, start, constants, parallel);
        self.damping_change = None;
        let mut objective = self.evaluate_trial(m, &p);
        let mut projected = false;
        let mut progress = Progress::WholeStep;
        let (mut first_size, mut last_size) = (None, f64::INFINITY);
        self.acceleration.reset();
        for iteration in 0..MAX_ITERATIONS {
            let damped = self.find_gradient(m, &p);
            let size = dot(&self.gradient, &self.gradient).sqrt();
            let updates_damping = iteration < DAMPING_UPDATES || size < last_size;
            if !updates_damping && self.damping_change.is_none() {
                let ends = m.velocities.iter().zip(&m.start_velocities);
                self.damping_change = Some(ends.map(|(v, v0)| v - v0).collect());
            }
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
            // A step that is bound to be the last is not looked at.
            if is_chord && relative > EXACT_RESPONSE && EXPECTED * decrease * size <= tolerance {
                self.try_step(m, 1.0);
                self.accept_trial(m);
                return Ok(());
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
                Progress::WholeStep => projected = false,
                _ => {}
            }
        }
        Err(FemStepFailure::NotConverged)
    }

    fn find_start_gradients(&mut self, m: &FemMotion, p: &Problem<'_>) {
        let groups = &p.model.groups;
        self.start.resize(groups.len(), StartGradients::default());
        let find = |groups, out| {
            dispatch_lanes(StartKernel {
                dt: p.constants.dt,
                groups,
                positions: p.start.positions,
                velocities: &m.start_velocities,
                out,
            });
        };
        if p.parallel {
            let parts = self.start.par_chunks_mut(GROUPS_PER_TASK);
            let parts = groups.par_chunks(GROUPS_PER_TASK).zip(parts);
            parts.for_each(|(groups, out)| find(groups, out));
        } else {
            find(groups, &mut self.start)
        }
    }

    /// Computes the objective without damping at the trial velocities, and into the assembly its
    /// gradient and the product of the matrix of damping.
    fn evaluate_trial(&mut self, m: &mut FemMotion, p: &Problem<'_>) -> Objective {
        self.trial_change.clear();
        let ends = self.trial.iter().zip(&m.start_velocities);
        self.trial_change.extend(ends.map(|(v, v0)| v - v0));
        let pass = ObjectivePass {
            constants: p.constants,
            start: &self.start,
            velocities: &self.trial,
            change: &self.trial_change,
            damping_change: self.damping_change.as_deref(),
        };
        let wanted = if p.constants.beta > 0.0 {
            Wanted::FORCES_AND_DAMPING
        } else {
            Wanted::FORCES
        };
        let (groups, pattern) = (&p.model.groups, &p.model.pattern);
        m.assembly.run(groups, pattern, &pass, wanted, p.parallel);
        let (energy, elastic) = m.assembly.energy();
        let external = p.constants.dt * dot(p.start.forces, &self.trial);
        let elements = p.model.volume() * p.constants.material.modulus();
        let speed = largest(&m.start_velocities) + largest(&self.trial);
        let forces = p.constants.dt * dot(p.start.forces, p.start.forces).sqrt();
        let distance = largest(p.start.positions) + p.constants.dt * speed;
        Objective {
            value: energy - external,
            size: energy.abs() + external.abs() + elements,
            gradient_size: elastic
                + forces
                + p.model.total_mass() * speed
                + p.constants.dt * p.model.rigidity() * distance,
        }
    }

    /// Completes the gradient at the present velocities, which were tried last. Returns the part of
    /// damping in the objective.
    fn find_gradient(&mut self, m: &FemMotion, p: &Problem<'_>) -> f64 {
        self.gradient.clear();
        let own = m.assembly.forces.as_flattened().iter();
        let gradient = own.zip(p.start.forces);
        self.gradient
            .extend(gradient.map(|(own, force)| own - p.constants.dt * force));
        self.damped.clear();
        if p.constants.beta > 0.0 {
            self.damped
                .extend_from_slice(m.assembly.damping.as_flattened());
            for (g, damped) in self.gradient.iter_mut().zip(&self.damped) {
                *g += damped;
            }
        }
        clear_fixed(p.start, &mut self.gradient);
        0.5 * dot(&self.damped, &m.velocities[..self.damped.len()])
    }

    /// Assembles the Hessian at the present velocities, or its positive semidefinite part.
    fn assemble(m: &mut FemMotion, p: &Problem<'_>, projected: bool) {
        m.move_positions(p.start);
        let pass = HessianPass {
            constants: p.constants,
            positions: &m.positions,
            projected,
        };
        let (groups, pattern) = (&p.model.groups, &p.model.pattern);
        m.assembly
            .run(groups, pattern, &pass, Wanted::MATRIX, p.parallel);
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
            Self::assemble(m, p, projected);
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
        let by_velocity = dot(&self.damped, &m.direction[..self.damped.len()]);
        let rounding = ROUNDING * (objective.size + damped);
        let is_hidden = -slope < rounding;
        let mut s = 1.0;
        for _ in 0..MAX_HALVINGS {
            self.try_step(m, s);
            let trial = self.evaluate_trial(m, p);
            // The mean of the impulses of damping, which is exact where its matrix is kept.
            let by_damping = if p.constants.beta > 0.0 {
                0.5 * s * (by_velocity + dot(m.assembly.damping.as_flattened(), &m.direction))
            } else {
                0.0
            };
            let change = trial.value - objective.value + by_damping;
            if is_hidden || change <= SUFFICIENT_DECREASE * s * slope + rounding {
                self.accept_trial(m);
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

    fn accept_trial(&mut self, m: &mut FemMotion) {
        std::mem::swap(&mut m.velocities, &mut self.trial);
    }

    /// Sets the trial velocities to those after a part of the step.
    fn try_step(&mut self, m: &FemMotion, s: f64) {
        self.trial.clear();
        let moved = m.velocities.iter().zip(&m.direction);
        self.trial.extend(moved.map(|(v, step)| v + s * step));
    }
}
