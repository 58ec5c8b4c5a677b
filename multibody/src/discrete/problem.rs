//! The convex problem of one discrete step: `v = argmin 1/2 |v - v*|_A^2 + sum_c l_c(J_c v)`.

use super::law::Law;
use super::regularization::{SiteLaw, StepSettings};
use super::trees::Trees;
use crate::kinematics::PositionKinematics;
use crate::model::BodyIndex;
use crate::spatial::SpatialVector;
use crate::tree::KinematicTree;
use nalgebra::Vector3;
use smallvec::SmallVec;
use std::any::Any;
use std::borrow::Cow;
use tarragon_framework::Scalar;

/// Velocities that the rows of a constraint measure.
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

impl<T: Scalar> Site<T> {
    pub(crate) fn num_rows(&self) -> usize {
        match self {
            Self::Velocities(_) => 1,
            Self::Bodies { rows, .. } => rows.len(),
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
    pub(crate) fn new() -> Self {
        Self {
            list: vec![],
            jacobian: vec![],
        }
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
        let mut v = [T::zero(); 6];
        // Row i of a block, and the velocities that it multiplies.
        let row = |block: &JacobianBlock, i: usize| {
            let range = frame.trees.range(block.tree as usize);
            let start = block.start as usize + i * range.len();
            (&self.jacobian[start..start + range.len()], range)
        };
        // The squared norm of J diag(A)^-1 J^T.
        let mut squares = T::zero();
        for i in 0..rows {
            for block in &blocks {
                let (x, range) = row(block, i);
                for (x, v0) in x.iter().zip(&frame.v0[range]) {
                    v[i] += *x * *v0;
                }
            }
            for j in 0..=i {
                let mut w = T::zero();
                for block in &blocks {
                    let (x, range) = row(block, i);
                    let pairs = x.iter().zip(row(block, j).0);
                    for ((x, y), inverse) in pairs.zip(&frame.inverse_diagonal[range]) {
                        w += *x * *y * *inverse;
                    }
                }
                squares += w * w * if i == j { 1.0 } else { 2.0 };
            }
        }
        if squares.re() == 0.0 {
            self.jacobian.truncate(first);
            return false;
        }
        let law = settings.law(law, squares.sqrt() / rows as f64, &v[..rows]);
        self.list.push(ConvexConstraint { law, blocks });
        true
    }
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
    /// Appends the values of a site's Jacobian; columns of locked velocities are 0.
    fn jacobian(&self, site: &Site<T>, values: &mut Vec<T>) -> SmallVec<[JacobianBlock; 2]> {
        let mut blocks: SmallVec<[JacobianBlock; 2]> = SmallVec::new();
        let rows = site.num_rows();
        let mut block_of = |tree: usize, values: &mut Vec<T>| {
            let known = blocks.iter().find(|b| b.tree as usize == tree);
            let start = known.map_or(values.len(), |b| b.start as usize);
            if start == values.len() {
                values.resize(start + rows * self.trees.range(tree).len(), T::zero());
                blocks.push(JacobianBlock {
                    tree: tree as u32,
                    start: start as u32,
                });
            }
            start
        };
        match site {
            Site::Velocities(terms) => {
                for (k, coefficient) in terms {
                    let tree = self.trees.of_velocity(*k);
                    let start = block_of(tree, values);
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
                    let start = block_of(tree, values);
                    let range = self.trees.range(tree);
                    let mut body = body.index() as u32;
                    while body != 0 {
                        let node = &self.tree.nodes[self.tree.node_of[body as usize] as usize];
                        let arm = p_w - self.positions.p_wb(body);
                        for k in node.velocities().filter(|k| !self.locked[*k]) {
                            let v = self.positions.columns[k].velocity_at(&arm);
                            let v = v * T::from(sign);
                            for (i, row) in rows.iter().enumerate() {
                                values[start + i * range.len() + k - range.start] += row.dot(&v);
                            }
                        }
                        body = node.parent;
                    }
                }
            }
        }
        blocks.sort_by_key(|b| b.tree);
        blocks
    }
}
