//! The dual number itself: value, derivatives, arithmetic and order.
//!
//! Arithmetic is written out once per operator; every elementary function goes through
//! [`Dual::chain`], so the product and chain rules exist in exactly one place each.

use std::cmp::Ordering;
use std::fmt;
use std::iter::{Product, Sum};
use std::ops::{
    Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign,
};

/// Forward-mode dual number `re + eps . d` with `N` simultaneous directions.
///
/// * `re` is the value, `eps[i]` the derivative along direction `i`.
/// * Heap-free and `Copy`; all `N` lanes are carried by every operation.
/// * Equality and order (`==`, `<`, `max`, ...) look at `re` only, as in Drake: a branch of an
///   algorithm depends on the value, whether or not derivatives are carried along.
///   [`Dual::is_same_as`] compares the derivatives, too.
///
/// ```
/// use tarragon_framework::AutoDiff;
/// let x = AutoDiff::variable(2.0, 0);
/// let y = x * x * x;
/// assert_eq!(y.re, 8.0);
/// assert_eq!(y.eps[0], 12.0);
/// ```
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Dual<const N: usize> {
    /// Value.
    pub re: f64,
    /// Derivatives, one per direction.
    pub eps: [f64; N],
}

/// Number of derivative directions carried by one [`AutoDiff`].
pub const DIRECTIONS: usize = 8;

/// Differentiating scalar of diagrams.
///
/// ```
/// use tarragon_framework::AutoDiff;
/// let (x, y) = (AutoDiff::variable(2.0, 0), AutoDiff::variable(5.0, 1));
/// let z = x * y + 1.0;
/// assert_eq!((z.re, z.eps[0], z.eps[1]), (11.0, 5.0, 2.0));
/// ```
pub type AutoDiff = Dual<DIRECTIONS>;

impl<const N: usize> Dual<N> {
    /// Creates a value whose derivatives are all zero.
    #[inline]
    pub const fn constant(re: f64) -> Self {
        Self { re, eps: [0.0; N] }
    }

    /// Returns the constant 0 (Drake's default `AutoDiffXd`), without a trait in scope.
    #[inline]
    pub const fn zero() -> Self {
        Self::constant(0.0)
    }

    /// Returns the constant 1, without a trait in scope.
    #[inline]
    pub const fn one() -> Self {
        Self::constant(1.0)
    }

    /// Creates the independent variable of `direction`: derivative one there, zero elsewhere.
    ///
    /// # Panics
    /// Panics if `direction >= N`.
    #[inline]
    pub fn variable(re: f64, direction: usize) -> Self {
        assert!(
            direction < N,
            "Dual::variable: the direction must be below {N}, got {direction}"
        );
        let mut x = Self::constant(re);
        x.eps[direction] = 1.0;
        x
    }

    /// Returns true if the values and all derivatives are equal. Like `==`, it is false for NaN.
    ///
    /// ```
    /// use tarragon_framework::AutoDiff;
    /// let (x, c) = (AutoDiff::variable(2.0, 0), AutoDiff::constant(2.0));
    /// assert!(x == c && !x.is_same_as(c));
    /// ```
    #[inline]
    pub fn is_same_as(self, other: Self) -> bool {
        self.re == other.re && self.eps == other.eps
    }

    /// Applies the chain rule for a function with value `f0` and derivative `f1` at `self.re`.
    #[inline]
    #[must_use]
    pub fn chain(self, f0: f64, f1: f64) -> Self {
        Self {
            re: f0,
            eps: self.eps.map(|e| e * f1),
        }
    }

    /// Applies the chain rule for functions that stay defined where their slope is infinite (`sqrt`
    /// at 0, `asin` at 1). The derivative there is zero by choice, so that it never turns into NaN.
    #[inline]
    pub(super) fn chain_or_flat(self, f0: f64, f1: f64) -> Self {
        let flat = f0.is_finite() && !f1.is_finite();
        self.chain(f0, if flat { 0.0 } else { f1 })
    }

    /// Computes `f0 + a * self.eps + b * other.eps`, the chain rule of a function of two variables.
    #[inline]
    pub(super) fn chain2(self, other: Self, f0: f64, a: f64, b: f64) -> Self {
        Self {
            re: f0,
            eps: std::array::from_fn(|i| a * self.eps[i] + b * other.eps[i]),
        }
    }
}

impl<const N: usize> Default for Dual<N> {
    fn default() -> Self {
        Self::constant(0.0)
    }
}

impl<const N: usize> From<f64> for Dual<N> {
    #[inline]
    fn from(re: f64) -> Self {
        Self::constant(re)
    }
}

impl<const N: usize> fmt::Debug for Dual<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} + {:?}ε", self.re, self.eps)
    }
}

impl<const N: usize> fmt::Display for Dual<N> {
    /// Formats the value with the given options. `{:?}` also shows the derivatives.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.re, f)
    }
}

