//! Products of small dense blocks, stored row by row. Those of contacts of free bodies have sizes
//! that the compiler knows.

use super::law::Stiffness;
use super::vertex_columns::VertexColumns;
use tarragon_framework::simd::dot;

/// A factor of a product of two blocks of a Jacobian.
pub(super) enum Factor<'a> {
    /// One that has all columns of its tree.
    All {
        values: &'a [f64],
        num_columns: usize,
    },
    /// One that has the columns of some vertices: for each of them three rows, times its weight.
    Vertices {
        vertices: &'a VertexColumns,
        rows: [[f64; 3]; 3],
        /// Number of columns of the tree.
        size: usize,
    },
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

/// Returns the product of a stiffness and three rows.
#[inline(always)]
pub(super) fn stiff_three(stiffness: &Stiffness, rows: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let mut product = [[0.0; 3]; 3];
    match stiffness {
        Stiffness::Diagonal(g) => {
            for (product, (row, g)) in product.iter_mut().zip(rows.iter().zip(g)) {
                for (product, x) in product.iter_mut().zip(row) {
                    *product = g * x;
                }
            }
        }
        Stiffness::Full(g) => {
            for (i, product) in product.iter_mut().enumerate() {
                *product = combination([g[(i, 0)], g[(i, 1)], g[(i, 2)]], rows);
            }
        }
    }
    product
}

/// Returns a combination of three rows.
#[inline(always)]
fn combination(factors: [f64; 3], rows: &[[f64; 3]; 3]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for k in 0..3 {
        sum[k] = factors[0] * rows[0][k] + factors[1] * rows[1][k] + factors[2] * rows[2][k];
    }
    sum
}

/// Adds `X^T Y` to a block that has as many rows and columns as the trees of both.
#[inline]
pub(super) fn add_product_of(x: &Factor<'_>, y: &Factor<'_>, out: &mut [f64]) {
    match (x, y) {
        (
            Factor::All {
                values,
                num_columns,
            },
            Factor::All { values: y, .. },
        ) => add_product(*num_columns, values, y, out),
        _ => add_product_of_vertices(x, y, |_, _| true, out),
    }
}

/// Does the same for a symmetric product, of which only the upper triangle must be complete: the
/// lower one of a block that is stored by columns.
#[inline]
pub(super) fn add_symmetric_product_of(x: &Factor<'_>, y: &Factor<'_>, out: &mut [f64]) {
    match (x, y) {
        (
            Factor::All {
                values,
                num_columns,
            },
            Factor::All { values: y, .. },
        ) if *num_columns != 6 && values.len() == 3 * num_columns => {
            add_triangle(*num_columns, values, y, out);
        }
        (Factor::Vertices { .. }, Factor::Vertices { .. }) => {
            add_product_of_vertices(x, y, |row, column| row <= column, out);
        }
        _ => add_product_of(x, y, out),
    }
}

/// Adds what the stiffness of a constraint on vertices adds to a symmetric matrix with some number
/// of rows: its upper triangle, and possibly others of its elements.
#[inline(always)]
pub(super) fn add_stiffness_of_vertices(
    vertices: &VertexColumns,
    stiffness: &Stiffness,
    matrix: &mut [f64],
    size: usize,
) {
    let stiff = stiff_three(stiffness, &vertices.rows);
    let row = |k: usize| combination(vertices.rows.map(|row| row[k]), &stiff);
    let product = [row(0), row(1), row(2)];
    for (i, (a, of_a)) in vertices.first_columns().enumerate() {
        for (b, of_b) in vertices.first_columns().skip(i) {
            // The product is symmetric, so that of either order is that above the diagonal.
            let (first, column, weight) = (a.min(b), a.max(b), of_a * of_b);
            for (k, product) in product.iter().enumerate() {
                let out = &mut matrix[(first + k) * size + column..][..3];
                for (out, x) in out.iter_mut().zip(product) {
                    *out += weight * x;
                }
            }
        }
    }
}

/// Adds the upper triangle of `X^T Y` for blocks with three rows and n columns.
#[inline(always)]
fn add_triangle(n: usize, x: &[f64], y: &[f64], out: &mut [f64]) {
    let ([x0, x1, x2], y) = (three_rows(x, n), three_rows(y, n));
    for (i, row) in out.chunks_exact_mut(n).enumerate() {
        let y = y.map(|y| &y[i..]);
        add_combination(&mut row[i..], y, [x0[i], x1[i], x2[i]]);
    }
}

/// Adds a combination of three rows.
#[inline(always)]
fn add_combination(sum: &mut [f64], [y0, y1, y2]: [&[f64]; 3], [x0, x1, x2]: [f64; 3]) {
    for (sum, ((y0, y1), y2)) in sum.iter_mut().zip(y0.iter().zip(y1).zip(y2)) {
        *sum = *sum + x0 * y0 + x1 * y1 + x2 * y2;
    }
}

/// Adds `X^T Y` where one block or both have the columns of vertices; between vertices only where a
/// function of the first row and column of both returns true.
fn add_product_of_vertices(
    x: &Factor<'_>,
    y: &Factor<'_>,
    is_wanted: impl Fn(usize, usize) -> bool,
    out: &mut [f64],
) {
    let column = |rows: &[[f64; 3]; 3], k: usize| [rows[0][k], rows[1][k], rows[2][k]];
    match (x, y) {
        (
            Factor::Vertices {
                vertices: of_x,
                rows,
                ..
            },
            Factor::Vertices {
                vertices: of_y,
                rows: y,
                size,
            },
        ) => {
            let of_column = |k| combination(column(rows, k), y);
            let product = [of_column(0), of_column(1), of_column(2)];
            for (first_row, of_row) in of_x.first_columns() {
                for (k, [x0, x1, x2]) in product.iter().enumerate() {
                    let scaled = [of_row * x0, of_row * x1, of_row * x2];
                    let out = &mut out[(first_row + k) * size..][..*size];
                    for (first, weight) in of_y.first_columns() {
                        if is_wanted(first_row, first)
                            && let Some(out) = out[first..].first_chunk_mut::<3>()
                        {
                            for (out, x) in out.iter_mut().zip(scaled) {
                                *out += weight * x;
                            }
                        }
                    }
                }
            }
        }
        (
            Factor::All {
                values,
                num_columns,
            },
            Factor::Vertices {
                vertices,
                rows,
                size,
            },
        ) => {
            for (i, out) in out.chunks_exact_mut(*size).enumerate() {
                let [x0, x1, x2] = three_rows(values, *num_columns);
                let product = combination([x0[i], x1[i], x2[i]], rows);
                for (first, weight) in vertices.first_columns() {
                    for (out, x) in out[first..first + 3].iter_mut().zip(&product) {
                        *out += weight * x;
                    }
                }
            }
        }
        (
            Factor::Vertices { vertices, rows, .. },
            Factor::All {
                values,
                num_columns,
            },
        ) => {
            let y = three_rows(values, *num_columns);
            for (first, weight) in vertices.first_columns() {
                let out = out[first * num_columns..].chunks_exact_mut(*num_columns);
                for (k, out) in out.take(3).enumerate() {
                    let [x0, x1, x2] = column(rows, k);
                    add_combination(out, y, [weight * x0, weight * x1, weight * x2]);
                }
            }
        }
        // Neither has vertices.
        (Factor::All { .. }, Factor::All { .. }) => add_product_of(x, y, out),
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
