//! The constraints of a step, with those of their parts that have derivatives.

use super::contact_motion::ContactMotion;
use super::inverse_inertia::{
    derive_contact_inverse_inertia, derive_inverse_inertia, inverse_inertia,
    inverse_inertia_of_columns,
};
use super::jacobian::JacobianFrame;
use super::momentum::Momentum;
use super::optional_list::OptionalList;
use super::regularization::{InverseInertia, SiteLaw};
use super::site::{ContactSites, Site};
use super::step_start::StepStart;
use super::vertices::{DeformableDerivatives, DeformableSite, DerivedVertices};
use crate::dynamics::mass_matrix_diagonal;
use crate::kinematics::spatial_velocities_of;
use crate::model::BodyIndex;
use crate::spatial::SpatialVector;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::OnceCell;
use tarragon_contact_solvers::{
    ConvexConstraints, JacobianBlock, JacobianBlocks, JacobianProduct, Law, ProblemIsland,
    TreeVelocities, VertexColumns,
};
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
    /// Columns of their blocks that belong to some vertices of a deformable body.
    vertices: Vec<VertexColumns>,
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
    /// Velocities at the start, without derivatives.
    v0: &'a [f64],
    /// By tree: whether nothing about it has derivatives.
    constant_trees: &'a [bool],
    /// The inverse of the diagonal with derivatives, if it was needed.
    derived_diagonal: OnceCell<Vec<T>>,
}

impl<'a, T: Scalar> StepFrame<'a, T> {
    /// Creates the frame of a step.
    pub(crate) fn new(
        start: &'a StepStart<'a, T>,
        momentum: &'a Momentum,
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
            inverse_diagonal: &momentum.quadratic.inverse_diagonal,
            v0: &momentum.v0,
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
        if blocks.iter().all(constant) {
            let diagonal = self.inverse_diagonal;
            T::from(inverse_inertia::<R>(trees, jacobian, blocks, diagonal))
        } else {
            let diagonal = self.derived_diagonal();
            derive_inverse_inertia::<T, f64, R>(trees, jacobian, blocks, diagonal)
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
            vertices: vec![],
        }
    }

    /// Forgets derivatives.
    pub(crate) fn clear_derived(&mut self) {
        self.derived.clear();
        self.jacobian.clear();
        self.vertices.clear();
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
            let mut velocity = [T::zero(); 6];
            contact.update_velocity(&frame.v_wb, &mut velocity);
            let settings = start.settings;
            let law = settings.contact(&real.parameters.lift(), &w, |row| velocity[row]);
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
        let mut velocity = [T::zero(); 6];
        contact.update_velocity(&frame.v_wb, &mut velocity);
        let law = start
            .settings
            .contact(&site.parameters, &w, |row| velocity[row]);
        let rows = DerivedRows::OfBodies;
        self.derived.push(Some(DerivedConstraint { law, rows }));
    }

    /// Finds what has derivatives in constraint `k`, which is at another site.
    pub(crate) fn derive_site(
        &mut self,
        frame: &StepFrame<'_, T>,
        k: usize,
        site: &Site<T>,
        law: &SiteLaw<T>,
    ) {
        let derived = match site.num_rows() {
            1 => self.derive::<1>(frame, k, site, law),
            3 => self.derive::<3>(frame, k, site, law),
            _ => self.derive::<6>(frame, k, site, law),
        };
        self.derived.push(derived);
    }

    /// Finds what has derivatives in constraint `k`, which is at a site of deformable bodies. Trees
    /// and velocities include those of these bodies.
    pub(super) fn derive_deformable_site(
        &mut self,
        frame: &StepFrame<'_, T>,
        k: usize,
        trees: &TreeVelocities,
        deformable: &DeformableDerivatives<T>,
        site: &DeformableSite<T>,
    ) {
        let blocks = &self.real.list[k].blocks;
        if blocks.is_empty() || site.is_constant() && frame.are_constant(blocks) {
            self.derived.push(None);
            return;
        }
        let start = frame.start;
        let (num_velocities, first) = (start.trees.num_velocities(), start.trees.len());
        let (blocks, columns) = site.add_jacobian(
            &frame.kinematics,
            trees,
            first,
            &mut self.jacobian,
            &mut self.vertices,
        );
        // The derived value of a body that has one, by velocity.
        let vertices = |k: usize, of: fn(&DerivedVertices<T>) -> &[T]| {
            let tree = trees.of_velocity(k);
            let own = of(&deformable.bodies[tree - first]);
            own.get(k - trees.range(tree).start).copied()
        };
        let real = &frame.inverse_diagonal;
        let inverse = |k: usize| {
            if k < num_velocities {
                frame.derived_diagonal()[k]
            } else {
                vertices(k, |body| &body.inverse_diagonal).unwrap_or_else(|| T::from(real[k]))
            }
        };
        let v0 = |k: usize| match k < num_velocities {
            true if start.locked[k] => T::zero(),
            true => start.velocities.v[k],
            false => vertices(k, |body| &body.v0).unwrap_or_else(|| T::from(frame.v0[k])),
        };
        let w = InverseInertia {
            real: self.real.list[k].inverse_inertia,
            differentiate: &|| {
                let columns = columns.iter().map(|(column, k)| (*column, inverse(*k)));
                inverse_inertia_of_columns(columns)
            },
        };
        let vn = columns
            .iter()
            .fold(T::zero(), |sum, (column, k)| sum + column[2] * v0(*k));
        let law = site.law.law(&start.settings, &w, vn);
        let rows = DerivedRows::Derived(blocks);
        self.derived.push(Some(DerivedConstraint { law, rows }));
    }

    /// Computes what has derivatives in constraint `k`, which has R rows.
    fn derive<const R: usize>(
        &mut self,
        frame: &StepFrame<'_, T>,
        k: usize,
        site: &Site<T>,
        law: &SiteLaw<T>,
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
            Site::Bodies(_) | Site::Length(_) => {
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
    pub(super) fn add_velocities(
        &self,
        trees: &TreeVelocities,
        constraint: usize,
        v: &[T],
        out: &mut [T],
    ) {
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
                self.derived_product(blocks)
                    .add_velocities(trees, v, out, |x, v| x * v.re());
            }
            _ => {
                let product = self.real_product(&real.blocks);
                product.add_velocities(trees, v, out, |x, v| x * v.re());
            }
        }
    }

    /// Adds the velocities of any constraint, as if its Jacobian had no derivatives, at velocities
    /// of the plant.
    pub(super) fn add_real_velocities(
        &self,
        trees: &TreeVelocities,
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
        let product = self.real_product(&real.blocks);
        product.add_velocities(trees, v, out, |x, v| *v * x);
    }

    /// Adds the generalized impulses of a constraint with derivatives that has a Jacobian.
    pub(super) fn add_impulse(
        &self,
        trees: &TreeVelocities,
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
                self.derived_product(blocks).add_impulses(trees, own, sum);
            }
            _ => self
                .real_product(&real.blocks)
                .add_impulses(trees, own, sum),
        }
    }

    fn derived_product<'a>(&'a self, blocks: &'a JacobianBlocks) -> JacobianProduct<'a, T> {
        JacobianProduct {
            blocks,
            jacobian: &self.jacobian,
            vertices: &self.vertices,
        }
    }

    fn real_product<'a>(&'a self, blocks: &'a JacobianBlocks) -> JacobianProduct<'a, f64> {
        JacobianProduct {
            blocks,
            jacobian: &self.real.jacobian,
            vertices: &self.real.vertices,
        }
    }
}
