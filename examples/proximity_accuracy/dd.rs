//! Double-double numbers: twice the precision of a double, about 31 digits.

use crate::truth::Real;
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The unevaluated sum of two doubles, the second at most half a unit in the last place of the
/// first (Dekker: A floating-point technique for extending the available precision, 1971).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DoubleDouble {
    high: f64,
    low: f64,
}

/// Sum and its rounding error (Knuth: The Art of Computer Programming 2, 4.2.2).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_rounded = sum - a;
    (sum, (a - (sum - b_rounded)) + (b - b_rounded))
}

/// The same for |a| >= |b| (Dekker).
fn normalized(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    let low = b - (high - a);
    DoubleDouble { high, low }
}

impl Add for DoubleDouble {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, error) = two_sum(self.high, other.high);
        let (low, lost) = two_sum(self.low, other.low);
        let first = normalized(high, error + low);
        normalized(first.high, first.low + lost)
    }
}

impl Neg for DoubleDouble {
    type Output = Self;
    fn neg(self) -> Self {
        let (high, low) = (-self.high, -self.low);
        Self { high, low }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = self.high * other.high;
        let error = self.high.mul_add(other.high, -product);
        normalized(
            product,
            error + (self.high * other.low + self.low * other.high),
        )
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        // Long division with two digits and a correction.
        let first = self.high / other.high;
        let rest = self - other * Self::of(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::of(second);
        normalized(first, second) + Self::of(rest.high / other.high)
    }
}

impl PartialOrd for DoubleDouble {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match self.high.partial_cmp(&other.high) {
            Some(Ordering::Equal) => self.low.partial_cmp(&other.low),
            order => order,
        }
    }
}

impl Real for DoubleDouble {
    fn of(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }
    fn value(self) -> f64 {
        self.high
    }
    fn root(self) -> Self {
        if self.high <= 0.0 {
            return Self::of(0.0);
        }
        // One step of Newton's method from the root in double precision.
        let root = Self::of(self.high.sqrt());
        root + (self - root * root) / Self::of(2.0 * root.high)
    }
}
