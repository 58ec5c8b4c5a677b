//! Columns of Jacobians that belong to vertices of deformable bodies.

use nalgebra::Vector3;

/// The columns of some vertices of a deformable body in a block of a Jacobian, with their values.
///
/// The body has three velocities per vertex, along the axes of W. The block has three rows: the
/// velocity of a point, the weighted sum of at most four vertices, along three directions.
#[derive(Clone, Copy, Debug)]
pub struct VertexColumns {
    /// First column of each vertex.
    first: [u32; 4],
    weights: [f64; 4],
    count: u32,
    /// The directions, expressed in W.
    pub(crate) rows: [[f64; 3]; 3],
}

impl VertexColumns {
    /// Creates the columns of the vertices whose weight is not 0, where vertex i has columns 3i to
    /// 3i + 2. The rows are along `directions`, expressed in W.
    #[inline]
    pub fn new(vertices: &[u32; 4], weights: &[f64; 4], directions: [Vector3<f64>; 3]) -> Self {
        let mut columns = Self {
            first: [0; 4],
            weights: [0.0; 4],
            count: 0,
            rows: directions.map(Into::into),
        };
        for (vertex, weight) in vertices.iter().zip(weights) {
            if *weight != 0.0 {
                columns.first[columns.count as usize] = 3 * vertex;
                columns.weights[columns.count as usize] = *weight;
                columns.count += 1;
            }
        }
        columns
    }

    /// Returns the number of columns: three per vertex.
    #[inline]
    pub fn len(&self) -> usize {
        3 * self.count as usize
    }

    /// Returns `true` if no vertex has a weight.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the first column of each vertex, and its weight.
    #[inline]
    pub fn first_columns(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let all = self.first.iter().zip(&self.weights);
        let own = all.take(self.count as usize);
        own.map(|(first, weight)| (*first as usize, *weight))
    }

    /// Returns the columns.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.first_columns().flat_map(|(first, _)| first..first + 3)
    }

    /// Adds the product of the block with the velocities of the tree.
    #[inline(always)]
    pub(crate) fn add_times(&self, all: &[f64], out: &mut [f64]) {
        let mut u = [0.0; 3];
        for (first, weight) in self.first_columns() {
            for (u, v) in u.iter_mut().zip(&all[first..][..3]) {
                *u += weight * v;
            }
        }
        for (out, row) in out[..3].iter_mut().zip(&self.rows) {
            *out += row[0] * u[0] + row[1] * u[1] + row[2] * u[2];
        }
    }

    /// Subtracts the product of the transposed block with an impulse of the constraint.
    #[inline(always)]
    pub(crate) fn subtract_impulse(&self, impulse: &[f64], all: &mut [f64]) {
        let mut force = [0.0; 3];
        for (row, impulse) in self.rows.iter().zip(&impulse[..3]) {
            for (force, x) in force.iter_mut().zip(row) {
                *force += x * impulse;
            }
        }
        for (first, weight) in self.first_columns() {
            for (sum, force) in all[first..][..3].iter_mut().zip(&force) {
                *sum -= weight * force;
            }
        }
    }
}
