//! One discrete step: from the state and the forces at its start to the velocities at its end.

use super::derivatives::{SolvedStep, StepDerivatives};
use super::jacobian::JacobianFrame;
use super::kept_problem::KeptProblem;
use super::momentum::Momentum;
use super::problem::ProblemFrame;
use super::regularization::SiteLaw;
use super::site::{ContactSite, ContactSites, Site};
use super::step_constraints::{StepConstraints, StepFrame};
use super::step_end::StepEnd;
use super::step_start::{StepFailure, StepFailureKind, StepStart};
use super::threads::{CONTACTS_PER_TASK, are_many, join_if};
use super::vertices::{DeformableDerivatives, DeformableProblem};
use rayon::prelude::*;
use tarragon_contact_solvers::{
    ConstraintEnd, ConvexProblem, IslandProblem, IslandSolver, NewtonFailure, ProblemIsland,
    ProblemIslands, TreeVelocities,
};
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;

/// Places where the constraints of a step act.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolvedSites<'a, T: Scalar> {
    pub(crate) contacts: &'a ContactSites<T>,
    /// All but contacts.
    pub(crate) others: &'a [(Site<T>, SiteLaw<T>)],
}

/// Work space of steps and the result of the last. Kept from one step to the next, it allocates
/// nothing unless a problem is larger than all before or its islands have other trees.
#[derive(Clone, Debug)]
pub(crate) struct StepStorage<T: Scalar> {
    momentum: Momentum,
    /// The trees of the plant and, after them, its deformable bodies.
    trees: TreeVelocities,
    solvers: Vec<IslandSolver>,
    /// By island: why the last solution failed; `None` if it succeeded.
    failures: Vec<Option<NewtonFailure>>,
    islands: ProblemIslands,
    constraints: StepConstraints<T>,
    /// Where the Jacobian of each contact starts, and the end of the last.
    contact_starts: Vec<u32>,
    /// By tree: whether nothing about it certainly has derivatives.
    constant_trees: Vec<bool>,
    kept: KeptProblem,
    end: StepEnd<T>,
    derivatives: StepDerivatives<T>,
}

impl<T: Scalar> StepStorage<T> {
    pub(crate) fn new() -> Self {
        Self {
            momentum: Momentum::default(),
            trees: TreeVelocities::default(),
            solvers: vec![],
            failures: vec![],
            contact_starts: vec![],
            islands: ProblemIslands::default(),
            constraints: StepConstraints::empty(),
            constant_trees: vec![],
            kept: KeptProblem::default(),
            end: StepEnd::empty(),
            derivatives: StepDerivatives::empty(),
        }
    }

    /// Computes the velocities `v*` that the step would end with if there were no constraints.
    pub(crate) fn free_motion(&mut self, start: &StepStart<'_, T>) -> Result<(), StepFailure> {
        if T::NDERIV == 0 || !self.kept.begin(start) {
            let updated = self.momentum.update(start);
            updated.inspect_err(|_| self.kept.forget())?;
        }
        Ok(())
    }

    /// Returns the velocities of the free motion that was computed last.
    pub(crate) fn v_star(&self) -> &[f64] {
        &self.momentum.quadratic.v_star
    }

