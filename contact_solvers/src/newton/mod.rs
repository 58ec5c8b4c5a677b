//! Newton's method with line search on the convex problem of an island.

mod assembly;
mod steps;
mod stiffening;

use super::blocks;
use super::hessian::Hessian;
use super::island_problem::{IslandProblem, LocalBlock};
use super::islands::ProblemIsland;
use super::law::{ConstraintEnd, Stiffness};
use super::line_search::{LinePoint, LineSearch};
use super::problem::ConvexConstraint;
use super::trees::TreeVelocities;
use std::fmt;
use std::ops::Range;
use steps::{GradientSize, NewtonStep, Progress, StepKind, WholeStep};
use tarragon_framework::Scalar;
use tarragon_framework::simd::dot;

/// Maximum number of iterations for one island. Sensible scenes need about ten, and the hardest of
/// random ones, with mass ratios of 1e6 in the ground, some hundreds.
const MAX_ITERATIONS: usize = 2000;
/// Tolerance on the gradient relative to the momentum or the impulses, whichever is larger.
const RELATIVE_TOLERANCE: f64 = 1e-8;
/// Absolute tolerance on the gradient (N s / sqrt(kg)).
const ABSOLUTE_TOLERANCE: f64 = 1e-14;

/// Length of a step, relative to the whole one, below which the velocities are evaluated anew: the
/// part of a whole step that would be subtracted leaves rounding errors of that size.
const SHORT_STEP: f64 = 1e-3;

/// Cause of a failed solution of an island.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewtonFailure {
    /// The Hessian is not positive definite, or a number is not finite.
    NotPositiveDefinite,
    /// The gradient is still too large after the last iteration, or no step reduces the cost.
    NotConverged,
}

impl fmt::Display for NewtonFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotPositiveDefinite => "the Hessian must be positive definite and finite",
            Self::NotConverged => "Newton's method did not converge",
        })
    }
}

impl std::error::Error for NewtonFailure {}

/// Returns the rows of a constraint in lists of six numbers for each.
fn rows(constraint: usize, of: &ConvexConstraint) -> Range<usize> {
    let first = 6 * constraint;
    first..first + of.law.num_rows()
}

/// Computes the velocities of all constraints, six numbers for each, from the island's velocities.
fn to_constraints(
    p: &IslandProblem<'_>,
    blocks: &[LocalBlock],
    num_blocks: &[usize],
    v: &[f64],
    out: &mut [f64],
) {
    let mut blocks = blocks.iter();
    let constraints = p.list().zip(num_blocks);
    for ((constraint, count), out) in constraints.zip(out.as_chunks_mut::<6>().0) {
        *out = [0.0; 6];
        let out = &mut out[..constraint.law.num_rows()];
        for block in blocks.by_ref().take(*count) {
            p.add_times(block, v, out);
        }
    }
}

/// Solver of the problem of an island, with its work space and the last solution.
///
/// A solver that is kept from one step to the next allocates nothing unless an island is larger
/// than all before or has other edges.
#[derive(Clone, Debug, Default)]
pub struct IslandSolver {
    /// Velocities of the island, tree after tree.
    v: Vec<f64>,
    /// Whether the Hessian was factored at the solution.
    is_factored: bool,
    hessian: Hessian,
    /// First velocity of each tree in `v`.
    starts: Vec<usize>,
    /// Velocities at the end of the free motion.
    v_star: Vec<f64>,
    gradient: Vec<f64>,
    step: Vec<f64>,
    a_step: Vec<f64>,
    /// `A (v - v*)`.
    imbalance: Vec<f64>,
    /// `A v*`.
    free_momentum: Vec<f64>,
    /// Blocks of the Jacobians of the constraints, and how many each constraint has.
    blocks: Vec<LocalBlock>,
    num_blocks: Vec<usize>,
    /// Velocities, impulses and changes of velocity of the constraints, six numbers for each.
    constraint_v: Vec<f64>,
    impulses: Vec<f64>,
    constraint_step: Vec<f64>,
    stiffnesses: Vec<Stiffness>,
    scratch: Vec<f64>,
    /// Gradient and stiffnesses before the last step.
    last_gradient: Vec<f64>,
    last_stiffnesses: Vec<Stiffness>,
    /// Product of a stiffness and a block.
    product: Vec<f64>,
    sizes: Vec<usize>,
}

