//! LU factorization that reuses its storage.

/// LU factorization of a square matrix with partial pivoting (Golub, Van Loan, *Matrix
/// Computations*, algorithm 3.4.1). Unlike nalgebra's, it can be repeated in the same storage.
#[derive(Default)]
pub(super) struct Lu {
    /// Number of rows; `None` before the first factorization.
    size: Option<usize>,
    /// Factors, column by column: U, and below the diagonal L without its unit diagonal.
    a: Vec<f64>,
    /// Row that each row was swapped with.
    pivots: Vec<usize>,
}

impl Lu {
    /// Returns true if there are factors of a matrix of this size.
    pub(super) fn is_of(&self, size: usize) -> bool {
        self.size == Some(size)
    }

    /// Factors the matrix of `n` rows with the entries `entry(row, column)`.
    pub(super) fn factor(&mut self, n: usize, entry: impl Fn(usize, usize) -> f64) {
        self.size = Some(n);
        self.pivots.clear();
        self.a.clear();
        self.a.extend((0..n * n).map(|at| entry(at % n, at / n)));
        for k in 0..n {
            let magnitude = |row: &usize| self.a[k * n + row].abs();
            // Among equal pivots, take the first.
            let pivot = (k..n)
                .rev()
                .max_by(|a, b| magnitude(a).total_cmp(&magnitude(b)));
            let pivot = pivot.unwrap_or(k);
            self.pivots.push(pivot);
            if pivot != k {
                for column in self.a.chunks_exact_mut(n) {
                    column.swap(k, pivot);
                }
            }
            let (done, rest) = self.a.split_at_mut((k + 1) * n);
            let (above, below) = done[k * n..].split_at_mut(k + 1);
            if above[k] == 0.0 {
                continue; // Singular; `solve` reports it.
            }
            below.iter_mut().for_each(|l| *l /= above[k]);
            for column in rest.chunks_exact_mut(n) {
                let (above, column) = column.split_at_mut(k + 1);
                for (c, l) in column.iter_mut().zip(&*below) {
                    *c -= l * above[k];
                }
            }
        }
    }

    /// Replaces b by the solution x of `A x = b`; returns false if A is singular.
    pub(super) fn solve(&self, b: &mut [f64]) -> bool {
        let n = self.pivots.len();
        for (k, pivot) in self.pivots.iter().enumerate() {
            b.swap(k, *pivot);
        }
        for k in 0..n {
            let (above, below) = b.split_at_mut(k + 1);
            let column = &self.a[k * n + k + 1..(k + 1) * n];
            for (b, l) in below.iter_mut().zip(column) {
                *b -= l * above[k];
            }
        }
        for k in (0..n).rev() {
            let column = &self.a[k * n..k * n + k + 1];
            if column[k] == 0.0 {
                return false;
            }
            let (above, below) = b.split_at_mut(k);
            below[0] /= column[k];
            for (b, u) in above.iter_mut().zip(column) {
                *b -= u * below[0];
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomDistribution, RandomGenerator};

    #[test]
    fn solutions_satisfy_their_equations() {
        let mut random = RandomGenerator::new(1);
        let mut lu = Lu::default();
        for n in [0, 1, 2, 3, 10, 7] {
            let a: Vec<f64> = (0..n * n)
                .map(|_| random.sample(RandomDistribution::Gaussian))
                .collect();
            lu.factor(n, |row, column| a[row * n + column]);
            assert!(lu.is_of(n) && !lu.is_of(n + 1));
            let b: Vec<f64> = (0..n).map(|i| i as f64 + 1.0).collect();
            let mut x = b.clone();
            assert!(lu.solve(&mut x));
            for (row, b) in b.iter().enumerate() {
                let ax: f64 = (0..n).map(|i| a[row * n + i] * x[i]).sum();
                // Rounding times a condition number of a few hundred.
                assert!((ax - b).abs() < 1e-11, "{n}: {ax} {b}");
            }
        }
    }

    #[test]
    fn zero_pivots_are_swapped_and_singular_matrices_are_reported() {
        let mut lu = Lu::default();
        lu.factor(2, |row, column| [[0.0, 2.0], [4.0, 1.0]][row][column]);
        let mut x = [2.0, 9.0];
        assert!(lu.solve(&mut x));
        assert_eq!(x, [2.0, 1.0]);
        lu.factor(2, |row, column| [[1.0, 2.0], [2.0, 4.0]][row][column]);
        assert!(!lu.solve(&mut x));
    }
}
