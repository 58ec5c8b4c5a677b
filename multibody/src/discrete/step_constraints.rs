//! The constraints of a step, with those of their parts that have derivatives.

use super::contact_motion::ContactMotion;
use super::inverse_inertia::{
    derive_contact_inverse_inertia, derive_inverse_inertia, inverse_inertia,
};
use super::islands::ProblemIsland;
use super::jacobian::{JacobianBlock, JacobianBlocks, JacobianFrame};
use super::law::Law;
use super::optional_list::OptionalList;
use super::problem::ConvexConstraints;
use super::regularization::{InverseInertia, SiteLaw};
use super::site::{ContactSites, Site};
use super::step_start::StepStart;
use super::trees::Trees;
use crate::dynamics::mass_matrix_diagonal;
use crate::kinematics::spatial_velocities_of;
use crate::model::BodyIndex;
use crate::spatial::SpatialVector;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::{AddAssign, Mul};
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;

/// The constraints of a step.
#[derive(Clone, Debug)]
pub(crate) struct StepConstraints<T: Scalar> {
    /// All constraints without derivatives.
    pub(crate) real: ConvexConstraints,
    /// The parts that have derivatives.
    derived: OptionalList<DerivedConstraint<T>>,
    /// Values of the Jacobians that have derivatives.
    jacobian: Vec<T>,
}

/// A constraint with derivatives.
#[derive(Clone, Debug)]
struct DerivedConstraint<T: Scalar> {
    law: Law<T>,
    rows: DerivedRows,
}

/// How the velocities of a constraint follow from those of the plant.
#[derive(Clone, Debug)]
enum DerivedRows {
    /// By its Jacobian, which has no derivatives.
    Constant,
    /// One row: a sum of velocities with coefficients.
    Velocities(SmallVec<[(usize, f64); 2]>),
    /// By its Jacobian with derivatives.
    Derived(JacobianBlocks),
    /// As [`ContactMotion`] of the bodies.
    OfBodies,
}

/// Kinematics and inertia from which the constraints of a step are derived.
pub(crate) struct StepFrame<'a, T: Scalar> {
    start: &'a StepStart<'a, T>,
    kinematics: JacobianFrame<'a, T>,
    /// Spatial velocities of the bodies at the start.
    v_wb: Cow<'a, [SpatialVector<T>]>,
    /// Inverse of the diagonal of A.
    inverse_diagonal: &'a [f64],
    /// By tree: whether nothing about it has derivatives.
    constant_trees: &'a [bool],
    /// The inverse of the diagonal with derivatives, if it was needed.
    derived_diagonal: OnceCell<Vec<T>>,
}

impl<'a, T: Scalar> StepFrame<'a, T> {
    /// Creates the frame of a step; `inverse_diagonal` is that of A.
    pub(crate) fn new(
        start: &'a StepStart<'a, T>,
        inverse_diagonal: &'a [f64],
        constant_trees: &'a [bool],
    ) -> Self {
        let mut v_wb = Cow::Borrowed(&start.velocities.v_wb[..]);
        if start.locked.iter().any(|locked| *locked) {
            let of = |(v, locked): (&T, &bool)| if *locked { T::zero() } else { *v };
            let v: Vec<T> = start
                .velocities
                .v
                .iter()
                .zip(start.locked)
                .map(of)
                .collect();
            spatial_velocities_of(&start.tree.nodes, start.positions, &v, v_wb.to_mut());
        }
        Self {
            start,
            kinematics: JacobianFrame::new(start, start.positions),
            v_wb,
            inverse_diagonal,
            constant_trees,
            derived_diagonal: OnceCell::new(),
        }
    }

