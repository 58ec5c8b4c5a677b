//! Cholesky factorization of a symmetric matrix of blocks, one row and column of blocks per tree
//! (T. Davis, "Direct Methods for Sparse Linear Systems", 2006).

use super::dense_cholesky::{
    factor_block, solve_backward, solve_columns, solve_forward, subtract_product, subtract_square,
    subtract_times, subtract_transposed_times,
};
use tarragon_framework::Scalar;
use tarragon_framework::simd::{Kernel, dispatch};

/// Number of blocks from which small ones are factored with longer vectors: heaps of spheres then
/// take a tenth less time.
const MANY_BLOCKS: usize = 17;

/// Number of values of a factor from which longer vectors save time in solutions.
const MANY_VALUES: usize = 400;

/// A symmetric positive definite matrix of blocks, and its Cholesky factor in the same place.
///
/// Only blocks of the lower triangle that are not zero in the factor are stored, column by column:
/// thus innermost loops run along columns of the factor, several elements at a time. The factor's
/// diagonal holds the inverses of its elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockCholesky {
    /// Pattern for which the symbolic part was computed.
    sizes: Vec<usize>,
    edges: Vec<(u32, u32)>,
    /// Position of each block in the order of elimination.
    position: Vec<u32>,
    columns: Vec<Column>,
    /// Stored blocks: row in the order of elimination, and where its values start.
    blocks: Vec<(u32, u32)>,
    values: Vec<f64>,
    /// Where the values of the blocks start that the elimination of a column changes, in the order
    /// in which it does, column after column.
    targets: Vec<u32>,
    /// Work space of the symbolic part.
    graph: Vec<u64>,
}

/// A column of blocks, in the order of elimination.
#[derive(Clone, Debug)]
struct Column {
    size: u32,
    /// First element among all elements, in the original order.
    start: u32,
    /// Range in `blocks`, which begins with the one on the diagonal.
    first: u32,
    end: u32,
}

impl BlockCholesky {
    /// Prepares for a matrix with blocks of these sizes on the diagonal, and blocks that are not
    /// zero at the given pairs `(i, j)`, i < j, sorted. Does nothing if the pattern is the same as
    /// before.
    pub(crate) fn analyze(&mut self, sizes: &[usize], edges: &[(u32, u32)]) {
        if self.sizes == sizes && self.edges == edges {
            return;
        }
        sizes.clone_into(&mut self.sizes);
        edges.clone_into(&mut self.edges);
        let n = sizes.len();
        let order = minimum_degree(n, edges, &mut self.graph);
        let words = n.div_ceil(64);
        self.position.clear();
        self.position.resize(n, 0);
        for (k, i) in order.iter().enumerate() {
            self.position[*i as usize] = k as u32;
        }
        self.columns.clear();
        let mut total = 0;
        self.columns.extend(order.iter().map(|i| Column {
            size: sizes[*i as usize] as u32,
            start: 0,
            first: 0,
            end: 0,
        }));
        for (i, size) in sizes.iter().enumerate() {
            self.columns[self.position[i] as usize].start = total;
            total += *size as u32;
        }
        self.blocks.clear();
        let mut offset = 0;
        for (k, i) in order.iter().enumerate() {
            let size = self.columns[k].size;
            let first = self.blocks.len();
            self.blocks.push((k as u32, 0));
            let around = elements(&self.graph[*i as usize * words..][..words]);
            self.blocks.extend(around.map(|i| (self.position[i], 0)));
            self.blocks[first + 1..].sort_unstable();
            for (row, start) in &mut self.blocks[first..] {
                *start = offset;
                offset += self.columns[*row as usize].size * size;
            }
            self.columns[k].first = first as u32;
            self.columns[k].end = self.blocks.len() as u32;
        }
        self.values.clear();
        self.values.resize(offset as usize, 0.0);
        let mut targets = std::mem::take(&mut self.targets);
        targets.clear();
        for column in &self.columns {
            let below = &self.blocks[column.first as usize + 1..column.end as usize];
            for (a, (row, _)) in below.iter().enumerate() {
                let changed = below[..=a]
                    .iter()
                    .map(|(col, _)| self.find(*row, *col) as u32);
                targets.extend(changed);
            }
        }
        self.targets = targets;
    }

    /// Sets all elements to zero but those of blocks on the diagonal, which must be replaced.
    pub(crate) fn clear(&mut self) {
        for column in &self.columns {
            let stored = &self.blocks[column.first as usize..column.end as usize];
            if let ([(_, first), .., (last, end)], true) = (stored, stored.len() > 1) {
                let n = column.size as usize;
                let end = *end as usize + n * self.columns[*last as usize].size as usize;
                self.values[*first as usize + n * n..end].fill(0.0);
            }
        }
    }

    /// Returns the values of a block on the diagonal, column by column. Only its lower triangle is
    /// read.
    #[inline]
    pub(crate) fn diagonal_mut(&mut self, i: usize) -> &mut [f64] {
        let column = &self.columns[self.position[i] as usize];
        let (size, start) = (
            column.size as usize,
            self.blocks[column.first as usize].1 as usize,
        );
        &mut self.values[start..start + size * size]
    }

