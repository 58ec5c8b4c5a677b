//! Supernodal Cholesky factorization of large matrices, by the library faer.

use faer::linalg::solvers::SolveCore;
use faer::sparse::linalg::solvers::{Llt, SymbolicLlt};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Side};

/// A symmetric positive definite matrix of blocks and its factor.
#[derive(Clone, Debug, Default)]
pub(super) struct SupernodalCholesky {
    /// Pattern for which the symbolic part was computed.
    sizes: Vec<usize>,
    edges: Vec<(u32, u32)>,
    /// Values of the blocks on the diagonal, column by column, then of those of the edges `(i, j)`,
    /// which have the rows of i, row by row.
    blocks: Vec<f64>,
    diagonal_starts: Vec<usize>,
    edge_starts: Vec<usize>,
    /// Symbolic part of the lower triangle; `None` if the library refused it.
    symbolic: Option<Symbolic>,
    /// Values of the lower triangle, column by column.
    values: Vec<f64>,
    factor: Option<Llt<usize, f64>>,
}

#[derive(Clone, Debug)]
struct Symbolic {
    matrix: SymbolicSparseColMat<usize>,
    llt: SymbolicLlt<usize>,
    /// Place in the blocks of every value.
    places: Vec<u32>,
}

impl SupernodalCholesky {
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
        self.blocks.clear();
        self.blocks.resize(total, 0.0);
        self.symbolic = self.symbolic();
        self.factor = None;
    }

    fn symbolic(&self) -> Option<Symbolic> {
        let mut starts = vec![];
        let mut n = 0;
        for size in &self.sizes {
            starts.push(n);
            n += size;
        }
        let (mut column_starts, mut rows, mut places) = (vec![0], vec![], vec![]);
        let mut first_edge = 0;
        for (i, size) in self.sizes.iter().enumerate() {
            let own = self.edges[first_edge..].iter();
            let num_own = own.take_while(|(a, _)| *a as usize == i).count();
            for c in 0..*size {
                for r in c..*size {
                    rows.push(starts[i] + r);
                    places.push((self.diagonal_starts[i] + c * size + r) as u32);
                }
                for e in first_edge..first_edge + num_own {
                    let j = self.edges[e].1 as usize;
                    let width = self.sizes[j];
                    for r in 0..width {
                        rows.push(starts[j] + r);
                        places.push((self.edge_starts[e] + c * width + r) as u32);
                    }
                }
                column_starts.push(rows.len());
            }
            first_edge += num_own;
        }
        let matrix = SymbolicSparseColMat::new_checked(n, n, column_starts, None, rows);
        let llt = SymbolicLlt::try_new(matrix.as_ref(), Side::Lower).ok()?;
        Some(Symbolic {
            matrix,
            llt,
            places,
        })
    }

    pub(super) fn clear(&mut self) {
        self.blocks.fill(0.0);
    }

    pub(super) fn diagonal_mut(&mut self, i: usize) -> &mut [f64] {
        let (start, size) = (self.diagonal_starts[i], self.sizes[i]);
        &mut self.blocks[start..start + size * size]
    }

    pub(super) fn off_diagonal_mut(&mut self, i: usize, j: usize) -> (&mut [f64], bool) {
        let pair = (i as u32, j as u32);
        let start = self.edge_starts[self.edges.partition_point(|edge| *edge < pair)];
        let size = self.sizes[i] * self.sizes[j];
        (&mut self.blocks[start..start + size], false)
    }

    pub(super) fn factor(&mut self) -> bool {
        let Some(symbolic) = &self.symbolic else {
            return false;
        };
        self.values.clear();
        let values = symbolic.places.iter().map(|k| self.blocks[*k as usize]);
        self.values.extend(values);
        let matrix = SparseColMatRef::new(symbolic.matrix.as_ref(), &self.values);
        let found = Llt::try_new_with_symbolic(symbolic.llt.clone(), matrix, Side::Lower);
        self.factor = found.ok();
        self.factor.is_some() && self.values.iter().all(|x| x.is_finite())
    }

    pub(super) fn solve(&self, b: &mut [f64]) {
        let n = b.len();
        if let Some(factor) = &self.factor {
            let column = MatMut::from_column_major_slice_mut(b, n, 1);
            factor.solve_in_place_with_conj(Conj::No, column);
        }
    }
}
