//! Which instructions the f32 kernels run with here, for benchmarks to print and to choose.

use std::sync::atomic::{AtomicBool, Ordering};

use pulp::Arch;

use super::stream::Lanes;

/// Whether streams keep to AVX2.
static NARROW: AtomicBool = AtomicBool::new(false);

/// Lets streams of f32 keep to AVX2 on a machine that has AVX-512, or take what the machine has again. So the f32 and
/// the 8-bit kernels of AVX2 can be compared in one run; whether there are both.
pub fn keep_to_avx2(narrow: bool) -> bool {
    NARROW.store(narrow, Ordering::Relaxed);
    cfg!(target_arch = "x86_64") && Arch::new().dispatch(Lanes) == 16
}

/// The instructions that streams take.
pub(super) fn arch() -> Arch {
    #[cfg(target_arch = "x86_64")]
    if NARROW.load(Ordering::Relaxed)
        && let Some(avx2) = pulp::x86::V3::try_new()
    {
        return Arch::V3(avx2);
    }
    Arch::new()
}

/// The name of the instructions that streams of f32 are dispatched to on this machine.
pub fn f32_instructions() -> &'static str {
    match Arch::new().dispatch(Lanes) {
        16 => "avx512",
        8 => "avx2",
        4 if cfg!(target_arch = "aarch64") => "neon",
        _ => "plain",
    }
}