    /// Returns the values of the block that holds row i and column j, or row j and column i if the
    /// flag is true, row by row. The pair must be one of the pattern.
    #[inline]
    pub(crate) fn off_diagonal_mut(&mut self, i: usize, j: usize) -> (&mut [f64], bool) {
        let (a, b) = (self.position[i], self.position[j]);
        let (row, column) = (a.max(b), a.min(b));
        let start = self.find(row, column);
        let size = self.sizes[i] * self.sizes[j];
        (&mut self.values[start..start + size], a > b)
    }

    #[inline]
    fn find(&self, row: u32, column: u32) -> usize {
        let column = &self.columns[column as usize];
        let stored = &self.blocks[column.first as usize..column.end as usize];
        let at = stored.partition_point(|(r, _)| *r < row);
        stored[at].1 as usize
    }

    /// Factors the matrix in place; returns false if it is not positive definite.
    pub(crate) fn factor(&mut self) -> bool {
        if self.blocks.len() >= MANY_BLOCKS {
            dispatch(Factorization(self))
        } else {
            self.factor_columns()
        }
    }

    #[inline(always)]
    fn factor_columns(&mut self) -> bool {
        let mut targets = self.targets.iter();
        for k in 0..self.columns.len() {
            let column = self.columns[k].clone();
            let n = column.size as usize;
            let (first, end) = (column.first as usize, column.end as usize);
            let diagonal = self.blocks[first].1 as usize;
            // The other blocks of a column are stored after its diagonal.
            let (before, after) = self.values.split_at_mut(diagonal + n * n);
            let l = &mut before[diagonal..];
            if !factor_block(n, l) {
                return false;
            }
            for (row, start) in &self.blocks[first + 1..end] {
                let m = self.columns[*row as usize].size as usize;
                let start = *start as usize - (diagonal + n * n);
                solve_columns(n, l, &mut after[start..start + m * n]);
            }
            let below = &self.blocks[first + 1..end];
            for (a, (row, start_a)) in below.iter().enumerate() {
                let (m, start_a) = (self.columns[*row as usize].size as usize, *start_a as usize);
                for ((col, start_b), target) in below[..=a].iter().zip(&mut targets) {
                    let p = self.columns[*col as usize].size as usize;
                    // Later columns are stored after this one.
                    let (source, rest) = self.values.split_at_mut(*target as usize);
                    let x = &source[start_a..start_a + m * n];
                    if row == col {
                        subtract_square(n, x, &mut rest[..m * m]);
                        continue;
                    }
                    let y = &source[*start_b as usize..*start_b as usize + p * n];
                    subtract_product(n, x, y, &mut rest[..m * p]);
                }
            }
        }
        true
    }

    /// Replaces b, in the original order, by the solution of `A x = b` with the factored matrix A.
    pub(crate) fn solve<T: Scalar>(&self, b: &mut [T]) {
        if self.values.len() >= MANY_VALUES {
            dispatch(BlockSolution { factor: self, b })
        } else {
            self.solve_columns(b)
        }
    }

    #[inline(always)]
    fn solve_columns<T: Scalar>(&self, b: &mut [T]) {
        for column in &self.columns {
            let (n, start) = (column.size as usize, column.start as usize);
            let stored = &self.blocks[column.first as usize..column.end as usize];
            let l = &self.values[stored[0].1 as usize..][..n * n];
            solve_forward(n, l, &mut b[start..start + n]);
            for (row, offset) in &stored[1..] {
                let (x, known, rows) = self.parts(column, *row, *offset, b);
                subtract_times(x, known, rows);
            }
        }
        for column in self.columns.iter().rev() {
            let (n, start) = (column.size as usize, column.start as usize);
            let stored = &self.blocks[column.first as usize..column.end as usize];
            for (row, offset) in &stored[1..] {
                let (x, own, known) = self.parts(column, *row, *offset, b);
                subtract_transposed_times(x, known, own);
            }
            let l = &self.values[stored[0].1 as usize..][..n * n];
            solve_backward(n, l, &mut b[start..start + n]);
        }
    }

    /// Returns the values of a block below the diagonal, and the parts of a vector that belong to
    /// its columns and rows.
    #[inline(always)]
    fn parts<'b, T>(
        &self,
        column: &Column,
        row: u32,
        offset: u32,
        b: &'b mut [T],
    ) -> (&[f64], &'b mut [T], &'b mut [T]) {
        let row = &self.columns[row as usize];
        let (n, m) = (column.size as usize, row.size as usize);
        let (of_column, of_row) = (column.start as usize, row.start as usize);
        let (before, after) = b.split_at_mut(of_column.max(of_row));
        let (of_column, of_row) = if of_column < of_row {
            (&mut before[of_column..][..n], &mut after[..m])
        } else {
            (&mut after[..n], &mut before[of_row..][..m])
        };
        (&self.values[offset as usize..][..m * n], of_column, of_row)
    }
}

/// The solution with a factored matrix.
struct BlockSolution<'a, T> {
    factor: &'a BlockCholesky,
    b: &'a mut [T],
}

