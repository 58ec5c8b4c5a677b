//! Packs in registers of x86 processors with AVX2 and FMA.

use super::{LANES, LaneKernel, Lanes, Pack};
use pulp::x86::V3;
use pulp::{NullaryFnOnce, cast, f64x4};
use std::arch::x86_64::__m256d;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Four numbers, with the proof that the processor has the instructions.
#[derive(Clone, Copy)]
struct Avx2Lanes {
    values: f64x4,
    simd: V3,
}

pub(super) fn run<K: LaneKernel>(simd: V3, kernel: K) -> K::Output {
    struct Vectorized<K>(K, V3);
    impl<K: LaneKernel> NullaryFnOnce for Vectorized<K> {
        type Output = K::Output;
        #[inline(always)]
        fn call(self) -> K::Output {
            let Self(kernel, simd) = self;
            kernel.run(Avx2Lanes {
                values: simd.splat_f64x4(0.0),
                simd,
            })
        }
    }
    simd.vectorize(Vectorized(kernel, simd))
}

impl Avx2Lanes {
    #[inline(always)]
    fn with(self, values: f64x4) -> Self {
        Self { values, ..self }
    }
}

impl Pack for Avx2Lanes {
    #[inline(always)]
    fn load(self, Lanes(x): Lanes) -> Self {
        self.with(cast(x))
    }
    #[inline(always)]
    fn store(self) -> Lanes {
        Lanes(cast(self.values))
    }
    #[inline(always)]
    fn splat(self, x: f64) -> Self {
        self.with(self.simd.splat_f64x4(x))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self.with(self.simd.mul_add_f64x4(self.values, b.values, c.values))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.with(self.simd.sqrt_f64x4(self.values))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.with(self.simd.abs_f64x4(self.values))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.with(self.simd.max_f64x4(self.values, other.values))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.with(self.simd.min_f64x4(self.values, other.values))
    }
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        let simd = self.simd;
        let sign = simd.and_f64x4(sign.values, simd.splat_f64x4(-0.0));
        self.with(simd.or_f64x4(self.abs().values, sign))
    }
    #[inline(always)]
    fn if_greater(self, other: Self, larger: Self, otherwise: Self) -> Self {
        let simd = self.simd;
        let greater = simd.cmp_gt_f64x4(self.values, other.values);
        self.with(simd.select_f64x4(greater, larger.values, otherwise.values))
    }
    #[inline(always)]
    fn transpose([a, b, c, d]: [Self; LANES]) -> [Self; LANES] {
        let avx = a.simd.avx;
        let [a4, b4, c4, d4]: [__m256d; LANES] = [
            cast(a.values),
            cast(b.values),
            cast(c.values),
            cast(d.values),
        ];
        let (p, q) = (
            avx._mm256_unpacklo_pd(a4, b4),
            avx._mm256_unpacklo_pd(c4, d4),
        );
        let (r, s) = (
            avx._mm256_unpackhi_pd(a4, b4),
            avx._mm256_unpackhi_pd(c4, d4),
        );
        [
            a.with(cast(avx._mm256_permute2f128_pd::<0x20>(p, q))),
            a.with(cast(avx._mm256_permute2f128_pd::<0x20>(r, s))),
            a.with(cast(avx._mm256_permute2f128_pd::<0x31>(p, q))),
            a.with(cast(avx._mm256_permute2f128_pd::<0x31>(r, s))),
        ]
    }
    #[inline(always)]
    fn greater(self, other: Self) -> [bool; LANES] {
        let greater = self.simd.cmp_gt_f64x4(self.values, other.values);
        let mask = self.simd.avx._mm256_movemask_pd(cast(greater));
        [1, 2, 4, 8].map(|bit| mask & bit != 0)
    }
}

macro_rules! elementwise {
    ($($trait:ident $method:ident $instruction:ident),*) => {$(
        impl $trait for Avx2Lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.with(self.simd.$instruction(self.values, other.values))
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
    Add add add_f64x4,
    Sub sub sub_f64x4,
    Mul mul mul_f64x4,
    Div div div_f64x4
);

impl Neg for Avx2Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let minus = self.simd.splat_f64x4(-0.0);
        self.with(self.simd.xor_f64x4(minus, self.values))
    }
}

assigning!(Avx2Lanes);
