//! Products of the Jacobians of constraints, with and without derivatives.

use super::jacobian::{BlockColumns, JacobianBlock, JacobianBlocks};
use super::trees::TreeVelocities;
use super::vertex_columns::VertexColumns;
use std::ops::{AddAssign, Mul};
use tarragon_framework::Scalar;

/// Returns true for 0 without derivatives, as most elements of the rows of joints are.
#[inline]
fn is_surely_zero<T: Scalar>(x: &T) -> bool {
    T::NDERIV == 0 && x.is_zero()
}

/// The Jacobian of a constraint in products, with or without derivatives.
#[derive(Clone, Copy, Debug)]
pub struct JacobianProduct<'a, C> {
    /// Blocks of the constraint.
    pub blocks: &'a JacobianBlocks,
    /// Values of the blocks of all constraints.
    pub jacobian: &'a [C],
    /// Columns of the blocks that belong to some vertices of a deformable body.
    pub vertices: &'a [VertexColumns],
}

impl<C: Scalar> JacobianProduct<'_, C> {
    /// Returns the columns of the vertices that a block has, if it is one of a deformable body.
    #[inline]
    fn vertices(&self, block: &JacobianBlock) -> Option<&VertexColumns> {
        match block.columns {
            BlockColumns::All => None,
            BlockColumns::Vertices(place) => Some(&self.vertices[place as usize]),
        }
    }

    /// Adds the product with the velocities of the step to `out`, which has one number per row of
    /// the constraint; `times` multiplies an element by a velocity.
    #[inline]
    pub fn add_velocities<T, P>(
        &self,
        trees: &TreeVelocities,
        v: &[T],
        out: &mut [T],
        times: impl Fn(C, &T) -> P,
    ) where
        T: Scalar + AddAssign<P>,
    {
        for block in self.blocks {
            let range = trees.range(block.tree as usize);
            let values = &self.jacobian[block.start as usize..];
            let v = &v[range];
            if let Some(own) = self.vertices(block) {
                for (i, out) in out.iter_mut().enumerate() {
                    let row = &values[i * own.len()..];
                    for (x, column) in row.iter().zip(own.iter()) {
                        *out += times(*x, &v[column]);
                    }
                }
                continue;
            }
            for (row, out) in values.chunks_exact(v.len()).zip(&mut *out) {
                for (x, v) in row.iter().zip(v) {
                    if !is_surely_zero(x) {
                        *out += times(*x, v);
                    }
                }
            }
        }
    }

    /// Adds the product of the transposed Jacobian and the impulses of its rows to `sum`, which has
    /// one number per velocity of the step.
    #[inline]
    pub fn add_impulses<T>(&self, trees: &TreeVelocities, impulse: &[T], sum: &mut [T])
    where
        T: Scalar + Mul<C, Output = T>,
    {
        for block in self.blocks {
            let range = trees.range(block.tree as usize);
            let values = &self.jacobian[block.start as usize..];
            let own_sum = &mut sum[range];
            if let Some(own) = self.vertices(block) {
                for (i, f) in impulse.iter().enumerate() {
                    let row = &values[i * own.len()..];
                    for (x, column) in row.iter().zip(own.iter()) {
                        own_sum[column] += *f * *x;
                    }
                }
                continue;
            }
            for (row, f) in values.chunks_exact(own_sum.len()).zip(impulse) {
                for (sum, x) in own_sum.iter_mut().zip(row) {
                    if !is_surely_zero(x) {
                        *sum += *f * *x;
                    }
                }
            }
        }
    }
}
