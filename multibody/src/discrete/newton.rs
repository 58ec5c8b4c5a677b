//! Newton's method on the convex problem of an island, with exact line search.

use super::cholesky::BlockCholesky;
use super::islands::ProblemIsland;
use super::law::Stiffness;
use super::problem::{ConvexConstraint, ConvexConstraints};
use super::trees::Trees;

/// Most iterations for one island. Sensible scenes need about ten, and the hardest of random ones,
/// with mass ratios of 1e6 in the ground, some hundreds.
const MAX_ITERATIONS: usize = 2000;
/// Longest step of the line search, relative to Newton's.
const MAX_STEP: f64 = 1.5;
/// Part of the initial slope to which line search reduces it.
const LINE_SEARCH_TOLERANCE: f64 = 1e-3;
/// Size of the gradient relative to that of the momentum at which iteration ends.
const RELATIVE_TOLERANCE: f64 = 1e-8;
/// The same without reference (N s, scaled by the square root of the inertia).
const ABSOLUTE_TOLERANCE: f64 = 1e-14;

/// The quadratic part of the problem, by tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Momentum {
    /// Blocks of A row by row, one after the other.
    pub(crate) a: Vec<f64>,
    /// Where the block of each tree starts.
    pub(crate) starts: Vec<usize>,
    /// Inverse of the diagonal of A.
    pub(crate) inverse_diagonal: Vec<f64>,
    pub(crate) v0: Vec<f64>,
    pub(crate) v_star: Vec<f64>,
}

impl Momentum {
    fn block(&self, tree: usize, n: usize) -> &[f64] {
        &self.a[self.starts[tree]..self.starts[tree] + n * n]
    }
}

/// Why an island has no solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NewtonFailure {
    /// The Hessian is not positive definite, or a number is not finite.
    NotPositiveDefinite,
    /// The gradient is still too large after the last iteration.
    NotConverged,
}

/// Work space and result of the solution of an island.
#[derive(Clone, Debug, Default)]
pub(crate) struct IslandSolver {
    /// Velocities of the island, tree after tree.
    pub(crate) v: Vec<f64>,
    pub(crate) iterations: usize,
    pub(crate) hessian: BlockCholesky,
    /// First velocity of each tree in `v`.
    starts: Vec<usize>,
    gradient: Vec<f64>,
    step: Vec<f64>,
    a_step: Vec<f64>,
    /// `A (v - v*)`.
    imbalance: Vec<f64>,
    /// Velocities, impulses and changes of velocity of the constraints, six numbers for each.
    constraint_v: Vec<f64>,
    impulses: Vec<f64>,
    constraint_step: Vec<f64>,
    stiffnesses: Vec<Stiffness>,
    scratch: Vec<f64>,
}

/// A constraint problem restricted to an island.
pub(crate) struct IslandProblem<'a> {
    pub(crate) trees: &'a Trees,
    pub(crate) momentum: &'a Momentum,
    pub(crate) constraints: &'a ConvexConstraints<f64>,
    pub(crate) island: &'a ProblemIsland,
    /// Position of each tree in its island.
    pub(crate) local: &'a [u32],
}

