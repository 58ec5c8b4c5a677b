//! The convex problem of one discrete step: `v = argmin 1/2 |v - v*|_A^2 + sum_c l_c(J_c v)`.

use super::law::Law;
use super::regularization::{ContactParameters, SiteLaw, StepSettings};
use super::trees::Trees;
use crate::kinematics::PositionKinematics;
use crate::model::BodyIndex;
use crate::spatial::SpatialVector;
use crate::tree::KinematicTree;
use nalgebra::{Matrix3, Vector3};
use smallvec::SmallVec;
use std::any::Any;
use std::borrow::Cow;
use tarragon_framework::Scalar;

/// A contact at a point: three rows, the velocity of body B relative to body A there, along
/// directions.
#[derive(Clone, Debug)]
pub(crate) struct ContactSite<T: Scalar> {
    /// A and B.
    pub(crate) bodies: [BodyIndex; 2],
    /// Position of the contact point in W.
    pub(crate) p_wc: Vector3<T>,
    /// Two tangents and the normal out of A into B, expressed in W, as columns.
    pub(crate) r_wc: Matrix3<T>,
    pub(crate) parameters: ContactParameters<T>,
}

/// Velocities that the rows of another constraint measure.
#[derive(Clone, Debug)]
pub(crate) enum Site<T: Scalar> {
    /// One row: a sum of velocities with coefficients.
    Velocities(SmallVec<[(usize, f64); 2]>),
    /// Rows of the velocity of a point of body B relative to a point of body A.
    Bodies {
        /// A and B.
        bodies: [BodyIndex; 2],
        /// Positions of the points in W.
        points: [Vector3<T>; 2],
        /// Directions of the rows, expressed in W.
        rows: SmallVec<[SpatialVector<T>; 3]>,
    },
}

/// A spatial impulse between two bodies.
pub(crate) struct SiteImpulse<T: Scalar> {
    /// A and B.
    pub(crate) bodies: [BodyIndex; 2],
    /// Points in W where it acts on them.
    pub(crate) points: [Vector3<T>; 2],
    /// The impulse on B, expressed in W.
    pub(crate) on_b: SpatialVector<T>,
}

impl<T: Scalar> Site<T> {
    pub(crate) fn num_rows(&self) -> usize {
        match self {
            Self::Velocities(_) => 1,
            Self::Bodies { rows, .. } => rows.len(),
        }
    }

    /// Returns what impulses of the rows do to the bodies; `None` if there are no bodies.
    pub(crate) fn impulse(&self, rows: &[T; 6]) -> Option<SiteImpulse<T>> {
        match self {
            Self::Velocities(_) => None,
            Self::Bodies {
                bodies,
                points,
                rows: directions,
            } => {
                let mut impulse = SpatialVector::zero();
                for (direction, f) in directions.iter().zip(rows) {
                    impulse += *direction * *f;
                }
                Some(SiteImpulse {
                    bodies: *bodies,
                    points: *points,
                    on_b: impulse,
                })
            }
        }
    }
}

/// The columns of a constraint's Jacobian that belong to one tree, row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JacobianBlock {
    pub(crate) tree: u32,
    /// Where its values start.
    pub(crate) start: u32,
}

/// A constraint of the problem.
#[derive(Clone, Debug)]
pub(crate) struct ConvexConstraint<T> {
    pub(crate) law: Law<T>,
    pub(crate) blocks: SmallVec<[JacobianBlock; 2]>,
}

/// The constraints of a problem, with the values of their Jacobians.
#[derive(Clone, Debug)]
pub(crate) struct ConvexConstraints<T> {
    pub(crate) list: Vec<ConvexConstraint<T>>,
    pub(crate) jacobian: Vec<T>,
}

impl<T: Scalar> ConvexConstraints<T> {
    /// Creates a problem without constraints.
    pub(crate) fn empty() -> Self {
        Self {
            list: vec![],
            jacobian: vec![],
        }
    }

