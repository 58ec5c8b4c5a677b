//! Cholesky factorization of one dense matrix, and products of the blocks of a sparse one.

use tarragon_framework::Scalar;

/// Number of columns that are eliminated together in large blocks.
const PANEL: usize = 4;
/// Elements of rows that are changed together.
const LANES: usize = 4;
/// Size from which a block is factored panel by panel, with the longest vectors.
pub(super) const LARGE: usize = 16;

/// Replaces b by the solution of `L x = b`.
pub(super) fn solve_forward<T: Scalar>(n: usize, l: &[f64], b: &mut [T]) {
    #[inline(always)]
    fn solve<T: Scalar>(n: usize, l: &[f64], b: &mut [T]) {
        for i in 0..n {
            let mut sum = b[i];
            for j in 0..i {
                sum -= b[j] * l[i * n + j];
            }
            b[i] = sum * l[i * n + i];
        }
    }
    /// The same in sums that do not wait for each other.
    fn solve_large<T: Scalar>(n: usize, l: &[f64], b: &mut [T]) {
        for i in 0..n {
            let (known, rest) = b.split_at_mut(i);
            let row = &l[i * n..i * n + i];
            let ((known, last_known), (row, last_row)) =
                (known.as_chunks::<PANEL>(), row.as_chunks::<PANEL>());
            let mut sums = [T::zero(); PANEL];
            for (known, row) in known.iter().zip(row) {
                for (sum, (known, x)) in sums.iter_mut().zip(known.iter().zip(row)) {
                    *sum += *known * *x;
                }
            }
            let mut sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
            for (known, x) in last_known.iter().zip(last_row) {
                sum += *known * *x;
            }
            rest[0] = (rest[0] - sum) * l[i * n + i];
        }
    }
    match (l.as_array::<36>(), b.as_mut_array::<6>()) {
        (Some(l), Some(b)) => solve(6, l, b),
        _ if n >= LARGE => solve_large(n, l, b),
        _ => solve(n, l, b),
    }
}

/// Replaces b by the solution of `L^T x = b`.
pub(super) fn solve_backward<T: Scalar>(n: usize, l: &[f64], b: &mut [T]) {
    #[inline(always)]
    fn solve<T: Scalar>(n: usize, l: &[f64], b: &mut [T]) {
        for i in (0..n).rev() {
            let x = b[i] * l[i * n + i];
            b[i] = x;
            for j in 0..i {
                b[j] -= x * l[i * n + j];
            }
        }
    }
    match (l.as_array::<36>(), b.as_mut_array::<6>()) {
        (Some(l), Some(b)) => solve(6, l, b),
        _ => solve(n, l, b),
    }
}

/// Replaces b by the solution of `L L^T x = b`.
pub(super) fn solve_dense<T: Scalar>(n: usize, l: &[f64], b: &mut [T]) {
    solve_forward(n, l, b);
    solve_backward(n, l, b);
}

/// Factors a dense matrix into its lower triangle, with the inverses of the diagonal; returns false
/// if it is not positive definite.
pub(super) fn factor_dense(n: usize, a: &mut [f64]) -> bool {
    factor_block(n, a)
}

#[inline(always)]
pub(super) fn factor_block(n: usize, a: &mut [f64]) -> bool {
    #[inline(always)]
    fn factor(n: usize, a: &mut [f64]) -> bool {
        for j in 0..n {
            let mut pivot = a[j * n + j];
            for k in 0..j {
                pivot -= a[j * n + k] * a[j * n + k];
            }
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            let inverse = 1.0 / pivot.sqrt();
            a[j * n + j] = inverse;
            for i in j + 1..n {
                let mut sum = a[i * n + j];
                for k in 0..j {
                    sum -= a[i * n + k] * a[j * n + k];
                }
                a[i * n + j] = sum * inverse;
            }
        }
        true
    }
    match a.as_mut_array::<36>() {
        Some(a) => factor(6, a),
        None if n >= LARGE => factor_panels(n, a),
        None => factor(n, a),
    }
}

