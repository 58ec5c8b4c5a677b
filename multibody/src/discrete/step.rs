//! One discrete step: from the state and the forces at its start to the velocities at its end.

use super::islands::{ProblemIsland, ProblemIslands};
use super::jacobian::JacobianFrame;
use super::kept_problem::KeptProblem;
use super::law::ConstraintEnd;
use super::momentum::Momentum;
use super::newton::{IslandProblem, IslandSolver, NewtonFailure};

use super::optional_list::OptionalList;
use super::problem::{ConvexConstraints, ProblemFrame};
use super::regularization::SiteLaw;
use super::site::{ContactSite, ContactSites, Site};
use super::step_constraints::{StepConstraints, StepFrame};
use super::step_start::{StepFailure, StepFailureKind, StepStart};
use super::trees::Trees;
use crate::dynamics::GivenMotion;
use crate::spatial::SpatialVector;
use rayon::prelude::*;
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;

/// Number of constraints that make a task worth a thread: about 100 us. Waking one takes as long as
/// that on virtual machines.
const CONSTRAINTS_PER_TASK: usize = 512;

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
    kept: KeptProblem,
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
    /// Returns an impulse of a constraint.
    pub(crate) fn impulse(&self, k: usize, row: usize) -> T {
        let derived = self.derived.get(k).map(|end| end.impulse[row]);
        derived.unwrap_or_else(|| T::from(self.real[k].impulse[row]))
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
            kept: KeptProblem::default(),
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
        if T::NDERIV == 0 || !self.kept.begin(start) {
            let updated = self.momentum.update(start);
            updated.inspect_err(|_| self.kept.forget())?;
        }
        Ok(&self.momentum.v_star)
    }

    /// Computes the end of the step whose free motion was computed last.
    pub(crate) fn finish(
        &mut self,
        start: &StepStart<'_, T>,
        contacts: &ContactSites<T>,
        sites: &[(Site<T>, SiteLaw<T>)],
    ) -> Result<&mut StepEnd<T>, StepFailure> {
        let is_known = T::NDERIV > 0 && self.kept.is_known(&contacts.real, sites);
        if !is_known {
            self.update_constraints(start, &contacts.real, sites);
            self.islands.update(start.trees, &self.constraints.real);
        }
        if T::NDERIV > 0 {
            self.update_constant_trees(start);
            self.derive_constraints(start, contacts, sites);
        }
        let (trees, constraints) = (&self.constant_trees, &self.constraints);
        let constant = Constant { trees, constraints };
        let islands = SolvedIslands {
            trees: start.trees,
            momentum: &self.momentum,
            constraints: &constraints.real,
            islands: &self.islands,
            solvers: &mut self.solvers,
            with_derivatives: T::NDERIV > 0,
        };
        islands.for_each(|solver, problem| {
            if !is_known {
                solver.solve(problem)?;
            }
            match constant.has(problem.island) {
                true => Ok(()),
                false => solver.factor_at_solution(problem),
            }
        })?;
        self.kept.set_solved();
        let islands = self.islands.list();
        let solvers = &mut self.solvers[..islands.len()];
        let end = &mut self.end;
        end.v.clear();
        end.v
            .extend(self.momentum.v_star.iter().map(|v| T::from(*v)));
        for (solver, island) in solvers.iter().zip(islands) {
            solver.scatter(start.trees, island, &mut end.v);
        }
        for _ in 0..T::NDERIV {
            self.differentiate(start);
        }
        self.update_impulses(start.trees);
        Ok(&mut self.end)
    }

    /// Finds the trees about which nothing has derivatives.
    fn update_constant_trees(&mut self, start: &StepStart<'_, T>) {
        let constant = &mut self.constant_trees;
        constant.clear();
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

    /// Finds the constraints that can act, without derivatives.
    fn update_constraints(
        &mut self,
        start: &StepStart<'_, T>,
        contacts: &[ContactSite<f64>],
        sites: &[(Site<T>, SiteLaw<T>)],
    ) {
        let (constraints, end) = (&mut self.constraints.real, &mut self.end);
        constraints.clear();
        end.used.clear();
        let frame = ProblemFrame {
            kinematics: JacobianFrame::new(start, start.positions.real()),
            v0: &start.velocities.real().v,
            inverse_diagonal: &self.momentum.inverse_diagonal,
            settings: &start.settings,
        };
        if tasks_for(contacts.len()) > 1 {
            let part = |contacts: &[ContactSite<f64>]| {
                let mut part = ConvexConstraints::default();
                let add = |contact| part.add_contact(&frame, contact);
                let used: Vec<bool> = contacts.iter().map(add).collect();
                (part, used)
            };
            let chunks = contacts.par_chunks(CONSTRAINTS_PER_TASK);
            let parts: Vec<_> = chunks.map(part).collect();
            for (part, part_used) in parts {
                constraints.append(part);
                end.used.extend(part_used);
            }
        } else {
            let add = |contact| constraints.add_contact(&frame, contact);
            end.used.extend(contacts.iter().map(add));
        }
        let add = |(site, law): &(Site<T>, SiteLaw<T>)| {
            constraints.add(&frame, &site.real(), &law.real())
        };
        end.used.extend(sites.iter().map(add));
        end.places.clear();
        let places = (0..end.used.len()).filter(|place| end.used[*place]);
        end.places.extend(places);
    }

    /// Finds what of the constraints has derivatives.
    fn derive_constraints(
        &mut self,
        start: &StepStart<'_, T>,
        contacts: &ContactSites<T>,
        sites: &[(Site<T>, SiteLaw<T>)],
    ) {
        let (constraints, num_contacts) = (&mut self.constraints, contacts.real.len());
        constraints.clear_derived();
        let inverse_diagonal = &self.momentum.inverse_diagonal;
        let frame = StepFrame::new(start, inverse_diagonal, &self.constant_trees);
        for (k, place) in self.end.places.iter().enumerate() {
            match place.checked_sub(num_contacts) {
                Some(site) => constraints.derive_site(&frame, k, &sites[site]),
                None => {
                    let derived = contacts.derived.get(*place);
                    constraints.derive_contact(&frame, k, &contacts.real[*place], derived);
                }
            }
        }
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
        let mut now = ConstraintEnd::zero();
        for (solver, island) in self.solvers.iter().zip(self.islands.list()) {
            if constant.has(island) {
                continue;
            }
            for constraint in &island.constraints {
                constraints.evaluate(start.trees, *constraint, &end.v, &mut now);
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
        end.real.resize(n, ConstraintEnd::zero());
        end.derived.reset(n);
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
                    let derived = end.derived.insert_with(place, ConstraintEnd::zero);
                    constraints.evaluate(trees, *constraint, &end.v, derived);
                }
            }
        }
    }
}

