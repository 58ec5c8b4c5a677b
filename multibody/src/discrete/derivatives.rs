//! Derivatives of a solved step, by the implicit function theorem at the optimum.

use super::contact_motion::ContactMotion;
use super::momentum::Momentum;
use super::site::ContactSites;
use super::step_constraints::StepConstraints;
use super::step_end::{ConstraintEnds, StepEnd};
use super::step_start::StepStart;
use super::vertices::DeformableDerivatives;
use crate::dynamics::GivenMotion;
use crate::kinematics::spatial_velocities_of;
use crate::spatial::SpatialVector;
use tarragon_contact_solvers::{
    ConstraintEnd, IslandSolver, ProblemIsland, ProblemIslands, Stiffness, TreeVelocities,
};
use tarragon_framework::Scalar;

/// A step whose solution is known without derivatives.
pub(super) struct SolvedStep<'a, T: Scalar> {
    pub(super) start: &'a StepStart<'a, T>,
    pub(super) contacts: &'a ContactSites<T>,
    /// The trees of the plant and, after them, its deformable bodies.
    pub(super) trees: &'a TreeVelocities,
    pub(super) deformable: &'a DeformableDerivatives<T>,
    pub(super) constraints: &'a StepConstraints<T>,
    pub(super) momentum: &'a Momentum,
    pub(super) islands: &'a ProblemIslands,
    /// By island; their Hessians are factored where [`Self::has_derivatives`].
    pub(super) solvers: &'a [IslandSolver],
    /// By tree: whether nothing about it has derivatives.
    pub(super) constant_trees: &'a [bool],
}

impl<T: Scalar> SolvedStep<'_, T> {
    /// Returns the islands that may have derivatives, with their solvers.
    fn islands(&self) -> impl Iterator<Item = (&ProblemIsland, &IslandSolver)> {
        let all = self.islands.list().iter().zip(self.solvers);
        all.filter(|(island, _)| {
            self.constraints
                .has_derivatives(island, self.constant_trees)
        })
    }
}

impl<T: Scalar> SolvedStep<'_, T> {
    /// Replaces the impulses that the vertices of a deformable body lack by `A (v* - v)`; v* is
    /// empty where it has no derivatives.
    fn add_vertex_impulses(&self, tree: usize, v_star: &[T], v: &[T], missing: &mut [T]) {
        missing.fill(T::zero());
        let rows = self
            .momentum
            .quadratic
            .block(tree)
            .chunks_exact(v.len().max(1));
        for (row, missing) in rows.zip(missing) {
            for ((a, v_star), v) in row.iter().zip(v_star).zip(v) {
                *missing += (*v_star - v.re()) * *a;
            }
        }
    }
}

/// Work space of the computation.
#[derive(Clone, Debug)]
pub(super) struct StepDerivatives<T: Scalar> {
    /// By tree: whether the end of the step may have derivatives.
    derived: Vec<bool>,
    /// By velocity: the impulses that the velocities at the end lack, then what these must be
    /// corrected by.
    missing: Vec<T>,
    /// By velocity.
    vdot: Vec<T>,
    /// By body: spatial velocities at the end of the step.
    v_wb: Vec<SpatialVector<T>>,
    /// By body: forces on it, with those of contact.
    applied: Vec<SpatialVector<T>>,
    /// By body.
    transmitted: Vec<SpatialVector<T>>,
}

impl<T: Scalar> StepDerivatives<T> {
    pub(super) fn empty() -> Self {
        Self {
            derived: vec![],
            missing: vec![],
            vdot: vec![],
            v_wb: vec![],
            applied: vec![],
            transmitted: vec![],
        }
    }

    /// Adds derivatives to the end of a step, which has none: one step of Newton's method whose
    /// residual has derivatives and whose Hessian has none. That makes first derivatives exact, and
    /// diagrams have no others.
    pub(super) fn add_to(&mut self, end: &mut StepEnd<T>, step: &SolvedStep<'_, T>) {
        let StepEnd { v, constraints } = end;
        self.find_trees(step);
        self.update_bodies(step, v);
        constraints.derived.reset(constraints.real.len());
        self.evaluate_constraints(step, v, constraints);
        self.update_missing(step, v, constraints);
        self.solve(step);
        for tree in derived_trees(&self.derived) {
            let range = step.trees.range(tree);
            for (v, correction) in v[range.clone()].iter_mut().zip(&self.missing[range]) {
                *v += *correction;
            }
        }
        self.correct_constraints(step, constraints);
    }

