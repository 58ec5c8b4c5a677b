//! The quadratic part of the problem: the inertia of the trees, and the velocities that forces
//! alone lead to.

use super::step_start::{StepFailure, StepFailureKind, StepStart};
use super::trees::Trees;
use super::vertices::ActiveVertices;
use crate::dynamics::{BodyWork, ForcedMotion};
use tarragon_contact_solvers::{QuadraticCost, factor_dense, solve_dense};
use tarragon_framework::Scalar;

/// Number of velocities that make a task worth a thread: about 20 us.
const VELOCITIES_PER_TASK: usize = 600;

/// `A = M + dt D` by tree, and velocities.
#[derive(Clone, Debug, Default)]
pub(crate) struct Momentum {
    /// A, and the velocities at the end of the free motion.
    pub(crate) quadratic: QuadraticCost,
    /// Cholesky factors of the blocks of A, at the same places.
    factors: Vec<f64>,
    /// Velocities at the start of the step.
    pub(crate) v0: Vec<f64>,
    bodies: Vec<BodyWork>,
}

/// Some trees that follow each other, with the places of their results.
struct MomentumPart<'a> {
    /// The first tree and the end.
    trees: (usize, usize),
    a: &'a mut [f64],
    factors: &'a mut [f64],
    inverse_diagonal: &'a mut [f64],
    v0: &'a mut [f64],
    v_star: &'a mut [f64],
    bodies: &'a mut [BodyWork],
}

/// Inputs of the computation of all parts.
struct FreeMotion<'a, T> {
    motion: ForcedMotion<'a>,
    trees: &'a Trees,
    /// Where the blocks of A start.
    starts: &'a [usize],
    generalized: &'a [f64],
    damping: &'a [T],
    locked: &'a [bool],
    asleep: &'a [bool],
    dt: f64,
}

impl Momentum {
    /// Replaces the trees after those of the plant by those of deformable bodies.
    pub(crate) fn append(&mut self, plant: &Trees, bodies: &[ActiveVertices]) {
        let own = &mut self.quadratic;
        own.starts.truncate(plant.len() + 1);
        own.a.truncate(*own.starts.last().unwrap_or(&0));
        let n = plant.num_velocities();
        for list in [&mut own.inverse_diagonal, &mut self.v0, &mut own.v_star] {
            list.truncate(n);
        }
        self.v0.clone_into(&mut own.guess);
        for body in bodies {
            own.a.extend_from_slice(&body.a);
            own.starts.push(own.a.len());
            let n = body.v_star.len();
            let diagonal = (0..n).map(|i| 1.0 / body.a[i * n + i]);
            own.inverse_diagonal.extend(diagonal);
            self.v0.extend_from_slice(&body.v0);
            own.guess.extend_from_slice(&body.guess);
            own.v_star.extend_from_slice(&body.v_star);
        }
    }

    /// Replaces b by the solution of `A x = b` for the velocities of a tree.
    pub(crate) fn solve<T: Scalar>(&self, tree: usize, b: &mut [T]) {
        let starts = &self.quadratic.starts;
        let factor = &self.factors[starts[tree]..starts[tree + 1]];
        solve_dense(b.len(), factor, b);
    }

    /// Computes everything at the start of a step.
    pub(crate) fn update<T: Scalar>(
        &mut self,
        start: &StepStart<'_, T>,
    ) -> Result<(), StepFailure> {
        let (positions, velocities) = (start.positions.real(), start.velocities.real());
        let (forces, inertias) = (start.forces.real(), start.inertias.real());
        let trees = start.trees;
        let own = &mut self.quadratic;
        own.starts.clear();
        let mut size = 0;
        own.starts.push(0);
        for range in trees.ranges() {
            size += range.len() * range.len();
            own.starts.push(size);
        }
        own.a.resize(size, 0.0);
        self.factors.resize(size, 0.0);
        let n = start.tree.num_velocities;
        own.inverse_diagonal.resize(n, 0.0);
        own.v_star.resize(n, 0.0);
        self.v0.clone_from(&velocities.v);
        self.bodies.resize(start.tree.nodes.len(), BodyWork::zero());
        if trees.len() == 0 {
            return Ok(());
        }
        let first = trees.nodes(0).start;
        let free = FreeMotion {
            motion: ForcedMotion {
                tree: start.tree,
                inertias: &inertias,
                positions,
                velocities,
                applied: &forces.spatial,
            },
            trees,
            starts: &own.starts,
            generalized: &forces.generalized,
            damping: start.damping,
            locked: start.locked,
            asleep: start.asleep,
            dt: start.settings.dt,
        };
        free.calc(MomentumPart {
            trees: (0, trees.len()),
            a: &mut own.a,
            factors: &mut self.factors,
            inverse_diagonal: &mut own.inverse_diagonal,
            v0: &mut self.v0,
            v_star: &mut own.v_star,
            bodies: &mut self.bodies[first..],
        })
    }
}

