//! The convex problem of one discrete step: `v = argmin 1/2 |v - v*|_A^2 + sum_c l_c(J_c v)`.

use super::jacobian::{JacobianBlocks, JacobianFrame};
use super::law::Law;
use super::regularization::{InverseInertia, SiteLaw, StepSettings};
use super::site::{ContactSite, Site};
use super::trees::Trees;
use tarragon_framework::Scalar;

/// A constraint of the problem.
#[derive(Clone, Debug)]
pub(crate) struct ConvexConstraint {
    pub(crate) law: Law<f64>,
    pub(crate) blocks: JacobianBlocks,
}

/// The constraints of a problem, with the values of their Jacobians.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConvexConstraints {
    pub(crate) list: Vec<ConvexConstraint>,
    pub(crate) jacobian: Vec<f64>,
}

/// Kinematics and inertia from which the constraints of a problem are derived.
pub(crate) struct ProblemFrame<'a> {
    pub(crate) kinematics: JacobianFrame<'a, f64>,
    /// Velocities at the start of the step.
    pub(crate) v0: &'a [f64],
    /// Inverse of the diagonal of A.
    pub(crate) inverse_diagonal: &'a [f64],
    pub(crate) settings: &'a StepSettings,
}

impl ConvexConstraints {
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

    /// Adds a contact. One between bodies that do not move is left out; returns whether it was
    /// added.
    pub(crate) fn add_contact(
        &mut self,
        frame: &ProblemFrame<'_>,
        site: &ContactSite<f64>,
    ) -> bool {
        let first = self.jacobian.len();
        let blocks = frame.kinematics.contact_jacobian(site, &mut self.jacobian);
        self.add_law::<3>(frame, first, blocks, |constraints, blocks, w| {
            let trees = frame.kinematics.trees;
            let vn = normal_velocity(trees, &constraints.jacobian, blocks, frame.v0);
            frame.settings.contact(&site.parameters, w, vn)
        })
    }

    /// Adds a constraint at a site. A site that does not move is left out; returns whether the
    /// constraint was added.
    pub(crate) fn add(
        &mut self,
        frame: &ProblemFrame<'_>,
        site: &Site<f64>,
        law: &SiteLaw<f64>,
    ) -> bool {
        let first = self.jacobian.len();
        let blocks = frame.kinematics.jacobian(site, &mut self.jacobian);
        let law =
            |_: &Self, _: &JacobianBlocks, w: &InverseInertia<'_, f64>| frame.settings.law(law, w);
        match site.num_rows() {
            1 => self.add_law::<1>(frame, first, blocks, law),
            3 => self.add_law::<3>(frame, first, blocks, law),
            _ => self.add_law::<6>(frame, first, blocks, law),
        }
    }

    /// Adds a constraint with R rows whose Jacobian was appended from `first` on, unless it is 0;
    /// returns whether it was added.
    #[inline]
    fn add_law<const R: usize>(
        &mut self,
        frame: &ProblemFrame<'_>,
        first: usize,
        blocks: JacobianBlocks,
        law: impl FnOnce(&Self, &JacobianBlocks, &InverseInertia<'_, f64>) -> Law<f64>,
    ) -> bool {
        let (trees, diagonal) = (frame.kinematics.trees, frame.inverse_diagonal);
        let real = inverse_inertia::<f64, R>(trees, &self.jacobian, &blocks, diagonal);
        if real == 0.0 {
            self.jacobian.truncate(first);
            return false;
        }
        let w = InverseInertia {
            real,
            differentiate: &|| real,
        };
        let law = law(self, &blocks, &w);
        self.list.push(ConvexConstraint { law, blocks });
        true
    }
}

/// Returns the norm of `J diag(A)^-1 J^T` per row, for blocks with R rows.
#[inline]
pub(super) fn inverse_inertia<T: Scalar, const R: usize>(
    trees: &Trees,
    jacobian: &[T],
    blocks: &JacobianBlocks,
    inverse_diagonal: &[T],
) -> T {
    let mut w = [[T::zero(); R]; R];
    for block in blocks {
        let range = trees.range(block.tree as usize);
        let (n, start) = (range.len(), block.start as usize);
        let rows: [&[T]; R] = std::array::from_fn(|i| &jacobian[start + i * n..][..n]);
        for (k, inverse) in inverse_diagonal[range].iter().enumerate() {
            let column = rows.map(|row| row[k]);
            for i in 0..R {
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
    squares.sqrt() / R as f64
}

/// Returns the velocity of a contact's normal row.
#[inline]
fn normal_velocity(trees: &Trees, jacobian: &[f64], blocks: &JacobianBlocks, v: &[f64]) -> f64 {
    let mut sum = 0.0;
    for block in blocks {
        let range = trees.range(block.tree as usize);
        let row = &jacobian[block.start as usize + 2 * range.len()..];
        for (x, v) in row.iter().zip(&v[range]) {
            sum += x * v;
        }
    }
    sum
}
