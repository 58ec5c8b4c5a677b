//! Arithmetic on four elements at once, in a form that compilers turn into vector instructions.

use std::array::from_fn;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Number of elements that are computed together.
pub(super) const LANES: usize = 4;

/// The same quantity of four elements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Lanes(pub(super) [f64; LANES]);

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
        Self(self.0.map(f))
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
                Self(from_fn(|k| self.0[k] $op other.0[k]))
            }
        }
        impl $trait<f64> for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                Self(from_fn(|k| self.0[k] $op other))
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

#[inline(always)]
pub(super) fn identity() -> Matrix {
    let one = Lanes::splat(1.0);
    from_fn(|i| from_fn(|j| if i == j { one } else { Lanes::ZERO }))
}

#[inline(always)]
pub(super) fn transpose(m: &Matrix) -> Matrix {
    from_fn(|i| from_fn(|j| m[j][i]))
}

#[inline(always)]
pub(super) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    from_fn(|i| from_fn(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j]))
}

/// `a b^T`.
#[inline(always)]
pub(super) fn product_transposed(a: &Matrix, b: &Matrix) -> Matrix {
    from_fn(|i| from_fn(|j| dot(&a[i], &b[j])))
}

/// Entry by entry, `f(a, b)`.
#[inline(always)]
pub(super) fn combine(a: &Matrix, b: &Matrix, f: impl Fn(Lanes, Lanes) -> Lanes) -> Matrix {
    from_fn(|i| from_fn(|j| f(a[i][j], b[i][j])))
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