/// All islands of a problem with their solvers.
struct SolvedIslands<'a> {
    trees: &'a Trees,
    momentum: &'a Momentum,
    constraints: &'a ConvexConstraints,
    islands: &'a ProblemIslands,
    solvers: &'a mut Vec<IslandSolver>,
    with_derivatives: bool,
}

impl SolvedIslands<'_> {
    /// Calls a function for every island, on several threads if there is much to do.
    fn for_each(
        self,
        f: impl Fn(&mut IslandSolver, &IslandProblem<'_>) -> Result<(), NewtonFailure> + Sync,
    ) -> Result<(), StepFailure> {
        let islands = self.islands.list();
        if self.solvers.len() < islands.len() {
            self.solvers
                .resize_with(islands.len(), IslandSolver::default);
        }
        let solvers = &mut self.solvers[..islands.len()];
        let call = |(solver, island): (&mut IslandSolver, _)| {
            let problem = IslandProblem {
                trees: self.trees,
                momentum: self.momentum,
                constraints: self.constraints,
                island,
                local: &self.islands.local,
                with_derivatives: self.with_derivatives,
            };
            solver.failure = f(solver, &problem).err();
        };
        let num_tasks = tasks_for(self.constraints.list.len());
        match num_tasks > 1 && islands.len() > 1 {
            true => {
                let all = solvers.par_iter_mut().zip(islands);
                let per_task = islands.len().div_ceil(num_tasks);
                all.with_min_len(per_task).for_each(call);
            }
            false => solvers.iter_mut().zip(islands).for_each(call),
        }
        failure(solvers, islands).map_or(Ok(()), Err)
    }
}

/// The parts of a problem that certainly have no derivatives.
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
