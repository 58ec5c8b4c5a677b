//! The constraints of a step, with those of their parts that have derivatives.

use super::jacobian::{JacobianBlocks, JacobianFrame};
use super::law::{ConstraintEnd, Law};
use super::optional_list::OptionalList;
use super::problem::{ConvexConstraints, derive_inverse_inertia, inverse_inertia};
use super::regularization::{InverseInertia, SiteLaw};
use super::site::{ContactSite, Site};
use super::step_start::StepStart;
use super::trees::Trees;
use crate::dynamics::mass_matrix_diagonal;
use crate::model::BodyIndex;
use std::any::Any;
use std::ops::{AddAssign, Mul};
use std::sync::OnceLock;
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
    /// Blocks of the Jacobian; `None` if it has no derivatives.
    blocks: Option<JacobianBlocks>,
}

/// Kinematics and inertia from which the constraints of a step are derived.
pub(crate) struct StepFrame<'a, T: Scalar> {
    start: &'a StepStart<'a, T>,
    /// Inverse of the diagonal of A.
    inverse_diagonal: &'a [f64],
    /// By tree: whether nothing about it has derivatives.
    constant_trees: &'a [bool],
    /// The same with derivatives, if it was needed.
    derived_diagonal: OnceLock<Vec<T>>,
}

impl<'a, T: Scalar> StepFrame<'a, T> {
    /// Creates the frame of a step; `inverse_diagonal` is that of A.
    pub(crate) fn new(
        start: &'a StepStart<'a, T>,
        inverse_diagonal: &'a [f64],
        constant_trees: &'a [bool],
    ) -> Self {
        Self {
            start,
            inverse_diagonal,
            constant_trees,
            derived_diagonal: OnceLock::new(),
        }
    }

    fn derived_diagonal(&self) -> &[T] {
        self.derived_diagonal.get_or_init(|| {
            let start = self.start;
            let diagonal = mass_matrix_diagonal(start.tree, start.inertias, start.positions);
            let diagonal = diagonal.into_iter().zip(start.damping);
            let inverse = diagonal.map(|(m, d)| (m + *d * start.settings.dt).recip());
            inverse.collect()
        })
    }

    /// Returns true if the inertia of all trees of some blocks certainly has no derivatives.
    fn have_constant_inertia(&self, blocks: &JacobianBlocks) -> bool {
        let start = self.start;
        let is_constant_tree = |tree: usize| {
            let nodes = &start.tree.nodes[start.trees.nodes(tree)];
            let damping = &start.damping[start.trees.range(tree)];
            let mut bodies = nodes.iter().map(|node| node.body);
            damping.iter().all(is_constant) && bodies.all(|body| start.positions.is_constant(body))
        };
        let mut trees = blocks.iter().map(|block| block.tree as usize);
        start.inertias.is_constant() && trees.all(is_constant_tree)
    }

