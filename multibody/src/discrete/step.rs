//! One discrete step: from the state and the forces at its start to the velocities at its end.

use super::cholesky::BlockCholesky;
use super::islands::ProblemIslands;
use super::newton::{IslandProblem, IslandSolver, Momentum, NewtonFailure};
use super::problem::{ConvexConstraints, ProblemFrame, Site};
use super::regularization::{SiteLaw, StepSettings};
use super::trees::Trees;
use crate::dynamics::{
    Inertias, MultibodyForces, calc_mass_matrix, inverse_dynamics, mass_matrix_diagonal,
};
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::tree::KinematicTree;
use rayon::prelude::*;
use tarragon_framework::Scalar;

/// Number of constraints that make a task worth a thread: about 20 us.
const CONSTRAINTS_PER_TASK: usize = 64;

/// The start of a step.
pub(crate) struct StepStart<'a, T: Scalar> {
    pub(crate) tree: &'a KinematicTree,
    pub(crate) trees: &'a Trees,
    pub(crate) inertias: &'a Inertias<T>,
    pub(crate) positions: &'a PositionKinematics<T>,
    pub(crate) velocities: &'a VelocityKinematics<T>,
    /// All forces at the start of the step but joint damping and constraints.
    pub(crate) forces: &'a MultibodyForces<T>,
    /// Joint damping, by velocity.
    pub(crate) damping: &'a [T],
    /// Velocities that are held at 0.
    pub(crate) locked: &'a [bool],
    pub(crate) settings: StepSettings,
}

/// Why a step failed.
#[derive(Clone, Debug)]
pub(crate) struct StepFailure {
    pub(crate) why: StepFailureKind,
    /// Indices of the trees concerned.
    pub(crate) trees: Vec<usize>,
}

/// Kind of a failure of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StepFailureKind {
    /// The inertia of a tree is not positive definite.
    SingularInertia,
    /// A number of the problem is not finite, or the problem is too badly scaled.
    NotFinite,
    /// Newton's method did not converge.
    NotConverged,
}

/// Work space of steps; kept from one to the next, it allocates little.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepStorage {
    momentum: Momentum,
    /// The factored quadratic part of each tree.
    factors: Vec<BlockCholesky>,
    solvers: Vec<IslandSolver>,
}

/// The end of a step.
#[derive(Clone, Debug)]
pub(crate) struct StepEnd<T> {
    /// Velocities at the end.
    pub(crate) v: Vec<T>,
    /// Impulses (N s, N m s) of the constraints, in the order of the sites.
    pub(crate) impulses: Vec<[T; 6]>,
    /// Velocities of the constraints at the end, in the order of the sites.
    pub(crate) constraint_v: Vec<[T; 6]>,
}

impl StepStorage {
    /// Computes the velocities `v*` that the step would end with if there were no constraints, as
    /// `v_star` of the momentum.
    pub(crate) fn free_motion<T: Scalar>(
        &mut self,
        start: &StepStart<'_, T>,
    ) -> Result<&[f64], StepFailure> {
        let (positions, velocities) = (start.positions.real(), start.velocities.real());
        let (forces, inertias) = (start.forces.real(), start.inertias.real());
        let (tree, trees, dt) = (start.tree, start.trees, start.settings.dt);
        let momentum = &mut self.momentum;
        momentum.starts.clear();
        let mut size = 0;
        for range in trees.ranges() {
            momentum.starts.push(size);
            size += range.len() * range.len();
        }
        momentum.a.clear();
        momentum.a.resize(size, 0.0);
        calc_mass_matrix(tree, &inertias, &positions, |i, j, value| {
            if start.locked[i] || start.locked[j] {
                return;
            }
            let own = trees.of_velocity(i);
            let (range, block) = (trees.range(own), &mut momentum.a[momentum.starts[own]..]);
            let (i, j, n) = (i - range.start, j - range.start, range.len());
            (block[i * n + j], block[j * n + i]) = (value, value);
        });
        momentum.inverse_diagonal.clear();
        for (own, range) in trees.ranges().iter().enumerate() {
            let (block, n) = (&mut momentum.a[momentum.starts[own]..], range.len());
            for (i, k) in range.clone().enumerate() {
                let diagonal = &mut block[i * n + i];
                match start.locked[k] {
                    true => *diagonal = 1.0,
                    false => *diagonal += dt * start.damping[k].re(),
                }
                momentum.inverse_diagonal.push(1.0 / *diagonal);
            }
        }
        momentum.v0.clone_from(&velocities.v);
        let applied = Some(&*forces.spatial);
        let needed = inverse_dynamics(tree, &inertias, &positions, &velocities, None, applied);
        momentum.v_star.clear();
        for (k, (have, need)) in forces.generalized.iter().zip(needed).enumerate() {
            let force = have - need - start.damping[k].re() * momentum.v0[k];
            momentum.v_star.push(dt * force);
            if start.locked[k] {
                momentum.v0[k] = 0.0;
                momentum.v_star[k] = 0.0;
            }
        }
        self.factors
            .resize_with(trees.len(), BlockCholesky::default);
        for (own, range) in trees.ranges().iter().enumerate() {
            let (factor, n) = (&mut self.factors[own], range.len());
            factor.analyze(&[n], &[]);
            let values = &momentum.a[momentum.starts[own]..][..n * n];
            factor.diagonal_mut(0).copy_from_slice(values);
            if !factor.factor() {
                let why = match values.iter().all(|x| x.is_finite()) {
                    true => StepFailureKind::SingularInertia,
                    false => StepFailureKind::NotFinite,
                };
                let trees = vec![own];
                return Err(StepFailure { why, trees });
            }
            factor.solve(&mut momentum.v_star[range.clone()]);
            let change = &mut momentum.v_star[range.clone()];
            for (v, v0) in change.iter_mut().zip(&momentum.v0[range.clone()]) {
                *v += v0;
            }
        }
        Ok(&self.momentum.v_star)
    }

