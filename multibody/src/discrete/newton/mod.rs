//! Newton's method on the convex problem of an island, with line search for the minimum along the
//! step.

mod assembly;

use super::blocks;
use super::hessian::Hessian;
use super::island_problem::{IslandProblem, LocalBlock};
use super::islands::ProblemIsland;
use super::law::{ConstraintEnd, Stiffness};
use super::line_search::{COST_ROUNDING, LinePoint, LineSearch};
use super::problem::ConvexConstraint;
use super::trees::Trees;
use std::ops::Range;
use tarragon_framework::Scalar;
use tarragon_framework::simd::dot;

/// Most iterations for one island. Sensible scenes need about ten, and the hardest of random ones,
/// with mass ratios of 1e6 in the ground, some hundreds.
const MAX_ITERATIONS: usize = 2000;
/// Size of the gradient relative to that of the momentum at which iteration ends.
const RELATIVE_TOLERANCE: f64 = 1e-8;
/// The same without reference (N s, scaled by the square root of the inertia).
const ABSOLUTE_TOLERANCE: f64 = 1e-14;

/// Part of the gradient that the last step left below which its factor serves once more.
const CHORD_CONTRACTION: f64 = 1e-3;
/// Part of the tolerance above which a step with the last factor, without a new one, follows the
/// last step: results without the noise of a solver are differentiated by differences.
const POLISHED: f64 = 1e-2;

/// Part of Newton's step below which the velocities are evaluated anew: what is left of those of a
/// whole step may be rounding.
const SHORT_STEP: f64 = 1e-3;

/// Number of contacts whose slip reverses in a step from which on another step is taken: for fewer,
/// the line search takes no more iterations. With two to six, soft balls on the ground take a
/// quarter to a third fewer iterations.
const MANY_REVERSE: usize = 3;

/// Why an island has no solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NewtonFailure {
    /// The Hessian is not positive definite, or a number is not finite.
    NotPositiveDefinite,
    /// The gradient is still too large after the last iteration, or no step makes the cost smaller.
    NotConverged,
}

/// Returns the rows of a constraint in lists of six numbers for each.
fn rows(constraint: usize, of: &ConvexConstraint) -> Range<usize> {
    let first = 6 * constraint;
    first..first + of.law.num_rows()
}

/// Work space and result of the solution of an island.
#[derive(Clone, Debug, Default)]
pub(crate) struct IslandSolver {
    /// Velocities of the island, tree after tree.
    pub(crate) v: Vec<f64>,
    pub(crate) iterations: usize,
    /// Whether the Hessian was factored at the solution.
    is_factored: bool,
    /// Why there is no solution.
    pub(crate) failure: Option<NewtonFailure>,
    pub(crate) hessian: Hessian,
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
    /// Whether the last factor is not that of the Hessian, because contacts were stiffened.
    is_stiffened: bool,
    /// Product of a stiffness and a block.
    product: Vec<f64>,
    sizes: Vec<usize>,
}

impl IslandSolver {
    /// Solves the problem of an island, from the guess of its velocities.
    pub(crate) fn solve(&mut self, p: &IslandProblem<'_>) -> Result<(), NewtonFailure> {
        self.is_factored = false;
        self.is_stiffened = false;
        self.start(p);
        let (mut cost, mut last) = (self.evaluate(p), 0.0);
        let (mut is_hidden, mut is_last, mut may_stiffen) = (false, false, true);
        for iterations in 0..=MAX_ITERATIONS {
            self.iterations = iterations;
            if !cost.is_finite() {
                return Err(NewtonFailure::NotPositiveDefinite);
            }
            let (gradient, tolerance) = self.gradient_size(p);
            if gradient <= POLISHED * tolerance || is_last {
                return Ok(());
            }
            is_last = gradient <= tolerance;
            if is_last && iterations == 0 {
                return Ok(());
            }
            // Near the solution, the Hessian changes by about as much from step to step as the last
            // one left of the gradient, and so much will the next one leave with the same factor.
            let is_chord = !self.is_stiffened && (is_last || gradient <= CHORD_CONTRACTION * last);
            if !is_chord {
                self.is_stiffened = false;
                if is_hidden {
                    return Ok(());
                }
                self.assemble(p);
                if !self.hessian.factor() {
                    return Err(NewtonFailure::NotPositiveDefinite);
                }
            }
            last = gradient;
            let (next, promised) = self.advance(p, cost, !is_chord && may_stiffen);
            // Rounding hides any further decrease, but not that of the gradient by chord steps.
            is_hidden = next.cost >= cost - f64::EPSILON * cost.abs()
                && promised <= COST_ROUNDING * cost.abs();
            // Newton's own step may still lead on where a stiffened one does not.
            may_stiffen = !(self.is_stiffened && (is_hidden || next.at == 0.0));
            if !may_stiffen {
                is_hidden = false;
                cost = next.cost;
                continue;
            }
            if is_hidden && !is_chord {
                return Ok(());
            }
            // The next iteration would be the same.
            if next.at == 0.0 && !is_chord {
                return Err(NewtonFailure::NotConverged);
            }
            cost = next.cost;
        }
        Err(NewtonFailure::NotConverged)
    }

