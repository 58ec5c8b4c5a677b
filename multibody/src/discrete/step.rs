//! One discrete step: from the state and the forces at its start to the velocities at its end.

use super::islands::{ProblemIsland, ProblemIslands};
use super::momentum::Momentum;
use super::newton::{IslandProblem, IslandSolver, NewtonFailure};
use super::problem::{ContactSite, ConvexConstraints, ProblemFrame, Site};
use super::regularization::SiteLaw;
use super::step_start::{StepFailure, StepFailureKind, StepStart};
use super::trees::Trees;
use crate::dynamics::{inverse_dynamics, mass_matrix_diagonal};
use rayon::prelude::*;
use tarragon_framework::Scalar;

/// Number of constraints that make a task worth a thread: about 20 us.
const CONSTRAINTS_PER_TASK: usize = 64;

/// Work space of steps and the result of the last. Kept from one step to the next, it allocates
/// nothing unless a problem is larger than all before or its islands have other trees.
#[derive(Clone, Debug)]
pub(crate) struct StepStorage<T: Scalar> {
    momentum: Momentum,
    solvers: Vec<IslandSolver>,
    islands: ProblemIslands,
    constraints: ConvexConstraints<T>,
    inverse_diagonal: Vec<T>,
    end: StepEnd<T>,
}

/// The end of a step. Constraints are those of the contacts, then those of the sites.
#[derive(Clone, Debug)]
pub(crate) struct StepEnd<T> {
    /// Velocities at the end.
    pub(crate) v: Vec<T>,
    /// Impulses (N s, N m s) of the constraints.
    pub(crate) impulses: Vec<[T; 6]>,
    /// Velocities of the constraints at the end.
    pub(crate) constraint_v: Vec<[T; 6]>,
    /// Whether something that moves is at the constraints; impulses are 0 elsewhere.
    used: Vec<bool>,
}

impl<T: Scalar> StepStorage<T> {
    pub(crate) fn new() -> Self {
        Self {
            momentum: Momentum::default(),
            solvers: vec![],
            islands: ProblemIslands::default(),
            constraints: ConvexConstraints::empty(),
            inverse_diagonal: vec![],
            end: StepEnd {
                v: vec![],
                impulses: vec![],
                constraint_v: vec![],
                used: vec![],
            },
        }
    }

    /// Computes the velocities `v*` that the step would end with if there were no constraints.
    pub(crate) fn free_motion(&mut self, start: &StepStart<'_, T>) -> Result<&[f64], StepFailure> {
        self.momentum.update(start)?;
        Ok(&self.momentum.v_star)
    }

    /// Computes the end of the step whose free motion was computed last.
    pub(crate) fn finish(
        &mut self,
        start: &StepStart<'_, T>,
        contacts: &[ContactSite<T>],
        sites: &[(Site<T>, SiteLaw<T>)],
    ) -> Result<&StepEnd<T>, StepFailure> {
        self.update_constraints(start, contacts, sites);
        let constraints = self.constraints.real();
        self.islands.update(start.trees, &constraints);
        let islands = self.islands.list();
        if self.solvers.len() < islands.len() {
            self.solvers
                .resize_with(islands.len(), IslandSolver::default);
        }
        let solvers = &mut self.solvers[..islands.len()];
        let problem = |island| IslandProblem {
            trees: start.trees,
            momentum: &self.momentum,
            constraints: &constraints,
            island,
            local: &self.islands.local,
            with_derivatives: T::NDERIV > 0,
        };
        let solve = |(solver, island): (&mut IslandSolver, _)| {
            let problem = problem(island);
            let solved = solver.solve(&problem);
            let factored = match T::NDERIV {
                0 => solved,
                _ => solved.and_then(|()| solver.factor_at_solution(&problem)),
            };
            solver.failure = factored.err();
        };
        let num_tasks = tasks_for(constraints.list.len());
        match num_tasks > 1 && islands.len() > 1 {
            true => {
                let all = solvers.par_iter_mut().zip(islands);
                let per_task = islands.len().div_ceil(num_tasks);
                all.with_min_len(per_task).for_each(solve);
            }
            false => solvers.iter_mut().zip(islands).for_each(solve),
        }
        if let Some(failure) = failure(solvers, islands) {
            return Err(failure);
        }
        let end = &mut self.end;
        end.v.clear();
        end.v
            .extend(self.momentum.v_star.iter().map(|v| T::from(*v)));
        for (solver, island) in solvers.iter().zip(islands) {
            solver.scatter(&problem(island), &mut end.v);
        }
        drop(constraints);
        for _ in 0..T::NDERIV {
            self.differentiate(start);
        }
        self.end.update_constraints(start.trees, &self.constraints);
        Ok(&self.end)
    }