impl IslandSolver {
    /// Solves the problem of an island, from the guess of its velocities.
    ///
    /// # Errors
    /// Returns the cause if a number is not finite, a Hessian is not positive definite, or the
    /// iterations do not converge.
    ///
    /// # Panics
    /// Panics if the parts of the problem belong to different trees.
    pub fn solve(&mut self, p: &IslandProblem<'_>) -> Result<(), NewtonFailure> {
        self.start(p);
        let mut cost = self.evaluate(p);
        let mut last: Option<NewtonStep> = None;
        for _ in 0..=MAX_ITERATIONS {
            if !cost.is_finite() {
                return Err(NewtonFailure::NotPositiveDefinite);
            }
            let gradient = self.gradient_size(p);
            let Some(mut kind) = StepKind::next(gradient, last) else {
                return Ok(());
            };
            let mut whole = self.take_whole_step(p, kind, cost)?;
            if kind == StepKind::FullNewton
                && !whole.is_near_minimum()
                && last.is_none_or(NewtonStep::allows_stiffening)
                && self.stiffen_reversing(p)
            {
                kind = StepKind::Stiffened;
                self.retract();
                whole = self.take_whole_step(p, kind, cost)?;
            }
            let end = self.go_to_minimum(p, whole);
            let progress = Progress::new(whole.search, end);
            if kind == StepKind::FullNewton {
                match progress {
                    Progress::Decreased => {}
                    Progress::HiddenByRounding => return Ok(()),
                    // The next iteration would be the same.
                    Progress::Stuck => return Err(NewtonFailure::NotConverged),
                }
            }
            cost = end.cost;
            last = Some(NewtonStep {
                kind,
                gradient,
                progress,
            });
        }
        Err(NewtonFailure::NotConverged)
    }

    /// Prepares the solution of another problem at the guess of its velocities.
    fn start(&mut self, p: &IslandProblem<'_>) {
        self.is_factored = false;
        self.starts.clear();
        self.sizes.clear();
        let mut total = 0;
        for local in 0..p.island.trees.len() {
            self.starts.push(total);
            self.sizes.push(p.size(local));
            total += p.size(local);
        }
        let rows = 6 * p.island.constraints.len();
        // These are set before they are read, but for rows that a constraint does not have.
        for list in [
            &mut self.gradient,
            &mut self.step,
            &mut self.a_step,
            &mut self.imbalance,
            &mut self.free_momentum,
            &mut self.scratch,
            &mut self.last_gradient,
        ] {
            list.resize(total, 0.0);
        }
        for list in [&mut self.stiffnesses, &mut self.last_stiffnesses] {
            list.resize(p.island.constraints.len(), Stiffness::zero());
        }
        self.constraint_step.resize(rows, 0.0);
        for list in [&mut self.constraint_v, &mut self.impulses] {
            list.clear();
            list.resize(rows, 0.0);
        }
        self.blocks.clear();
        self.num_blocks.clear();
        for constraint in p.list() {
            self.num_blocks.push(constraint.blocks.len());
            for block in &constraint.blocks {
                let tree = p.local[block.tree as usize] as usize;
                let velocities = self.starts[tree]..self.starts[tree] + self.sizes[tree];
                let local = LocalBlock::new(p, constraint, block, tree, velocities);
                self.blocks.push(local);
            }
        }
        self.v.clear();
        self.v_star.clear();
        for tree in &p.island.trees {
            let range = p.problem.trees.range(*tree);
            self.v
                .extend_from_slice(&p.problem.quadratic.guess[range.clone()]);
            self.v_star
                .extend_from_slice(&p.problem.quadratic.v_star[range]);
        }
        Self::times_a(&self.starts, p, &self.v_star, &mut self.free_momentum);
        let edges = &p.island.edges;
        self.hessian
            .analyze(&self.sizes, edges, p.problem.with_derivatives);
    }

    /// Multiplies the velocities of the island by A.
    fn times_a(starts: &[usize], p: &IslandProblem<'_>, x: &[f64], out: &mut [f64]) {
        for (local, tree) in p.island.trees.iter().enumerate() {
            let (n, start) = (p.size(local), starts[local]);
            let out = &mut out[start..start + n];
            out.fill(0.0);
            let a = p.problem.quadratic.block(*tree);
            blocks::add_times(a, &x[start..start + n], out);
        }
    }

    /// Evaluates impulses, stiffnesses and gradient at the current velocities; returns the cost.
    fn evaluate(&mut self, p: &IslandProblem<'_>) -> f64 {
        for (change, (v, v_star)) in self.scratch.iter_mut().zip(self.v.iter().zip(&self.v_star)) {
            *change = v - v_star;
        }
        Self::times_a(&self.starts, p, &self.scratch, &mut self.imbalance);
        let mut cost = 0.5 * dot(&self.scratch, &self.imbalance);
        let velocities = &mut self.constraint_v;
        to_constraints(p, &self.blocks, &self.num_blocks, &self.v, velocities);
        self.gradient.copy_from_slice(&self.imbalance);
        let mut blocks = self.blocks.iter();
        for (k, constraint) in p.list().enumerate() {
            let rows = rows(k, constraint);
            let (v, impulse) = (
                &self.constraint_v[rows.clone()],
                &mut self.impulses[rows.clone()],
            );
            let stiffness = &mut self.stiffnesses[k];
            cost += constraint.law.evaluate(v, impulse, stiffness);
            for block in blocks.by_ref().take(self.num_blocks[k]) {
                p.subtract_impulse(block, impulse, &mut self.gradient);
            }
        }
        cost
    }