/// Does the same for large matrices, panel by panel of columns. The columns of the factor are
/// copied into the rows above the diagonal, so that innermost loops run along rows.
#[inline(always)]
fn factor_panels(n: usize, a: &mut [f64]) -> bool {
    for first in (0..n).step_by(PANEL) {
        let end = n.min(first + PANEL);
        for j in first..end {
            for k in first..j {
                for i in j..end {
                    a[i * n + j] -= a[i * n + k] * a[j * n + k];
                }
            }
            let pivot = a[j * n + j];
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            let inverse = 1.0 / pivot.sqrt();
            a[j * n + j] = inverse;
            for i in j + 1..end {
                a[i * n + j] *= inverse;
            }
        }
        // The last panel may be narrower, and nothing is below it.
        if end < n {
            let (panel, below) = a.split_at_mut(end * n);
            eliminate_panel((first, end), n, &mut panel[first * n..], below);
        }
    }
    true
}

/// Completes the columns of a panel whose block on the diagonal is factored, copies them into its
/// rows, and subtracts their products from the rows below it. What this leaves to the right of the
/// diagonal is replaced when these rows are factored.
#[inline(always)]
fn eliminate_panel((first, end): (usize, usize), n: usize, panel: &mut [f64], below: &mut [f64]) {
    let l = |k: usize, m: usize| panel[k * n + first + m];
    let [l10, l20, l21] = [l(1, 0), l(2, 0), l(2, 1)];
    let [l30, l31, l32] = [l(3, 0), l(3, 1), l(3, 2)];
    let inverses = [l(0, 0), l(1, 1), l(2, 2), l(3, 3)];
    for (i, row) in (end..).zip(below.chunks_exact_mut(n)) {
        let Some(own) = row[first..].first_chunk_mut::<PANEL>() else {
            return;
        };
        let x0 = own[0] * inverses[0];
        let x1 = (own[1] - x0 * l10) * inverses[1];
        let x2 = (own[2] - x0 * l20 - x1 * l21) * inverses[2];
        let x3 = (own[3] - x0 * l30 - x1 * l31 - x2 * l32) * inverses[3];
        *own = [x0, x1, x2, x3];
        panel[i] = x0;
        panel[n + i] = x1;
        panel[2 * n + i] = x2;
        panel[3 * n + i] = x3;
    }
    let (row0, rest) = panel.split_at(n);
    let (row1, rest) = rest.split_at(n);
    let (row2, row3) = rest.split_at(n);
    let known = [&row0[end..], &row1[end..], &row2[end..], &row3[end..]];
    let mut pairs = below.chunks_exact_mut(2 * n);
    for (k, pair) in pairs.by_ref().enumerate() {
        let (x, y) = pair.split_at_mut(n);
        let width = (2 * k + 2).next_multiple_of(LANES).min(n - end);
        subtract_pair(known, [x, y], (first, end), width);
    }
    let last = pairs.into_remainder();
    if let Some(f) = last
        .get(first..)
        .and_then(|f| f.first_chunk::<PANEL>())
        .copied()
    {
        let known = known[0].iter().zip(known[1]).zip(known[2]).zip(known[3]);
        for (x, (((k0, k1), k2), k3)) in last[end..].iter_mut().zip(known) {
            *x -= (f[0] * k0 + f[1] * k1) + (f[2] * k2 + f[3] * k3);
        }
    }
}

/// Subtracts the products of a panel from the first elements of two rows to the right of it.
#[inline(always)]
fn subtract_pair(
    [k0, k1, k2, k3]: [&[f64]; PANEL],
    [x, y]: [&mut [f64]; 2],
    (first, end): (usize, usize),
    width: usize,
) {
    let (f, x) = x.split_at_mut(end);
    let (g, y) = y.split_at_mut(end);
    let (Some([f0, f1, f2, f3]), Some([g0, g1, g2, g3])) = (
        f[first..].first_chunk::<PANEL>().copied(),
        g[first..].first_chunk::<PANEL>().copied(),
    ) else {
        return;
    };
    let known = k0[..width].as_chunks::<LANES>().0.iter();
    let known = known
        .zip(k1.as_chunks::<LANES>().0)
        .zip(k2.as_chunks::<LANES>().0)
        .zip(k3.as_chunks::<LANES>().0);
    let rows = x
        .as_chunks_mut::<LANES>()
        .0
        .iter_mut()
        .zip(y.as_chunks_mut::<LANES>().0);
    for ((x, y), (((k0, k1), k2), k3)) in rows.zip(known) {
        let (mut a, mut b) = (*x, *y);
        for l in 0..LANES {
            a[l] -= (f0 * k0[l] + f1 * k1[l]) + (f2 * k2[l] + f3 * k3[l]);
            b[l] -= (g0 * k0[l] + g1 * k1[l]) + (g2 * k2[l] + g3 * k3[l]);
        }
        (*x, *y) = (a, b);
    }
    for l in width - width % LANES..width {
        x[l] -= (f0 * k0[l] + f1 * k1[l]) + (f2 * k2[l] + f3 * k3[l]);
        y[l] -= (g0 * k0[l] + g1 * k1[l]) + (g2 * k2[l] + g3 * k3[l]);
    }
}