impl<T: Scalar> Kernel for BlockSolution<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.factor.solve_columns(self.b);
    }
}

/// The factorization of a matrix.
struct Factorization<'a>(&'a mut BlockCholesky);

impl Kernel for Factorization<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> bool {
        self.0.factor_columns()
    }
}

/// Orders the vertices of a graph by minimum degree: eliminates the one with the fewest neighbours,
/// the lowest of several, which makes its neighbours neighbours of each other. `graph` receives the
/// neighbours of each vertex when it is eliminated, as bits of `n.div_ceil(64)` words.
fn minimum_degree(n: usize, edges: &[(u32, u32)], graph: &mut Vec<u64>) -> Vec<u32> {
    let words = n.div_ceil(64);
    graph.clear();
    graph.resize(n * words, 0);
    let mut set = |i: u32, j: u32| graph[i as usize * words + j as usize / 64] |= 1 << (j % 64);
    for (i, j) in edges {
        set(*i, *j);
        set(*j, *i);
    }
    let count = |row: &[u64]| row.iter().map(|word| word.count_ones()).sum::<u32>();
    let mut degrees: Vec<u32> = (0..n)
        .map(|i| count(&graph[i * words..][..words]))
        .collect();
    let mut own = vec![0; words];
    let mut order = Vec::with_capacity(n);
    for _ in 0..n {
        // Eliminated vertices have the largest number.
        let least = degrees
            .iter()
            .enumerate()
            .min_by_key(|(_, degree)| **degree);
        let i = least.map_or(0, |(i, _)| i);
        order.push(i as u32);
        degrees[i] = u32::MAX;
        own.copy_from_slice(&graph[i * words..][..words]);
        for a in elements(&own) {
            let row = &mut graph[a * words..][..words];
            for (word, other) in row.iter_mut().zip(&own) {
                *word |= other;
            }
            row[a / 64] &= !(1 << (a % 64));
            row[i / 64] &= !(1 << (i % 64));
            degrees[a] = count(row);
        }
    }
    order
}

/// Returns the elements of a set of bits, ascending.
fn elements(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(k, word)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(64 * k + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    /// A block matrix with the given pattern, positive definite by a dominant diagonal.
    fn example(sizes: &[usize], edges: &[(u32, u32)]) -> (BlockCholesky, DMatrix<f64>) {
        let mut sparse = BlockCholesky::default();
        sparse.analyze(sizes, edges);
        sparse.clear();
        let starts: Vec<usize> = (0..sizes.len()).map(|i| sizes[..i].iter().sum()).collect();
        let n: usize = sizes.iter().sum();
        let mut dense = DMatrix::zeros(n, n);
        let mut seed = 1_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(seed >> 8) / f64::from(1 << 24) - 0.5
        };
        for (i, size) in sizes.iter().enumerate() {
            for a in 0..*size {
                for b in 0..=a {
                    let x = next() + if a == b { 20.0 } else { 0.0 };
                    sparse.diagonal_mut(i)[b * size + a] = x;
                    dense[(starts[i] + a, starts[i] + b)] = x;
                    dense[(starts[i] + b, starts[i] + a)] = x;
                }
            }
        }
        for (i, j) in edges {
            let (i, j) = (*i as usize, *j as usize);
            for a in 0..sizes[i] {
                for b in 0..sizes[j] {
                    let x = next();
                    let (block, transposed) = sparse.off_diagonal_mut(i, j);
                    let at = if transposed {
                        b * sizes[i] + a
                    } else {
                        a * sizes[j] + b
                    };
                    block[at] = x;
                    dense[(starts[i] + a, starts[j] + b)] = x;
                    dense[(starts[j] + b, starts[i] + a)] = x;
                }
            }
        }
        (sparse, dense)
    }

    #[test]
    fn solution_agrees_with_a_dense_factorization() {
        let cases = [
            (vec![6], vec![]),
            (vec![6, 6, 6, 6], vec![(0, 1), (0, 3), (1, 2), (2, 3)]),
            (
                vec![3, 6, 1, 9, 6],
                vec![(0, 1), (0, 2), (0, 3), (0, 4), (3, 4)],
            ),
            (vec![2, 2, 2, 2, 2], vec![(0, 1), (1, 2), (2, 3), (3, 4)]),
            (vec![16, 6, 19, 45], vec![(0, 1), (1, 2), (1, 3), (2, 3)]),
        ];
        for (sizes, edges) in cases {
            let (mut sparse, dense) = example(&sizes, &edges);
            let b = DVector::from_fn(dense.nrows(), |i, _| (i as f64).cos());
            let mut x = b.as_slice().to_vec();
            assert!(sparse.factor());
            sparse.solve(&mut x);
            // The condition number is below 3.
            assert!((dense * DVector::from_vec(x) - b).amax() < 1e-14);
        }
    }

    #[test]
    fn indefinite_matrices_and_nan_are_found() {
        for bad in [-1.0, 0.0, f64::NAN] {
            for size in [6, 21] {
                let (mut sparse, _) = example(&[3, size], &[(0, 1)]);
                sparse.diagonal_mut(1)[0] = bad;
                assert!(!sparse.factor());
            }
        }
    }
}
