//! Products of small dense blocks, stored row by row. Those of contacts of free bodies have sizes
//! that the compiler knows.

use super::law::Stiffness;
use super::vertices::VertexColumns;

/// A factor of a product of two blocks of a Jacobian.
pub(super) struct Factor<'a> {
    pub(super) values: &'a [f64],
    pub(super) num_columns: usize,
    /// Number of columns of the tree.
    pub(super) size: usize,
    /// The columns of the tree, if the block does not have all.
    pub(super) vertices: Option<&'a VertexColumns>,
}

/// Returns the scalar product of vectors of the same size, in sums that do not wait for each other.
#[inline(always)]
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    #[inline(always)]
    fn sum<const N: usize>(x: &[f64], y: &[f64]) -> f64 {
        let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<N>(), y.as_chunks::<N>());
        let mut sums = [0.0; N];
        for (x, y) in x.iter().zip(y) {
            for k in 0..N {
                sums[k] += x[k] * y[k];
            }
        }
        let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
        sums.iter().sum::<f64>() + rest
    }
    debug_assert_eq!(x.len(), y.len());
    match x.len() {
        0..32 => sum::<2>(x, y),
        _ => sum::<8>(x, y),
    }
}

/// Calls a function whose first argument is a number of columns, with a number that the compiler
/// knows if it is that of a free body.
macro_rules! with_known_size {
    ($n:expr, $function:ident($($argument:expr),*)) => {
        match $n {
            6 => $function(6, $($argument),*),
            n => $function(n, $($argument),*),
        }
    };
}

/// Adds a multiple of a vector.
#[inline]
pub(super) fn add_scaled(factor: f64, x: &[f64], out: &mut [f64]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += factor * x;
    }
}

/// Adds `X y`.
pub(super) fn add_times(x: &[f64], y: &[f64], out: &mut [f64]) {
    #[inline(always)]
    fn add(n: usize, x: &[f64], y: &[f64], out: &mut [f64]) {
        for (row, out) in x.chunks_exact(n).zip(out) {
            *out += dot(row, &y[..n]);
        }
    }
    with_known_size!(y.len(), add(x, y, out))
}

/// Subtracts `X^T y`.
pub(super) fn subtract_transposed_times(x: &[f64], y: &[f64], out: &mut [f64]) {
    #[inline(always)]
    fn subtract(n: usize, x: &[f64], y: &[f64], out: &mut [f64]) {
        let out = &mut out[..n];
        if let [y0, y1, y2] = y {
            return add_combination(out, three_rows(x, n), [-y0, -y1, -y2]);
        }
        for (row, y) in x.chunks_exact(n).zip(y) {
            for (out, x) in out.iter_mut().zip(row) {
                *out -= x * y;
            }
        }
    }
    with_known_size!(out.len(), subtract(x, y, out))
}

/// Returns the rows of a block with n columns that has three, as those of contacts do.
#[inline(always)]
fn three_rows(values: &[f64], n: usize) -> [&[f64]; 3] {
    [&values[..n], &values[n..2 * n], &values[2 * n..3 * n]]
}

/// Computes the product of a stiffness and the rows of a Jacobian with n columns.
pub(super) fn stiff_rows(
    stiffness: &Stiffness,
    rows: usize,
    n: usize,
    values: &[f64],
    out: &mut Vec<f64>,
) {
    #[inline(always)]
    fn full(n: usize, g: &nalgebra::Matrix3<f64>, values: &[f64], out: &mut [f64]) {
        let rows = three_rows(values, n);
        for (i, out) in out.chunks_exact_mut(n).enumerate() {
            out.fill(0.0);
            add_combination(out, rows, [g[(i, 0)], g[(i, 1)], g[(i, 2)]]);
        }
    }
    out.resize(rows * n, 0.0);
    match stiffness {
        Stiffness::Diagonal(g) => {
            let products = values.chunks_exact(n).zip(out.chunks_exact_mut(n)).zip(g);
            for ((row, out), g) in products {
                for (x, out) in row.iter().zip(out) {
                    *out = g * x;
                }
            }
        }
        Stiffness::Full(g) => with_known_size!(n, full(g, values, out)),
    }
}

/// Adds `X^T Y` to a block that has as many rows and columns as the trees of both.
#[inline]
pub(super) fn add_product_of(x: &Factor<'_>, y: &Factor<'_>, out: &mut [f64]) {
    match (x.vertices, y.vertices) {
        (None, None) => add_product(x.num_columns, x.values, y.values, out),
        _ => add_product_of_some(x, y, out),
    }
}

/// Does the same for a symmetric product, of which only the lower triangle must be complete.
#[inline]
pub(super) fn add_symmetric_product_of(x: &Factor<'_>, y: &Factor<'_>, out: &mut [f64]) {
    let n = x.num_columns;
    if let (Some(of_x), Some(of_y)) = (x.vertices, y.vertices) {
        return add_product_of_vertices(x, y, [of_x, of_y], |row, column| row >= column, out);
    }
    if n == 6 || x.values.len() != 3 * n {
        return add_product_of(x, y, out);
    }
    add_triangle(n, x.values, y.values, out);
}