    /// Finds the constraints that can act.
    fn update_constraints(
        &mut self,
        start: &StepStart<'_, T>,
        contacts: &[ContactSite<T>],
        sites: &[(Site<T>, SiteLaw<T>)],
    ) {
        let dt = start.settings.dt;
        self.constraints.clear();
        let used = &mut self.end.used;
        used.clear();
        if contacts.is_empty() && sites.is_empty() {
            return;
        }
        self.inverse_diagonal.clear();
        match T::NDERIV {
            0 => {
                let known = self.momentum.inverse_diagonal.iter();
                self.inverse_diagonal.extend(known.map(|x| T::from(*x)));
            }
            _ => {
                let diagonal = mass_matrix_diagonal(start.tree, start.inertias, start.positions);
                let diagonal = diagonal.into_iter().zip(start.damping);
                self.inverse_diagonal
                    .extend(diagonal.map(|(m, d)| (m + *d * dt).recip()));
            }
        }
        let frame = ProblemFrame {
            tree: start.tree,
            trees: start.trees,
            positions: start.positions,
            v0: &start.velocities.v,
            inverse_diagonal: &self.inverse_diagonal,
            locked: start.locked,
        };
        let settings = &start.settings;
        if tasks_for(contacts.len()) > 1 {
            let part = |contacts: &[ContactSite<T>]| {
                let mut part = ConvexConstraints::empty();
                let add = |contact| part.add_contact(&frame, settings, contact);
                let used: Vec<bool> = contacts.iter().map(add).collect();
                (part, used)
            };
            let chunks = contacts.par_chunks(CONSTRAINTS_PER_TASK);
            let parts: Vec<_> = chunks.map(part).collect();
            for (part, part_used) in parts {
                self.constraints.append(part);
                used.extend(part_used);
            }
        } else {
            let add = |contact| self.constraints.add_contact(&frame, settings, contact);
            used.extend(contacts.iter().map(add));
        }
        let add = |(site, law): &(_, _)| self.constraints.add(&frame, settings, site, law);
        used.extend(sites.iter().map(add));
    }

    /// Corrects the velocities by one step of Newton's method whose residual has derivatives and
    /// whose Hessian has none: the implicit function theorem at the optimum.
    fn differentiate(&mut self, start: &StepStart<'_, T>) {
        let (constraints, end) = (&self.constraints, &mut self.end);
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
        for (solver, island) in self.solvers.iter().zip(self.islands.list()) {
            let ranges = || island.trees.iter().map(|tree| start.trees.range(*tree));
            let mut local: Vec<T> = ranges().flat_map(|r| missing[r].to_vec()).collect();
            solver.hessian.solve_with_derivatives(&mut local);
            let mut corrections = local.into_iter();
            for (tree, range) in island.trees.iter().zip(ranges()) {
                constrained[*tree] = true;
                for (v, x) in end.v[range].iter_mut().zip(&mut corrections) {
                    *v += x;
                }
            }
        }
        for (tree, range) in start.trees.ranges().iter().enumerate() {
            if !constrained[tree] && !start.is_asleep(tree) {
                let correction = &mut missing[range.clone()];
                self.momentum.solve(tree, correction);
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
    fn update_constraints(&mut self, trees: &Trees, constraints: &ConvexConstraints<T>) {
        self.impulses.clear();
        self.constraint_v.clear();
        let mut list = constraints.list.iter();
        for used in &self.used {
            let (mut v, mut impulse) = ([T::zero(); 6], [T::zero(); 6]);
            if let Some(constraint) = used.then(|| list.next()).flatten() {
                constraint_velocity(trees, constraints, constraint, &self.v, &mut v);
                constraint.law.impulse(&v, &mut impulse);
            }
            self.constraint_v.push(v);
            self.impulses.push(impulse);
        }
    }
}

/// Returns how many tasks some constraints are worth.
fn tasks_for(num_constraints: usize) -> usize {
    match rayon::current_num_threads() {
        1 => 1,
        _ => num_constraints / CONSTRAINTS_PER_TASK,
    }
}

/// Returns why islands have no solution, if there are any.
fn failure(solvers: &[IslandSolver], islands: &[ProblemIsland]) -> Option<StepFailure> {
    let failed = solvers.iter().zip(islands);
    let mut failed = failed.filter_map(|(solver, island)| Some((solver.failure?, island)));
    let (first, island) = failed.next()?;
    let mut trees = island.trees.clone();
    trees.extend(failed.flat_map(|(_, island)| &island.trees));
    let why = match first {
        NewtonFailure::NotPositiveDefinite => StepFailureKind::NotFinite,
        NewtonFailure::NotConverged => StepFailureKind::NotConverged,
    };
    Some(StepFailure { why, trees })
}