    /// Computes the end of the step whose free motion was computed last.
    pub(crate) fn finish<T: Scalar>(
        &mut self,
        start: &StepStart<'_, T>,
        sites: &[(Site<T>, SiteLaw<T>)],
    ) -> Result<StepEnd<T>, StepFailure> {
        let (constraints, used) = self.constraints(start, sites);
        let real = constraints.real();
        let islands = ProblemIslands::new(start.trees, &real);
        self.solvers.resize_with(
            islands.list.len().max(self.solvers.len()),
            IslandSolver::default,
        );
        let solvers = &mut self.solvers[..islands.list.len()];
        let problem = |island| IslandProblem {
            trees: start.trees,
            momentum: &self.momentum,
            constraints: &real,
            island,
            local: &islands.local,
        };
        let solve = |(solver, island): (&mut IslandSolver, _)| {
            let problem = problem(island);
            let solved = solver.solve(&problem);
            match T::NDERIV {
                0 => solved,
                _ => solved.and_then(|()| solver.factor_at_solution(&problem)),
            }
        };
        let num_tasks = real.list.len() / CONSTRAINTS_PER_TASK;
        let solved: Vec<Result<(), NewtonFailure>> = match num_tasks > 1 && islands.list.len() > 1 {
            true => {
                let all = solvers.par_iter_mut().zip(&islands.list);
                let per_task = islands.list.len().div_ceil(num_tasks);
                all.with_min_len(per_task).map(solve).collect()
            }
            false => solvers.iter_mut().zip(&islands.list).map(solve).collect(),
        };
        let failed = solved.iter().zip(&islands.list);
        let failed = failed.filter_map(|(solved, island)| Some((solved.err()?, island)));
        let mut failed = failed.peekable();
        if let Some((first, _)) = failed.peek() {
            let why = match first {
                NewtonFailure::NotPositiveDefinite => StepFailureKind::NotFinite,
                NewtonFailure::NotConverged => StepFailureKind::NotConverged,
            };
            let trees = failed
                .flat_map(|(_, island)| island.trees.clone())
                .collect();
            return Err(StepFailure { why, trees });
        }
        let mut v = self.momentum.v_star.clone();
        for (solver, island) in solvers.iter().zip(&islands.list) {
            solver.scatter(&problem(island), &mut v);
        }
        let mut end = StepEnd {
            v: v.into_iter().map(T::from).collect(),
            impulses: vec![[T::zero(); 6]; used.len()],
            constraint_v: vec![[T::zero(); 6]; used.len()],
        };
        for _ in 0..T::NDERIV {
            self.differentiate(start, &constraints, &islands, &mut end);
        }
        end.update_constraints(start.trees, &constraints, &used);
        Ok(end)
    }

    /// Returns the constraints that can act, and for each site whether its constraint is one.
    fn constraints<T: Scalar>(
        &self,
        start: &StepStart<'_, T>,
        sites: &[(Site<T>, SiteLaw<T>)],
    ) -> (ConvexConstraints<T>, Vec<bool>) {
        let dt = start.settings.dt;
        if sites.is_empty() {
            return (ConvexConstraints::with_capacity(0), vec![]);
        }
        let inverse_diagonal: Vec<T> = match T::NDERIV {
            0 => {
                let known = self.momentum.inverse_diagonal.iter();
                known.map(|x| T::from(*x)).collect()
            }
            _ => {
                let diagonal = mass_matrix_diagonal(start.tree, start.inertias, start.positions);
                let diagonal = diagonal.into_iter().zip(start.damping);
                diagonal.map(|(m, d)| (m + *d * dt).recip()).collect()
            }
        };
        let frame = ProblemFrame {
            tree: start.tree,
            trees: start.trees,
            positions: start.positions,
            v0: &start.velocities.v,
            inverse_diagonal: &inverse_diagonal,
            locked: start.locked,
        };
        let part = |sites: &[(Site<T>, SiteLaw<T>)]| {
            let mut part = ConvexConstraints::with_capacity(sites.len());
            let add = |(site, law): &(_, _)| part.add(&frame, &start.settings, site, law);
            let used: Vec<bool> = sites.iter().map(add).collect();
            (part, used)
        };
        if sites.len() < 2 * CONSTRAINTS_PER_TASK {
            return part(sites);
        }
        let parts: Vec<_> = sites.par_chunks(CONSTRAINTS_PER_TASK).map(part).collect();
        let (mut constraints, mut used) = (ConvexConstraints::with_capacity(sites.len()), vec![]);
        for (part, part_used) in parts {
            constraints.append(part);
            used.extend(part_used);
        }
        (constraints, used)
    }