/// Adds the lower triangle of `X^T Y` for blocks with three rows and n columns.
#[inline(always)]
fn add_triangle(n: usize, x: &[f64], y: &[f64], out: &mut [f64]) {
    let ([x0, x1, x2], y) = (three_rows(x, n), three_rows(y, n));
    for (i, row) in out.chunks_exact_mut(n).enumerate() {
        add_combination(&mut row[..=i], y, [x0[i], x1[i], x2[i]]);
    }
}

/// Adds a combination of three rows, which may have more elements than the sum.
#[inline(always)]
fn add_combination(sum: &mut [f64], [y0, y1, y2]: [&[f64]; 3], [x0, x1, x2]: [f64; 3]) {
    for (sum, ((y0, y1), y2)) in sum.iter_mut().zip(y0.iter().zip(y1).zip(y2)) {
        *sum = *sum + x0 * y0 + x1 * y1 + x2 * y2;
    }
}

/// Does the same where not all columns are present.
fn add_product_of_some(x: &Factor<'_>, y: &Factor<'_>, out: &mut [f64]) {
    fn columns<'a>(of: &'a Factor<'_>) -> impl Iterator<Item = (usize, usize)> + 'a {
        let all = (0..of.num_columns).filter(|_| of.vertices.is_none());
        let some = of.vertices.iter().flat_map(|vertices| vertices.iter());
        all.chain(some).enumerate()
    }
    if let (Some(of_x), Some(of_y)) = (x.vertices, y.vertices) {
        return add_product_of_vertices(x, y, [of_x, of_y], |_, _| true, out);
    }
    let rows = || {
        let x = x.values.chunks_exact(x.num_columns);
        x.zip(y.values.chunks_exact(y.num_columns))
    };
    for (i, row) in columns(x) {
        let out = &mut out[row * y.size..(row + 1) * y.size];
        for (x, y_row) in rows() {
            let x = x[i];
            match y.vertices {
                None => {
                    for (out, y) in out.iter_mut().zip(y_row) {
                        *out += x * y;
                    }
                }
                Some(vertices) => {
                    for (column, y) in vertices.iter().zip(y_row) {
                        out[column] += x * y;
                    }
                }
            }
        }
    }
}

/// Does the same for two blocks of some vertices, where a function of the first row and column of
/// two vertices returns true.
fn add_product_of_vertices(
    x: &Factor<'_>,
    y: &Factor<'_>,
    [of_x, of_y]: [&VertexColumns; 2],
    is_wanted: impl Fn(usize, usize) -> bool,
    out: &mut [f64],
) {
    for (a, row) in of_x.first_columns().enumerate() {
        for (b, column) in of_y.first_columns().enumerate() {
            if !is_wanted(row, column) {
                continue;
            }
            let mut sum = [[0.0; 3]; 3];
            let x_rows = x.values.chunks_exact(x.num_columns);
            for (x, y) in x_rows.zip(y.values.chunks_exact(y.num_columns)) {
                let (x, y) = (&x[3 * a..3 * a + 3], &y[3 * b..3 * b + 3]);
                for (sum, x) in sum.iter_mut().zip(x) {
                    for (sum, y) in sum.iter_mut().zip(y) {
                        *sum += x * y;
                    }
                }
            }
            let out = out[row * y.size + column..].chunks_mut(y.size);
            for (sum, out) in sum.iter().zip(out) {
                for (out, sum) in out.iter_mut().zip(sum) {
                    *out += sum;
                }
            }
        }
    }
}

/// Adds `X^T Y` for blocks with three rows, of m and n columns.
#[inline(always)]
fn add_three(n: usize, m: usize, x: &[f64], y: &[f64], out: &mut [f64]) {
    let ([x0, x1, x2], y) = (three_rows(x, m), three_rows(y, n));
    for (i, row) in out.chunks_exact_mut(n).enumerate() {
        add_combination(row, y, [x0[i], x1[i], x2[i]]);
    }
}

/// Adds `X^T Y`, where X has m columns.
pub(super) fn add_product(m: usize, x: &[f64], y: &[f64], out: &mut [f64]) {
    #[inline(always)]
    fn add(m: usize, n: usize, x: &[f64], y: &[f64], out: &mut [f64]) {
        for (i, out) in out.chunks_exact_mut(n).enumerate() {
            for (x, y) in x.chunks_exact(m).zip(y.chunks_exact(n)) {
                for (out, y) in out.iter_mut().zip(y) {
                    *out += x[i] * y;
                }
            }
        }
    }
    let sized = (
        x.as_array::<18>(),
        y.as_array::<18>(),
        out.as_mut_array::<36>(),
    );
    match sized {
        (Some(x), Some(y), Some(out)) => add(6, 6, x, y, out),
        _ if x.len() == 3 * m => with_known_size!(out.len() / m, add_three(m, x, y, out)),
        _ => {
            let n = out.len() / m;
            add(m, n, x, y, out);
        }
    }
}