    /// Returns the norm of the gradient with its tolerance, which grows with the momentum and the
    /// impulses. Each velocity is scaled by its inertia.
    fn gradient_size(&self, p: &IslandProblem<'_>) -> GradientSize {
        let mut norms = [0.0_f64; 3];
        for (local, tree) in p.island.trees.iter().enumerate() {
            for (i, k) in p.problem.trees.range(*tree).enumerate() {
                let i = self.starts[local] + i;
                let weight = p.problem.quadratic.inverse_diagonal[k];
                let impulse = self.imbalance[i] - self.gradient[i];
                let momentum = self.imbalance[i] + self.free_momentum[i];
                let terms = [self.gradient[i], momentum, impulse];
                for (norm, x) in norms.iter_mut().zip(terms) {
                    *norm += weight * x * x;
                }
            }
        }
        let [gradient, momentum, impulse] = norms.map(f64::sqrt);
        GradientSize {
            norm: gradient,
            tolerance: ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * momentum.max(impulse),
        }
    }

    /// Takes the whole step to the minimum of the quadratic cost that has the present gradient and
    /// the Hessian of this kind of step.
    ///
    /// Afterwards, the gradient and the stiffnesses before the step are the last ones. If the
    /// minimum along the step is elsewhere, the change of the velocities of constraints is known,
    /// too.
    fn take_whole_step(
        &mut self,
        p: &IslandProblem<'_>,
        kind: StepKind,
        cost: f64,
    ) -> Result<WholeStep, NewtonFailure> {
        if kind != StepKind::Chord {
            self.factor_hessian(p)?;
        }
        std::mem::swap(&mut self.gradient, &mut self.last_gradient);
        std::mem::swap(&mut self.stiffnesses, &mut self.last_stiffnesses);
        for (step, gradient) in self.step.iter_mut().zip(&self.last_gradient) {
            *step = -gradient;
        }
        self.hessian.solve(&mut self.step);
        let search = LineSearch::new(cost, dot(&self.step, &self.last_gradient));
        blocks::add_scaled(1.0, &self.step, &mut self.v);
        let end = LinePoint {
            at: 1.0,
            cost: self.evaluate(p),
            slope: dot(&self.step, &self.gradient),
        };
        let whole = WholeStep { search, end };
        if !whole.is_near_minimum() {
            let change = &mut self.constraint_step;
            to_constraints(p, &self.blocks, &self.num_blocks, &self.step, change);
        }
        Ok(whole)
    }

    /// Goes back to the velocities before a whole step, with the last gradient and stiffnesses.
    fn retract(&mut self) {
        blocks::add_scaled(-1.0, &self.step, &mut self.v);
        std::mem::swap(&mut self.gradient, &mut self.last_gradient);
        std::mem::swap(&mut self.stiffnesses, &mut self.last_stiffnesses);
    }

    /// Moves from the end of a whole step to about the minimum of the cost along it, with impulses,
    /// stiffnesses and gradient. Returns the point there.
    fn go_to_minimum(&mut self, p: &IslandProblem<'_>, whole: WholeStep) -> LinePoint {
        if whole.is_near_minimum() {
            return whole.end;
        }
        Self::times_a(&self.starts, p, &self.step, &mut self.a_step);
        let mut end = self.search(p, whole);
        if end.at >= SHORT_STEP {
            self.settle(p, end.at - 1.0);
        } else {
            blocks::add_scaled(end.at - 1.0, &self.step, &mut self.v);
            end.cost = self.evaluate(p);
        }
        end
    }

    /// Assembles and factors the Hessian of the present stiffnesses.
    fn factor_hessian(&mut self, p: &IslandProblem<'_>) -> Result<(), NewtonFailure> {
        self.assemble(p);
        if self.hessian.factor() {
            Ok(())
        } else {
            Err(NewtonFailure::NotPositiveDefinite)
        }
    }

