//! One free step of a body with its derivatives, by the implicit function theorem.
//!
//! At the end of a step the residual vanishes. A change of the start or of a parameter changes the
//! residual, and the velocities at the end follow by one solution with its derivative by them,
//! which is the matrix of the step. In the nonlinear models with stiffness damping, that derivative
//! has another part, which is not symmetric; it is small for small time steps, and a few iterations
//! take it in.

use super::acceleration::Acceleration;
use super::config::DeformableBodyConfig;
use super::damping_change::{DampingChange, of_lane};
use super::element::FemElement;
use super::forces::ForceDensityField;
use super::free_motion::is_parallel;
use super::model::FemModel;
use super::residual::{ElementEnds, NUM_PARAMETERS, StepParameters, parameters_of};
use super::start::{FemStepFailure, FemStepStart, clear_fixed, end_positions};
use super::step::FemStep;
use super::step_matrix::{MatrixState, step_matrix};
use nalgebra::Vector3;
use std::array::from_fn;
use std::sync::Arc;
use tarragon_contact_solvers::sparse::SparseCholesky;
use tarragon_framework::autodiff::DIRECTIONS;
use tarragon_framework::{AutoDiff, Scalar};

/// Most iterations that refine a solution.
const MAX_REFINEMENTS: usize = 60;
/// Change of a solution, relative to its size, at which refinement ends.
const REFINED: f64 = 1e-13;
/// Coordinates of the positions or velocities of an element.
const COORDINATES: usize = 12;
/// Variables of the residual of an element: positions and velocities at the start, and parameters.
const NUM_VARIABLES: usize = 2 * COORDINATES + NUM_PARAMETERS;

/// Start of a free step. Fields have three numbers per vertex, in the world.
#[derive(Clone, Debug)]
pub struct FreeStepStart {
    /// Time step (s).
    pub time_step: f64,
    /// Acceleration of gravity (m/s²).
    pub gravity: Vector3<f64>,
    /// Positions (m).
    pub positions: Vec<f64>,
    /// Velocities (m/s).
    pub velocities: Vec<f64>,
    /// By vertex: whether it stays where it is; empty if none does.
    pub fixed: Vec<bool>,
    /// External forces except gravity.
    pub fields: Vec<Arc<dyn ForceDensityField>>,
}

/// A free step with what its derivatives need.
#[derive(Clone, Debug)]
pub struct FreeStep {
    config: DeformableBodyConfig,
    start: FreeStepStart,
    forces: Vec<f64>,
    velocities: Vec<f64>,
    positions: Vec<f64>,
    cholesky: SparseCholesky,
    /// By group of elements; empty without such damping.
    damping: Vec<DampingChange>,
}

/// Gradient of a function of the end of a step by its start and its parameters.
#[derive(Clone, Debug)]
pub struct FreeStepGradient {
    /// By the positions at the start.
    pub positions: Vec<f64>,
    /// By the velocities at the start.
    pub velocities: Vec<f64>,
    /// By the parameters, in the order of [`parameters_of`].
    pub parameters: [f64; NUM_PARAMETERS],
}

impl FreeStep {
    /// Computes a step.
    ///
    /// # Errors
    /// Returns the reason why there is no result.
    pub fn new(model: &FemModel, start: FreeStepStart) -> Result<Self, FemStepFailure> {
        let mut forces = vec![0.0; start.positions.len()];
        model.add_gravity(&start.gravity, &mut forces);
        model.add_force_densities(&start.positions, &start.fields, &mut forces);
        let mut step = Self {
            config: *model.config(),
            forces,
            velocities: vec![],
            positions: vec![],
            cholesky: SparseCholesky::default(),
            damping: vec![],
            start,
        };
        let mut first = FemStep::factored();
        first.advance(model, &step.fem_start())?;
        step.velocities = first.velocities().to_vec();
        let mut velocities = std::mem::take(&mut step.start.velocities);
        clear_fixed(&step.fem_start(), &mut velocities);
        step.start.velocities = velocities;
        model.analyze(&mut step.cholesky, &[]);
        step.polish(model)?;
        Ok(step)
    }

    /// Velocities at the end of the step.
    pub fn velocities(&self) -> &[f64] {
        &self.velocities
    }

    /// Positions at the end of the step.
    pub fn positions(&self) -> &[f64] {
        &self.positions
    }

