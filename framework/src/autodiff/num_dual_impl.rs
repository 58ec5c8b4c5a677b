//! `num_dual::DualNum` and the `num_traits` families it builds on.

use super::Dual;
use num_dual::{DualNum, DualStruct, Mappable};
use num_traits::{FromPrimitive, Inv, Num, One, Signed, Zero};

impl<const N: usize> Zero for Dual<N> {
    #[inline]
    fn zero() -> Self {
        Dual::zero()
    }
    /// Returns true if the value is zero, whatever the derivatives, as pivoting and division checks
    /// need.
    #[inline]
    fn is_zero(&self) -> bool {
        self.re == 0.0
    }
}

impl<const N: usize> One for Dual<N> {
    #[inline]
    fn one() -> Self {
        Dual::one()
    }
}

impl<const N: usize> Num for Dual<N> {
    type FromStrRadixErr = num_traits::ParseFloatError;
    fn from_str_radix(s: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
        f64::from_str_radix(s, radix).map(Self::constant)
    }
}

impl<const N: usize> Signed for Dual<N> {
    #[inline]
    fn abs(&self) -> Self {
        Dual::abs(*self)
    }
    fn abs_sub(&self, other: &Self) -> Self {
        if self.re <= other.re {
            Self::zero()
        } else {
            *self - *other
        }
    }
    #[inline]
    fn signum(&self) -> Self {
        Dual::signum(*self)
    }
    fn is_positive(&self) -> bool {
        self.re.is_sign_positive()
    }
    fn is_negative(&self) -> bool {
        self.re.is_sign_negative()
    }
}

impl<const N: usize> Inv for Dual<N> {
    type Output = Self;
    #[inline]
    fn inv(self) -> Self {
        self.recip()
    }
}

impl<const N: usize> FromPrimitive for Dual<N> {
    fn from_i64(n: i64) -> Option<Self> {
        f64::from_i64(n).map(Self::constant)
    }
    fn from_u64(n: u64) -> Option<Self> {
        f64::from_u64(n).map(Self::constant)
    }
    fn from_f64(n: f64) -> Option<Self> {
        Some(Self::constant(n))
    }
}

impl<const N: usize> DualStruct for Dual<N> {
    type Real = f64;
    type Inner = f64;
    #[inline]
    fn re(&self) -> f64 {
        self.re
    }
    #[inline]
    fn from_inner(inner: &f64) -> Self {
        Self::constant(*inner)
    }
}

impl<const N: usize> Mappable<Self> for Dual<N> {
    type Output<O> = O;
    fn map_dual<M: Fn(Self) -> O, O>(self, f: M) -> O {
        f(self)
    }
}

/// Trait methods that forward to the inherent function of the same name.
macro_rules! same_as_inherent {
    ($($name:ident),*) => {$(
        #[inline]
        fn $name(&self) -> Self {
            Dual::$name(*self)
        }
    )*};
}

impl<const N: usize> DualNum for Dual<N> {
    type Primitive = f64;
    const NDERIV: usize = 1;
    type InnerDual = f64;

    #[inline]
    fn from_re(re: f64) -> Self {
        Self::constant(re)
    }
    #[inline]
    fn scale(self, factor: &f64) -> Self {
        self * *factor
    }
    same_as_inherent!(
        recip, sqrt, cbrt, exp, exp2, exp_m1, ln, log2, log10, ln_1p, sin, cos, tan, asin, acos,
        atan, sinh, cosh, tanh, asinh, acosh, atanh
    );
    #[inline]
    fn powi(&self, n: i32) -> Self {
        Dual::powi(*self, n)
    }
    #[inline]
    fn powf(&self, n: f64) -> Self {
        Dual::powf(*self, n)
    }
    #[inline]
    fn powd(&self, exponent: Self) -> Self {
        Dual::powd(*self, exponent)
    }
    #[inline]
    fn log(&self, base: f64) -> Self {
        Dual::ln(*self) / base.ln()
    }
    #[inline]
    fn sin_cos(&self) -> (Self, Self) {
        Dual::sin_cos(*self)
    }
    #[inline]
    fn atan2(&self, other: Self) -> Self {
        Dual::atan2(*self, other)
    }
    #[inline]
    fn mul_add(&self, a: Self, b: Self) -> Self {
        Dual::mul_add(*self, a, b)
    }

    // Spherical Bessel functions. Near 0 they use series whose next term is below rounding at the
    // switch-over, so that value and slope stay accurate where the closed forms cancel.
    fn sph_j0(&self) -> Self {
        let x2 = *self * *self;
        if self.re.abs() < 1e-2 {
            Self::one() - x2 / 6.0 * (Self::one() - x2 / 20.0 * (Self::one() - x2 / 42.0))
        } else {
            Dual::sin(*self) / *self
        }
    }
    fn sph_j1(&self) -> Self {
        let x2 = *self * *self;
        if self.re.abs() < 1e-2 {
            *self / 3.0 * (Self::one() - x2 / 10.0 * (Self::one() - x2 / 28.0))
        } else {
            let (s, c) = Dual::sin_cos(*self);
            (s / *self - c) / *self
        }
    }
    fn sph_j2(&self) -> Self {
        let x2 = *self * *self;
        if self.re.abs() < 1e-2 {
            x2 / 15.0 * (Self::one() - x2 / 14.0 * (Self::one() - x2 / 36.0))
        } else {
            let (s, c) = Dual::sin_cos(*self);
            ((Self::from(3.0) - x2) * s - *self * c * 3.0) / (*self * x2)
        }
    }
}