    /// Searches along the step, from the velocities at its end. Sets impulses and stiffnesses, but
    /// no velocities.
    fn search(&mut self, p: &IslandProblem<'_>, whole: WholeStep) -> LinePoint {
        // `scratch` still has v - v*.
        let free_cost = 0.5 * dot(&self.scratch, &self.imbalance);
        let free_slope = dot(&self.step, &self.imbalance);
        let free_second = dot(&self.step, &self.a_step);
        let curvature = |stiffness: &Stiffness, dv: &[f64]| match stiffness {
            Stiffness::Diagonal(g) => g.iter().zip(dv).map(|(g, x)| g * x * x).sum::<f64>(),
            Stiffness::Full(g) => {
                let x = nalgebra::Vector3::new(dv[0], dv[1], dv[2]);
                x.dot(&(g * x))
            }
        };
        let mut second = free_second;
        for (k, constraint) in p.list().enumerate() {
            let dv = &self.constraint_step[rows(k, constraint)];
            second += curvature(&self.stiffnesses[k], dv);
        }
        whole.search.run(whole.end, second, |at| {
            let rest = at - 1.0;
            let mut cost = free_cost + rest * (free_slope + 0.5 * rest * free_second);
            let (mut slope, mut second) = (free_slope + rest * free_second, free_second);
            for (k, constraint) in p.list().enumerate() {
                let rows = rows(k, constraint);
                let (start, dv) = (
                    &self.constraint_v[rows.clone()],
                    &self.constraint_step[rows.clone()],
                );
                let mut v = [0.0; 6];
                for ((v, start), dv) in v.iter_mut().zip(start).zip(dv) {
                    *v = start + rest * dv;
                }
                let impulse = &mut self.impulses[rows];
                let stiffness = &mut self.stiffnesses[k];
                cost += constraint.law.evaluate(&v, impulse, stiffness);
                slope -= dot(dv, impulse);
                second += curvature(stiffness, dv);
            }
            (LinePoint { at, cost, slope }, second)
        })
    }

    /// Adds a part of the step to the velocities, with the gradient of the present impulses.
    fn settle(&mut self, p: &IslandProblem<'_>, part: f64) {
        blocks::add_scaled(part, &self.step, &mut self.v);
        blocks::add_scaled(part, &self.a_step, &mut self.imbalance);
        self.gradient.copy_from_slice(&self.imbalance);
        let mut blocks = self.blocks.iter();
        for (k, constraint) in p.list().enumerate() {
            let rows = rows(k, constraint);
            let step = &self.constraint_step[rows.clone()];
            blocks::add_scaled(part, step, &mut self.constraint_v[rows.clone()]);
            for block in blocks.by_ref().take(self.num_blocks[k]) {
                p.subtract_impulse(block, &self.impulses[rows.clone()], &mut self.gradient);
            }
        }
    }

    /// Writes the velocities of the solution to their places among the velocities of all trees.
    ///
    /// # Panics
    /// Panics if `island` is another island than the one solved last and has more trees.
    pub fn scatter<T: Scalar>(
        &self,
        trees: &TreeVelocities,
        island: &ProblemIsland,
        all: &mut [T],
    ) {
        for (local, tree) in island.trees.iter().enumerate() {
            let start = self.starts[local];
            let own = all[trees.range(*tree)].iter_mut();
            for (v, own) in own.zip(&self.v[start..]) {
                *v = T::from(*own);
            }
        }
    }

    /// Returns velocity and impulse at the solution of a constraint, given its place in the island.
    ///
    /// # Panics
    /// Panics if the island has fewer constraints.
    #[inline]
    pub fn end_of(&self, constraint: usize) -> ConstraintEnd<f64> {
        let six = |list: &[f64]| std::array::from_fn(|i| list[6 * constraint + i]);
        ConstraintEnd {
            v: six(&self.constraint_v),
            impulse: six(&self.impulses),
        }
    }

    /// Factors the Hessian at the solution of the problem that was solved last, unless it was.
    ///
    /// # Errors
    /// Returns [`NewtonFailure::NotPositiveDefinite`] if the Hessian is not positive definite.
    pub fn factor_at_solution(&mut self, p: &IslandProblem<'_>) -> Result<(), NewtonFailure> {
        if !self.is_factored {
            self.factor_hessian(p)?;
            self.is_factored = true;
        }
        Ok(())
    }

    /// Replaces `b`, which has one number per velocity of the island, by the solution of `H x = b`,
    /// where H is the Hessian at the solution. By the implicit function theorem, x is the change of
    /// the velocities due to a change b of the impulses.
    ///
    /// # Panics
    /// Panics if [`Self::factor_at_solution`] did not succeed since the last solution, or the
    /// problem was solved without [`with_derivatives`](crate::ConvexProblem::with_derivatives).
    pub fn solve_with_derivatives<T: Scalar>(&self, b: &mut [T]) {
        assert!(
            self.is_factored,
            "IslandSolver: factor_at_solution must come before solve_with_derivatives"
        );
        self.hessian.solve_with_derivatives(b);
    }
}