    /// Solves the problem of the step whose free motion was computed last. Velocities of deformable
    /// bodies come after those of the plant, and their constraints after all others.
    pub(crate) fn solve(
        &mut self,
        start: &StepStart<'_, T>,
        sites: SolvedSites<'_, T>,
        deformable: &DeformableProblem,
    ) -> Result<(), StepFailure> {
        let SolvedSites { contacts, others } = sites;
        let has_vertices = deformable.has_vertices();
        let is_known = T::NDERIV > 0 && self.kept.is_known(&contacts.real, others, has_vertices);
        if !is_known {
            self.trees.copy_from(start.trees.velocities());
            for body in &deformable.bodies {
                self.trees.push(body.v_star.len());
            }
            self.momentum.append(start.trees, &deformable.bodies);
            self.update_constraints(start, &contacts.real, others);
            self.add_deformable_sites(start, deformable);
            self.islands.update(&self.trees, &self.constraints.real);
            let islands = SolvedIslands {
                problem: ConvexProblem {
                    trees: &self.trees,
                    quadratic: &self.momentum.quadratic,
                    constraints: &self.constraints.real,
                    with_derivatives: T::NDERIV > 0,
                },
                islands: &self.islands,
                solvers: &mut self.solvers,
                failures: &mut self.failures,
            };
            islands.for_each(IslandSolver::solve)?;
        }
        self.kept.set_solved();
        let islands = self.islands.list();
        let (solvers, places) = (&self.solvers[..islands.len()], self.islands.places());
        let StepEnd { v, constraints } = &mut self.end;
        let update_velocities = || {
            v.clear();
            v.extend(self.momentum.quadratic.v_star.iter().map(|v| T::from(*v)));
            for (solver, island) in solvers.iter().zip(islands) {
                solver.scatter(&self.trees, island, v);
            }
        };
        let is_large = are_many(places.len());
        let update_impulses = || update_impulses(solvers, places, &mut constraints.real, is_large);
        join_if(is_large, update_velocities, update_impulses);
        Ok(())
    }

    /// Returns the velocities of deformable bodies at the end of the step that was solved last.
    pub(crate) fn deformable_velocities(&self, start: &StepStart<'_, T>) -> &[T] {
        &self.end.v[start.trees.num_velocities()..]
    }

    /// Returns the end of the step that was solved last, with its derivatives.
    pub(crate) fn finish(
        &mut self,
        start: &StepStart<'_, T>,
        sites: SolvedSites<'_, T>,
        deformable: &DeformableDerivatives<T>,
    ) -> Result<&mut StepEnd<T>, StepFailure> {
        let contacts = sites.contacts;
        if T::NDERIV == 0 {
            return Ok(&mut self.end);
        }
        self.update_constant_trees(start, deformable);
        self.derive_constraints(start, sites, deformable);
        let (constant_trees, constraints) = (&self.constant_trees, &self.constraints);
        let islands = SolvedIslands {
            problem: ConvexProblem {
                trees: &self.trees,
                quadratic: &self.momentum.quadratic,
                constraints: &constraints.real,
                with_derivatives: true,
            },
            islands: &self.islands,
            solvers: &mut self.solvers,
            failures: &mut self.failures,
        };
        islands.for_each(|solver, problem| {
            if constraints.has_derivatives(problem.island(), constant_trees) {
                solver.factor_at_solution(problem)
            } else {
                Ok(())
            }
        })?;
        let solved = SolvedStep {
            start,
            contacts,
            trees: &self.trees,
            deformable,
            constraints: &self.constraints,
            momentum: &self.momentum,
            islands: &self.islands,
            solvers: &self.solvers[..self.islands.list().len()],
            constant_trees: &self.constant_trees,
        };
        self.derivatives.add_to(&mut self.end, &solved);
        Ok(&mut self.end)
    }

    /// Finds the trees about which nothing has derivatives.
    fn update_constant_trees(
        &mut self,
        start: &StepStart<'_, T>,
        deformable: &DeformableDerivatives<T>,
    ) {
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
        let bodies = deformable.bodies.iter();
        constant.extend(bodies.map(|body| body.v_star.is_empty()));
        constant.resize(self.trees.len(), true);
    }

    /// Finds the constraints without derivatives.
    fn update_constraints(
        &mut self,
        start: &StepStart<'_, T>,
        contacts: &[ContactSite<f64>],
        sites: &[(Site<T>, SiteLaw<T>)],
    ) {
        let frame = ProblemFrame {
            kinematics: JacobianFrame::new(start, start.positions.real()),
            v0: &start.velocities.real().v,
            inverse_diagonal: &self.momentum.quadratic.inverse_diagonal,
            settings: &start.settings,
        };
        let constraints = &mut self.constraints.real;
        frame.set_contacts(contacts, &mut self.contact_starts, constraints);
        for (site, law) in sites {
            frame.add_site(&site.real(), &law.real(), constraints);
        }
    }