    /// Removes all constraints.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.jacobian.clear();
    }

    /// Adds the constraints of another part of the problem after these.
    pub(crate) fn append(&mut self, mut other: Self) {
        let shift = self.jacobian.len() as u32;
        for constraint in &mut other.list {
            for block in &mut constraint.blocks {
                block.start += shift;
            }
        }
        self.list.append(&mut other.list);
        self.jacobian.append(&mut other.jacobian);
    }

    /// Returns the same without derivatives.
    pub(crate) fn real(&self) -> Cow<'_, ConvexConstraints<f64>> {
        if let Some(real) = (self as &dyn Any).downcast_ref() {
            return Cow::Borrowed(real);
        }
        let real = |c: &ConvexConstraint<T>| ConvexConstraint {
            law: c.law.real(),
            blocks: c.blocks.clone(),
        };
        Cow::Owned(ConvexConstraints {
            list: self.list.iter().map(real).collect(),
            jacobian: self.jacobian.iter().map(|x| x.re()).collect(),
        })
    }

    /// Adds a contact. One between bodies that do not move is left out; returns whether it was
    /// added.
    pub(crate) fn add_contact(
        &mut self,
        frame: &ProblemFrame<'_, T>,
        settings: &StepSettings,
        site: &ContactSite<T>,
    ) -> bool {
        let first = self.jacobian.len();
        let blocks = frame.contact_jacobian(site, &mut self.jacobian);
        let (squares, v) = self.measure::<3>(frame, &blocks);
        if squares.re() == 0.0 {
            self.jacobian.truncate(first);
            return false;
        }
        let law = settings.contact(&site.parameters, squares.sqrt() / 3.0, v[2]);
        self.list.push(ConvexConstraint { law, blocks });
        true
    }

    /// Adds a constraint at a site. A site that does not move is left out; returns whether the
    /// constraint was added.
    pub(crate) fn add(
        &mut self,
        frame: &ProblemFrame<'_, T>,
        settings: &StepSettings,
        site: &Site<T>,
        law: &SiteLaw<T>,
    ) -> bool {
        let first = self.jacobian.len();
        let blocks = frame.jacobian(site, &mut self.jacobian);
        let rows = site.num_rows();
        let (squares, _) = match rows {
            1 => self.measure::<1>(frame, &blocks),
            3 => self.measure::<3>(frame, &blocks),
            _ => self.measure::<6>(frame, &blocks),
        };
        if squares.re() == 0.0 {
            self.jacobian.truncate(first);
            return false;
        }
        let law = settings.law(law, squares.sqrt() / rows as f64);
        self.list.push(ConvexConstraint { law, blocks });
        true
    }

    /// Returns the squared norm of `J diag(A)^-1 J^T` and the velocity at the start of the step,
    /// for blocks with R rows.
    #[inline]
    fn measure<const R: usize>(
        &self,
        frame: &ProblemFrame<'_, T>,
        blocks: &[JacobianBlock],
    ) -> (T, [T; 6]) {
        let (mut w, mut v) = ([[T::zero(); R]; R], [T::zero(); 6]);
        for block in blocks {
            let range = frame.trees.range(block.tree as usize);
            let (n, start) = (range.len(), block.start as usize);
            let rows: [&[T]; R] = std::array::from_fn(|i| &self.jacobian[start + i * n..][..n]);
            let factors = frame.v0[range.clone()]
                .iter()
                .zip(&frame.inverse_diagonal[range]);
            for (k, (v0, inverse)) in factors.enumerate() {
                let column = rows.map(|row| row[k]);
                for i in 0..R {
                    v[i] += column[i] * *v0;
                    let scaled = column[i] * *inverse;
                    for j in 0..=i {
                        w[i][j] += scaled * column[j];
                    }
                }
            }
        }
        let mut squares = T::zero();
        for (i, row) in w.iter().enumerate() {
            for (j, x) in row.iter().enumerate().take(i + 1) {
                squares += *x * *x * if i == j { 1.0 } else { 2.0 };
            }
        }
        (squares, v)
    }
}

/// Returns where the values of a tree's block start, which is added with zeros if need be.
fn block_of<T: Scalar>(
    blocks: &mut SmallVec<[JacobianBlock; 2]>,
    tree: usize,
    len: usize,
    values: &mut Vec<T>,
) -> usize {
    if let Some(known) = blocks.iter().find(|b| b.tree as usize == tree) {
        return known.start as usize;
    }
    let start = values.len();
    values.resize(start + len, T::zero());
    blocks.push(JacobianBlock {
        tree: tree as u32,
        start: start as u32,
    });
    start
}

