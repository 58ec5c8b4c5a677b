//! Cholesky factorization of one dense matrix, and products of the blocks of a sparse one, all
//! stored column by column. Large ones are factored by `dense_tiles`.

use super::dense_tiles;
use std::ops::Range;
use tarragon_framework::Scalar;

/// Elements of vectors, and columns, that are multiplied together.
const LANES: usize = 4;
/// Size from which a matrix is factored in tiles.
const LARGE: usize = 7;
/// Size from which solutions take several columns, or sums, at once.
const LONG: usize = 16;

/// Replaces b by the solution of `L x = b`.
#[inline(always)]
pub(super) fn solve_forward<T: Scalar>(n: usize, l: &[f64], b: &mut [T]) {
    /// Solves for the elements of a range.
    #[inline(always)]
    fn solve<T: Scalar>(n: usize, l: &[f64], b: &mut [T], range: Range<usize>) {
        for j in range.clone() {
            let x = b[j] * l[j * n + j];
            b[j] = x;
            for i in j + 1..range.end {
                b[i] -= x * l[j * n + i];
            }
        }
    }
    #[inline(always)]
    fn solve_large<T: Scalar>(n: usize, l: &[f64], b: &mut [T]) {
        let mut first = 0;
        while first + LANES < n {
            let end = first + LANES;
            solve(n, l, b, first..end);
            let (known, rest) = b.split_at_mut(end);
            if let Some(known) = known.last_chunk() {
                subtract_four(n, end, &l[first * n..end * n], known, rest);
            }
            first = end;
        }
        solve(n, l, b, first..n);
    }
    match (l.as_array::<36>(), b.as_mut_array::<6>()) {
        (Some(l), Some(b)) => solve(6, l, b, 0..6),
        _ if n >= LONG => solve_large(n, l, b),
        _ => solve(n, l, b, 0..n),
    }
}

/// Subtracts multiples of four columns, of which the first elements are left out.
#[inline(always)]
fn subtract_four<T: Scalar>(
    stride: usize,
    first: usize,
    columns: &[f64],
    factors: &[T; LANES],
    out: &mut [T],
) {
    let [x0, x1, x2, x3]: [&[f64]; LANES] =
        std::array::from_fn(|k| &columns[k * stride + first..(k + 1) * stride]);
    let [f0, f1, f2, f3] = *factors;
    for (out, (((x0, x1), x2), x3)) in out.iter_mut().zip(x0.iter().zip(x1).zip(x2).zip(x3)) {
        *out -= (f0 * *x0 + f1 * *x1) + (f2 * *x2 + f3 * *x3);
    }
}

/// Subtracts `X y`.
#[inline(always)]
pub(super) fn subtract_times<T: Scalar>(x: &[f64], y: &[T], out: &mut [T]) {
    #[inline(always)]
    fn subtract<T: Scalar>(m: usize, x: &[f64], y: &[T], out: &mut [T]) {
        let (fours, rest) = y.as_chunks::<LANES>();
        let mut columns = x.chunks_exact(LANES * m);
        for (y, x) in fours.iter().zip(columns.by_ref()) {
            subtract_four(m, 0, x, y, out);
        }
        for (y, x) in rest.iter().zip(columns.remainder().chunks_exact(m)) {
            for (out, x) in out.iter_mut().zip(x) {
                *out -= *y * *x;
            }
        }
    }
    match (
        x.as_array::<36>(),
        y.as_array::<6>(),
        out.as_mut_array::<6>(),
    ) {
        (Some(x), Some(y), Some(out)) => subtract(6, x, y, out),
        _ => subtract(out.len(), x, y, out),
    }
}

/// Subtracts `X^T y`.
#[inline(always)]
pub(super) fn subtract_transposed_times<T: Scalar>(x: &[f64], y: &[T], out: &mut [T]) {
    #[inline(always)]
    fn subtract<T: Scalar>(m: usize, x: &[f64], y: &[T], out: &mut [T]) {
        for (out, x) in out.iter_mut().zip(x.chunks_exact(m)) {
            *out -= dot(&y[..m], x);
        }
    }
    match (
        x.as_array::<36>(),
        y.as_array::<6>(),
        out.as_mut_array::<6>(),
    ) {
        (Some(x), Some(y), Some(out)) => subtract(6, x, y, out),
        _ => subtract(y.len(), x, y, out),
    }
}

/// Replaces b by the solution of `L^T x = b`.
#[inline(always)]
pub(super) fn solve_backward<T: Scalar>(n: usize, l: &[f64], b: &mut [T]) {
    #[inline(always)]
    fn solve<T: Scalar>(n: usize, l: &[f64], b: &mut [T]) {
        for j in (0..n).rev() {
            let mut sum = b[j];
            for i in j + 1..n {
                sum -= b[i] * l[j * n + i];
            }
            b[j] = sum * l[j * n + j];
        }
    }
    /// The same in sums that do not wait for each other.
    #[inline(always)]
    fn solve_large<T: Scalar>(n: usize, l: &[f64], b: &mut [T]) {
        for j in (0..n).rev() {
            let (first, known) = b.split_at_mut(j + 1);
            let column = &l[j * n..(j + 1) * n];
            let sum = dot(known, &column[j + 1..]);
            first[j] = (first[j] - sum) * column[j];
        }
    }
    match (l.as_array::<36>(), b.as_mut_array::<6>()) {
        (Some(l), Some(b)) => solve(6, l, b),
        _ if n >= LONG => solve_large(n, l, b),
        _ => solve(n, l, b),
    }
}

/// Returns the scalar product of two vectors, in sums that do not wait for each other.
#[inline(always)]
fn dot<T: Scalar>(x: &[T], y: &[f64]) -> T {
    let ((x, last_x), (y, last_y)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let mut sums = [T::zero(); LANES];
    for (x, y) in x.iter().zip(y) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += *x * *y;
        }
    }
    let mut sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (x, y) in last_x.iter().zip(last_y) {
        sum += *x * *y;
    }
    sum
}

