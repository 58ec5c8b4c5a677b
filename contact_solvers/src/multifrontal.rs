//! Cholesky factorization of large Hessians by fronts.

use super::sparse::{BlockPattern, EliminationTree, SparseCholesky};

/// Rows and columns of a block of the factorization.
const BLOCK: usize = 3;

/// A symmetric positive definite matrix of blocks, one row and column of blocks per tree, and its
/// factor.
///
/// A tree with n velocities has `n.div_ceil(3)` vertices in the factorization. Rows and columns
/// beyond n are unit vectors.
#[derive(Clone, Debug, Default)]
pub(super) struct MultifrontalCholesky {
    /// Pattern for which the symbolic part was computed.
    sizes: Vec<usize>,
    edges: Vec<(u32, u32)>,
    /// Values of the blocks on the diagonal, column by column, then of the blocks of the edges
    /// `(i, j)`, which have the rows of i, row by row.
    values: Vec<f64>,
    diagonal_starts: Vec<usize>,
    edge_starts: Vec<usize>,
    cholesky: SparseCholesky,
    /// The same values in blocks of the factorization.
    blocks: Vec<[f64; 9]>,
    /// Vector of the factorization.
    padded: Vec<f64>,
}

/// Number of vertices of a tree with `size` velocities.
fn num_vertices(size: usize) -> usize {
    size.div_ceil(BLOCK)
}

impl MultifrontalCholesky {
    /// Prepares for a pattern, as the blocks of [`super::cholesky::BlockCholesky`] do.
    pub(super) fn analyze(&mut self, sizes: &[usize], edges: &[(u32, u32)]) {
        if self.sizes == sizes && self.edges == edges {
            return;
        }
        sizes.clone_into(&mut self.sizes);
        edges.clone_into(&mut self.edges);
        let mut total = 0;
        let mut start = |len: usize| {
            total += len;
            total - len
        };
        self.diagonal_starts.clear();
        self.diagonal_starts
            .extend(sizes.iter().map(|n| start(n * n)));
        self.edge_starts.clear();
        let edge_sizes = edges
            .iter()
            .map(|(i, j)| sizes[*i as usize] * sizes[*j as usize]);
        self.edge_starts.extend(edge_sizes.map(start));
        self.values.clear();
        self.values.resize(total, 0.0);
        let pattern = self.pattern();
        self.blocks.resize(pattern.num_blocks(), [0.0; 9]);
        self.padded.resize(BLOCK * pattern.num_vertices(), 0.0);
        let tree = EliminationTree::minimum_degree(&pattern);
        self.cholesky.analyze(&tree, &pattern, &[]);
    }

    /// Returns the pattern of the vertices.
    fn pattern(&self) -> BlockPattern {
        let mut count = 0;
        let first_vertices = self.sizes.iter().map(|size| {
            count += num_vertices(*size) as u32;
            count - num_vertices(*size) as u32
        });
        let first_vertices: Vec<u32> = first_vertices.collect();
        let vertices = |i: usize| {
            let first = first_vertices[i];
            first..first + num_vertices(self.sizes[i]) as u32
        };
        let mut pairs = vec![];
        for (i, _, edges) in self.rows() {
            for v in vertices(i) {
                pairs.extend((v + 1..vertices(i).end).map(|w| (v, w)));
                for (_, j) in edges {
                    pairs.extend(vertices(*j as usize).map(|w| (v, w)));
                }
            }
        }
        BlockPattern::new(count as usize, pairs)
    }

    /// Returns each tree with the index of its first edge, and its edges to later trees.
    fn rows(&self) -> impl Iterator<Item = (usize, usize, &[(u32, u32)])> {
        let mut first = 0;
        (0..self.sizes.len()).map(move |i| {
            let own = self.edges[first..].iter();
            let count = own.take_while(|(a, _)| *a as usize == i).count();
            first += count;
            (i, first - count, &self.edges[first - count..first])
        })
    }