    fn start(&mut self, p: &IslandProblem<'_>) {
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
            let range = p.trees.range(*tree);
            self.v.extend_from_slice(&p.momentum.guess[range.clone()]);
            self.v_star.extend_from_slice(&p.momentum.v_star[range]);
        }
        Self::times_a(&self.starts, p, &self.v_star, &mut self.free_momentum);
        let edges = &p.island.edges;
        self.hessian.analyze(&self.sizes, edges, p.with_derivatives);
    }

    /// Multiplies the velocities of the island by A.
    fn times_a(starts: &[usize], p: &IslandProblem<'_>, x: &[f64], out: &mut [f64]) {
        for (local, tree) in p.island.trees.iter().enumerate() {
            let (n, start) = (p.size(local), starts[local]);
            let out = &mut out[start..start + n];
            out.fill(0.0);
            let a = p.momentum.block(*tree);
            blocks::add_times(a, &x[start..start + n], out);
        }
    }

    /// Computes the velocities of all constraints from those of the island.
    fn to_constraints(
        (list, num_blocks): (&[LocalBlock], &[usize]),
        p: &IslandProblem<'_>,
        x: &[f64],
        out: &mut [f64],
    ) {
        let mut blocks = list.iter();
        let constraints = p.list().zip(num_blocks);
        for ((constraint, count), out) in constraints.zip(out.as_chunks_mut::<6>().0) {
            *out = [0.0; 6];
            let out = &mut out[..constraint.law.num_rows()];
            for block in blocks.by_ref().take(*count) {
                p.add_times(block, x, out);
            }
        }
    }

    /// Evaluates impulses, stiffnesses and gradient at the current velocities; returns the cost.
    fn evaluate(&mut self, p: &IslandProblem<'_>) -> f64 {
        for (change, (v, v_star)) in self.scratch.iter_mut().zip(self.v.iter().zip(&self.v_star)) {
            *change = v - v_star;
        }
        Self::times_a(&self.starts, p, &self.scratch, &mut self.imbalance);
        let mut cost = 0.5 * dot(&self.scratch, &self.imbalance);
        let blocks = (&*self.blocks, &*self.num_blocks);
        Self::to_constraints(blocks, p, &self.v, &mut self.constraint_v);
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

    /// Returns the size of the gradient, and that below which it is small compared with the
    /// momentum and the impulses.
    fn gradient_size(&mut self, p: &IslandProblem<'_>) -> (f64, f64) {
        let mut norms = [0.0_f64; 3];
        for (local, tree) in p.island.trees.iter().enumerate() {
            for (i, k) in p.trees.range(*tree).enumerate() {
                let i = self.starts[local] + i;
                let weight = p.momentum.inverse_diagonal[k];
                let impulse = self.imbalance[i] - self.gradient[i];
                let momentum = self.imbalance[i] + self.free_momentum[i];
                let terms = [self.gradient[i], momentum, impulse];
                for (norm, x) in norms.iter_mut().zip(terms) {
                    *norm += weight * x * x;
                }
            }
        }
        let [gradient, momentum, impulse] = norms.map(f64::sqrt);
        let tolerance = ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * momentum.max(impulse);
        (gradient, tolerance)
    }

    /// Moves along Newton's direction to about the minimum of the cost, with impulses, stiffnesses
    /// and gradient. Returns the point there, and the decrease that a quadratic cost with the same
    /// gradient and Hessian would have had.
    fn advance(
        &mut self,
        p: &IslandProblem<'_>,
        last_cost: f64,
        may_stiffen: bool,
    ) -> (LinePoint, f64) {
        std::mem::swap(&mut self.gradient, &mut self.last_gradient);
        std::mem::swap(&mut self.stiffnesses, &mut self.last_stiffnesses);
        let (mut search, mut whole) = self.take_step(p, last_cost);
        if !search.ends_at(whole) && may_stiffen && self.stiffen_reversing(p) {
            blocks::add_scaled(-1.0, &self.step, &mut self.v);
            std::mem::swap(&mut self.stiffnesses, &mut self.last_stiffnesses);
            self.assemble(p);
            self.is_stiffened = true;
            if !self.hessian.factor() {
                let cost = f64::NAN;
                return (LinePoint { cost, ..whole }, 0.0);
            }
            (search, whole) = self.take_step(p, last_cost);
        }
        let promised = 0.5 * search.slope().abs();
        if search.ends_at(whole) {
            return (whole, promised);
        }
        Self::times_a(&self.starts, p, &self.step, &mut self.a_step);
        let mut end = self.search(p, search, whole);
        if end.at >= SHORT_STEP {
            self.settle(p, end.at - 1.0);
        } else {
            blocks::add_scaled(end.at - 1.0, &self.step, &mut self.v);
            end.cost = self.evaluate(p);
        }
        (end, promised)
    }

    /// Takes the whole step that leads to the minimum of a quadratic cost with the last gradient
    /// and the factored Hessian. Returns the line search, and the point at the end of the step. If
    /// the search does not end there, the change of the velocities of constraints is known, too.
    fn take_step(&mut self, p: &IslandProblem<'_>, last_cost: f64) -> (LineSearch, LinePoint) {
        for (step, gradient) in self.step.iter_mut().zip(&self.last_gradient) {
            *step = -gradient;
        }
        self.hessian.solve(&mut self.step);
        let search = LineSearch::new(last_cost, dot(&self.step, &self.last_gradient));
        blocks::add_scaled(1.0, &self.step, &mut self.v);
        let whole = LinePoint {
            at: 1.0,
            cost: self.evaluate(p),
            slope: dot(&self.step, &self.gradient),
        };
        if !search.ends_at(whole) {
            let blocks = (&*self.blocks, &*self.num_blocks);
            Self::to_constraints(blocks, p, &self.step, &mut self.constraint_step);
        }
        (search, whole)
    }

    /// Stiffens, in the last stiffnesses, the contacts that a whole step makes slide backwards;
    /// returns whether there are many.
    ///
    /// Along the direction in which a contact slides, the cost of friction hardly bends until the
    /// contact stops, where it has a kink. A line search ends near the first kink, so that each
    /// iteration stops one contact. A contact that reverses is therefore made as stiff along its
    /// slip as across it: the paraboloid with this curvature touches the cone of the cost of
    /// friction at the present slip, lies above it everywhere else, and has its minimum where the
    /// contact stops.
    fn stiffen_reversing(&mut self, p: &IslandProblem<'_>) -> bool {
        let mut count = 0;
        let all = p.list().zip(&mut self.last_stiffnesses).enumerate();
        for (k, (constraint, stiffness)) in all {
            let Stiffness::Full(g) = stiffness else {
                continue;
            };
            let rows = rows(k, constraint);
            let (end, change) = (
                &self.constraint_v[rows.clone()],
                &self.constraint_step[rows],
            );
            let start = [end[0] - change[0], end[1] - change[1]];
            let square = start[0] * start[0] + start[1] * start[1];
            if start[0] * end[0] + start[1] * end[1] >= 0.0 || square == 0.0 {
                continue;
            }
            let of = |x: [f64; 2]| {
                let sum = g[(0, 0)] * x[0] * x[0] + g[(1, 1)] * x[1] * x[1];
                (sum + 2.0 * g[(0, 1)] * x[0] * x[1]) / square
            };
            let missing = of([-start[1], start[0]]) - of(start);
            if missing <= 0.0 {
                continue;
            }
            count += 1;
            for i in 0..2 {
                for j in 0..2 {
                    g[(i, j)] += missing * start[i] * start[j] / square;
                }
            }
        }
        count >= MANY_REVERSE
    }

    /// Searches along the step, from the velocities at its end. Sets impulses and stiffnesses, but
    /// no velocities.
    fn search(&mut self, p: &IslandProblem<'_>, search: LineSearch, whole: LinePoint) -> LinePoint {
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
        search.run((whole, second), |at| {
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

    /// Replaces the velocities of the island among those of the plant.
    pub(crate) fn scatter<T: Scalar>(&self, trees: &Trees, island: &ProblemIsland, all: &mut [T]) {
        for (local, tree) in island.trees.iter().enumerate() {
            let start = self.starts[local];
            let own = all[trees.range(*tree)].iter_mut();
            for (v, own) in own.zip(&self.v[start..]) {
                *v = T::from(*own);
            }
        }
    }

    /// Returns velocity and impulse of a constraint of the island at the solution.
    #[inline]
    pub(crate) fn end_of(&self, constraint: usize) -> ConstraintEnd<f64> {
        let six = |list: &[f64]| std::array::from_fn(|i| list[6 * constraint + i]);
        ConstraintEnd {
            v: six(&self.constraint_v),
            impulse: six(&self.impulses),
        }
    }

    /// Factors the Hessian at the solution, for derivatives, unless it was.
    pub(crate) fn factor_at_solution(
        &mut self,
        p: &IslandProblem<'_>,
    ) -> Result<(), NewtonFailure> {
        if !self.is_factored {
            self.assemble(p);
            self.is_factored = self.hessian.factor();
        }
        if self.is_factored {
            Ok(())
        } else {
            Err(NewtonFailure::NotPositiveDefinite)
        }
    }
}
