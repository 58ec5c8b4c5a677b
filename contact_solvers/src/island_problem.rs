//! The convex problem of a step restricted to an island, and products with its Jacobian.

use super::blocks::{self, Factor};
use super::islands::{ProblemIsland, ProblemIslands};
use super::jacobian::{BlockColumns, JacobianBlock};
use super::law::Stiffness;
use super::problem::{ConvexConstraint, ConvexProblem};
use super::vertex_columns::VertexColumns;
use std::ops::Range;

/// A convex problem restricted to one of its islands.
#[derive(Clone, Copy, Debug)]
pub struct IslandProblem<'a> {
    pub(crate) problem: ConvexProblem<'a>,
    pub(crate) island: &'a ProblemIsland,
    /// Position of each tree in its island.
    pub(crate) local: &'a [u32],
}

/// A block of a constraint's Jacobian.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalBlock {
    /// Place of the tree in the island.
    pub(super) tree: usize,
    /// First velocity of the tree in the island, and their number.
    v: usize,
    pub(super) size: usize,
    /// Number of columns that have values.
    pub(super) num_columns: usize,
    pub(super) columns: LocalColumns,
    /// First of its values.
    values: usize,
}

/// Columns of a tree that have values in a block. All others are 0.
#[derive(Clone, Copy, Debug)]
pub(super) enum LocalColumns {
    All,
    /// A single one of a block that has a single row: a controller or a limit of a joint.
    One(usize),
    /// The columns of some vertices of a deformable body: their place in the list of the problem.
    Vertices(u32),
}

impl LocalBlock {
    /// Creates a block of a constraint, given the place of its tree and the velocities of the tree
    /// in the island.
    #[inline]
    pub(super) fn new(
        problem: &IslandProblem<'_>,
        constraint: &ConvexConstraint,
        block: &JacobianBlock,
        tree: usize,
        velocities: Range<usize>,
    ) -> Self {
        let mut local = Self {
            tree,
            v: velocities.start,
            size: velocities.len(),
            num_columns: velocities.len(),
            columns: LocalColumns::All,
            values: block.start as usize,
        };
        match block.columns {
            BlockColumns::Vertices(place) => {
                local.columns = LocalColumns::Vertices(place);
                local.num_columns = problem.problem.constraints.vertices[place as usize].len();
            }
            BlockColumns::All if constraint.law.num_rows() == 1 && constraint.blocks.len() == 1 => {
                let row = problem.values(&local, 1);
                let mut used = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
                if let (Some((column, _)), None) = (used.next(), used.next()) {
                    local.columns = LocalColumns::One(column);
                    local.num_columns = 1;
                    local.values += column;
                }
            }
            BlockColumns::All => {}
        }
        local
    }

    /// Returns the velocities of the tree in the island.
    #[inline]
    fn own(&self) -> Range<usize> {
        self.v..self.v + self.size
    }
}

impl<'a> IslandProblem<'a> {
    /// Restricts a problem to island `k` of its islands.
    ///
    /// # Panics
    /// Panics if there is no such island.
    #[inline]
    pub fn new(problem: ConvexProblem<'a>, islands: &'a ProblemIslands, k: usize) -> Self {
        Self {
            problem,
            island: &islands.list()[k],
            local: &islands.local,
        }
    }

    /// Returns the island.
    #[inline]
    pub fn island(&self) -> &'a ProblemIsland {
        self.island
    }

    pub(super) fn size(&self, local: usize) -> usize {
        self.problem.trees.range(self.island.trees[local]).len()
    }
    pub(super) fn list(&self) -> impl ExactSizeIterator<Item = &'a ConvexConstraint> + use<'a> {
        let list = &self.problem.constraints.list;
        self.island.constraints.iter().map(|c| &list[*c])
    }
    /// Returns the values of a block of a constraint with some number of rows.
    #[inline]
    pub(super) fn values(&self, block: &LocalBlock, rows: usize) -> &'a [f64] {
        &self.problem.constraints.jacobian[block.values..block.values + rows * block.num_columns]
    }
    /// Returns true if constraints move vertices of any deformable body.
    pub(super) fn has_vertices(&self) -> bool {
        !self.problem.constraints.vertices.is_empty()
    }
    #[inline]
    pub(super) fn vertices(&self, place: u32) -> &'a VertexColumns {
        &self.problem.constraints.vertices[place as usize]
    }
    /// Adds what velocities of the island add to those of a constraint by one of its blocks.
    #[inline]
    pub(super) fn add_times(&self, block: &LocalBlock, x: &[f64], out: &mut [f64]) {
        let own = &x[block.own()];
        match block.columns {
            LocalColumns::All => blocks::add_times(self.values(block, out.len()), own, out),
            LocalColumns::One(column) => out[0] += self.values(block, 1)[0] * own[column],
            LocalColumns::Vertices(place) => self.vertices(place).add_times(own, out),
        }
    }
    /// Returns a block, which has more than one column, as a factor of a product.
    #[inline]
    pub(super) fn factor(&self, block: &LocalBlock, rows: usize) -> Factor<'a> {
        match block.columns {
            LocalColumns::Vertices(place) => {
                let vertices = self.vertices(place);
                Factor::Vertices {
                    vertices,
                    rows: vertices.rows,
                    size: block.size,
                }
            }
            LocalColumns::All | LocalColumns::One(_) => Factor::All {
                values: self.values(block, rows),
                num_columns: block.num_columns,
            },
        }
    }
    /// Returns the product of a stiffness and such a block.
    #[inline]
    pub(super) fn stiff_factor<'v>(
        &self,
        block: &LocalBlock,
        stiffness: &Stiffness,
        rows: usize,
        product: &'v mut Vec<f64>,
    ) -> Factor<'v>
    where
        'a: 'v,
    {
        match self.factor(block, rows) {
            Factor::Vertices {
                vertices,
                rows,
                size,
            } => Factor::Vertices {
                vertices,
                rows: blocks::stiff_three(stiffness, &rows),
                size,
            },
            Factor::All {
                values,
                num_columns,
            } => {
                blocks::stiff_rows(stiffness, rows, num_columns, values, product);
                Factor::All {
                    values: product,
                    num_columns,
                }
            }
        }
    }
    /// Subtracts the generalized impulses that an impulse of a constraint has by one of its blocks.
    #[inline]
    pub(super) fn subtract_impulse(&self, block: &LocalBlock, impulse: &[f64], out: &mut [f64]) {
        let own = &mut out[block.own()];
        match block.columns {
            LocalColumns::All => {
                let values = self.values(block, impulse.len());
                blocks::subtract_transposed_times(values, impulse, own);
            }
            LocalColumns::One(column) => own[column] -= self.values(block, 1)[0] * impulse[0],
            LocalColumns::Vertices(place) => self.vertices(place).subtract_impulse(impulse, own),
        }
    }
}
