//! Jacobians of constraints, in one block per tree.

use smallvec::SmallVec;

/// The columns of a constraint's Jacobian that belong to one tree.
///
/// A block has one row per row of the constraint and one column per velocity of its tree, or per
/// column of its [`VertexColumns`](crate::VertexColumns). Its values are stored row by row.
#[derive(Clone, Copy, Debug)]
pub struct JacobianBlock {
    /// The tree that the columns belong to.
    pub tree: u32,
    /// Index of the first value in the list of the values of all Jacobians.
    pub start: u32,
    /// The columns that the block has.
    pub columns: BlockColumns,
}

/// The columns of a tree that a block has; all others are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockColumns {
    /// All columns.
    All,
    /// The columns of some vertices of a deformable body, by their index in
    /// [`ConvexConstraints::vertices`](crate::ConvexConstraints::vertices).
    Vertices(u32),
}

/// Blocks of the Jacobian of a constraint, sorted by their trees, at most one for each.
pub type JacobianBlocks = SmallVec<[JacobianBlock; 2]>;
