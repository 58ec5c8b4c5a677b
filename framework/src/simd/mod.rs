//! Use of the vector instructions of the processor at hand, chosen when the program runs.
//!
//! A kernel is compiled once for every processor, and once more for those with longer vectors.
//! Neither Cargo features nor the compiler's target decide which one runs.
//!
//! ```
//! use tarragon_framework::simd::{Kernel, dispatch, multiply_add};
//!
//! /// Adds a multiple of one vector to another.
//! struct AddScaled<'a>(&'a mut [f64], f64, &'a [f64]);
//!
//! impl Kernel for AddScaled<'_> {
//!     type Output = ();
//!     #[inline(always)] // or it is not compiled for the longer vectors
//!     fn run<const FUSED: bool>(self) {
//!         for (y, x) in self.0.iter_mut().zip(self.2) {
//!             *y = multiply_add::<FUSED>(self.1, *x, *y);
//!         }
//!     }
//! }
//!
//! let mut y = [1.0; 7];
//! dispatch(AddScaled(&mut y, 2.0, &[3.0; 7]));
//! assert_eq!(y, [7.0; 7]);
//! ```

mod lanes;

pub use lanes::{LANES, LaneKernel, Lanes, Pack, dispatch_lanes};

/// Work that is compiled once more for processors with longer vectors, which multiply and add in
/// one instruction. A kernel that does not use `FUSED` has the same bits on all processors.
pub trait Kernel {
    /// Result of the work.
    type Output;
    /// Does the work; `FUSED` says whether [`multiply_add`] rounds once. Must be marked
    /// `#[inline(always)]`.
    fn run<const FUSED: bool>(self) -> Self::Output;
}

/// Work that is also compiled for processors with vectors of eight numbers and twice as many
/// registers, which `WIDE` says.
pub trait WideKernel {
    /// Result of the work.
    type Output;
    /// Does the work, as [`Kernel::run`] does; `WIDE` says whether vectors have eight numbers.
    fn run<const FUSED: bool, const WIDE: bool>(self) -> Self::Output;
}

/// Returns `a b + c`, rounded once if `FUSED`.
#[inline(always)]
pub fn multiply_add<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// Returns the scalar product of vectors of the same size, in sums that do not wait for each other.
#[inline(always)]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    #[inline(always)]
    fn sum<const N: usize>(x: &[f64], y: &[f64]) -> f64 {
        let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<N>(), y.as_chunks::<N>());
        let mut sums = [0.0; N];
        for (x, y) in x.iter().zip(y) {
            for k in 0..N {
                sums[k] += x[k] * y[k];
            }
        }
        let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
        sums.iter().sum::<f64>() + rest
    }
    debug_assert_eq!(x.len(), y.len());
    match x.len() {
        0..32 => sum::<2>(x, y),
        _ => sum::<8>(x, y),
    }
}

/// Runs a kernel with the best instructions of this processor.
// Kernels are long: a copy at each call would take a tenth of the time to build this crate.
#[inline(never)]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        struct Vectorized<K>(K);
        impl<K: Kernel> pulp::NullaryFnOnce for Vectorized<K> {
            type Output = K::Output;
            #[inline(always)]
            fn call(self) -> K::Output {
                self.0.run::<true>()
            }
        }
        return simd.vectorize(Vectorized(kernel));
    }
    // On Arm every processor can.
    kernel.run::<{ cfg!(target_arch = "aarch64") }>()
}

/// Does the same for a kernel that gains from long vectors.
#[inline(never)]
pub fn dispatch_wide<K: WideKernel>(kernel: K) -> K::Output {
    struct Narrow<K>(K);
    impl<K: WideKernel> Kernel for Narrow<K> {
        type Output = K::Output;
        #[inline(always)]
        fn run<const FUSED: bool>(self) -> K::Output {
            self.0.run::<FUSED, false>()
        }
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V4::try_new() {
        struct Vectorized<K>(K);
        impl<K: WideKernel> pulp::NullaryFnOnce for Vectorized<K> {
            type Output = K::Output;
            #[inline(always)]
            fn call(self) -> K::Output {
                self.0.run::<true, true>()
            }
        }
        return simd.vectorize(Vectorized(kernel));
    }
    dispatch(Narrow(kernel))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tells which instructions it is compiled for.
    struct Probe;

    impl WideKernel for Probe {
        type Output = (bool, bool);
        fn run<const FUSED: bool, const WIDE: bool>(self) -> (bool, bool) {
            (FUSED, WIDE)
        }
    }

    /// Cargo features of this crate do not decide it.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn kernels_use_the_vectors_of_the_processor() {
        let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let has_avx512 =
            is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
        assert_eq!(dispatch_wide(Probe), (has_avx2, has_avx2 && has_avx512));
    }
}