    fn derived_diagonal(&self) -> &[T] {
        self.derived_diagonal.get_or_init(|| {
            let (start, dt) = (self.start, self.start.settings.dt);
            let real = self.inverse_diagonal.iter().map(|x| T::from(*x));
            let mut inverse: Vec<T> = real.collect();
            for tree in 0..start.trees.len() {
                if self.has_constant_inertia(tree) || start.is_asleep(tree) {
                    continue;
                }
                let (nodes, range) = (start.trees.nodes(tree), start.trees.range(tree));
                let masses =
                    mass_matrix_diagonal(start.tree, nodes, start.inertias, start.positions);
                for (k, m) in range.zip(masses) {
                    if !start.locked[k] {
                        inverse[k] = (m + start.damping[k] * dt).recip();
                    }
                }
            }
            inverse
        })
    }

    /// Returns true if the inertia of a tree certainly has no derivatives.
    fn has_constant_inertia(&self, tree: usize) -> bool {
        let start = self.start;
        let nodes = &start.tree.nodes[start.trees.nodes(tree)];
        let damping = &start.damping[start.trees.range(tree)];
        let mut bodies = nodes.iter().map(|node| node.body);
        start.inertias.is_constant()
            && damping.iter().all(is_constant)
            && bodies.all(|body| start.positions.is_constant(body))
    }

    fn are_constant(&self, blocks: &JacobianBlocks) -> bool {
        let is_constant = |tree: u32| self.constant_trees[tree as usize];
        blocks.iter().all(|block| is_constant(block.tree))
    }

    /// Returns the size of `J diag(A)^-1 J^T` for a Jacobian without derivatives.
    fn inverse_inertia<const R: usize>(&self, jacobian: &[f64], blocks: &JacobianBlocks) -> T {
        let trees = self.start.trees;
        let constant = |block: &JacobianBlock| self.has_constant_inertia(block.tree as usize);
        match blocks.iter().all(constant) {
            true => {
                let diagonal = self.inverse_diagonal;
                T::from(inverse_inertia::<R>(trees, jacobian, blocks, diagonal))
            }
            false => {
                let diagonal = self.derived_diagonal();
                derive_inverse_inertia::<T, f64, R>(trees, jacobian, blocks, diagonal)
            }
        }
    }
}

impl<T: Scalar> StepConstraints<T> {
    /// Creates a step without constraints.
    pub(crate) fn empty() -> Self {
        Self {
            real: ConvexConstraints::default(),
            derived: OptionalList::empty(),
            jacobian: vec![],
        }
    }

    /// Forgets derivatives.
    pub(crate) fn clear_derived(&mut self) {
        self.derived.clear();
        self.jacobian.clear();
    }

    /// Finds what has derivatives in constraint `k`, which is a contact. Constraints must come in
    /// order.
    pub(crate) fn derive_contact(
        &mut self,
        frame: &StepFrame<'_, T>,
        k: usize,
        contacts: &ContactSites<T>,
    ) {
        let (constraint, jacobian) = (&self.real.list[k], &self.real.jacobian);
        let blocks = &constraint.blocks;
        let is_constant = contacts.derived.get(k).is_none();
        if is_constant && frame.are_constant(blocks) || blocks.is_empty() {
            self.derived.push(None);
            return;
        }
        let start = frame.start;
        let placed = |body: &BodyIndex| start.positions.is_constant(body.index() as u32);
        let real = &contacts.real[k];
        if is_constant && real.bodies.iter().all(placed) {
            let contact = ContactMotion {
                trees: start.trees,
                positions: start.positions.real(),
                site: real,
            };
            let w = InverseInertia {
                real: constraint.inverse_inertia,
                differentiate: &|| frame.inverse_inertia::<3>(jacobian, blocks),
            };
            let vn = contact.normal_velocity(&frame.v_wb);
            let law = start.settings.contact(&real.parameters.lift(), &w, vn);
            let rows = DerivedRows::Constant;
            self.derived.push(Some(DerivedConstraint { law, rows }));
            return;
        }
        let site = contacts.get(k);
        let differentiate = || {
            let (kinematics, diagonal) = (&frame.kinematics, frame.derived_diagonal());
            derive_contact_inverse_inertia(kinematics, &site, jacobian, blocks, diagonal)
        };
        let contact = ContactMotion {
            trees: start.trees,
            positions: start.positions,
            site: &site,
        };
        let w = InverseInertia {
            real: constraint.inverse_inertia,
            differentiate: &differentiate,
        };
        let vn = contact.normal_velocity(&frame.v_wb);
        let law = start.settings.contact(&site.parameters, &w, vn);
        let rows = DerivedRows::OfBodies;
        self.derived.push(Some(DerivedConstraint { law, rows }));
    }

