//! Elementary functions of a dual number, as inherent methods.
//!
//! Where a function is defined but its derivative is not, the choice is fixed here:
//!
//! | function | where | derivative |
//! |---|---|---|
//! | `sqrt`, `cbrt`, `powf`, `acosh`, `asin`, `acos` | infinite slope | 0 |
//! | `hypot`, `atan2` | (0, 0) | 0 |
//! | `abs`, `signum` | 0 | 0 |
//! | `floor`, `ceil`, `round`, `trunc` | everywhere | 0 (piecewise constant) |
//! | `max`, `min`, `clamp` | tie | that of the first argument |

use super::Dual;

/// Functions of one variable given by value and slope at `x`.
macro_rules! smooth {
    ($($(#[$doc:meta])* $name:ident($x:ident) = $f0:expr, $f1:expr;)*) => {
        impl<const N: usize> Dual<N> {$(
            $(#[$doc])*
            #[inline]
            #[must_use]
            pub fn $name(self) -> Self {
                let $x = self.re;
                self.chain_or_flat($f0, $f1)
            }
        )*}
    };
}

smooth! {
    /// Reciprocal.
    recip(x) = 1.0 / x, -1.0 / (x * x);
    /// Square root; derivative 0 at 0.
    sqrt(x) = x.sqrt(), 0.5 / x.sqrt();
    /// Cube root; derivative 0 at 0.
    cbrt(x) = x.cbrt(), 1.0 / (3.0 * x.cbrt().powi(2));
    /// `e^x`.
    exp(x) = x.exp(), x.exp();
    /// `2^x`.
    exp2(x) = x.exp2(), x.exp2() * std::f64::consts::LN_2;
    /// `e^x - 1`, accurate near 0.
    exp_m1(x) = x.exp_m1(), x.exp();
    /// Natural logarithm.
    ln(x) = x.ln(), 1.0 / x;
    /// `ln(1 + x)`, accurate near 0.
    ln_1p(x) = x.ln_1p(), 1.0 / (1.0 + x);
    /// Logarithm with base 2.
    log2(x) = x.log2(), 1.0 / (x * std::f64::consts::LN_2);
    /// Logarithm with base 10.
    log10(x) = x.log10(), 1.0 / (x * std::f64::consts::LN_10);
    /// Sine of an angle in radians.
    sin(x) = x.sin(), x.cos();
    /// Cosine of an angle in radians.
    cos(x) = x.cos(), -x.sin();
    /// Tangent of an angle in radians.
    tan(x) = x.tan(), 1.0 + x.tan().powi(2);
    /// Arcsine; derivative 0 at the ends of the domain.
    asin(x) = x.asin(), 1.0 / (1.0 - x * x).sqrt();
    /// Arccosine; derivative 0 at the ends of the domain.
    acos(x) = x.acos(), -1.0 / (1.0 - x * x).sqrt();
    /// Arctangent.
    atan(x) = x.atan(), 1.0 / (1.0 + x * x);
    /// Hyperbolic sine.
    sinh(x) = x.sinh(), x.cosh();
    /// Hyperbolic cosine.
    cosh(x) = x.cosh(), x.sinh();
    /// Hyperbolic tangent.
    tanh(x) = x.tanh(), 1.0 - x.tanh().powi(2);
    /// Inverse hyperbolic sine.
    asinh(x) = x.asinh(), 1.0 / (x * x + 1.0).sqrt();
    /// Inverse hyperbolic cosine; derivative 0 at 1.
    acosh(x) = x.acosh(), 1.0 / (x * x - 1.0).sqrt();
    /// Inverse hyperbolic tangent.
    atanh(x) = x.atanh(), 1.0 / (1.0 - x * x);
    /// Largest integer not above; piecewise constant.
    floor(x) = x.floor(), 0.0;
    /// Smallest integer not below; piecewise constant.
    ceil(x) = x.ceil(), 0.0;
    /// Nearest integer, ties away from zero; piecewise constant.
    round(x) = x.round(), 0.0;
    /// Integer part; piecewise constant.
    trunc(x) = x.trunc(), 0.0;
    /// Fractional part `x - trunc(x)`.
    fract(x) = x.fract(), 1.0;
    /// Absolute value; derivative 0 at 0.
    abs(x) = x.abs(), if x == 0.0 { 0.0 } else { x.signum() };
    /// Sign as `f64::signum`; piecewise constant.
    signum(x) = x.signum(), 0.0;
}

impl<const N: usize> Dual<N> {
    /// Sine and cosine.
    #[inline]
    #[must_use]
    pub fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.re.sin_cos();
        (self.chain(s, c), self.chain(c, -s))
    }

    /// Integer power; `x^0` is the constant 1.
    #[inline]
    #[must_use]
    pub fn powi(self, n: i32) -> Self {
        let slope = if n == 0 {
            0.0
        } else {
            f64::from(n) * self.re.powi(n - 1)
        };
        self.chain_or_flat(self.re.powi(n), slope)
    }

    /// Power with a constant exponent.
    #[inline]
    #[must_use]
    pub fn powf(self, p: f64) -> Self {
        let slope = if p == 0.0 {
            0.0
        } else {
            p * self.re.powf(p - 1.0)
        };
        self.chain_or_flat(self.re.powf(p), slope)
    }

    /// Power with a variable exponent, whose derivatives count too.
    #[inline]
    #[must_use]
    pub fn powd(self, p: Self) -> Self {
        let value = self.re.powf(p.re);
        let base = self.powf(p.re);
        // d/dp x^p = x^p ln x tends to 0 with x for p > 0; 0 * -inf must not become NaN.
        let slope = if value == 0.0 {
            0.0
        } else {
            value * self.re.ln()
        };
        base.chain2(p, value, 1.0, slope)
    }

    /// Four-quadrant arctangent of `self / x`; derivative 0 at (0, 0).
    #[inline]
    #[must_use]
    pub fn atan2(self, x: Self) -> Self {
        let r2 = self.re * self.re + x.re * x.re;
        let inverse = if r2 == 0.0 { 0.0 } else { 1.0 / r2 };
        self.chain2(x, self.re.atan2(x.re), x.re * inverse, -self.re * inverse)
    }

    /// `sqrt(self^2 + y^2)` without overflow; derivative 0 at (0, 0).
    #[inline]
    #[must_use]
    pub fn hypot(self, y: Self) -> Self {
        let r = self.re.hypot(y.re);
        let inverse = if r == 0.0 { 0.0 } else { 1.0 / r };
        self.chain2(y, r, self.re * inverse, y.re * inverse)
    }

    /// `self * a + b`.
    #[inline]
    #[must_use]
    pub fn mul_add(self, a: Self, b: Self) -> Self {
        let mut y = self.chain2(a, self.re.mul_add(a.re, b.re), a.re, self.re);
        for (y, b) in y.eps.iter_mut().zip(&b.eps) {
            *y += b;
        }
        y
    }

    /// Magnitude of `self` with the sign of `sign`; a piecewise linear function of `self`.
    #[inline]
    #[must_use]
    pub fn copysign(self, sign: Self) -> Self {
        if self.re.is_sign_negative() == sign.re.is_sign_negative() {
            self
        } else {
            -self
        }
    }

    /// The larger value with its derivatives; `self` on a tie and when `other` is NaN.
    #[inline]
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if other.re > self.re || self.re.is_nan() {
            other
        } else {
            self
        }
    }

    /// The smaller value with its derivatives; `self` on a tie and when `other` is NaN.
    #[inline]
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if other.re < self.re || self.re.is_nan() {
            other
        } else {
            self
        }
    }
}
