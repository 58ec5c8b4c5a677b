//! The convex problem of a step: `v = argmin 1/2 (v - v*)^T A (v - v*) + sum_c l_c(J_c v)`.

use super::jacobian::JacobianBlocks;
use super::law::Law;
use super::trees::TreeVelocities;
use super::vertex_columns::VertexColumns;
use smallvec::smallvec;

/// The convex problem of a step: a quadratic cost, and the costs of constraints.
#[derive(Clone, Copy, Debug)]
pub struct ConvexProblem<'a> {
    /// The velocities of each tree.
    pub trees: &'a TreeVelocities,
    /// Cost of velocities that differ from the free motion.
    pub quadratic: &'a QuadraticCost,
    /// The constraints with their Jacobians.
    pub constraints: &'a ConvexConstraints,
    /// Derivatives are computed at the solution; large islands without them are solved by another
    /// factorization. See
    /// [`solve_with_derivatives`](crate::IslandSolver::solve_with_derivatives).
    pub with_derivatives: bool,
}

/// Quadratic part of the cost, `1/2 (v - v*)^T A (v - v*)`. The inertia A has one block per tree.
///
/// Translational velocities are in m/s, angular ones in rad/s, so that elements of A are in kg,
/// kg m and kg m^2.
#[derive(Clone, Debug, Default)]
pub struct QuadraticCost {
    /// Blocks of A tree after tree, each of n by n elements for a tree with n velocities.
    pub a: Vec<f64>,
    /// Index in `a` of the first element of each block, and the end of the last.
    pub starts: Vec<usize>,
    /// Inverse of the diagonal of A, by velocity; 0 for velocities that never change.
    pub inverse_diagonal: Vec<f64>,
    /// Velocities v* at the end of the step without constraints.
    pub v_star: Vec<f64>,
    /// Velocities from which the iterations begin.
    pub guess: Vec<f64>,
}

impl QuadraticCost {
    /// Returns the block of A of a tree, row by row.
    ///
    /// # Panics
    /// Panics if there is no such tree.
    #[inline]
    pub fn block(&self, tree: usize) -> &[f64] {
        &self.a[self.starts[tree]..self.starts[tree + 1]]
    }
}

/// A constraint of the problem.
#[derive(Clone, Debug)]
pub struct ConvexConstraint {
    /// Cost and impulse at each velocity of the constraint.
    pub law: Law<f64>,
    /// Blocks of the Jacobian; none if nothing moves there.
    pub blocks: JacobianBlocks,
    /// Norm of `J diag(A)^-1 J^T` per row, with which the law was regularized. The solver does not
    /// read it.
    pub inverse_inertia: f64,
}

impl ConvexConstraint {
    /// Creates a constraint where nothing moves. It has no rows and belongs to no island.
    #[inline]
    pub fn unused() -> Self {
        Self {
            law: Law::Rows(smallvec![]),
            blocks: smallvec![],
            inverse_inertia: 0.0,
        }
    }
}

/// The constraints of a problem, with the values of their Jacobians.
#[derive(Clone, Debug, Default)]
pub struct ConvexConstraints {
    /// The constraints. Neighbours in the list should act on the same trees.
    pub list: Vec<ConvexConstraint>,
    /// Values of the blocks of all Jacobians, each block row by row.
    pub jacobian: Vec<f64>,
    /// Columns of the blocks that belong to some vertices of a deformable body.
    pub vertices: Vec<VertexColumns>,
}
