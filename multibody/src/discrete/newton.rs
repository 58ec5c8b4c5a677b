//! Newton's method on the convex problem of an island, with exact line search.

use super::blocks::{self, Factor};
use super::hessian::Hessian;
use super::islands::ProblemIsland;
use super::jacobian::BlockColumns;
use super::law::{ConstraintEnd, Stiffness};
use super::momentum::Momentum;
use super::problem::{ConvexConstraint, ConvexConstraints};
use super::trees::Trees;
use super::vertices::{MOST_COLUMNS, VertexColumns};
use std::ops::Range;
use tarragon_framework::Scalar;

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
    /// Whether the Hessian was factored at the solution.
    is_factored: bool,
    /// Why there is no solution.
    pub(crate) failure: Option<NewtonFailure>,
    pub(crate) hessian: Hessian,
    /// First velocity of each tree in `v`.
    starts: Vec<usize>,
    gradient: Vec<f64>,
    step: Vec<f64>,
    a_step: Vec<f64>,
    /// `A (v - v*)`.
    imbalance: Vec<f64>,
    /// Blocks of the Jacobians of the constraints, and how many each constraint has.
    blocks: Vec<LocalBlock>,
    num_blocks: Vec<usize>,
    /// Velocities, impulses and changes of velocity of the constraints, six numbers for each.
    constraint_v: Vec<f64>,
    impulses: Vec<f64>,
    constraint_step: Vec<f64>,
    stiffnesses: Vec<Stiffness>,
    scratch: Vec<f64>,
    /// Product of a stiffness and a block.
    product: Vec<f64>,
    sizes: Vec<usize>,
}

/// A block of a constraint's Jacobian.
#[derive(Clone, Copy, Debug)]
struct LocalBlock {
    /// Place of the tree in the island.
    tree: usize,
    /// First velocity of the tree in the island, and their number.
    v: usize,
    size: usize,
    /// Number of columns, all of the tree or those of some vertices.
    num_columns: usize,
    columns: BlockColumns,
    /// First of its values.
    values: usize,
}

/// A constraint problem restricted to an island.
pub(crate) struct IslandProblem<'a> {
    pub(crate) trees: &'a Trees,
    pub(crate) momentum: &'a Momentum,
    pub(crate) constraints: &'a ConvexConstraints,
    pub(crate) island: &'a ProblemIsland,
    /// Position of each tree in its island.
    pub(crate) local: &'a [u32],
    /// Whether derivatives are computed at the solution.
    pub(crate) with_derivatives: bool,
}

impl<'a> IslandProblem<'a> {
    fn size(&self, local: usize) -> usize {
        self.trees.range(self.island.trees[local]).len()
    }
    fn list(&self) -> impl ExactSizeIterator<Item = &'a ConvexConstraint> + use<'a> {
        let list = &self.constraints.list;
        self.island.constraints.iter().map(|c| &list[*c])
    }
    /// Returns the values of a block of a constraint with some number of rows.
    fn values(&self, block: &LocalBlock, rows: usize) -> &'a [f64] {
        &self.constraints.jacobian[block.values..block.values + rows * block.num_columns]
    }
    /// Returns the columns of a block that has not all of its tree.
    #[inline]
    fn vertices(&self, block: &LocalBlock) -> Option<&'a VertexColumns> {
        match block.columns {
            BlockColumns::All => None,
            BlockColumns::Vertices(k) => Some(&self.constraints.vertices[k as usize]),
        }
    }
    /// Adds what velocities of the island add to those of a constraint by one of its blocks.
    #[inline]
    fn add_times(&self, block: &LocalBlock, x: &[f64], out: &mut [f64]) {
        let (values, own) = (self.values(block, out.len()), &x[block.own()]);
        match self.vertices(block) {
            None => blocks::add_times(values, own, out),
            Some(vertices) => {
                let mut gathered = [0.0; MOST_COLUMNS];
                blocks::add_times(values, vertices.gather(own, &mut gathered), out);
            }
        }
    }
    /// Returns some values with the columns of a block, as a factor of a product.
    #[inline]
    fn factor<'v>(&self, block: &LocalBlock, values: &'v [f64]) -> Factor<'v>
    where
        'a: 'v,
    {
        Factor {
            values,
            num_columns: block.num_columns,
            size: block.size,
            vertices: self.vertices(block),
        }
    }
    /// Subtracts the generalized impulses that an impulse of a constraint has by one of its blocks.
    #[inline]
    fn subtract_impulse(&self, block: &LocalBlock, impulse: &[f64], out: &mut [f64]) {
        let (values, own) = (self.values(block, impulse.len()), &mut out[block.own()]);
        match self.vertices(block) {
            None => blocks::subtract_transposed_times(values, impulse, own),
            Some(vertices) => {
                let mut changed = [0.0; MOST_COLUMNS];
                let changed = vertices.gather(own, &mut changed);
                blocks::subtract_transposed_times(values, impulse, changed);
                vertices.scatter(changed, own);
            }
        }
    }
}

