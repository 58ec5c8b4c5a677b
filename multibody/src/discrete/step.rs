//! One discrete step: from the state and the forces at its start to the velocities at its end.

use super::islands::{ProblemIsland, ProblemIslands};
use super::law::ConstraintEnd;
use super::momentum::Momentum;
use super::newton::{IslandProblem, IslandSolver, NewtonFailure};

use super::optional_list::OptionalList;
use super::regularization::SiteLaw;
use super::site::{ContactSites, Site};
use super::step_constraints::{StepConstraints, StepFrame};
use super::step_start::{StepFailure, StepFailureKind, StepStart};
use super::trees::Trees;
use crate::dynamics::GivenMotion;
use crate::spatial::SpatialVector;
use rayon::prelude::*;
use tarragon_framework::{Scalar, is_constant};

/// Number of constraints that make a task worth a thread: about 20 us.
const CONSTRAINTS_PER_TASK: usize = 64;

/// Work space of steps and the result of the last. Kept from one step to the next, it allocates
/// nothing unless a problem is larger than all before or its islands have other trees.
#[derive(Clone, Debug)]
pub(crate) struct StepStorage<T: Scalar> {
    momentum: Momentum,
    solvers: Vec<IslandSolver>,
    islands: ProblemIslands,
    constraints: StepConstraints<T>,
    /// By tree: whether nothing about it certainly has derivatives.
    constant_trees: Vec<bool>,
    end: StepEnd<T>,
}

/// The end of a step. Constraints are those of the contacts, then those of the sites.
#[derive(Clone, Debug)]
pub(crate) struct StepEnd<T> {
    /// Velocities at the end.
    pub(crate) v: Vec<T>,
    /// All constraints without derivatives.
    pub(crate) real: Vec<ConstraintEnd<f64>>,
    /// Those with derivatives.
    pub(crate) derived: OptionalList<ConstraintEnd<T>>,
    /// Whether something that moves is at the constraints; impulses are 0 elsewhere.
    used: Vec<bool>,
    /// Of those where it is, the index of each.
    places: Vec<usize>,
}

impl<T: Scalar> StepEnd<T> {
    /// Returns the end of a constraint.
    pub(crate) fn constraint(&self, k: usize) -> ConstraintEnd<T> {
        let derived = self.derived.get(k).copied();
        derived.unwrap_or_else(|| self.real[k].lift())
    }
}

