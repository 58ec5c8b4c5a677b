//! Use of the vector instructions of the processor at hand.

/// Work that is compiled once more for processors with longer vectors, which multiply and add in
/// one instruction. A kernel that does not use `FUSED` has the same bits on all processors.
pub(crate) trait Kernel {
    type Output;
    fn run<const FUSED: bool>(self) -> Self::Output;
}

/// Runs a kernel with the best instructions of this processor.
// Kernels are long: a copy at each call would take a tenth of the time to build this crate.
#[inline(never)]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(all(feature = "sparse-cholesky", target_arch = "x86_64"))]
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