    /// Finds the trees that may have derivatives at the end of the step.
    fn find_trees(&mut self, step: &SolvedStep<'_, T>) {
        let derived = &mut self.derived;
        derived.clear();
        derived.extend(step.constant_trees.iter().map(|constant| !constant));
        for (island, _) in step.islands() {
            island.trees.iter().for_each(|tree| derived[*tree] = true);
        }
        for (tree, derived) in derived.iter_mut().enumerate() {
            *derived &= !step.start.is_asleep(tree);
        }
    }

    /// Computes the velocities of bodies at the end of the step, where contacts move with them, and
    /// the forces on them but for those of contact.
    fn update_bodies(&mut self, step: &SolvedStep<'_, T>, v: &[T]) {
        let start = step.start;
        let (num_bodies, zero) = (start.tree.nodes.len() + 1, SpatialVector::zero());
        self.missing.resize(v.len(), T::zero());
        self.vdot.resize(v.len(), T::zero());
        for of_bodies in [&mut self.v_wb, &mut self.applied, &mut self.transmitted] {
            of_bodies.resize(num_bodies, zero);
        }
        for tree in derived_trees(&self.derived) {
            let nodes = &start.tree.nodes[start.trees.nodes(tree)];
            for node in nodes {
                let body = node.body as usize;
                self.applied[body] = start.forces.spatial[body];
            }
        }
        // The bodies that trees are fixed to do not move.
        for (island, _) in step.islands() {
            let mut constraints = island.constraints.iter();
            if !constraints.any(|k| step.constraints.moves_with_bodies(*k)) {
                continue;
            }
            for tree in island.trees.iter().filter(|tree| self.derived[**tree]) {
                let nodes = &start.tree.nodes[start.trees.nodes(*tree)];
                let Some(first) = nodes.first() else {
                    continue;
                };
                self.v_wb[first.parent as usize] = zero;
                spatial_velocities_of(nodes, start.positions, v, &mut self.v_wb);
            }
        }
    }

    /// Computes velocities and impulses of the constraints with derivatives, at velocities without
    /// any, and adds the forces of contact to those on the bodies.
    fn evaluate_constraints(
        &mut self,
        step: &SolvedStep<'_, T>,
        v: &[T],
        ends: &mut ConstraintEnds<T>,
    ) {
        let (constraints, dt) = (step.constraints, step.start.settings.dt);
        for (island, _) in step.islands() {
            for k in island.constraints.iter().copied() {
                let Some(law) = constraints.derived_law(k) else {
                    continue;
                };
                let end = ends.derived.insert_with(k, ConstraintEnd::zero);
                if !constraints.moves_with_bodies(k) {
                    constraints.add_velocities(step.trees, k, v, &mut end.v);
                    law.impulse(&end.v, &mut end.impulse);
                    continue;
                }
                let contact = ContactMotion {
                    trees: step.start.trees,
                    positions: step.start.positions,
                    site: &step.contacts.get(k),
                };
                contact.update_velocity(&self.v_wb, &mut end.v);
                law.impulse(&end.v, &mut end.impulse);
                contact.add_impulse(&end.impulse, 1.0 / dt, &mut self.applied);
            }
        }
    }