    pub(super) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    pub(super) fn diagonal_mut(&mut self, i: usize) -> &mut [f64] {
        let (start, size) = (self.diagonal_starts[i], self.sizes[i]);
        &mut self.values[start..start + size * size]
    }

    pub(super) fn off_diagonal_mut(&mut self, i: usize, j: usize) -> (&mut [f64], bool) {
        let pair = (i as u32, j as u32);
        let start = self.edge_starts[self.edges.partition_point(|edge| *edge < pair)];
        let size = self.sizes[i] * self.sizes[j];
        (&mut self.values[start..start + size], false)
    }

    pub(super) fn factor(&mut self) -> bool {
        let mut blocks = std::mem::take(&mut self.blocks);
        self.fill_blocks(&mut blocks);
        self.blocks = blocks;
        self.cholesky.factor(&self.blocks, true)
    }

    /// Copies the values to the blocks of the vertices, in the order of their pattern.
    fn fill_blocks(&self, blocks: &mut [[f64; 9]]) {
        let total = self.padded.len() / BLOCK;
        let (diagonal, others) = blocks.split_at_mut(total);
        let (mut diagonal, mut others) = (diagonal.iter_mut(), others.iter_mut());
        for (i, first_edge, edges) in self.rows() {
            let size = self.sizes[i];
            let own = &self.values[self.diagonal_starts[i]..][..size * size];
            for a in (0..size).step_by(BLOCK) {
                if let Some(block) = diagonal.next() {
                    copy_triangle(own, size, a, block);
                }
                // The lower triangle by columns is the upper one by rows.
                for (b, block) in (a + BLOCK..size).step_by(BLOCK).zip(&mut others) {
                    copy_block(own, size, a, b, block);
                }
                for (k, (_, j)) in edges.iter().enumerate() {
                    let width = self.sizes[*j as usize];
                    let from = &self.values[self.edge_starts[first_edge + k]..][..size * width];
                    for (b, block) in (0..width).step_by(BLOCK).zip(&mut others) {
                        copy_block(from, width, a, b, block);
                    }
                }
            }
        }
    }

    pub(super) fn solve(&mut self, b: &mut [f64]) {
        self.padded.fill(0.0);
        let (mut rest, mut padded) = (&*b, &mut self.padded[..]);
        for size in &self.sizes {
            let (own, others) = rest.split_at(*size);
            let (to, others_padded) = padded.split_at_mut(BLOCK * num_vertices(*size));
            to[..*size].copy_from_slice(own);
            (rest, padded) = (others, others_padded);
        }
        self.cholesky.solve(&mut self.padded);
        let (mut rest, mut padded) = (b, &self.padded[..]);
        for size in &self.sizes {
            let (own, others) = rest.split_at_mut(*size);
            let (from, others_padded) = padded.split_at(BLOCK * num_vertices(*size));
            own.copy_from_slice(&from[..*size]);
            (rest, padded) = (others, others_padded);
        }
    }
}

/// Copies the block at (a, a) of a square matrix by columns, whose lower triangle is read. Rows
/// beyond its end are rows of the identity.
fn copy_triangle(from: &[f64], size: usize, a: usize, block: &mut [f64; 9]) {
    for i in 0..BLOCK {
        for j in 0..=i {
            let x = if a + i < size {
                from[(a + j) * size + a + i]
            } else if i == j {
                1.0
            } else {
                0.0
            };
            block[BLOCK * i + j] = x;
            block[BLOCK * j + i] = x;
        }
    }
}

/// Copies the block at (a, b) of a matrix by rows. Elements beyond its end are zero.
#[inline(always)]
fn copy_block(from: &[f64], width: usize, a: usize, b: usize, block: &mut [f64; 9]) {
    let len = BLOCK.min(width - b);
    let (rows, _) = block.as_chunks_mut::<BLOCK>();
    for (row, from) in rows.iter_mut().zip(from[a * width..].chunks_exact(width)) {
        if len == BLOCK {
            row.copy_from_slice(&from[b..b + BLOCK]);
        } else {
            row[..len].copy_from_slice(&from[b..b + len]);
        }
    }
}
