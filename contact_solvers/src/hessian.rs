//! The Hessian of an island's problem, factored by the method that suits its size.

use super::cholesky::BlockCholesky;
use super::multifrontal::MultifrontalCholesky;
use tarragon_framework::Scalar;

/// Number of velocities from which the multifrontal factorization is faster. About 370 bodies of a
/// pile have as many (see DESIGN.md).
const LARGE: usize = 2200;

/// A symmetric positive definite matrix of blocks, one row and column of blocks per tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hessian {
    blocks: BlockCholesky,
    /// In use instead of the blocks while the matrix is large.
    multifrontal: MultifrontalCholesky,
    is_large: bool,
}

/// Calls a method of the factorization in use.
macro_rules! in_use {
    ($hessian:expr, $method:ident($($argument:expr),*)) => {{
        if $hessian.is_large {
            return $hessian.multifrontal.$method($($argument),*);
        }
        $hessian.blocks.$method($($argument),*)
    }};
}

impl Hessian {
    /// Prepares for a matrix with blocks of these sizes on the diagonal, and blocks that are not
    /// zero at the given pairs `(i, j)`, i < j, sorted. `with_derivatives` tells that it has to
    /// solve for vectors with derivatives.
    pub(crate) fn analyze(
        &mut self,
        sizes: &[usize],
        edges: &[(u32, u32)],
        with_derivatives: bool,
    ) {
        self.is_large = !with_derivatives && sizes.iter().sum::<usize>() >= LARGE;
        in_use!(self, analyze(sizes, edges))
    }

    /// Sets all elements to zero but those of blocks on the diagonal, which must be replaced.
    pub(crate) fn clear(&mut self) {
        in_use!(self, clear())
    }

    /// Returns the values of a block on the diagonal, column by column. Only its lower triangle is
    /// read.
    pub(crate) fn diagonal_mut(&mut self, i: usize) -> &mut [f64] {
        in_use!(self, diagonal_mut(i))
    }

    /// Returns the values of the block that holds row i and column j, i < j, or row j and column i
    /// if the flag is true, row by row. The pair must be one of the pattern.
    pub(crate) fn off_diagonal_mut(&mut self, i: usize, j: usize) -> (&mut [f64], bool) {
        in_use!(self, off_diagonal_mut(i, j))
    }

    /// Factors the matrix; returns false if it is not positive definite.
    pub(crate) fn factor(&mut self) -> bool {
        in_use!(self, factor())
    }

    /// Replaces b by the solution of `A x = b` with the factored matrix A.
    pub(crate) fn solve(&mut self, b: &mut [f64]) {
        in_use!(self, solve(b))
    }

    /// Does the same for a vector with derivatives. The matrix must have been analyzed for it.
    pub(crate) fn solve_with_derivatives<T: Scalar>(&self, b: &mut [T]) {
        assert!(!self.is_large, "Hessian: must be analyzed with derivatives");
        self.blocks.solve(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of bodies that is large enough for either method, by both.
    #[test]
    fn both_methods_solve_alike() {
        let n = 450;
        let sizes: Vec<usize> = (0..n).map(|i| 4 + i % 5).collect();
        let near = (0..n as u32 - 1).map(|i| (i, i + 1));
        let far = (0..n as u32 - 9).map(|i| (i, i + 9));
        let mut edges: Vec<(u32, u32)> = near.chain(far).collect();
        edges.sort_unstable();
        let total: usize = sizes.iter().sum();
        let solve = |with_derivatives: bool| {
            let mut hessian = Hessian::default();
            hessian.analyze(&sizes, &edges, with_derivatives);
            hessian.clear();
            let value = |i: usize, j: usize, k: usize| ((i * 31 + j * 17 + k) as f64).sin();
            for (i, size) in sizes.iter().enumerate() {
                let block = hessian.diagonal_mut(i);
                for (k, x) in block.iter_mut().enumerate() {
                    let (row, column) = (k / size, k % size);
                    let off = value(i, i, row.max(column) * size + row.min(column));
                    *x = if row == column { 40.0 } else { off };
                }
            }
            for (i, j) in &edges {
                let (i, j) = (*i as usize, *j as usize);
                let (block, transposed) = hessian.off_diagonal_mut(i, j);
                for a in 0..sizes[i] {
                    for b in 0..sizes[j] {
                        let at = if transposed {
                            b * sizes[i] + a
                        } else {
                            a * sizes[j] + b
                        };
                        block[at] = value(i, j, a * sizes[j] + b);
                    }
                }
            }
            assert!(hessian.factor());
            let mut x: Vec<f64> = (0..total).map(|i| (i as f64).cos()).collect();
            hessian.solve(&mut x);
            hessian.diagonal_mut(7)[0] = -1.0;
            assert!(!hessian.factor());
            x
        };
        for (a, b) in solve(true).iter().zip(solve(false)) {
            // The diagonal dominates, so the condition number is below 10.
            assert!((a - b).abs() < 1e-14, "{a} {b}");
        }
    }
}