/// Kinematics and inertia from which the constraints of a problem are derived.
pub(crate) struct ProblemFrame<'a, T: Scalar> {
    pub(crate) tree: &'a KinematicTree,
    pub(crate) trees: &'a Trees,
    pub(crate) positions: &'a PositionKinematics<T>,
    /// Velocities at the start of the step.
    pub(crate) v0: &'a [T],
    /// Inverse of the diagonal of A.
    pub(crate) inverse_diagonal: &'a [T],
    /// Velocities that are held at 0.
    pub(crate) locked: &'a [bool],
}

impl<T: Scalar> ProblemFrame<'_, T> {
    /// Appends the values of a contact's Jacobian; columns of locked velocities are 0.
    fn contact_jacobian(
        &self,
        site: &ContactSite<T>,
        values: &mut Vec<T>,
    ) -> SmallVec<[JacobianBlock; 2]> {
        let mut blocks: SmallVec<[JacobianBlock; 2]> = SmallVec::new();
        for (body, sign) in site.bodies.iter().zip([-1.0, 1.0]) {
            let Some(tree) = self.trees.of_body(*body) else {
                continue;
            };
            let range = self.trees.range(tree);
            let (start, n) = (
                block_of(&mut blocks, tree, 3 * range.len(), values),
                range.len(),
            );
            let values = &mut values[start..start + 3 * n];
            let directions = site.r_wc * T::from(sign);
            if self.trees.is_free_body(tree) {
                if self.locked[range.start] {
                    continue;
                }
                let arm = site.p_wc - self.positions.p_wb(body.index() as u32);
                for (row, direction) in values.chunks_exact_mut(6).zip(directions.column_iter()) {
                    let moment = arm.cross(&direction);
                    row[..3].copy_from_slice(moment.as_slice());
                    row[3..].copy_from_slice(direction.as_slice());
                }
                continue;
            }
            let (x, rest) = values.split_at_mut(n);
            let (y, z) = rest.split_at_mut(n);
            self.for_columns(*body, &site.p_wc, |k, v| {
                let (rates, k) = (directions.tr_mul(&v.translational), k - range.start);
                x[k] += rates.x;
                y[k] += rates.y;
                z[k] += rates.z;
            });
        }
        blocks.sort_by_key(|b| b.tree);
        blocks
    }

    /// Appends the values of a site's Jacobian; columns of locked velocities are 0.
    fn jacobian(&self, site: &Site<T>, values: &mut Vec<T>) -> SmallVec<[JacobianBlock; 2]> {
        let mut blocks: SmallVec<[JacobianBlock; 2]> = SmallVec::new();
        let rows = site.num_rows();
        let mut block = |tree: usize, values: &mut Vec<T>| {
            block_of(
                &mut blocks,
                tree,
                rows * self.trees.range(tree).len(),
                values,
            )
        };
        match site {
            Site::Velocities(terms) => {
                for (k, coefficient) in terms {
                    let tree = self.trees.of_velocity(*k);
                    let start = block(tree, values);
                    if !self.locked[*k] {
                        values[start + k - self.trees.range(tree).start] += T::from(*coefficient);
                    }
                }
            }
            Site::Bodies {
                bodies,
                points,
                rows,
            } => {
                for ((body, p_w), sign) in bodies.iter().zip(points).zip([-1.0, 1.0]) {
                    let Some(tree) = self.trees.of_body(*body) else {
                        continue;
                    };
                    let (start, range) = (block(tree, values), self.trees.range(tree));
                    self.for_columns(*body, p_w, |k, v| {
                        for (i, row) in rows.iter().enumerate() {
                            let rate = row.dot(&v) * sign;
                            values[start + i * range.len() + k - range.start] += rate;
                        }
                    });
                }
            }
        }
        blocks.sort_by_key(|b| b.tree);
        blocks
    }

    /// Calls a function with every velocity that moves a body, and the spatial velocity at a point
    /// of the body per unit of it.
    #[inline]
    fn for_columns(
        &self,
        body: BodyIndex,
        p_w: &Vector3<T>,
        mut f: impl FnMut(usize, SpatialVector<T>),
    ) {
        let mut body = body.index() as u32;
        while body != 0 {
            let node = &self.tree.nodes[self.tree.node_of[body as usize] as usize];
            let arm = p_w - self.positions.p_wb(body);
            let (range, columns) = (node.velocities(), &self.positions.columns);
            let columns = columns[range.clone()]
                .iter()
                .zip(&self.locked[range.clone()]);
            for (k, (column, locked)) in range.zip(columns) {
                if !locked {
                    f(k, column.velocity_at(&arm));
                }
            }
            body = node.parent;
        }
    }
}