/// Solves `X L^T = B` in place, where B is stored column by column.
#[inline(always)]
pub(super) fn solve_columns(n: usize, l: &[f64], b: &mut [f64]) {
    #[inline(always)]
    fn solve(n: usize, m: usize, l: &[f64], b: &mut [f64]) {
        for i in 0..n {
            let (known, rest) = b.split_at_mut(i * m);
            let column = &mut rest[..m];
            subtract_combination(m, column, known, |j| l[i * n + j]);
            for x in column {
                *x *= l[i * n + i];
            }
        }
    }
    match (l.as_array::<36>(), b.as_mut_array::<36>()) {
        (Some(l), Some(b)) => solve_sized(l, b),
        _ => solve(n, b.len() / n, l, b),
    }
}

/// Does the same for blocks of six rows and columns, in registers.
#[inline(always)]
fn solve_sized(l: &[f64; 36], b: &mut [f64; 36]) {
    for i in 0..6 {
        let mut column: [f64; 6] = std::array::from_fn(|r| b[6 * i + r]);
        for j in 0..i {
            for r in 0..6 {
                column[r] -= l[6 * i + j] * b[6 * j + r];
            }
        }
        for r in 0..6 {
            b[6 * i + r] = column[r] * l[6 * i + i];
        }
    }
}

/// Subtracts columns of m elements, each times its factor, from the first elements of these
/// columns.
#[inline(always)]
fn subtract_combination(m: usize, out: &mut [f64], columns: &[f64], factor: impl Fn(usize) -> f64) {
    let end = out.len();
    let panels = columns.chunks_exact(PANEL * m);
    let rest = panels.remainder();
    let num_in_panels = (columns.len() - rest.len()) / m;
    for (j, panel) in (0..).step_by(PANEL).zip(panels) {
        let f: [f64; PANEL] = std::array::from_fn(|k| factor(j + k));
        let [x0, x1, x2, x3] = std::array::from_fn(|k| &panel[k * m..k * m + end]);
        let panel = x0.iter().zip(x1).zip(x2).zip(x3);
        for (out, (((x0, x1), x2), x3)) in out.iter_mut().zip(panel) {
            *out -= (f[0] * x0 + f[1] * x1) + (f[2] * x2 + f[3] * x3);
        }
    }
    for (j, x) in (num_in_panels..).zip(rest.chunks_exact(m)) {
        let f = factor(j);
        for (out, x) in out.iter_mut().zip(x) {
            *out -= f * x;
        }
    }
}

/// Subtracts `X Y^T`, where both have `n` columns. All are stored column by column.
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
    for (i, out) in out.chunks_exact_mut(m).enumerate() {
        subtract_combination(m, out, x, |j| y[j * p + i]);
    }
}

/// Subtracts `X X^T` from the triangle of a block on the diagonal that is factored.
#[inline(always)]
pub(super) fn subtract_square(n: usize, x: &[f64], out: &mut [f64]) {
    let m = x.len() / n;
    if m < LARGE {
        return subtract_product(n, x, x, out);
    }
    for (i, out) in out.chunks_exact_mut(m).enumerate() {
        subtract_combination(m, &mut out[..=i], x, |j| x[j * m + i]);
    }
}

/// Does the same for blocks of six rows and columns.
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