impl LocalBlock {
    /// Returns the velocities of the tree in the island.
    #[inline]
    fn own(&self) -> Range<usize> {
        self.v..self.v + self.size
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

impl IslandSolver {
    /// Solves the problem of an island, from the velocities at the start of the step.
    pub(crate) fn solve(&mut self, p: &IslandProblem<'_>) -> Result<(), NewtonFailure> {
        self.is_factored = false;
        self.start(p);
        let mut cost = self.evaluate(p);
        for iterations in 0..=MAX_ITERATIONS {
            self.iterations = iterations;
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
            let next = self.advance(p);
            if next >= cost - f64::EPSILON * cost.abs() {
                // Rounding hides any further decrease.
                return Ok(());
            }
            cost = next;
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
        for (list, len) in [
            (&mut self.gradient, total),
            (&mut self.step, total),
            (&mut self.a_step, total),
            (&mut self.imbalance, total),
            (&mut self.scratch, total),
            (&mut self.constraint_v, rows),
            (&mut self.impulses, rows),
            (&mut self.constraint_step, rows),
        ] {
            list.clear();
            list.resize(len, 0.0);
        }
        self.blocks.clear();
        self.num_blocks.clear();
        for constraint in p.list() {
            self.num_blocks.push(constraint.blocks.len());
            for block in &constraint.blocks {
                let tree = p.local[block.tree as usize] as usize;
                let mut local = LocalBlock {
                    tree,
                    v: self.starts[tree],
                    size: self.sizes[tree],
                    num_columns: self.sizes[tree],
                    columns: block.columns,
                    values: block.start as usize,
                };
                if let Some(vertices) = p.vertices(&local) {
                    local.num_columns = vertices.len();
                }
                self.blocks.push(local);
            }
        }
        self.v.clear();
        for tree in &p.island.trees {
            self.v
                .extend_from_slice(&p.momentum.v0[p.trees.range(*tree)]);
        }
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
        for ((constraint, count), out) in constraints.zip(out.chunks_exact_mut(6)) {
            let out = &mut out[..constraint.law.num_rows()];
            out.fill(0.0);
            for block in blocks.by_ref().take(*count) {
                p.add_times(block, x, out);
            }
        }
    }

    /// Evaluates impulses, stiffnesses and gradient at the current velocities; returns the cost.
    fn evaluate(&mut self, p: &IslandProblem<'_>) -> f64 {
        self.scratch.clear();
        let trees = p.island.trees.iter().map(|tree| p.trees.range(*tree));
        let v_star = trees.flat_map(|range| &p.momentum.v_star[range]);
        self.scratch
            .extend(self.v.iter().zip(v_star).map(|(v, s)| v - s));
        Self::times_a(&self.starts, p, &self.scratch, &mut self.imbalance);
        let mut cost = 0.5 * dot(&self.scratch, &self.imbalance);
        let blocks = (&*self.blocks, &*self.num_blocks);
        Self::to_constraints(blocks, p, &self.v, &mut self.constraint_v);
        self.gradient.clone_from(&self.imbalance);
        self.stiffnesses.clear();
        let mut blocks = self.blocks.iter();
        for (k, constraint) in p.list().enumerate() {
            let rows = 6 * k..6 * k + constraint.law.num_rows();
            let (v, impulse) = (
                &self.constraint_v[rows.clone()],
                &mut self.impulses[rows.clone()],
            );
            let (l, stiffness) = constraint.law.evaluate(v, impulse);
            cost += l;
            self.stiffnesses.push(stiffness);
            for block in blocks.by_ref().take(self.num_blocks[k]) {
                p.subtract_impulse(block, impulse, &mut self.gradient);
            }
        }
        cost
    }

    /// Tells whether the gradient is small compared with the momentum and the impulses.
    fn converged(&mut self, p: &IslandProblem<'_>) -> bool {
        let mut norms = [0.0_f64; 3];
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
            block.copy_from_slice(p.momentum.block(*tree));
        }
        let (mut first, mut product) = (0, std::mem::take(&mut self.product));
        for (k, constraint) in p.list().enumerate() {
            let rows = constraint.law.num_rows();
            let blocks = &self.blocks[first..first + self.num_blocks[k]];
            first += blocks.len();
            for b in blocks {
                let values = p.values(b, rows);
                blocks::stiff_rows(
                    &self.stiffnesses[k],
                    rows,
                    b.num_columns,
                    values,
                    &mut product,
                );
                let right = p.factor(b, &product);
                for a in blocks {
                    let left = p.factor(a, p.values(a, rows));
                    if a.tree < b.tree {
                        let (block, transposed) = self.hessian.off_diagonal_mut(a.tree, b.tree);
                        match transposed {
                            false => blocks::add_product_of(&left, &right, block),
                            true => blocks::add_product_of(&right, &left, block),
                        }
                    } else if a.tree == b.tree {
                        let block = self.hessian.diagonal_mut(a.tree);
                        blocks::add_product_of(&left, &right, block);
                    }
                }
            }
        }
        self.product = product;
    }

    /// Moves along Newton's direction to the minimum of the cost, which is returned.
    fn advance(&mut self, p: &IslandProblem<'_>) -> f64 {
        for (step, gradient) in self.step.iter_mut().zip(&self.gradient) {
            *step = -gradient;
        }
        self.hessian.solve(&mut self.step);
        let tolerance = LINE_SEARCH_TOLERANCE * dot(&self.step, &self.gradient).abs();
        self.shift(1.0);
        let cost = self.evaluate(p);
        if dot(&self.step, &self.gradient).abs() <= tolerance {
            return cost;
        }
        Self::times_a(&self.starts, p, &self.step, &mut self.a_step);
        let blocks = (&*self.blocks, &*self.num_blocks);
        Self::to_constraints(blocks, p, &self.step, &mut self.constraint_step);
        let alpha = self.line_search(p, tolerance);
        self.shift(alpha - 1.0);
        self.evaluate(p)
    }

    fn shift(&mut self, alpha: f64) {
        for (v, step) in self.v.iter_mut().zip(&self.step) {
            *v += alpha * step;
        }
    }

    /// Returns how far along the step the slope of the cost is zero. The present velocities are
    /// those of a whole step.
    fn line_search(&self, p: &IslandProblem<'_>, tolerance: f64) -> f64 {
        let whole = dot(&self.step, &self.imbalance);
        let second = dot(&self.step, &self.a_step);
        let range = |k: usize, constraint: &ConvexConstraint| {
            let first = 6 * k;
            first..first + constraint.law.num_rows()
        };
        let curvature = |stiffness: &Stiffness, dv: &[f64]| match stiffness {
            Stiffness::Diagonal(g) => g.iter().zip(dv).map(|(g, x)| g * x * x).sum::<f64>(),
            Stiffness::Full(g) => {
                let x = nalgebra::Vector3::new(dv[0], dv[1], dv[2]);
                x.dot(&(g * x))
            }
        };
        // First and second derivative of the cost along the step.
        let slope = |alpha: f64| {
            let (mut d1, mut d2) = (whole + (alpha - 1.0) * second, second);
            for (k, constraint) in p.list().enumerate() {
                let range = range(k, constraint);
                let (v, dv) = (
                    &self.constraint_v[range.clone()],
                    &self.constraint_step[range],
                );
                let (mut at, mut impulse) = ([0.0; 6], [0.0; 6]);
                for ((at, v), dv) in at.iter_mut().zip(v).zip(dv) {
                    *at = v + (alpha - 1.0) * dv;
                }
                let (_, stiffness) = constraint.law.evaluate(&at, &mut impulse);
                d1 -= dot(dv, &impulse);
                d2 += curvature(&stiffness, dv);
            }
            (d1, d2)
        };
        // The whole step was evaluated.
        let (mut value, mut d2) = (dot(&self.step, &self.gradient), second);
        for (k, constraint) in p.list().enumerate() {
            let dv = &self.constraint_step[range(k, constraint)];
            d2 += curvature(&self.stiffnesses[k], dv);
        }
        let mut alpha = 1.0;
        let (mut low, mut high) = (0.0, 1.0);
        if value < 0.0 {
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
        match self.is_factored {
            true => Ok(()),
            false => Err(NewtonFailure::NotPositiveDefinite),
        }
    }
}