    fn are_constant(&self, blocks: &JacobianBlocks) -> bool {
        let is_constant = |tree: u32| self.constant_trees[tree as usize];
        blocks.iter().all(|block| is_constant(block.tree))
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

    /// Finds what has derivatives in constraint `k`, which is a contact; `site` is the contact with
    /// derivatives, if it has any. Constraints must come in order.
    pub(crate) fn derive_contact(
        &mut self,
        frame: &StepFrame<'_, T>,
        k: usize,
        real: &ContactSite<f64>,
        site: Option<&ContactSite<T>>,
    ) {
        let start = frame.start;
        let is_placed = |body: &BodyIndex| start.positions.is_constant(body.index() as u32);
        let placed = site.is_none() && real.bodies.iter().all(is_placed);
        let lifted = || ContactSite::lift(real);
        let derived = self.derive::<3>(
            frame,
            k,
            (site.is_none(), placed),
            |values| {
                let frame = JacobianFrame::new(start, start.positions);
                let first = values.len();
                values.resize(first + frame.contact_len(real.bodies), T::zero());
                let own = &mut values[first..];
                let mut blocks = frame.contact_jacobian(site.unwrap_or(&lifted()), own);
                for block in &mut blocks {
                    block.start += first as u32;
                }
                blocks
            },
            |w, v0| match site {
                Some(site) => start.settings.contact(&site.parameters, w, v0[2]),
                None => start.settings.contact(&real.parameters.lift(), w, v0[2]),
            },
        );
        self.derived.push(derived);
    }

    /// Finds what has derivatives in constraint `k`, which is at another site.
    pub(crate) fn derive_site(
        &mut self,
        frame: &StepFrame<'_, T>,
        k: usize,
        (site, law): &(Site<T>, SiteLaw<T>),
    ) {
        let start = frame.start;
        let known = (law.is_constant(), matches!(site, Site::Velocities(_)));
        let jacobian =
            |values: &mut _| JacobianFrame::new(start, start.positions).jacobian(site, values);
        let law = |w: &InverseInertia<'_, T>, _: &[T; 6]| start.settings.law(law, w);
        let derived = match site.num_rows() {
            1 => self.derive::<1>(frame, k, known, jacobian, law),
            3 => self.derive::<3>(frame, k, known, jacobian, law),
            _ => self.derive::<6>(frame, k, known, jacobian, law),
        };
        self.derived.push(derived);
    }

    /// Computes what has derivatives in constraint `k`, which has R rows. The flags tell that
    /// the parameters of its law and that its Jacobian have none; the law is a function of the
    /// velocity at the start of the step, too.
    fn derive<const R: usize>(
        &mut self,
        frame: &StepFrame<'_, T>,
        k: usize,
        (is_constant, has_constant_jacobian): (bool, bool),
        jacobian: impl FnOnce(&mut Vec<T>) -> JacobianBlocks,
        law: impl FnOnce(&InverseInertia<'_, T>, &[T; 6]) -> Law<T>,
    ) -> Option<DerivedConstraint<T>> {
        let constraint = &self.real.list[k];
        if is_constant && frame.are_constant(&constraint.blocks) || constraint.blocks.is_empty() {
            return None;
        }
        let blocks = (!has_constant_jacobian).then(|| jacobian(&mut self.jacobian));
        let (trees, real) = (frame.start.trees, &self.real.jacobian);
        let own = &constraint.blocks;
        let value = inverse_inertia::<R>(trees, real, own, frame.inverse_diagonal);
        let differentiate = || match &blocks {
            Some(blocks) => {
                let (jacobian, diagonal) = (&self.jacobian, frame.derived_diagonal());
                derive_inverse_inertia::<T, T, R>(trees, jacobian, blocks, diagonal)
            }
            None if frame.have_constant_inertia(own) => T::from(value),
            None => {
                let diagonal = frame.derived_diagonal();
                derive_inverse_inertia::<T, f64, R>(trees, real, own, diagonal)
            }
        };
        let w = InverseInertia {
            real: value,
            differentiate: &differentiate,
        };
        let mut v0 = [T::zero(); 6];
        let v = &frame.start.velocities.v;
        match &blocks {
            Some(blocks) => add_velocities(trees, blocks, &self.jacobian, v, &mut v0[..R]),
            None => add_velocities(trees, &constraint.blocks, real, v, &mut v0[..R]),
        }
        let law = law(&w, &v0);
        Some(DerivedConstraint { law, blocks })
    }

    /// Returns true if a constraint has derivatives.
    pub(crate) fn is_derived(&self, constraint: usize) -> bool {
        self.derived.get(constraint).is_some()
    }

    /// Computes velocity and impulse of a constraint from the velocities of the plant.
    pub(crate) fn evaluate(
        &self,
        trees: &Trees,
        constraint: usize,
        v: &[T],
        end: &mut ConstraintEnd<T>,
    ) {
        let real = &self.real.list[constraint];
        let rows = real.law.num_rows();
        end.v[..rows].fill(T::zero());
        match self.derived_blocks(constraint) {
            Some(blocks) => add_velocities(trees, blocks, &self.jacobian, v, &mut end.v[..rows]),
            None => {
                let values = &self.real.jacobian;
                add_velocities(trees, &real.blocks, values, v, &mut end.v[..rows]);
            }
        }
        let same_scalar = (&real.law as &dyn Any).downcast_ref::<Law<T>>();
        match (self.derived.get(constraint), same_scalar) {
            (Some(derived), _) => derived.law.impulse(&end.v, &mut end.impulse),
            (_, Some(law)) => law.impulse(&end.v, &mut end.impulse),
            _ => (real.law.map(|x| T::from(*x))).impulse(&end.v, &mut end.impulse),
        }
    }

    fn derived_blocks(&self, constraint: usize) -> Option<&JacobianBlocks> {
        let derived = self.derived.get(constraint)?;
        derived.blocks.as_ref()
    }

    /// Adds the generalized impulses of a constraint.
    pub(crate) fn add_impulse(
        &self,
        trees: &Trees,
        constraint: usize,
        impulse: &[T; 6],
        sum: &mut [T],
    ) {
        let real = &self.real.list[constraint];
        let impulse = &impulse[..real.law.num_rows()];
        match self.derived_blocks(constraint) {
            Some(blocks) => add_impulses(trees, blocks, &self.jacobian, impulse, sum),
            None => add_impulses(trees, &real.blocks, &self.real.jacobian, impulse, sum),
        }
    }
}

/// Returns true for 0 without derivatives, as most elements of the rows of joints are.
#[inline]
fn is_surely_zero<T: Scalar>(x: &T) -> bool {
    T::NDERIV == 0 && x.is_zero()
}

/// Adds the product of a Jacobian and the velocities of the plant.
#[inline]
fn add_velocities<T, C>(
    trees: &Trees,
    blocks: &JacobianBlocks,
    jacobian: &[C],
    v: &[T],
    out: &mut [T],
) where
    T: Scalar + Mul<C, Output = T> + AddAssign<C>,
    C: Scalar,
{
    for block in blocks {
        let range = trees.range(block.tree as usize);
        let (n, values) = (range.len(), &jacobian[block.start as usize..]);
        let v = &v[range];
        let rows = values.chunks_exact(n).zip(&mut *out);
        // At first, velocities have no derivatives.
        match T::NDERIV > 0 && v.iter().all(is_constant) {
            true => {
                for (row, out) in rows {
                    for (x, v) in row.iter().zip(v) {
                        *out += *x * v.re();
                    }
                }
            }
            false => {
                for (row, out) in rows {
                    for (x, v) in row.iter().zip(v) {
                        if !is_surely_zero(x) {
                            *out += *v * *x;
                        }
                    }
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