impl<T: Scalar> StepStorage<T> {
    pub(crate) fn new() -> Self {
        Self {
            momentum: Momentum::default(),
            solvers: vec![],
            islands: ProblemIslands::default(),
            constraints: StepConstraints::empty(),
            constant_trees: vec![],
            end: StepEnd {
                v: vec![],
                real: vec![],
                derived: OptionalList::empty(),
                used: vec![],
                places: vec![],
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
        contacts: &ContactSites<T>,
        sites: &[(Site<T>, SiteLaw<T>)],
    ) -> Result<&StepEnd<T>, StepFailure> {
        self.update_constant_trees(start);
        self.update_constraints(start, contacts, sites);
        let constraints = &self.constraints.real;
        self.islands.update(start.trees, constraints);
        let islands = self.islands.list();
        if self.solvers.len() < islands.len() {
            self.solvers
                .resize_with(islands.len(), IslandSolver::default);
        }
        let solvers = &mut self.solvers[..islands.len()];
        let problem = |island| IslandProblem {
            trees: start.trees,
            momentum: &self.momentum,
            constraints,
            island,
            local: &self.islands.local,
            with_derivatives: T::NDERIV > 0,
        };
        let constant = Constant {
            trees: &self.constant_trees,
            constraints: &self.constraints,
        };
        let solve = |(solver, island): (&mut IslandSolver, _)| {
            let problem = problem(island);
            let solved = solver.solve(&problem);
            let factored = match constant.has(island) {
                true => solved,
                false => solved.and_then(|()| solver.factor_at_solution(&problem)),
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
        for _ in 0..T::NDERIV {
            self.differentiate(start);
        }
        self.update_impulses(start.trees);
        Ok(&self.end)
    }

    /// Finds the trees about which nothing has derivatives.
    fn update_constant_trees(&mut self, start: &StepStart<'_, T>) {
        let constant = &mut self.constant_trees;
        constant.clear();
        if T::NDERIV == 0 {
            constant.resize(start.trees.len(), true);
            return;
        }
        let inertias = start.inertias.is_constant();
        let (generalized, spatial) = (&start.forces.generalized, &start.forces.spatial);
        let is_constant_body = |body: u32| {
            let force = &spatial[body as usize];
            start.velocities.is_constant(body) && force.is_constant()
        };
        constant.extend((0..start.trees.len()).map(|tree| {
            let range = start.trees.range(tree);
            let nodes = &start.tree.nodes[start.trees.nodes(tree)];
            inertias
                && nodes.iter().all(|node| is_constant_body(node.body))
                && generalized[range.clone()].iter().all(is_constant)
                && start.damping[range].iter().all(is_constant)
        }));
    }

    /// Finds the constraints that can act.
    fn update_constraints(
        &mut self,
        start: &StepStart<'_, T>,
        contacts: &ContactSites<T>,
        sites: &[(Site<T>, SiteLaw<T>)],
    ) {
        self.constraints.clear();
        let used = &mut self.end.used;
        used.clear();
        let num_contacts = contacts.real.len();
        if num_contacts == 0 && sites.is_empty() {
            return;
        }
        let inverse_diagonal = &self.momentum.inverse_diagonal;
        let frame = StepFrame::new(start, inverse_diagonal, &self.constant_trees);
        let add = |constraints: &mut StepConstraints<T>, k| {
            constraints.add_contact(&frame, &contacts.real[k], contacts.derived.get(k))
        };
        if tasks_for(num_contacts) > 1 {
            let part = |first: usize| {
                let mut part = StepConstraints::empty();
                let end = num_contacts.min(first + CONSTRAINTS_PER_TASK);
                let used: Vec<bool> = (first..end).map(|k| add(&mut part, k)).collect();
                (part, used)
            };
            let starts = (0..num_contacts).into_par_iter();
            let parts: Vec<_> = starts.step_by(CONSTRAINTS_PER_TASK).map(part).collect();
            for (part, part_used) in parts {
                self.constraints.append(part);
                used.extend(part_used);
            }
        } else {
            used.extend((0..num_contacts).map(|k| add(&mut self.constraints, k)));
        }
        let add = |(site, law): &(_, _)| self.constraints.add(&frame, site, law);
        used.extend(sites.iter().map(add));
    }

    /// Corrects the velocities by one step of Newton's method whose residual has derivatives and
    /// whose Hessian has none: the implicit function theorem at the optimum. What has no
    /// derivatives is left out of the residual, whose value counts as 0.
    fn differentiate(&mut self, start: &StepStart<'_, T>) {
        let (constraints, end) = (&self.constraints, &mut self.end);
        let dt = start.settings.dt;
        let held = |k: usize, x: T| if start.locked[k] { T::zero() } else { x };
        let mut missing = vec![T::zero(); end.v.len()];
        let mut vdot = vec![T::zero(); end.v.len()];
        let mut forces = vec![SpatialVector::zero(); start.tree.nodes.len() + 1];
        for (tree, range) in start.trees.ranges().iter().enumerate() {
            if self.constant_trees[tree] || start.is_asleep(tree) {
                continue;
            }
            for k in range.clone() {
                vdot[k] = held(k, (end.v[k] - start.velocities.v[k]) / dt);
            }
            let motion = GivenMotion {
                inertias: start.inertias,
                positions: start.positions,
                velocities: start.velocities,
                vdot: Some(&vdot),
                applied: Some(&start.forces.spatial),
            };
            let nodes = &start.tree.nodes[start.trees.nodes(tree)];
            motion.calc_forces(nodes, &mut forces, &mut missing);
            for k in range.clone() {
                let have = start.forces.generalized[k] - end.v[k] * start.damping[k];
                missing[k] = held(k, (have - missing[k]) * dt);
            }
        }
        let constant = Constant {
            trees: &self.constant_trees,
            constraints,
        };
        for (solver, island) in self.solvers.iter().zip(self.islands.list()) {
            if constant.has(island) {
                continue;
            }
            for constraint in &island.constraints {
                let now = constraints.evaluate(start.trees, *constraint, &end.v);
                constraints.add_impulse(start.trees, *constraint, &now.impulse, &mut missing);
            }
            let ranges = || island.trees.iter().map(|tree| start.trees.range(*tree));
            let derivatives = |x: &T| *x - x.re();
            let mut local: Vec<T> = vec![];
            for range in ranges() {
                local.extend(missing[range].iter().map(derivatives));
            }
            solver.hessian.solve_with_derivatives(&mut local);
            let mut corrections = local.into_iter();
            for range in ranges() {
                for (v, x) in end.v[range].iter_mut().zip(&mut corrections) {
                    *v += x;
                }
            }
        }
        for (tree, range) in start.trees.ranges().iter().enumerate() {
            let skipped = self.constant_trees[tree] || start.is_asleep(tree);
            if !skipped && !self.islands.is_constrained(tree) {
                let correction = &mut missing[range.clone()];
                for x in &mut *correction {
                    *x -= x.re();
                }
                self.momentum.solve(tree, correction);
                for (v, x) in end.v[range.clone()].iter_mut().zip(correction) {
                    *v += *x;
                }
            }
        }
    }

    /// Computes velocities and impulses of the constraints at the end.
    fn update_impulses(&mut self, trees: &Trees) {
        let (constraints, end) = (&self.constraints, &mut self.end);
        let n = end.used.len();
        end.real.clear();
        end.real.resize(n, ConstraintEnd::ZERO);
        end.derived.reset(n);
        end.places.clear();
        let places = (0..n).filter(|place| end.used[*place]);
        end.places.extend(places);
        let constant = Constant {
            trees: &self.constant_trees,
            constraints,
        };
        for (solver, island) in self.solvers.iter().zip(self.islands.list()) {
            let is_constant = constant.has(island);
            for (i, constraint) in island.constraints.iter().enumerate() {
                let place = end.places[*constraint];
                end.real[place] = solver.end_of(i);
                if !is_constant {
                    let derived = constraints.evaluate(trees, *constraint, &end.v);
                    end.derived.set(place, derived);
                }
            }
        }
    }
}

/// What certainly has no derivatives.
struct Constant<'a, T: Scalar> {
    /// By tree.
    trees: &'a [bool],
    constraints: &'a StepConstraints<T>,
}

impl<T: Scalar> Constant<'_, T> {
    /// Returns true if nothing in an island has derivatives.
    fn has(&self, island: &ProblemIsland) -> bool {
        let constraints = self.constraints;
        T::NDERIV == 0
            || (island.trees.iter().all(|tree| self.trees[*tree])
                && !(island.constraints.iter()).any(|k| constraints.is_derived(*k)))
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