    /// Finds what has derivatives in constraint `k`, which is at another site.
    pub(crate) fn derive_site(
        &mut self,
        frame: &StepFrame<'_, T>,
        k: usize,
        site: &(Site<T>, SiteLaw<T>),
    ) {
        let derived = match site.0.num_rows() {
            1 => self.derive::<1>(frame, k, site),
            3 => self.derive::<3>(frame, k, site),
            _ => self.derive::<6>(frame, k, site),
        };
        self.derived.push(derived);
    }

    /// Computes what has derivatives in constraint `k`, which has R rows.
    fn derive<const R: usize>(
        &mut self,
        frame: &StepFrame<'_, T>,
        k: usize,
        (site, law): &(Site<T>, SiteLaw<T>),
    ) -> Option<DerivedConstraint<T>> {
        let constraint = &self.real.list[k];
        let own = &constraint.blocks;
        if law.is_constant() && frame.are_constant(own) || own.is_empty() {
            return None;
        }
        let rows = match site {
            Site::Velocities(terms) => {
                let mut terms = terms.clone();
                terms.retain(|(k, _)| !frame.start.locked[*k]);
                DerivedRows::Velocities(terms)
            }
            Site::Bodies(_) => {
                DerivedRows::Derived(frame.kinematics.jacobian(site, &mut self.jacobian))
            }
        };
        let (trees, real) = (frame.start.trees, &self.real.jacobian);
        let differentiate = || match &rows {
            DerivedRows::Derived(blocks) => {
                let (jacobian, diagonal) = (&self.jacobian, frame.derived_diagonal());
                derive_inverse_inertia::<T, T, R>(trees, jacobian, blocks, diagonal)
            }
            _ => frame.inverse_inertia::<R>(real, own),
        };
        let w = InverseInertia {
            real: constraint.inverse_inertia,
            differentiate: &differentiate,
        };
        let law = frame.start.settings.law(law, &w);
        Some(DerivedConstraint { law, rows })
    }

    /// Returns true if something in an island may have derivatives; by tree is given whether
    /// nothing about it has any.
    pub(super) fn has_derivatives(&self, island: &ProblemIsland, constant_trees: &[bool]) -> bool {
        let is_derived = |k: &usize| self.derived.get(*k).is_some();
        T::NDERIV > 0
            && (!island.trees.iter().all(|tree| constant_trees[*tree])
                || island.constraints.iter().any(is_derived))
    }

    /// Returns the law of a constraint if it has derivatives.
    pub(super) fn derived_law(&self, constraint: usize) -> Option<&Law<T>> {
        Some(&self.derived.get(constraint)?.law)
    }

    /// Returns true if a constraint with derivatives is a contact whose velocities and impulses are
    /// those of [`ContactMotion`].
    pub(super) fn moves_with_bodies(&self, constraint: usize) -> bool {
        let derived = self.derived.get(constraint);
        derived.is_some_and(|derived| matches!(derived.rows, DerivedRows::OfBodies))
    }

    /// Adds the velocities of a constraint with derivatives that has a Jacobian, at velocities of
    /// the plant without derivatives.
    pub(super) fn add_velocities(&self, trees: &Trees, constraint: usize, v: &[T], out: &mut [T]) {
        let real = &self.real.list[constraint];
        let rows = self.derived.get(constraint).map(|derived| &derived.rows);
        let out = &mut out[..real.law.num_rows()];
        match rows {
            Some(DerivedRows::Velocities(terms)) => {
                for (k, coefficient) in terms {
                    out[0] += v[*k].re() * *coefficient;
                }
            }
            Some(DerivedRows::Derived(blocks)) => {
                add_velocities(trees, blocks, &self.jacobian, v, out, |x, v| x * v.re());
            }
            _ => {
                let (blocks, jacobian) = (&real.blocks, &self.real.jacobian);
                add_velocities(trees, blocks, jacobian, v, out, |x, v| x * v.re());
            }
        }
    }

