//! Arithmetic on four numbers at once, with the vector instructions of the processor at hand.
//!
//! Kernels are written for any [`Pack`] and run with the best one of [`dispatch_lanes`]. What they
//! read and write are [`Lanes`].

// Eight numbers at once, as arrays, made a build of `tarragon-fem` take more than six minutes.

/// Implements `+=` and `-=` of packs.
macro_rules! assigning {
    ($pack:ident) => {
        impl AddAssign for $pack {
            #[inline(always)]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
        impl SubAssign for $pack {
            #[inline(always)]
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Numbers in a [`Pack`].
pub const LANES: usize = 4;

/// Four numbers in memory, in a form that compilers turn into vector instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(32))]
pub struct Lanes(
    /// The numbers, one per lane.
    pub [f64; LANES],
);

/// Four numbers in a register of some processor.
///
/// Packs can only be made from other packs, so code that has one runs on a processor that has its
/// instructions.
pub trait Pack:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// Returns values as a pack of the same kind as this one.
    fn load(self, lanes: Lanes) -> Self;
    /// Returns the values.
    fn store(self) -> Lanes;
    /// Returns a pack of the same kind as this one with equal values.
    fn splat(self, x: f64) -> Self;
    /// Returns `self * b + c`, rounded once where the processor can.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Returns the square root of each lane.
    fn sqrt(self) -> Self;
    /// Returns the absolute value of each lane.
    fn abs(self) -> Self;
    /// Returns the larger value of each lane, or `other` where one is not a number.
    fn max(self, other: Self) -> Self;
    /// Returns the smaller value of each lane, or `other` where one is not a number.
    fn min(self, other: Self) -> Self;
    /// Returns the sizes of these values with other signs.
    fn copysign(self, sign: Self) -> Self;
    /// In each lane, `larger` if this value is greater than the other and `otherwise` if not.
    fn if_greater(self, other: Self, larger: Self, otherwise: Self) -> Self;

    /// Turns the first of each lane into a pack, then the second, and so on.
    fn transpose(all: [Self; LANES]) -> [Self; LANES];

    /// Returns the lanes in which this value is greater than the other.
    #[inline(always)]
    fn greater(self, other: Self) -> [bool; LANES] {
        let (Lanes([a, b, c, d]), Lanes([p, q, r, s])) = (self.store(), other.store());
        [a > p, b > q, c > r, d > s]
    }

    /// Returns the sum of the lanes.
    #[inline(always)]
    fn sum(self) -> f64 {
        let Lanes([a, b, c, d]) = self.store();
        (a + b) + (c + d)
    }
}

/// Work on packs.
pub trait LaneKernel {
    /// Result of the work.
    type Output;
    /// Does the work; all other packs are made from `zero`. Must be marked `#[inline(always)]`.
    fn run<P: Pack>(self, zero: P) -> Self::Output;
}

/// Runs a kernel with the best instructions of this processor.
// Kernels are long: a copy at each call would take a tenth of the time to build this crate.
#[inline(never)]
pub fn dispatch_lanes<K: LaneKernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return avx2::run(simd, kernel);
    }
    kernel.run(Lanes::ZERO)
}

impl Lanes {
    /// Zero in every lane.
    pub const ZERO: Self = Self([0.0; LANES]);

    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let [a, b, c, d] = self.0;
        Self([f(a), f(b), f(c), f(d)])
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let ([a, b, c, d], [p, q, r, s]) = (self.0, other.0);
        Self([f(a, p), f(b, q), f(c, r), f(d, s)])
    }
}

