//! Packs in registers of x86 processors with AVX2 and FMA.
//!
//! Invariant, which every `unsafe` below relies on: a value exists only where the processor has
//! these instructions. [`run`] makes the first where that is proved, and all others are made from
//! values.

#![allow(
    unsafe_code,
    reason = "with pulp's safe functions, which call each other, this crate takes minutes to build"
)]

use super::{LANES, LaneKernel, Lanes, Pack};
use pulp::NullaryFnOnce;
use pulp::x86::V3;
use std::arch::x86_64::{
    __m256d, _CMP_GT_OQ, _mm256_add_pd, _mm256_and_pd, _mm256_andnot_pd, _mm256_blendv_pd,
    _mm256_cmp_pd, _mm256_div_pd, _mm256_fmadd_pd, _mm256_max_pd, _mm256_min_pd,
    _mm256_movemask_pd, _mm256_mul_pd, _mm256_or_pd, _mm256_permute2f128_pd, _mm256_set_pd,
    _mm256_set1_pd, _mm256_sqrt_pd, _mm256_storeu_pd, _mm256_sub_pd, _mm256_unpackhi_pd,
    _mm256_unpacklo_pd, _mm256_xor_pd,
};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// The same quantity of four elements.
#[derive(Clone, Copy)]
struct Avx2Lanes(__m256d);

pub(super) fn run<K: LaneKernel>(simd: V3, kernel: K) -> K::Output {
    struct Vectorized<K>(K);
    impl<K: LaneKernel> NullaryFnOnce for Vectorized<K> {
        type Output = K::Output;
        #[inline(always)]
        fn call(self) -> K::Output {
            // SAFETY: there is a `V3` only on processors with AVX2 and FMA.
            self.0.run(Avx2Lanes(unsafe { _mm256_set1_pd(0.0) }))
        }
    }
    simd.vectorize(Vectorized(kernel))
}

/// Calls an instruction.
macro_rules! call {
    ($($instruction:tt)*) => {
        // SAFETY: as there is a value, the processor has the instruction.
        unsafe { $($instruction)* }
    };
}

impl Pack for Avx2Lanes {
    #[inline(always)]
    fn load(self, Lanes([a, b, c, d]): Lanes) -> Self {
        Self(call!(_mm256_set_pd(d, c, b, a)))
    }
    #[inline(always)]
    fn store(self) -> Lanes {
        let mut lanes = Lanes::ZERO;
        call!(_mm256_storeu_pd(lanes.0.as_mut_ptr(), self.0));
        lanes
    }
    #[inline(always)]
    fn splat(self, x: f64) -> Self {
        Self(call!(_mm256_set1_pd(x)))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(call!(_mm256_fmadd_pd(self.0, b.0, c.0)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(call!(_mm256_sqrt_pd(self.0)))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(call!(_mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(call!(_mm256_max_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(call!(_mm256_min_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        let sign = call!(_mm256_and_pd(_mm256_set1_pd(-0.0), sign.0));
        Self(call!(_mm256_or_pd(self.abs().0, sign)))
    }
    #[inline(always)]
    fn if_greater(self, other: Self, larger: Self, otherwise: Self) -> Self {
        let greater = call!(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0));
        Self(call!(_mm256_blendv_pd(otherwise.0, larger.0, greater)))
    }
    #[inline(always)]
    fn transpose([a, b, c, d]: [Self; LANES]) -> [Self; LANES] {
        let even = |x: Self, y: Self| call!(_mm256_unpacklo_pd(x.0, y.0));
        let odd = |x: Self, y: Self| call!(_mm256_unpackhi_pd(x.0, y.0));
        let first = |x, y| Self(call!(_mm256_permute2f128_pd::<0x20>(x, y)));
        let last = |x, y| Self(call!(_mm256_permute2f128_pd::<0x31>(x, y)));
        let ([p, q], [r, s]) = ([even(a, b), even(c, d)], [odd(a, b), odd(c, d)]);
        [first(p, q), first(r, s), last(p, q), last(r, s)]
    }
    #[inline(always)]
    fn greater(self, other: Self) -> [bool; LANES] {
        let greater = call!(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0));
        let mask = call!(_mm256_movemask_pd(greater));
        [1, 2, 4, 8].map(|bit| mask & bit != 0)
    }
}

macro_rules! elementwise {
    ($($trait:ident $method:ident $instruction:ident),*) => {$(
        impl $trait for Avx2Lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(call!($instruction(self.0, other.0)))
            }
        }
        impl $trait<f64> for Avx2Lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                self.$method(self.splat(other))
            }
        }
    )*};
}
elementwise!(
    Add add _mm256_add_pd,
    Sub sub _mm256_sub_pd,
    Mul mul _mm256_mul_pd,
    Div div _mm256_div_pd
);

impl Neg for Avx2Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(call!(_mm256_xor_pd(_mm256_set1_pd(-0.0), self.0)))
    }
}

impl AddAssign for Avx2Lanes {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Avx2Lanes {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}
