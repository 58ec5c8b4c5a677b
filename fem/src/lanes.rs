//! Vectors and matrices of four elements at once, one element per lane.

use tarragon_framework::simd::{LANES, Lanes, Pack};

/// Vector of each of four elements.
pub(super) type Vector<P = Lanes> = [P; 3];

/// Matrix of each of four elements, by rows.
pub(super) type Matrix<P = Lanes> = [[P; 3]; 3];

/// Same as [`std::array::from_fn`], always inlined, and so compiled for the processor of the kernel
/// that calls it. The closure must be short enough for the compiler to inline it too.
#[inline(always)]
pub(super) fn from_fn<T: Copy + Default, const N: usize>(
    mut element: impl FnMut(usize) -> T,
) -> [T; N] {
    let mut all = [T::default(); N];
    for (k, x) in all.iter_mut().enumerate() {
        *x = element(k);
    }
    all
}

#[inline(always)]
pub(super) fn dot<P: Pack>(a: &Vector<P>, b: &Vector<P>) -> P {
    a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]))
}

/// `a b - c d`.
#[inline(always)]
fn difference_of_products<P: Pack>([a, b]: [P; 2], [c, d]: [P; 2]) -> P {
    a.mul_add(b, -(c * d))
}

#[inline(always)]
pub(super) fn cross<P: Pack>(a: &Vector<P>, b: &Vector<P>) -> Vector<P> {
    [
        difference_of_products([a[1], b[2]], [a[2], b[1]]),
        difference_of_products([a[2], b[0]], [a[0], b[2]]),
        difference_of_products([a[0], b[1]], [a[1], b[0]]),
    ]
}

#[inline(always)]
pub(super) fn scale<P: Pack>(a: &Vector<P>, s: P) -> Vector<P> {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// `m x`.
#[inline(always)]
pub(super) fn apply<P: Pack>(m: &Matrix<P>, x: &Vector<P>) -> Vector<P> {
    [dot(&m[0], x), dot(&m[1], x), dot(&m[2], x)]
}

/// `x y^T`.
#[inline(always)]
pub(super) fn outer<P: Pack>(x: &Vector<P>, y: &Vector<P>) -> Matrix<P> {
    [scale(y, x[0]), scale(y, x[1]), scale(y, x[2])]
}

/// `m x` for each x.
#[inline(always)]
pub(super) fn apply_all<P: Pack>(m: &Matrix<P>, x: &[Vector<P>; 4]) -> [Vector<P>; 4] {
    let mut all = *x;
    for x in &mut all {
        *x = apply(m, x);
    }
    all
}

/// The identity, of packs of the same kind as this one.
#[inline(always)]
pub(super) fn identity<P: Pack>(pack: P) -> Matrix<P> {
    let (one, zero) = (pack.splat(1.0), pack.splat(0.0));
    [[one, zero, zero], [zero, one, zero], [zero, zero, one]]
}

#[inline(always)]
pub(super) fn transpose<P: Pack>(m: &Matrix<P>) -> Matrix<P> {
    let [a, b, c] = *m;
    [[a[0], b[0], c[0]], [a[1], b[1], c[1]], [a[2], b[2], c[2]]]
}

#[inline(always)]
pub(super) fn product<P: Pack>(a: &Matrix<P>, b: &Matrix<P>) -> Matrix<P> {
    let mut m = *a;
    for row in &mut m {
        let [x, y, z] = *row;
        for (j, entry) in row.iter_mut().enumerate() {
            *entry = z.mul_add(b[2][j], y.mul_add(b[1][j], x * b[0][j]));
        }
    }
    m
}

/// `a b^T`.
#[inline(always)]
pub(super) fn product_transposed<P: Pack>(a: &Matrix<P>, b: &Matrix<P>) -> Matrix<P> {
    [apply(b, &a[0]), apply(b, &a[1]), apply(b, &a[2])]
}

/// Entry by entry, `f(a, b)`.
#[inline(always)]
pub(super) fn combine<P: Pack>(a: &Matrix<P>, b: &Matrix<P>, f: impl Fn(P, P) -> P) -> Matrix<P> {
    let mut m = *a;
    for (row, b) in m.iter_mut().zip(b) {
        for (x, b) in row.iter_mut().zip(b) {
            *x = f(*x, *b);
        }
    }
    m
}

#[inline(always)]
pub(super) fn squared_norm<P: Pack>(m: &Matrix<P>) -> P {
    dot(&m[0], &m[0]) + dot(&m[1], &m[1]) + dot(&m[2], &m[2])
}

#[inline(always)]
pub(super) fn trace<P: Pack>(m: &Matrix<P>) -> P {
    m[0][0] + m[1][1] + m[2][2]
}

/// `m += s I`.
#[inline(always)]
pub(super) fn add_to_diagonal<P: Pack>(m: &mut Matrix<P>, s: P) {
    for (i, row) in m.iter_mut().enumerate() {
        row[i] += s;
    }
}

/// Matrix of cofactors: the derivative of the determinant.
#[inline(always)]
pub(super) fn cofactors<P: Pack>(m: &Matrix<P>) -> Matrix<P> {
    [
        cross(&m[1], &m[2]),
        cross(&m[2], &m[0]),
        cross(&m[0], &m[1]),
    ]
}

/// Returns vectors in packs of the same kind as this one.
#[inline(always)]
pub(super) fn load_vectors<P: Pack, const N: usize>(
    pack: P,
    lanes: &[Vector; N],
) -> [Vector<P>; N] {
    let mut all = [[pack; 3]; N];
    for (x, lanes) in all.iter_mut().zip(lanes) {
        for (x, lanes) in x.iter_mut().zip(lanes) {
            *x = pack.load(*lanes);
        }
    }
    all
}

#[inline(always)]
pub(super) fn store_vectors<P: Pack, const N: usize>(all: &[Vector<P>; N], out: &mut [Vector; N]) {
    for (out, x) in out.iter_mut().zip(all) {
        for (out, x) in out.iter_mut().zip(x) {
            *out = x.store();
        }
    }
}

#[inline(always)]
pub(super) fn from_matrices(m: &[nalgebra::Matrix3<f64>; LANES]) -> Matrix {
    from_fn(|i| from_fn(|j| Lanes(from_fn(|k| m[k][(i, j)]))))
}

#[inline(always)]
pub(super) fn lane(m: &Matrix, k: usize) -> nalgebra::Matrix3<f64> {
    nalgebra::Matrix3::from_fn(|i, j| m[i][j].0[k])
}
