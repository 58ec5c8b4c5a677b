//! Sparsity pattern of symmetric matrices of 3x3 blocks.

use tarragon_framework::simd::{Kernel, dispatch, multiply_add};

/// Pattern of a symmetric matrix of 3x3 blocks, with one row and one column of blocks per vertex.
///
/// A matrix with this pattern is a slice of [`num_blocks`](Self::num_blocks) blocks, each row by
/// row: first the blocks on the diagonal by vertex, then the blocks of the edges (i, j), `i < j`,
/// in ascending order, with the rows of i.
#[derive(Clone, Debug, Default)]
pub struct BlockPattern {
    num_vertices: usize,
    edges: Vec<(u32, u32)>,
    /// By vertex: first of its `neighbors`.
    neighbor_starts: Vec<u32>,
    /// Neighbor, and block of the edge to it.
    neighbors: Vec<(u32, u32)>,
}

impl BlockPattern {
    /// Makes the pattern of a matrix with these edges (i, j), which must have `i < j` and be in
    /// ascending order, each once.
    ///
    /// # Panics
    /// Panics if the edges are not in ascending order, or one joins a vertex with itself or with a
    /// vertex from `num_vertices` on.
    pub fn new(num_vertices: usize, edges: Vec<(u32, u32)>) -> Self {
        assert!(
            edges.is_sorted_by(|a, b| a < b),
            "BlockPattern: edges must be in ascending order, each once"
        );
        let mut starts = vec![0; num_vertices + 1];
        for (i, j) in &edges {
            assert!(
                i < j && (*j as usize) < num_vertices,
                "BlockPattern: edge (i, j) must have i < j < {num_vertices}, got ({i}, {j})"
            );
            starts[*i as usize + 1] += 1;
            starts[*j as usize + 1] += 1;
        }
        for v in 0..num_vertices {
            starts[v + 1] += starts[v];
        }
        // Neighbors with lower indices come first, both kinds in the order of the edges.
        let mut next = starts.clone();
        let mut neighbors = vec![(0, 0); 2 * edges.len()];
        for lower in [true, false] {
            for (e, (i, j)) in edges.iter().enumerate() {
                let (v, neighbor) = if lower { (j, i) } else { (i, j) };
                let at = &mut next[*v as usize];
                neighbors[*at as usize] = (*neighbor, (num_vertices + e) as u32);
                *at += 1;
            }
        }
        Self {
            num_vertices,
            edges,
            neighbor_starts: starts,
            neighbors,
        }
    }

    /// Number of rows of blocks.
    #[inline]
    pub fn num_vertices(&self) -> usize {
        self.num_vertices
    }

    /// Edges (i, j), `i < j`, in ascending order.
    #[inline]
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// Number of stored blocks.
    #[inline]
    pub fn num_blocks(&self) -> usize {
        self.num_vertices + self.edges.len()
    }

    /// Neighbors of a vertex in ascending order, each with the index of the block of the edge to
    /// it.
    #[inline(always)]
    pub fn neighbors(&self, vertex: u32) -> &[(u32, u32)] {
        let v = vertex as usize;
        &self.neighbors[self.neighbor_starts[v] as usize..self.neighbor_starts[v + 1] as usize]
    }

    /// Replaces `out` by the product of a matrix with `x`, which has three numbers per vertex.
    pub fn multiply(&self, blocks: &[[f64; 9]], x: &[f64], out: &mut [f64]) {
        let (x, _) = x.as_chunks::<3>();
        let (out, _) = out.as_chunks_mut::<3>();
        let (diagonal, others) = blocks.split_at(self.num_vertices);
        dispatch(BlockProduct {
            diagonal,
            edges: &self.edges,
            others,
            x,
            out,
        });
    }
}

/// Product of a matrix with vectors by vertex.
struct BlockProduct<'a> {
    diagonal: &'a [[f64; 9]],
    edges: &'a [(u32, u32)],
    others: &'a [[f64; 9]],
    x: &'a [[f64; 3]],
    out: &'a mut [[f64; 3]],
}

impl Kernel for BlockProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { x, out, .. } = self;
        for ((out, x), block) in out.iter_mut().zip(x).zip(self.diagonal) {
            *out = [0.0; 3];
            add_product::<FUSED>(block, x, out);
        }
        // The sum of a row stays in registers until its last edge.
        let (mut row, mut sum) = (0, [0.0; 3]);
        for ((i, j), block) in self.edges.iter().zip(self.others) {
            let (i, j) = (*i as usize, *j as usize);
            if i != row {
                add(&sum, &mut out[row]);
                (row, sum) = (i, [0.0; 3]);
            }
            add_product::<FUSED>(block, &x[j], &mut sum);
            let b = block;
            let transposed = [b[0], b[3], b[6], b[1], b[4], b[7], b[2], b[5], b[8]];
            add_product::<FUSED>(&transposed, &x[i], &mut out[j]);
        }
        if let Some(out) = out.get_mut(row) {
            add(&sum, out);
        }
    }
}

#[inline(always)]
fn add_product<const FUSED: bool>(block: &[f64; 9], x: &[f64; 3], out: &mut [f64; 3]) {
    for (out, row) in out.iter_mut().zip(block.as_chunks::<3>().0) {
        let ([a, b, c], [x, y, z]) = (row, x);
        *out += multiply_add::<FUSED>(*a, *x, multiply_add::<FUSED>(*b, *y, c * z));
    }
}

#[inline(always)]
fn add(x: &[f64; 3], out: &mut [f64; 3]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += x;
    }
}