impl<'a> IslandProblem<'a> {
    fn size(&self, local: usize) -> usize {
        self.trees.range(self.island.trees[local]).len()
    }
    fn list(&self) -> impl ExactSizeIterator<Item = &'a ConvexConstraint<f64>> + use<'a> {
        let list = &self.constraints.list;
        self.island.constraints.iter().map(|c| &list[*c])
    }
    /// Returns local index, number of columns and values of the Jacobian blocks of a constraint.
    fn blocks(
        &self,
        constraint: &'a ConvexConstraint<f64>,
    ) -> impl Iterator<Item = (usize, usize, &'a [f64])> + use<'a, '_> {
        let rows = constraint.law.num_rows();
        constraint.blocks.iter().map(move |block| {
            let n = self.trees.range(block.tree as usize).len();
            let values = &self.constraints.jacobian[block.start as usize..][..rows * n];
            (self.local[block.tree as usize] as usize, n, values)
        })
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

impl IslandSolver {
    /// Solves the problem of an island.
    pub(crate) fn solve(&mut self, p: &IslandProblem<'_>) -> Result<(), NewtonFailure> {
        self.start(p);
        let mut cost = self.evaluate(p);
        let mut factored = false;
        self.iterations = 0;
        while self.iterations < MAX_ITERATIONS {
            if !cost.is_finite() {
                return Err(NewtonFailure::NotPositiveDefinite);
            }
            if self.converged(p) {
                return Ok(());
            }
            self.assemble(p);
            if !self.hessian.factor() {
                return Err(NewtonFailure::NotPositiveDefinite);
            }
            factored = true;
            self.iterations += 1;
            let next = self.advance(p);
            if next >= cost - f64::EPSILON * cost.abs() {
                // Rounding hides any further decrease.
                return Ok(());
            }
            cost = next;
        }
        debug_assert!(factored);
        Err(NewtonFailure::NotConverged)
    }

    /// Starts from the better of the velocities of the last step and those without impulses.
    fn start(&mut self, p: &IslandProblem<'_>) {
        self.starts.clear();
        let mut total = 0;
        for local in 0..p.island.trees.len() {
            self.starts.push(total);
            total += p.size(local);
        }
        let rows = 6 * p.island.constraints.len();
        for (list, len) in [
            (&mut self.gradient, total),
            (&mut self.step, total),
            (&mut self.a_step, total),
            (&mut self.imbalance, total),
            (&mut self.constraint_v, rows),
            (&mut self.impulses, rows),
            (&mut self.constraint_step, rows),
        ] {
            list.clear();
            list.resize(len, 0.0);
        }
        self.gather(p, &p.momentum.v_star);
        let free = self.evaluate(p);
        self.gather(p, &p.momentum.v0);
        if self.evaluate(p) > free {
            self.gather(p, &p.momentum.v_star);
        }
        let sizes: Vec<usize> = (0..p.island.trees.len())
            .map(|local| p.size(local))
            .collect();
        self.hessian.analyze(&sizes, &p.island.edges);
    }

    fn gather(&mut self, p: &IslandProblem<'_>, all: &[f64]) {
        self.v.clear();
        for tree in &p.island.trees {
            self.v.extend_from_slice(&all[p.trees.range(*tree)]);
        }
    }

    /// Multiplies the velocities of the island by A.
    fn times_a(starts: &[usize], p: &IslandProblem<'_>, x: &[f64], out: &mut [f64]) {
        for (local, tree) in p.island.trees.iter().enumerate() {
            let (n, start) = (p.size(local), starts[local]);
            let a = p.momentum.block(*tree, n);
            for (row, out) in a.chunks_exact(n).zip(&mut out[start..start + n]) {
                *out = dot(row, &x[start..start + n]);
            }
        }
    }

    /// Computes the velocities of all constraints.
    fn to_constraints(starts: &[usize], p: &IslandProblem<'_>, x: &[f64], out: &mut [f64]) {
        for (constraint, out) in p.list().zip(out.chunks_exact_mut(6)) {
            out.fill(0.0);
            for (local, n, values) in p.blocks(constraint) {
                let x = &x[starts[local]..starts[local] + n];
                for (row, out) in values.chunks_exact(n).zip(&mut *out) {
                    *out += dot(row, x);
                }
            }
        }
    }

    /// Evaluates impulses, stiffnesses and gradient at the current velocities; returns the cost.
    fn evaluate(&mut self, p: &IslandProblem<'_>) -> f64 {
        self.scratch.clear();
        for (local, tree) in p.island.trees.iter().enumerate() {
            let v_star = &p.momentum.v_star[p.trees.range(*tree)];
            let v = &self.v[self.starts[local]..];
            self.scratch
                .extend(v.iter().zip(v_star).map(|(v, s)| v - s));
        }
        Self::times_a(&self.starts, p, &self.scratch, &mut self.imbalance);
        let mut cost = 0.5 * dot(&self.scratch, &self.imbalance);
        Self::to_constraints(&self.starts, p, &self.v, &mut self.constraint_v);
        self.gradient.clone_from(&self.imbalance);
        self.stiffnesses.clear();
        for (k, constraint) in p.list().enumerate() {
            let impulse = &mut self.impulses[6 * k..6 * k + 6];
            let (l, stiffness) = constraint
                .law
                .evaluate(&self.constraint_v[6 * k..], impulse);
            cost += l;
            self.stiffnesses.push(stiffness);
            for (local, n, values) in p.blocks(constraint) {
                let gradient = &mut self.gradient[self.starts[local]..self.starts[local] + n];
                for (row, f) in values.chunks_exact(n).zip(&*impulse) {
                    for (g, j) in gradient.iter_mut().zip(row) {
                        *g -= j * f;
                    }
                }
            }
        }
        cost
    }

    /// Tells whether the gradient is small compared with the momentum and the impulses.
    fn converged(&mut self, p: &IslandProblem<'_>) -> bool {
        let mut norms = [0.0_f64; 3];
        self.scratch.clear();
        self.scratch.resize(self.v.len(), 0.0);
        Self::times_a(&self.starts, p, &self.v, &mut self.scratch);
        for (local, tree) in p.island.trees.iter().enumerate() {
            for (i, k) in p.trees.range(*tree).enumerate() {
                let i = self.starts[local] + i;
                let weight = p.momentum.inverse_diagonal[k];
                let impulse = self.imbalance[i] - self.gradient[i];
                let terms = [self.gradient[i], self.scratch[i], impulse];
                for (norm, x) in norms.iter_mut().zip(terms) {
                    *norm += weight * x * x;
                }
            }
        }
        let [gradient, momentum, impulse] = norms.map(f64::sqrt);
        gradient <= ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * momentum.max(impulse)
    }

    /// Assembles the Hessian.
    pub(crate) fn assemble(&mut self, p: &IslandProblem<'_>) {
        self.hessian.clear();
        for (local, tree) in p.island.trees.iter().enumerate() {
            let block = self.hessian.diagonal_mut(local);
            let n = p.size(local);
            block.copy_from_slice(p.momentum.block(*tree, n));
        }
        for (constraint, stiffness) in p.list().zip(&self.stiffnesses) {
            let rows = constraint.law.num_rows();
            for (b, n, values) in p.blocks(constraint) {
                stiff_rows(stiffness, rows, n, values, &mut self.scratch);
                for (a, m, other) in p.blocks(constraint) {
                    if a < b {
                        let (block, transposed) = self.hessian.off_diagonal_mut(a, b);
                        match transposed {
                            false => add_product(m, other, n, &self.scratch, block),
                            true => add_product(n, &self.scratch, m, other, block),
                        }
                    } else if a == b {
                        let block = self.hessian.diagonal_mut(a);
                        add_product(n, other, n, &self.scratch, block);
                    }
                }
            }
        }
    }

    /// Moves along Newton's direction to the minimum of the cost, which is returned.
    fn advance(&mut self, p: &IslandProblem<'_>) -> f64 {
        for (step, gradient) in self.step.iter_mut().zip(&self.gradient) {
            *step = -gradient;
        }
        self.hessian.solve(&mut self.step);
        Self::times_a(&self.starts, p, &self.step, &mut self.a_step);
        Self::to_constraints(&self.starts, p, &self.step, &mut self.constraint_step);
        let alpha = self.line_search(p);
        for (v, step) in self.v.iter_mut().zip(&self.step) {
            *v += alpha * step;
        }
        self.evaluate(p)
    }

    fn line_search(&self, p: &IslandProblem<'_>) -> f64 {
        let first = dot(&self.step, &self.imbalance);
        let second = dot(&self.step, &self.a_step);
        // First and second derivative of the cost along the step.
        let slope = |alpha: f64| {
            let (mut d1, mut d2) = (first + alpha * second, second);
            for (k, constraint) in p.list().enumerate() {
                let rows = constraint.law.num_rows();
                let range = 6 * k..6 * k + rows;
                let (v, dv) = (
                    &self.constraint_v[range.clone()],
                    &self.constraint_step[range],
                );
                let (mut at, mut impulse) = ([0.0; 6], [0.0; 6]);
                for ((at, v), dv) in at.iter_mut().zip(v).zip(dv) {
                    *at = v + alpha * dv;
                }
                let (_, stiffness) = constraint.law.evaluate(&at, &mut impulse);
                d1 -= dot(dv, &impulse);
                d2 += match stiffness {
                    Stiffness::Diagonal(g) => g.iter().zip(dv).map(|(g, x)| g * x * x).sum::<f64>(),
                    Stiffness::Full(g) => {
                        let x = nalgebra::Vector3::new(dv[0], dv[1], dv[2]);
                        x.dot(&(g * x))
                    }
                };
            }
            (d1, d2)
        };
        let tolerance = LINE_SEARCH_TOLERANCE * dot(&self.step, &self.gradient).abs();
        let (d1, mut d2) = slope(1.0);
        if d1.abs() <= tolerance {
            return 1.0;
        }
        let (mut low, mut high, mut alpha, mut value) = (0.0, 1.0, 1.0, d1);
        if d1 < 0.0 {
            if slope(MAX_STEP).0 <= 0.0 {
                return MAX_STEP;
            }
            (low, high) = (1.0, MAX_STEP);
        }
        for _ in 0..100 {
            let newton = alpha - value / d2;
            alpha = match low < newton && newton < high {
                true => newton,
                false => 0.5 * (low + high),
            };
            (value, d2) = slope(alpha);
            if value.abs() <= tolerance || high - low < 1e-12 {
                break;
            }
            match value < 0.0 {
                true => low = alpha,
                false => high = alpha,
            }
        }
        alpha
    }

    /// Adds the velocities of the island to those of the plant.
    pub(crate) fn scatter(&self, p: &IslandProblem<'_>, all: &mut [f64]) {
        for (local, tree) in p.island.trees.iter().enumerate() {
            let range = p.trees.range(*tree);
            let start = self.starts[local];
            all[range.clone()].copy_from_slice(&self.v[start..start + range.len()]);
        }
    }

    /// Evaluates and factors the Hessian at the solution, for derivatives.
    pub(crate) fn factor_at_solution(
        &mut self,
        p: &IslandProblem<'_>,
    ) -> Result<(), NewtonFailure> {
        self.evaluate(p);
        self.assemble(p);
        match self.hessian.factor() {
            true => Ok(()),
            false => Err(NewtonFailure::NotPositiveDefinite),
        }
    }
}

/// Computes the product of a stiffness and the rows of a Jacobian.
fn stiff_rows(stiffness: &Stiffness, rows: usize, n: usize, values: &[f64], out: &mut Vec<f64>) {
    out.clear();
    match stiffness {
        Stiffness::Diagonal(g) => {
            for (row, g) in values.chunks_exact(n).zip(&g[..rows]) {
                out.extend(row.iter().map(|x| g * x));
            }
        }
        Stiffness::Full(g) => {
            for i in 0..3 {
                out.extend((0..n).map(|k| {
                    g[(i, 0)] * values[k]
                        + g[(i, 1)] * values[n + k]
                        + g[(i, 2)] * values[2 * n + k]
                }));
            }
        }
    }
}

/// Adds `X^T Y` to an m by n block, where X has m columns and Y has n.
fn add_product(m: usize, x: &[f64], n: usize, y: &[f64], block: &mut [f64]) {
    for (x, y) in x.chunks_exact(m).zip(y.chunks_exact(n)) {
        for (x, out) in x.iter().zip(block.chunks_exact_mut(n)) {
            if *x == 0.0 {
                continue;
            }
            for (out, y) in out.iter_mut().zip(y) {
                *out += x * y;
            }
        }
    }
}