impl<T: Scalar> FreeMotion<'_, T> {
    /// Computes a part, on several threads if it is large.
    fn calc(&self, part: MomentumPart<'_>) -> Result<(), StepFailure> {
        let (first, end) = part.trees;
        let large = part.v_star.len() >= 2 * VELOCITIES_PER_TASK && end - first > 1;
        if large && rayon::current_num_threads() > 1 {
            let (left, right) = self.split(part, first.midpoint(end));
            let (left, right) = rayon::join(|| self.calc(left), || self.calc(right));
            return left.and(right);
        }
        let (block0, v0, node0) = self.offsets(first);
        for tree in first..end {
            let (range, nodes) = (self.trees.range(tree), self.trees.nodes(tree));
            let block = self.starts[tree] - block0..self.starts[tree + 1] - block0;
            let own = range.start - v0..range.end - v0;
            let solved = self.calc_tree(MomentumPart {
                trees: (tree, tree + 1),
                a: &mut part.a[block.clone()],
                factors: &mut part.factors[block],
                inverse_diagonal: &mut part.inverse_diagonal[own.clone()],
                v0: &mut part.v0[own.clone()],
                v_star: &mut part.v_star[own],
                bodies: &mut part.bodies[nodes.start - node0..nodes.end - node0],
            });
            if let Err(why) = solved {
                let trees = vec![tree];
                return Err(StepFailure { why, trees });
            }
        }
        Ok(())
    }

    /// Returns where block, velocities and nodes of a tree start.
    fn offsets(&self, tree: usize) -> (usize, usize, usize) {
        let (range, nodes) = (self.trees.range(tree), self.trees.nodes(tree));
        (self.starts[tree], range.start, nodes.start)
    }

    /// Splits a part before a tree.
    fn split<'a>(
        &self,
        part: MomentumPart<'a>,
        tree: usize,
    ) -> (MomentumPart<'a>, MomentumPart<'a>) {
        let (first, end) = part.trees;
        let (from, to) = (self.offsets(first), self.offsets(tree));
        let (block, v, node) = (to.0 - from.0, to.1 - from.1, to.2 - from.2);
        let a = part.a.split_at_mut(block);
        let factors = part.factors.split_at_mut(block);
        let inverse_diagonal = part.inverse_diagonal.split_at_mut(v);
        let v0 = part.v0.split_at_mut(v);
        let v_star = part.v_star.split_at_mut(v);
        let bodies = part.bodies.split_at_mut(node);
        let left = MomentumPart {
            trees: (first, tree),
            a: a.0,
            factors: factors.0,
            inverse_diagonal: inverse_diagonal.0,
            v0: v0.0,
            v_star: v_star.0,
            bodies: bodies.0,
        };
        let right = MomentumPart {
            trees: (tree, end),
            a: a.1,
            factors: factors.1,
            inverse_diagonal: inverse_diagonal.1,
            v0: v0.1,
            v_star: v_star.1,
            bodies: bodies.1,
        };
        (left, right)
    }

    fn calc_tree(&self, part: MomentumPart<'_>) -> Result<(), StepFailureKind> {
        let tree = part.trees.0;
        let (range, dt) = (self.trees.range(tree), self.dt);
        let (n, change) = (range.len(), part.v_star);
        if self.asleep.get(tree).copied().unwrap_or(false) {
            part.v0.fill(0.0);
            change.fill(0.0);
            part.inverse_diagonal.fill(0.0);
            return Ok(());
        }
        let nodes = self.trees.nodes(tree);
        self.motion.calc_tree(nodes, part.bodies, part.a, change);
        let locked = &self.locked[range.clone()];
        for (i, k) in range.enumerate() {
            let diagonal = i * n + i;
            if locked[i] {
                for j in 0..n {
                    (part.a[i * n + j], part.a[j * n + i]) = (0.0, 0.0);
                }
                part.a[diagonal] = 1.0;
                (part.v0[i], change[i]) = (0.0, 0.0);
            } else {
                part.a[diagonal] += dt * self.damping[k].re();
                let force = self.generalized[k] - change[i] - self.damping[k].re() * part.v0[i];
                change[i] = dt * force;
            }
            part.inverse_diagonal[i] = 1.0 / part.a[diagonal];
        }
        part.factors.copy_from_slice(part.a);
        if !factor_dense(n, part.factors) {
            return Err(if part.a.iter().all(|x| x.is_finite()) {
                StepFailureKind::SingularInertia
            } else {
                StepFailureKind::NotFinite
            });
        }
        solve_dense(n, part.factors, change);
        for (v, v0) in change.iter_mut().zip(part.v0) {
            *v += *v0;
        }
        Ok(())
    }
}