impl<const N: usize> PartialEq for Dual<N> {
    /// Compares the values.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.re == other.re
    }
}

impl<const N: usize> PartialOrd for Dual<N> {
    /// Compares the values.
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.re.partial_cmp(&other.re)
    }
}

impl<const N: usize> PartialEq<f64> for Dual<N> {
    /// Compares the value.
    #[inline]
    fn eq(&self, other: &f64) -> bool {
        self.re == *other
    }
}

impl<const N: usize> PartialOrd<f64> for Dual<N> {
    /// Compares the value.
    #[inline]
    fn partial_cmp(&self, other: &f64) -> Option<Ordering> {
        self.re.partial_cmp(other)
    }
}

impl<const N: usize> Neg for Dual<N> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        self.chain(-self.re, -1.0)
    }
}

impl<const N: usize> Add for Dual<N> {
    type Output = Self;
    #[inline]
    fn add(self, o: Self) -> Self {
        Self {
            re: self.re + o.re,
            eps: std::array::from_fn(|i| self.eps[i] + o.eps[i]),
        }
    }
}

impl<const N: usize> Sub for Dual<N> {
    type Output = Self;
    #[inline]
    fn sub(self, o: Self) -> Self {
        Self {
            re: self.re - o.re,
            eps: std::array::from_fn(|i| self.eps[i] - o.eps[i]),
        }
    }
}

impl<const N: usize> Mul for Dual<N> {
    type Output = Self;
    #[inline]
    fn mul(self, o: Self) -> Self {
        self.chain2(o, self.re * o.re, o.re, self.re)
    }
}

impl<const N: usize> Div for Dual<N> {
    type Output = Self;
    #[inline]
    fn div(self, o: Self) -> Self {
        let inverse = 1.0 / o.re;
        let quotient = self.re / o.re;
        self.chain2(o, quotient, inverse, -quotient * inverse)
    }
}

impl<const N: usize> Rem for Dual<N> {
    type Output = Self;
    /// Computes `a - b * trunc(a / b)`, which is piecewise smooth.
    #[inline]
    fn rem(self, o: Self) -> Self {
        self.chain2(o, self.re % o.re, 1.0, -(self.re / o.re).trunc())
    }
}

impl<const N: usize> Add<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn add(mut self, o: f64) -> Self {
        self.re += o;
        self
    }
}

impl<const N: usize> Sub<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn sub(mut self, o: f64) -> Self {
        self.re -= o;
        self
    }
}

impl<const N: usize> Mul<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn mul(self, o: f64) -> Self {
        self.chain(self.re * o, o)
    }
}

impl<const N: usize> Div<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn div(self, o: f64) -> Self {
        self.chain(self.re / o, 1.0 / o)
    }
}

impl<const N: usize> Rem<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn rem(mut self, o: f64) -> Self {
        self.re %= o;
        self
    }
}

/// Implements the forwarding operators: constants on the left, references on the right, assignment.
macro_rules! forward_operators {
    ($($op:ident $method:ident $assign:ident $assign_method:ident),*) => {$(
        impl<const N: usize> $op<Dual<N>> for f64 {
            type Output = Dual<N>;
            #[inline]
            fn $method(self, o: Dual<N>) -> Dual<N> {
                Dual::constant(self).$method(o)
            }
        }
        impl<const N: usize> $op<&Dual<N>> for Dual<N> {
            type Output = Self;
            #[inline]
            fn $method(self, o: &Dual<N>) -> Self {
                self.$method(*o)
            }
        }
        impl<const N: usize> $op<&Dual<N>> for &Dual<N> {
            type Output = Dual<N>;
            #[inline]
            fn $method(self, o: &Dual<N>) -> Dual<N> {
                (*self).$method(*o)
            }
        }
        impl<const N: usize> $assign for Dual<N> {
            #[inline]
            fn $assign_method(&mut self, o: Self) {
                *self = self.$method(o);
            }
        }
        impl<const N: usize> $assign<&Dual<N>> for Dual<N> {
            #[inline]
            fn $assign_method(&mut self, o: &Self) {
                *self = self.$method(*o);
            }
        }
        impl<const N: usize> $assign<f64> for Dual<N> {
            #[inline]
            fn $assign_method(&mut self, o: f64) {
                *self = self.$method(o);
            }
        }
    )*};
}
forward_operators!(
    Add add AddAssign add_assign,
    Sub sub SubAssign sub_assign,
    Mul mul MulAssign mul_assign,
    Div div DivAssign div_assign,
    Rem rem RemAssign rem_assign
);

impl<const N: usize> Sum for Dual<N> {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::constant(0.0), Add::add)
    }
}

impl<'a, const N: usize> Sum<&'a Self> for Dual<N> {
    fn sum<I: Iterator<Item = &'a Self>>(items: I) -> Self {
        items.copied().sum()
    }
}

impl<const N: usize> Product for Dual<N> {
    fn product<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::constant(1.0), Mul::mul)
    }
}
