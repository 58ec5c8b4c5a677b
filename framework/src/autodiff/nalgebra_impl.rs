//! `nalgebra::RealField` for [`Dual`], so that every nalgebra type and decomposition accepts it.

use super::Dual;
use approx::{AbsDiffEq, RelativeEq, UlpsEq};
use nalgebra::{ComplexField, Field, RealField, SimdValue};
use simba::scalar::SubsetOf;

impl<const N: usize> Field for Dual<N> {}

/// A single lane: the derivatives are part of the number, not lanes of it.
impl<const N: usize> SimdValue for Dual<N> {
    const LANES: usize = 1;
    type Element = Self;
    type SimdBool = bool;

    #[inline]
    fn splat(value: Self) -> Self {
        value
    }
    #[inline]
    fn extract(&self, _: usize) -> Self {
        *self
    }
    #[inline]
    #[allow(
        unsafe_code,
        reason = "the trait declares it unsafe; nothing here is unchecked"
    )]
    unsafe fn extract_unchecked(&self, _: usize) -> Self {
        *self
    }
    #[inline]
    fn replace(&mut self, _: usize, value: Self) {
        *self = value;
    }
    #[inline]
    #[allow(
        unsafe_code,
        reason = "the trait declares it unsafe; nothing here is unchecked"
    )]
    unsafe fn replace_unchecked(&mut self, _: usize, value: Self) {
        *self = value;
    }
    #[inline]
    fn select(self, condition: bool, other: Self) -> Self {
        if condition { self } else { other }
    }
}

impl<const N: usize> SubsetOf<Self> for Dual<N> {
    #[inline]
    fn to_superset(&self) -> Self {
        *self
    }
    #[inline]
    fn from_superset_unchecked(element: &Self) -> Self {
        *element
    }
    #[inline]
    fn is_in_subset(_: &Self) -> bool {
        true
    }
}

macro_rules! constants_are_a_subset {
    ($($t:ty),*) => {$(
        impl<const N: usize> SubsetOf<Dual<N>> for $t {
            #[inline]
            fn to_superset(&self) -> Dual<N> {
                Dual::constant(f64::from(*self))
            }
            #[inline]
            fn from_superset_unchecked(element: &Dual<N>) -> $t {
                element.re as $t
            }
            #[inline]
            fn is_in_subset(element: &Dual<N>) -> bool {
                element.eps.iter().all(|e| *e == 0.0)
            }
        }
    )*};
}
constants_are_a_subset!(f32, f64);

impl<const N: usize> AbsDiffEq for Dual<N> {
    type Epsilon = Self;
    fn default_epsilon() -> Self {
        Self::constant(f64::default_epsilon())
    }
    fn abs_diff_eq(&self, other: &Self, epsilon: Self) -> bool {
        self.re.abs_diff_eq(&other.re, epsilon.re)
    }
}

impl<const N: usize> RelativeEq for Dual<N> {
    fn default_max_relative() -> Self {
        Self::constant(f64::default_max_relative())
    }
    fn relative_eq(&self, other: &Self, epsilon: Self, max_relative: Self) -> bool {
        self.re.relative_eq(&other.re, epsilon.re, max_relative.re)
    }
}

impl<const N: usize> UlpsEq for Dual<N> {
    fn default_max_ulps() -> u32 {
        f64::default_max_ulps()
    }
    fn ulps_eq(&self, other: &Self, epsilon: Self, max_ulps: u32) -> bool {
        self.re.ulps_eq(&other.re, epsilon.re, max_ulps)
    }
}

/// Trait methods that forward to the inherent function of the same name.
macro_rules! same_as_inherent {
    ($($name:ident),*) => {$(
        #[inline]
        fn $name(self) -> Self {
            Dual::$name(self)
        }
    )*};
}

impl<const N: usize> ComplexField for Dual<N> {
    type RealField = Self;