    /// Corrects the velocities by one step of Newton's method whose residual has derivatives and
    /// whose Hessian has none: the implicit function theorem at the optimum.
    fn differentiate<T: Scalar>(
        &self,
        start: &StepStart<'_, T>,
        constraints: &ConvexConstraints<T>,
        islands: &ProblemIslands,
        end: &mut StepEnd<T>,
    ) {
        let dt = start.settings.dt;
        let v0 = &start.velocities.v;
        let held = |k: usize, x: T| if start.locked[k] { T::zero() } else { x };
        let vdot: Vec<T> = end
            .v
            .iter()
            .zip(v0)
            .enumerate()
            .map(|(k, (v, v0))| held(k, (*v - *v0) / dt))
            .collect();
        let applied = Some(&*start.forces.spatial);
        let (tree, inertias) = (start.tree, start.inertias);
        let (positions, velocities) = (start.positions, start.velocities);
        let needed = inverse_dynamics(tree, inertias, positions, velocities, Some(&vdot), applied);
        let forces = start.forces.generalized.iter().zip(needed);
        let mut missing: Vec<T> = forces
            .enumerate()
            .map(|(k, (have, need))| held(k, (*have - need - end.v[k] * start.damping[k]) * dt))
            .collect();
        for constraint in &constraints.list {
            let (mut v, mut impulse) = ([T::zero(); 6], [T::zero(); 6]);
            constraint_velocity(start.trees, constraints, constraint, &end.v, &mut v);
            constraint.law.impulse(&v, &mut impulse);
            for block in &constraint.blocks {
                let range = start.trees.range(block.tree as usize);
                let n = range.len();
                let values = &constraints.jacobian[block.start as usize..];
                let rows = values.chunks_exact(n).zip(&impulse);
                for (row, f) in rows.take(constraint.law.num_rows()) {
                    for (sum, x) in missing[range.clone()].iter_mut().zip(row) {
                        *sum += *x * *f;
                    }
                }
            }
        }
        let mut constrained = vec![false; start.trees.len()];
        for (solver, island) in self.solvers.iter().zip(&islands.list) {
            let ranges = || island.trees.iter().map(|tree| start.trees.range(*tree));
            let mut local: Vec<T> = ranges().flat_map(|r| missing[r].to_vec()).collect();
            solver.hessian.solve(&mut local);
            let mut corrections = local.into_iter();
            for (tree, range) in island.trees.iter().zip(ranges()) {
                constrained[*tree] = true;
                for (v, x) in end.v[range].iter_mut().zip(&mut corrections) {
                    *v += x;
                }
            }
        }
        for (tree, range) in start.trees.ranges().iter().enumerate() {
            if !constrained[tree] {
                let correction = &mut missing[range.clone()];
                self.factors[tree].solve(correction);
                for (v, x) in end.v[range.clone()].iter_mut().zip(correction) {
                    *v += *x;
                }
            }
        }
    }
}

/// Computes the velocity of a constraint.
fn constraint_velocity<T: Scalar>(
    trees: &Trees,
    constraints: &ConvexConstraints<T>,
    constraint: &super::problem::ConvexConstraint<T>,
    v: &[T],
    out: &mut [T; 6],
) {
    for block in &constraint.blocks {
        let range = trees.range(block.tree as usize);
        let n = range.len();
        let values = &constraints.jacobian[block.start as usize..];
        let rows = values.chunks_exact(n).zip(out.iter_mut());
        for (row, out) in rows.take(constraint.law.num_rows()) {
            for (x, v) in row.iter().zip(&v[range.clone()]) {
                *out += *x * *v;
            }
        }
    }
}

impl<T: Scalar> StepEnd<T> {
    /// Computes velocities and impulses of the constraints.
    fn update_constraints(
        &mut self,
        trees: &Trees,
        constraints: &ConvexConstraints<T>,
        used: &[bool],
    ) {
        let mut list = constraints.list.iter();
        for (site, used) in used.iter().enumerate() {
            let Some(constraint) = used.then(|| list.next()).flatten() else {
                continue;
            };
            let v = &mut self.constraint_v[site];
            constraint_velocity(trees, constraints, constraint, &self.v, v);
            constraint.law.impulse(v, &mut self.impulses[site]);
        }
    }
}
