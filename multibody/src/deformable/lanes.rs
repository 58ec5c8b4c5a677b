//! Arithmetic on four elements at once, in a form that compilers turn into vector instructions.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Number of elements that are computed together.
pub(super) const LANES: usize = 4;

/// The same quantity of four elements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Lanes(pub(super) [f64; LANES]);

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

/// Vector of each of four elements.
pub(super) type Vector = [Lanes; 3];

/// Matrix of each of four elements, by rows.
pub(super) type Matrix = [[Lanes; 3]; 3];

impl Lanes {
    pub(super) const ZERO: Self = Self([0.0; LANES]);

    #[inline(always)]
    pub(super) fn splat(x: f64) -> Self {
        Self([x; LANES])
    }

    #[inline(always)]
    pub(super) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let [a, b, c, d] = self.0;
        Self([f(a), f(b), f(c), f(d)])
    }

    #[inline(always)]
    pub(super) fn sum(self) -> f64 {
        (self.0[0] + self.0[1]) + (self.0[2] + self.0[3])
    }
}

macro_rules! elementwise {
    ($($trait:ident $method:ident $op:tt),*) => {$(
        impl $trait for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ([a, b, c, d], [p, q, r, s]) = (self.0, other.0);
                Self([a $op p, b $op q, c $op r, d $op s])
            }
        }
        impl $trait<f64> for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                self.map(|x| x $op other)
            }
        }
    )*};
}
elementwise!(Add add +, Sub sub -, Mul mul *, Div div /);

impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|x| -x)
    }
}

impl AddAssign for Lanes {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Lanes {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

#[inline(always)]
pub(super) fn dot(a: &Vector, b: &Vector) -> Lanes {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(super) fn cross(a: &Vector, b: &Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[inline(always)]
pub(super) fn scale(a: &Vector, s: Lanes) -> Vector {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// `m x`.
#[inline(always)]
pub(super) fn apply(m: &Matrix, x: &Vector) -> Vector {
    [dot(&m[0], x), dot(&m[1], x), dot(&m[2], x)]
}

/// `x y^T`.
#[inline(always)]
pub(super) fn outer(x: &Vector, y: &Vector) -> Matrix {
    [scale(y, x[0]), scale(y, x[1]), scale(y, x[2])]
}

/// `m x` for each x.
#[inline(always)]
pub(super) fn apply_all(m: &Matrix, x: &[Vector; 4]) -> [Vector; 4] {
    let mut all = *x;
    for x in &mut all {
        *x = apply(m, x);
    }
    all
}

#[inline(always)]
pub(super) fn identity() -> Matrix {
    let mut m = Matrix::default();
    add_to_diagonal(&mut m, Lanes::splat(1.0));
    m
}

#[inline(always)]
pub(super) fn transpose(m: &Matrix) -> Matrix {
    let [a, b, c] = *m;
    [[a[0], b[0], c[0]], [a[1], b[1], c[1]], [a[2], b[2], c[2]]]
}

#[inline(always)]
pub(super) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut m = *a;
    for row in &mut m {
        let [x, y, z] = *row;
        for (j, entry) in row.iter_mut().enumerate() {
            *entry = x * b[0][j] + y * b[1][j] + z * b[2][j];
        }
    }
    m
}

/// `a b^T`.
#[inline(always)]
pub(super) fn product_transposed(a: &Matrix, b: &Matrix) -> Matrix {
    [apply(b, &a[0]), apply(b, &a[1]), apply(b, &a[2])]
}

/// Entry by entry, `f(a, b)`.
#[inline(always)]
pub(super) fn combine(a: &Matrix, b: &Matrix, f: impl Fn(Lanes, Lanes) -> Lanes) -> Matrix {
    let mut m = *a;
    for (row, b) in m.iter_mut().zip(b) {
        for (x, b) in row.iter_mut().zip(b) {
            *x = f(*x, *b);
        }
    }
    m
}

#[inline(always)]
pub(super) fn squared_norm(m: &Matrix) -> Lanes {
    dot(&m[0], &m[0]) + dot(&m[1], &m[1]) + dot(&m[2], &m[2])
}

#[inline(always)]
pub(super) fn trace(m: &Matrix) -> Lanes {
    m[0][0] + m[1][1] + m[2][2]
}

/// `m += s I`.
#[inline(always)]
pub(super) fn add_to_diagonal(m: &mut Matrix, s: Lanes) {
    for (i, row) in m.iter_mut().enumerate() {
        row[i] += s;
    }
}

/// Matrix of cofactors: the derivative of the determinant.
#[inline(always)]
pub(super) fn cofactors(m: &Matrix) -> Matrix {
    [
        cross(&m[1], &m[2]),
        cross(&m[2], &m[0]),
        cross(&m[0], &m[1]),
    ]
}

#[inline(always)]
pub(super) fn from_matrices(m: &[nalgebra::Matrix3<f64>; LANES]) -> Matrix {
    from_fn(|i| from_fn(|j| Lanes(from_fn(|k| m[k][(i, j)]))))
}

#[inline(always)]
pub(super) fn lane(m: &Matrix, k: usize) -> nalgebra::Matrix3<f64> {
    nalgebra::Matrix3::from_fn(|i, j| m[i][j].0[k])
}