    /// Adds the constraints of deformable bodies.
    fn add_deformable_sites(&mut self, start: &StepStart<'_, T>, deformable: &DeformableProblem) {
        let frame = ProblemFrame {
            kinematics: JacobianFrame::new(start, start.positions.real()),
            v0: &self.momentum.v0,
            inverse_diagonal: &self.momentum.quadratic.inverse_diagonal,
            settings: &start.settings,
        };
        let first = start.trees.len();
        for site in &deformable.sites {
            let constraints = &mut self.constraints.real;
            frame.add_deformable_site(&self.trees, first, site, constraints);
        }
    }

    /// Finds what of the constraints has derivatives.
    fn derive_constraints(
        &mut self,
        start: &StepStart<'_, T>,
        sites: SolvedSites<'_, T>,
        deformable: &DeformableDerivatives<T>,
    ) {
        let SolvedSites { contacts, others } = sites;
        let constraints = &mut self.constraints;
        constraints.clear_derived();
        let frame = StepFrame::new(start, &self.momentum, &self.constant_trees);
        for k in 0..contacts.real.len() {
            constraints.derive_contact(&frame, k, contacts);
        }
        let first = contacts.real.len();
        for (k, (site, law)) in (first..).zip(others) {
            constraints.derive_site(&frame, k, site, law);
        }
        let first = first + others.len();
        for (k, site) in (first..).zip(&deformable.sites) {
            constraints.derive_deformable_site(&frame, k, &self.trees, deformable, site);
        }
    }
}

/// Finds velocities and impulses of all constraints, given their islands and places there.
fn update_impulses(
    solvers: &[IslandSolver],
    places: &[Option<(u32, u32)>],
    ends: &mut Vec<ConstraintEnd<f64>>,
    parallel: bool,
) {
    ends.resize(places.len(), ConstraintEnd::zero());
    let update = |(end, place): (&mut ConstraintEnd<f64>, &Option<(u32, u32)>)| {
        *end = match place {
            Some((island, place)) => solvers[*island as usize].end_of(*place as usize),
            None => ConstraintEnd::zero(),
        };
    };
    if parallel {
        let all = ends.par_iter_mut().zip(places);
        all.with_min_len(CONTACTS_PER_TASK).for_each(update);
    } else {
        ends.iter_mut().zip(places).for_each(update)
    }
}

/// All islands of a problem with their solvers.
struct SolvedIslands<'a> {
    problem: ConvexProblem<'a>,
    islands: &'a ProblemIslands,
    solvers: &'a mut Vec<IslandSolver>,
    failures: &'a mut Vec<Option<NewtonFailure>>,
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
        self.failures.resize(islands.len(), None);
        let failures = &mut self.failures[..];
        let call = |(k, (solver, failure)): (usize, (&mut IslandSolver, &mut _))| {
            let problem = IslandProblem::new(self.problem, self.islands, k);
            *failure = f(solver, &problem).err();
        };
        let num_constraints = self.problem.constraints.list.len();
        if are_many(num_constraints) && islands.len() > 1 {
            let all = solvers.par_iter_mut().zip(&mut *failures).enumerate();
            let per_task = (islands.len() * CONTACTS_PER_TASK).div_ceil(num_constraints);
            all.with_max_len(per_task).for_each(call);
        } else {
            let all = solvers.iter_mut().zip(&mut *failures).enumerate();
            all.for_each(call)
        }
        failure(failures, islands).map_or(Ok(()), Err)
    }
}

/// Returns why islands have no solution, if there are any.
fn failure(failures: &[Option<NewtonFailure>], islands: &[ProblemIsland]) -> Option<StepFailure> {
    let failed = failures.iter().zip(islands);
    let mut failed = failed.filter_map(|(failure, island)| Some(((*failure)?, island)));
    let (first, island) = failed.next()?;
    let mut trees = island.trees.clone();
    trees.extend(failed.flat_map(|(_, island)| &island.trees));
    let why = match first {
        NewtonFailure::NotPositiveDefinite => StepFailureKind::NotFinite,
        NewtonFailure::NotConverged => StepFailureKind::NotConverged,
    };
    Some(StepFailure { why, trees })
}