/// Replaces `b`, which has n numbers, by the solution of `A x = b`, where `l` is the factor of A
/// from [`factor_dense`].
///
/// # Panics
/// Panics if `l` has fewer than n by n elements, or `b` fewer than n.
pub fn solve_dense<T: Scalar>(n: usize, l: &[f64], b: &mut [T]) {
    solve_forward(n, l, b);
    solve_backward(n, l, b);
}

/// Replaces a symmetric matrix of n by n elements, stored column by column, by its Cholesky factor
/// L; returns `false` if the matrix is not positive definite.
///
/// Only the lower triangle is read and written. The diagonal of the factor holds the inverses of
/// the diagonal of L.
///
/// ```
/// use tarragon_contact_solvers::{factor_dense, solve_dense};
///
/// let mut a = [4.0, 2.0, 2.0, 5.0];
/// assert!(factor_dense(2, &mut a));
/// let mut x = [8.0, 12.0];
/// solve_dense(2, &a, &mut x);
/// assert_eq!(x, [1.0, 2.0]);
/// ```
///
/// # Panics
/// Panics if `a` has fewer than n by n elements.
#[inline]
pub fn factor_dense(n: usize, a: &mut [f64]) -> bool {
    factor_block(n, a)
}

#[inline(always)]
pub(super) fn factor_block(n: usize, a: &mut [f64]) -> bool {
    #[inline(always)]
    fn factor(n: usize, a: &mut [f64]) -> bool {
        for j in 0..n {
            let mut pivot = a[j * n + j];
            for k in 0..j {
                pivot -= a[k * n + j] * a[k * n + j];
            }
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            let inverse = 1.0 / pivot.sqrt();
            a[j * n + j] = inverse;
            for i in j + 1..n {
                let mut sum = a[j * n + i];
                for k in 0..j {
                    sum -= a[k * n + i] * a[k * n + j];
                }
                a[j * n + i] = sum * inverse;
            }
        }
        true
    }
    match a.as_mut_array::<36>() {
        Some(a) => factor(6, a),
        None if n >= LARGE => dense_tiles::factor(n, a),
        None => factor(n, a),
    }
}

/// Solves `X L^T = B` in place.
#[inline(always)]
pub(super) fn solve_columns(n: usize, l: &[f64], b: &mut [f64]) {
    #[inline(always)]
    fn solve(n: usize, m: usize, l: &[f64], b: &mut [f64]) {
        for i in 0..n {
            let (known, rest) = b.split_at_mut(i * m);
            let column = &mut rest[..m];
            subtract_combination(column, known, |j| l[j * n + i]);
            for x in column {
                *x *= l[i * n + i];
            }
        }
    }
    let m = b.len() / n;
    match (l.as_array::<36>(), b.as_mut_array::<36>()) {
        (Some(l), Some(b)) => solve_sized(l, b),
        _ if dense_tiles::has_tiles(m, n) => dense_tiles::solve_columns(n, l, b),
        _ => solve(n, m, l, b),
    }
}

/// Does the same for blocks of six rows and columns, in registers.
#[inline(always)]
fn solve_sized(l: &[f64; 36], b: &mut [f64; 36]) {
    for i in 0..6 {
        let mut column: [f64; 6] = std::array::from_fn(|r| b[6 * i + r]);
        for j in 0..i {
            for r in 0..6 {
                column[r] -= l[6 * j + i] * b[6 * j + r];
            }
        }
        for r in 0..6 {
            b[6 * i + r] = column[r] * l[6 * i + i];
        }
    }
}

/// Subtracts columns, each times its factor, from another one.
#[inline(always)]
fn subtract_combination(out: &mut [f64], columns: &[f64], factor: impl Fn(usize) -> f64) {
    for (j, column) in columns.chunks_exact(out.len()).enumerate() {
        let f = factor(j);
        for (out, x) in out.iter_mut().zip(column) {
            *out -= f * x;
        }
    }
}

/// Subtracts `X Y^T`, where both have `n` columns.
#[inline(always)]
pub(super) fn subtract_product(n: usize, x: &[f64], y: &[f64], out: &mut [f64]) {
    let sized = (
        x.as_array::<36>(),
        y.as_array::<36>(),
        out.as_mut_array::<36>(),
    );
    if let (6, (Some(x), Some(y), Some(out))) = (n, sized) {
        return subtract_sized(x, y, out);
    }
    let (m, p) = (x.len() / n, y.len() / n);
    if dense_tiles::has_tiles(m, p) {
        return dense_tiles::subtract_product(n, x, y, out);
    }
    for (i, out) in out.chunks_exact_mut(m).enumerate() {
        subtract_combination(out, x, |j| y[j * p + i]);
    }
}

/// Subtracts `X X^T` from the lower triangle of a block on the diagonal.
#[inline(always)]
pub(super) fn subtract_square(n: usize, x: &[f64], out: &mut [f64]) {
    if x.len() / n >= LARGE {
        dense_tiles::subtract_square(n, x, out)
    } else {
        subtract_product(n, x, x, out)
    }
}

/// Subtracts `X Y^T` for blocks of six rows and columns.
#[inline(always)]
fn subtract_sized(x: &[f64; 36], y: &[f64; 36], out: &mut [f64; 36]) {
    for j in 0..6 {
        let mut sum = [0.0; 6];
        for k in 0..6 {
            for i in 0..6 {
                sum[i] += x[6 * k + i] * y[6 * k + j];
            }
        }
        for i in 0..6 {
            out[6 * j + i] -= sum[i];
        }
    }
}