    /// Computes the impulses that the velocities at the end of the step lack.
    fn update_missing(&mut self, step: &SolvedStep<'_, T>, v: &[T], ends: &ConstraintEnds<T>) {
        let start = step.start;
        let dt = start.settings.dt;
        let held = |k: usize, x: T| if start.locked[k] { T::zero() } else { x };
        for tree in derived_trees(&self.derived) {
            let range = step.trees.range(tree);
            if let Some(body) = tree.checked_sub(start.trees.len()) {
                let v_star = &step.deformable.bodies[body].v_star;
                step.add_vertex_impulses(tree, v_star, &v[range.clone()], &mut self.missing[range]);
                continue;
            }
            for k in range.clone() {
                self.vdot[k] = held(k, (v[k] - start.velocities.v[k]) / dt);
            }
            let motion = GivenMotion {
                inertias: start.inertias,
                positions: start.positions,
                velocities: start.velocities,
                vdot: Some(&self.vdot),
                applied: Some(&self.applied),
            };
            let nodes = &start.tree.nodes[start.trees.nodes(tree)];
            motion.calc_forces(nodes, &mut self.transmitted, &mut self.missing);
            for k in range {
                let have = start.forces.generalized[k] - v[k] * start.damping[k];
                self.missing[k] = held(k, (have - self.missing[k]) * dt);
            }
        }
        for (island, _) in step.islands() {
            for k in island.constraints.iter().copied() {
                let end = ends.derived.get(k);
                if let Some(end) = end.filter(|_| !step.constraints.moves_with_bodies(k)) {
                    let (trees, sum) = (step.trees, &mut self.missing);
                    step.constraints.add_impulse(trees, k, &end.impulse, sum);
                }
            }
        }
    }

    /// Turns the missing impulses, whose value counts as 0, into corrections of the velocities.
    fn solve(&mut self, step: &SolvedStep<'_, T>) {
        let trees = step.trees;
        let mut local: Vec<T> = vec![];
        for (island, solver) in step.islands() {
            let ranges = || island.trees.iter().map(|tree| trees.range(*tree));
            local.clear();
            for range in ranges() {
                local.extend(self.missing[range].iter().map(|x| *x - x.re()));
            }
            solver.solve_with_derivatives(&mut local);
            let mut rest = &local[..];
            for range in ranges() {
                let own;
                (own, rest) = rest.split_at(range.len());
                self.missing[range].copy_from_slice(own);
            }
        }
        for tree in derived_trees(&self.derived) {
            if !step.islands.is_constrained(tree) {
                let missing = &mut self.missing[trees.range(tree)];
                if let Some(body) = tree.checked_sub(step.start.trees.len()) {
                    missing.copy_from_slice(&step.deformable.bodies[body].v_star);
                    missing.iter_mut().for_each(|x| *x -= x.re());
                    continue;
                }
                missing.iter_mut().for_each(|x| *x -= x.re());
                step.momentum.solve(tree, missing);
            }
        }
    }

    /// Corrects velocities and impulses of the constraints by what the velocities of the plant were
    /// corrected by.
    fn correct_constraints(&self, step: &SolvedStep<'_, T>, ends: &mut ConstraintEnds<T>) {
        let ConstraintEnds { real, derived } = ends;
        for (island, _) in step.islands() {
            for k in island.constraints.iter().copied() {
                let (law, real) = (&step.constraints.real.list[k].law, &real[k]);
                if derived.get(k).is_none() {
                    *derived.insert_with(k, ConstraintEnd::zero) = real.lift();
                }
                let end = derived.get_mut(k).expect("it was inserted");
                let mut change = [T::zero(); 6];
                let change = &mut change[..law.num_rows()];
                let trees = step.trees;
                step.constraints
                    .add_real_velocities(trees, k, &self.missing, change);
                let mut stiffness = Stiffness::zero();
                law.evaluate(&real.v, &mut [0.0; 6], &mut stiffness);
                for (i, change) in change.iter().enumerate() {
                    end.v[i] += *change;
                }
                match stiffness {
                    Stiffness::Diagonal(g) => {
                        for (i, change) in change.iter().enumerate() {
                            end.impulse[i] -= *change * g[i];
                        }
                    }
                    Stiffness::Full(g) => {
                        for (i, row) in g.row_iter().enumerate() {
                            for (g, change) in row.iter().zip(&*change) {
                                end.impulse[i] -= *change * *g;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the indices of the trees that are marked.
fn derived_trees(marked: &[bool]) -> impl Iterator<Item = usize> {
    let marked = marked.iter().enumerate().filter(|(_, marked)| **marked);
    marked.map(|(tree, _)| tree)
}
