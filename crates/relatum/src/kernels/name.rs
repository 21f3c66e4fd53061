//! Which instructions the f32 kernels run with here, for benchmarks to print.

use pulp::{Arch, Simd, WithSimd};

/// The name of the instructions that streams of f32 are dispatched to on this machine.
pub fn f32_instructions() -> &'static str {
    match Arch::new().dispatch(Lanes) {
        16 => "avx512",
        8 => "avx2",
        4 if cfg!(target_arch = "aarch64") => "neon",
        _ => "plain",
    }
}

/// How many f32 a register holds.
struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}