impl Pack for Lanes {
    #[inline(always)]
    fn load(self, lanes: Lanes) -> Self {
        lanes
    }
    #[inline(always)]
    fn store(self) -> Lanes {
        self
    }
    #[inline(always)]
    fn splat(self, x: f64) -> Self {
        Self([x; LANES])
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self * b + c
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(f64::sqrt)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.map(f64::abs)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |x, y| if x > y { x } else { y })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |x, y| if x < y { x } else { y })
    }
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        self.zip(sign, f64::copysign)
    }
    #[inline(always)]
    fn if_greater(self, other: Self, larger: Self, otherwise: Self) -> Self {
        let greater = self.greater(other);
        let choose = |k: usize| {
            if greater[k] {
                larger.0[k]
            } else {
                otherwise.0[k]
            }
        };
        Self([choose(0), choose(1), choose(2), choose(3)])
    }
    #[inline(always)]
    fn transpose(all: [Self; LANES]) -> [Self; LANES] {
        let of = |k: usize| Self([all[0].0[k], all[1].0[k], all[2].0[k], all[3].0[k]]);
        [of(0), of(1), of(2), of(3)]
    }
}

macro_rules! elementwise {
    ($($trait:ident $method:ident $op:tt),*) => {$(
        impl $trait for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, |x, y| x $op y)
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

assigning!(Lanes);

#[cfg(test)]
mod tests {
    use super::*;

    /// All operations of two packs, one after the other.
    struct Operations([Lanes; 2]);

    impl LaneKernel for Operations {
        type Output = Vec<Lanes>;
        fn run<P: Pack>(self, zero: P) -> Vec<Lanes> {
            let [x, y] = self.0.map(|lanes| zero.load(lanes));
            let mut changed = x;
            changed += y;
            changed -= zero.splat(2.5);
            let greater = x.greater(y).map(|greater| f64::from(u8::from(greater)));
            let chosen = x.if_greater(y, zero.splat(1.0), zero.splat(2.0));
            let mut results = vec![
                x + y,
                x - y,
                x * y,
                x / y,
                x + 0.1,
                x - 0.1,
                x * 0.1,
                -x,
                changed,
                x.abs(),
                x.abs().sqrt(),
                x.max(y),
                x.min(y),
                x.copysign(y),
                chosen,
                zero.load(Lanes(greater)),
                zero.splat(x.sum()),
            ];
            results.extend(P::transpose([x, y, x + y, x - y]));
            results.into_iter().map(P::store).collect()
        }
    }

    /// Also of values that are not finite or have a sign without a size.
    #[test]
    fn packs_of_the_processor_compute_what_arrays_do() {
        let values = [0.0, -0.0, 1.5, -1e-310, 1e300, f64::INFINITY, f64::NAN];
        let bits = |all: Vec<Lanes>| -> Vec<_> {
            let all = all.iter().flat_map(|lanes| lanes.0);
            // The sign of what is not a number means nothing.
            all.map(|x| if x.is_nan() { 0 } else { x.to_bits() })
                .collect()
        };
        for (i, first) in values.iter().enumerate() {
            for second in values {
                let [x, y] = [
                    Lanes([*first, second, 3.0, -second]),
                    Lanes([second, *first, 0.7, 1.0]),
                ];
                let (best, arrays) = (
                    dispatch_lanes(Operations([x, y])),
                    Operations([x, y]).run(Lanes::ZERO),
                );
                assert_eq!(bits(best), bits(arrays), "{i} {second}");
            }
        }
    }

    struct MultiplyAdd([Lanes; 3]);

    impl LaneKernel for MultiplyAdd {
        type Output = Lanes;
        fn run<P: Pack>(self, zero: P) -> Lanes {
            let [x, y, z] = self.0.map(|lanes| zero.load(lanes));
            x.mul_add(y, z).store()
        }
    }

    #[test]
    fn products_are_added_in_the_right_lanes() {
        let all = [
            Lanes([1.0, -2.0, 3.0, 0.1]),
            Lanes([5.0, 6.0, -7.0, 0.2]),
            Lanes([0.5, 0.25, 1.0, 0.3]),
        ];
        let Lanes(sums) = dispatch_lanes(MultiplyAdd(all));
        assert_eq!(sums[..3], [5.5, -11.75, -20.0]);
        // Rounded once or twice: the next number is 6e-17 away.
        assert!((sums[3] - 0.32).abs() < 1e-16);
    }
}