    /// Adds the velocities of any constraint, as if its Jacobian had no derivatives, at velocities
    /// of the plant.
    pub(super) fn add_real_velocities(
        &self,
        trees: &Trees,
        constraint: usize,
        v: &[T],
        out: &mut [T],
    ) {
        let rows = self.derived.get(constraint).map(|derived| &derived.rows);
        if let Some(DerivedRows::Velocities(terms)) = rows {
            for (k, coefficient) in terms {
                out[0] += v[*k] * *coefficient;
            }
            return;
        }
        let real = &self.real.list[constraint];
        let out = &mut out[..real.law.num_rows()];
        let (blocks, jacobian) = (&real.blocks, &self.real.jacobian);
        add_velocities(trees, blocks, jacobian, v, out, |x, v| *v * x);
    }

    /// Adds the generalized impulses of a constraint with derivatives that has a Jacobian.
    pub(super) fn add_impulse(
        &self,
        trees: &Trees,
        constraint: usize,
        impulse: &[T; 6],
        sum: &mut [T],
    ) {
        let real = &self.real.list[constraint];
        let rows = self.derived.get(constraint).map(|derived| &derived.rows);
        let own = &impulse[..real.law.num_rows()];
        match rows {
            Some(DerivedRows::Velocities(terms)) => {
                for (k, coefficient) in terms {
                    sum[*k] += impulse[0] * *coefficient;
                }
            }
            Some(DerivedRows::Derived(blocks)) => {
                add_impulses(trees, blocks, &self.jacobian, own, sum);
            }
            _ => add_impulses(trees, &real.blocks, &self.real.jacobian, own, sum),
        }
    }
}

/// Returns true for 0 without derivatives, as most elements of the rows of joints are.
#[inline]
fn is_surely_zero<T: Scalar>(x: &T) -> bool {
    T::NDERIV == 0 && x.is_zero()
}

/// Adds the product of a Jacobian and the velocities of the plant; `times` multiplies an element by
/// a velocity.
#[inline]
fn add_velocities<T, C, P>(
    trees: &Trees,
    blocks: &JacobianBlocks,
    jacobian: &[C],
    v: &[T],
    out: &mut [T],
    times: impl Fn(C, &T) -> P,
) where
    T: Scalar + AddAssign<P>,
    C: Scalar,
{
    for block in blocks {
        let range = trees.range(block.tree as usize);
        let (n, values) = (range.len(), &jacobian[block.start as usize..]);
        let v = &v[range];
        for (row, out) in values.chunks_exact(n).zip(&mut *out) {
            for (x, v) in row.iter().zip(v) {
                if !is_surely_zero(x) {
                    *out += times(*x, v);
                }
            }
        }
    }
}

/// Adds the product of a transposed Jacobian and the impulses of its rows.
#[inline]
fn add_impulses<T, C>(
    trees: &Trees,
    blocks: &JacobianBlocks,
    jacobian: &[C],
    impulse: &[T],
    sum: &mut [T],
) where
    T: Scalar + Mul<C, Output = T>,
    C: Scalar,
{
    for block in blocks {
        let range = trees.range(block.tree as usize);
        let (n, values) = (range.len(), &jacobian[block.start as usize..]);
        let own = &mut sum[range];
        for (row, f) in values.chunks_exact(n).zip(impulse) {
            for (sum, x) in own.iter_mut().zip(row) {
                if !is_surely_zero(x) {
                    *sum += *f * *x;
                }
            }
        }
    }
}