    pub(super) fn fem_start(&self) -> FemStepStart<'_> {
        FemStepStart {
            time_step: self.start.time_step,
            positions: &self.start.positions,
            velocities: &self.start.velocities,
            forces: &self.forces,
            fixed: &self.start.fixed,
            participants: &[],
        }
    }

    /// Newton's method from a solution with a small residual to one without, so that derivatives
    /// are those of the solution; ends with the matrix at it.
    fn polish(&mut self, model: &FemModel) -> Result<(), FemStepFailure> {
        let mut last = f64::INFINITY;
        let mut before = self.velocities.clone();
        for _ in 0..MAX_REFINEMENTS {
            self.linearize(model)?;
            let mut residual = self.residual(model);
            clear_fixed(&self.fem_start(), &mut residual);
            let size = residual.iter().map(|r| r * r).sum::<f64>().sqrt();
            if last.is_infinite() && !size.is_finite() {
                return Err(FemStepFailure::NotFinite);
            }
            // Rounding ends the decrease.
            let has_decreased = size <= 0.5 * last;
            if size == 0.0 || (!has_decreased && size <= last) {
                return Ok(());
            }
            if !has_decreased {
                self.velocities = before;
                break;
            }
            last = size;
            self.solve(model, &mut residual, false)?;
            before.clone_from(&self.velocities);
            for (v, change) in self.velocities.iter_mut().zip(&residual) {
                *v -= change;
            }
        }
        self.linearize(model)
    }

    /// Finds the positions at the end and the matrix there, and factors it.
    fn linearize(&mut self, model: &FemModel) -> Result<(), FemStepFailure> {
        let mut positions = std::mem::take(&mut self.positions);
        positions.resize(self.velocities.len(), 0.0);
        let start = self.fem_start();
        end_positions(&start, start.velocities, &self.velocities, &mut positions);
        let at = MatrixState {
            start_positions: start.positions,
            positions: &positions,
        };
        let blocks = step_matrix(model, &start, at);
        let mut damping = vec![];
        if !model.material.is_linear() && self.config.stiffness_damping_coefficient > 0.0 {
            let change =
                |group| DampingChange::new(&model.material, group, &positions, &self.velocities);
            damping = model.groups.iter().map(change).collect();
        }
        self.positions = positions;
        self.damping = damping;
        if self.cholesky.factor(&blocks, is_parallel(model)) {
            Ok(())
        } else {
            Err(FemStepFailure::Singular)
        }
    }

    /// Residual at all vertices.
    fn residual(&self, model: &FemModel) -> Vec<f64> {
        let parameters = self.parameters(parameters_of(&self.config));
        let start = [&self.start.positions[..], &self.start.velocities];
        self.sum_residuals(model, &parameters, start)
    }

    fn parameters<T: Scalar>(&self, parameters: [T; NUM_PARAMETERS]) -> StepParameters<T> {
        let (dt, gravity) = (self.start.time_step, self.start.gravity);
        StepParameters::new(&self.config, parameters, dt, gravity)
    }

    /// Residual at all vertices for a start that may have derivatives.
    fn sum_residuals<T: Scalar>(
        &self,
        model: &FemModel,
        parameters: &StepParameters<T>,
        [q0, v0]: [&[T]; 2],
    ) -> Vec<T> {
        let mut sum = vec![T::zero(); q0.len()];
        for (n, group) in model.groups.iter().enumerate() {
            for (k, e) in group.elements() {
                let ends = ElementEnds {
                    q0: gather(&e, q0),
                    v0: gather(&e, v0),
                    v1: gather(&e, &self.velocities).map(|v| v.map(T::from)),
                };
                let mut residual = parameters.residual(&e, &ends);
                self.subtract_fields(model, &e, &ends.q0, &mut residual);
                if let Some(change) = self.damping.get(n) {
                    self.add_damping(change, k, parameters, &ends, &mut residual);
                }
                for (a, r) in residual.iter().enumerate() {
                    let at = 3 * e.vertices[a] as usize;
                    sum[at..at + 3]
                        .iter_mut()
                        .zip(r)
                        .for_each(|(s, r)| *s += *r);
                }
            }
        }
        sum
    }

    /// Subtracts the impulses of external forces on an element, which act where it starts.
    fn subtract_fields<T: Scalar>(
        &self,
        model: &FemModel,
        e: &FemElement,
        q0: &[Vector3<T>; 4],
        residual: &mut [Vector3<T>; 4],
    ) {
        if self.start.fields.is_empty() {
            return;
        }
        let forces = model.element_densities(e, q0, &self.start.fields);
        for (r, force) in residual.iter_mut().zip(forces) {
            *r -= force * T::from(self.start.time_step);
        }
    }

    /// Adds damping by the stiffness, whose value is known, with its derivatives.
    fn add_damping<T: Scalar>(
        &self,
        change: &DampingChange,
        lane: usize,
        parameters: &StepParameters<T>,
        ends: &ElementEnds<T>,
        residual: &mut [Vector3<T>; 4],
    ) {
        let dt = T::from(self.start.time_step);
        let mut add = |field: &[f64; COORDINATES], by: T| {
            for (i, x) in field.iter().enumerate() {
                residual[i / 3][i % 3] += by * T::from(*x);
            }
        };
        add(&of_lane(&change.product, lane), dt * parameters.beta);
        if T::NDERIV == 0 {
            return;
        }
        let by = dt * T::from(self.config.stiffness_damping_coefficient);
        let half = dt * T::from(0.5);
        let variation = |x: T| x - T::from(x.re());
        for (c, field) in change.by_position.iter().enumerate() {
            let moved = ends.q0[c / 3][c % 3] + ends.v0[c / 3][c % 3] * half;
            add(&of_lane(field, lane), by * variation(moved));
        }
        for (field, modulus) in change
            .by_modulus
            .iter()
            .zip([parameters.lambda, parameters.mu])
        {
            add(&of_lane(field, lane), by * variation(modulus));
        }
    }

    /// Replaces `b` by the solution with the derivative of the residual by the velocities at the
    /// end, or with its transpose.
    fn solve(
        &mut self,
        model: &FemModel,
        b: &mut Vec<f64>,
        transposed: bool,
    ) -> Result<(), FemStepFailure> {
        clear_fixed(&self.fem_start(), b);
        if self.damping.is_empty() {
            self.cholesky.solve(b);
            return if b.iter().all(|x| x.is_finite()) {
                Ok(())
            } else {
                Err(FemStepFailure::NotFinite)
            };
        }
        let right = std::mem::take(b);
        let mut x = vec![0.0; right.len()];
        let mut acceleration = Acceleration::default();
        for _ in 0..MAX_REFINEMENTS {
            let mut next = self.change_of_damping(model, &x, transposed);
            next.iter_mut().zip(&right).for_each(|(e, b)| *e = b - *e);
            clear_fixed(&self.fem_start(), &mut next);
            self.cholesky.solve(&mut next);
            next.iter_mut().zip(&x).for_each(|(next, x)| *next -= x);
            let mut step = next;
            let moved: f64 = step.iter().map(|d| d * d).sum();
            acceleration.apply(&x, &mut step);
            x.iter_mut().zip(&step).for_each(|(x, d)| *x += d);
            let size: f64 = x.iter().map(|x| x * x).sum();
            if !size.is_finite() {
                break;
            }
            if moved <= REFINED * REFINED * size {
                *b = x;
                return Ok(());
            }
        }
        Err(FemStepFailure::NotConverged)
    }

    /// Product of the part of the derivative that comes from the change of damping with a field of
    /// velocities, or that of its transpose.
    fn change_of_damping(&self, model: &FemModel, x: &[f64], transposed: bool) -> Vec<f64> {
        let dt = self.start.time_step;
        let by = 0.5 * dt * dt * self.config.stiffness_damping_coefficient;
        let mut sum = vec![0.0; x.len()];
        for (group, change) in model.groups.iter().zip(&self.damping) {
            for (k, e) in group.elements() {
                let at = |i: usize| 3 * e.vertices[i / 3] as usize + i % 3;
                for (c, field) in change.by_position.iter().enumerate() {
                    for (i, value) in of_lane(field, k).into_iter().enumerate() {
                        let (to, from) = if transposed { (c, i) } else { (i, c) };
                        sum[at(to)] += by * value * x[at(from)];
                    }
                }
            }
        }
        sum
    }

    /// Returns positions and velocities at the end of the step, with the derivatives that a start
    /// and parameters give them. The values of both must be those of the step.
    pub fn push_forward(
        &mut self,
        model: &FemModel,
        [q0, v0]: [&[AutoDiff]; 2],
        parameters: [AutoDiff; NUM_PARAMETERS],
    ) -> Result<[Vec<AutoDiff>; 2], FemStepFailure> {
        // The velocity of a held vertex counts for nothing.
        let is_held = |i: usize| self.start.fixed.get(i / 3).copied().unwrap_or(false);
        let own = |(i, v): (usize, &AutoDiff)| {
            if is_held(i) {
                AutoDiff::constant(0.0)
            } else {
                *v
            }
        };
        let v0: Vec<AutoDiff> = v0.iter().enumerate().map(own).collect();
        let parameters = self.parameters(parameters);
        let residual = self.sum_residuals(model, &parameters, [q0, &v0]);
        let mut v1: Vec<AutoDiff> = self
            .velocities
            .iter()
            .map(|v| AutoDiff::constant(*v))
            .collect();
        for direction in 0..DIRECTIONS {
            let mut b: Vec<f64> = residual.iter().map(|r| -r.eps[direction]).collect();
            if b.iter().all(|b| *b == 0.0) {
                continue;
            }
            self.solve(model, &mut b, false)?;
            for (v, change) in v1.iter_mut().zip(&b) {
                v.eps[direction] = *change;
            }
        }
        let half = 0.5 * self.start.time_step;
        let ends = q0.iter().zip(&v0).zip(&v1).zip(&self.positions);
        let q1 = ends.map(|(((q0, v0), v1), q)| {
            let moved = *q0 + (*v0 + *v1) * half;
            AutoDiff {
                re: *q,
                eps: moved.eps,
            }
        });
        Ok([q1.collect(), v1])
    }

    /// Returns the gradient of a function of the end by start and parameters, given that by
    /// positions and velocities at the end.
    pub fn pull_back(
        &mut self,
        model: &FemModel,
        [by_q1, by_v1]: [&[f64]; 2],
    ) -> Result<FreeStepGradient, FemStepFailure> {
        let half = 0.5 * self.start.time_step;
        let mut y: Vec<f64> = by_q1.iter().zip(by_v1).map(|(q, v)| v + half * q).collect();
        self.solve(model, &mut y, true)?;
        let mut gradient = FreeStepGradient {
            positions: by_q1.to_vec(),
            velocities: by_q1.iter().map(|q| half * q).collect(),
            parameters: [0.0; NUM_PARAMETERS],
        };
        for (n, group) in model.groups.iter().enumerate() {
            for (k, e) in group.elements() {
                let own = self.pull_back_element(model, n, k, &e, &gather(&e, &y));
                for (i, x) in own[..COORDINATES].iter().enumerate() {
                    gradient.positions[3 * e.vertices[i / 3] as usize + i % 3] -= x;
                }
                for (i, x) in own[COORDINATES..2 * COORDINATES].iter().enumerate() {
                    gradient.velocities[3 * e.vertices[i / 3] as usize + i % 3] -= x;
                }
                let parameters = gradient.parameters.iter_mut();
                parameters
                    .zip(&own[2 * COORDINATES..])
                    .for_each(|(g, x)| *g -= x);
            }
        }
        clear_fixed(&self.fem_start(), &mut gradient.velocities);
        Ok(gradient)
    }

    /// Gradient of `y . r` of an element by its variables.
    fn pull_back_element(
        &self,
        model: &FemModel,
        group: usize,
        lane: usize,
        e: &FemElement,
        y: &[Vector3<f64>; 4],
    ) -> [f64; NUM_VARIABLES] {
        let q0 = gather(e, &self.start.positions);
        let v0 = gather(e, &self.start.velocities);
        let v1 = gather(e, &self.velocities).map(|v| v.map(AutoDiff::constant));
        let values = parameters_of(&self.config);
        let mut gradient = [0.0; NUM_VARIABLES];
        for (pass, gradient) in gradient.chunks_mut(DIRECTIONS).enumerate() {
            let lift = |x: f64, variable: usize| match variable.checked_sub(pass * DIRECTIONS) {
                Some(direction) if direction < DIRECTIONS => AutoDiff::variable(x, direction),
                _ => AutoDiff::constant(x),
            };
            let lift_all = |x: &[Vector3<f64>; 4], first: usize| {
                from_fn(|a| Vector3::from_fn(|i, _| lift(x[a][i], first + 3 * a + i)))
            };
            let ends = ElementEnds {
                q0: lift_all(&q0, 0),
                v0: lift_all(&v0, COORDINATES),
                v1,
            };
            let parameters = from_fn(|p| lift(values[p], 2 * COORDINATES + p));
            let parameters = self.parameters(parameters);
            let mut residual = parameters.residual(e, &ends);
            self.subtract_fields(model, e, &ends.q0, &mut residual);
            if let Some(change) = self.damping.get(group) {
                self.add_damping(change, lane, &parameters, &ends, &mut residual);
            }
            let products = residual.iter().zip(y);
            let products = products.flat_map(|(r, y)| r.iter().zip(y).map(|(r, y)| *r * *y));
            let sum = products.fold(AutoDiff::constant(0.0), |sum, x| sum + x);
            gradient.iter_mut().zip(sum.eps).for_each(|(g, x)| *g = x);
        }
        gradient
    }
}

/// Values of a field at the vertices of an element.
fn gather<T: Scalar>(e: &FemElement, field: &[T]) -> [Vector3<T>; 4] {
    e.vertices.map(|v| {
        let at = 3 * v as usize;
        Vector3::new(field[at], field[at + 1], field[at + 2])
    })
}