    same_as_inherent!(
        floor, ceil, round, trunc, fract, abs, signum, recip, sin, cos, tan, asin, acos, atan,
        sinh, cosh, tanh, asinh, acosh, atanh, log2, log10, ln, ln_1p, sqrt, exp, exp2, exp_m1,
        cbrt
    );
    #[inline]
    fn from_real(re: Self) -> Self {
        re
    }
    #[inline]
    fn real(self) -> Self {
        self
    }
    #[inline]
    fn imaginary(self) -> Self {
        Self::constant(0.0)
    }
    #[inline]
    fn modulus(self) -> Self {
        Dual::abs(self)
    }
    #[inline]
    fn modulus_squared(self) -> Self {
        self * self
    }
    #[inline]
    fn argument(self) -> Self {
        let negative = self.re < 0.0;
        Self::constant(if negative { std::f64::consts::PI } else { 0.0 })
    }
    #[inline]
    fn norm1(self) -> Self {
        Dual::abs(self)
    }
    #[inline]
    fn scale(self, factor: Self) -> Self {
        self * factor
    }
    #[inline]
    fn unscale(self, factor: Self) -> Self {
        self / factor
    }
    #[inline]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Dual::mul_add(self, a, b)
    }
    #[inline]
    fn hypot(self, other: Self) -> Self {
        Dual::hypot(self, other)
    }
    #[inline]
    fn conjugate(self) -> Self {
        self
    }
    #[inline]
    fn sin_cos(self) -> (Self, Self) {
        Dual::sin_cos(self)
    }
    #[inline]
    fn log(self, base: Self) -> Self {
        Dual::ln(self) / Dual::ln(base)
    }
    #[inline]
    fn powi(self, n: i32) -> Self {
        Dual::powi(self, n)
    }
    #[inline]
    fn powf(self, n: Self) -> Self {
        Dual::powd(self, n)
    }
    #[inline]
    fn powc(self, n: Self) -> Self {
        Dual::powd(self, n)
    }
    #[inline]
    fn is_finite(&self) -> bool {
        self.re.is_finite()
    }
    #[inline]
    fn try_sqrt(self) -> Option<Self> {
        (self.re >= 0.0).then(|| Dual::sqrt(self))
    }
}

macro_rules! constant {
    ($($name:ident = $value:expr),* $(,)?) => {$(
        #[inline]
        fn $name() -> Self {
            Self::constant($value)
        }
    )*};
}

impl<const N: usize> RealField for Dual<N> {
    #[inline]
    fn is_sign_positive(&self) -> bool {
        self.re.is_sign_positive()
    }
    #[inline]
    fn is_sign_negative(&self) -> bool {
        self.re.is_sign_negative()
    }
    #[inline]
    fn copysign(self, sign: Self) -> Self {
        Dual::copysign(self, sign)
    }
    #[inline]
    fn max(self, other: Self) -> Self {
        Dual::max(self, other)
    }
    #[inline]
    fn min(self, other: Self) -> Self {
        Dual::min(self, other)
    }
    #[inline]
    fn clamp(self, min: Self, max: Self) -> Self {
        if self.re < min.re {
            min
        } else if self.re > max.re {
            max
        } else {
            self
        }
    }
    #[inline]
    fn atan2(self, other: Self) -> Self {
        Dual::atan2(self, other)
    }
    fn min_value() -> Option<Self> {
        Some(Self::constant(f64::MIN))
    }
    fn max_value() -> Option<Self> {
        Some(Self::constant(f64::MAX))
    }
    constant!(
        pi = std::f64::consts::PI,
        two_pi = std::f64::consts::TAU,
        frac_pi_2 = std::f64::consts::FRAC_PI_2,
        frac_pi_3 = std::f64::consts::FRAC_PI_3,
        frac_pi_4 = std::f64::consts::FRAC_PI_4,
        frac_pi_6 = std::f64::consts::FRAC_PI_6,
        frac_pi_8 = std::f64::consts::FRAC_PI_8,
        frac_1_pi = std::f64::consts::FRAC_1_PI,
        frac_2_pi = std::f64::consts::FRAC_2_PI,
        frac_2_sqrt_pi = std::f64::consts::FRAC_2_SQRT_PI,
        e = std::f64::consts::E,
        log2_e = std::f64::consts::LOG2_E,
        log10_e = std::f64::consts::LOG10_E,
        ln_2 = std::f64::consts::LN_2,
        ln_10 = std::f64::consts::LN_10,
    );
}
