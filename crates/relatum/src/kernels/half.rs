//! Candidates in half precision, which a stream makes f32 a few at a time.

use std::ops::Range;

use half::f16;
use pulp::Simd;

use super::stream::{Lane, Source};

/// Rows of half-precision numbers, or some of their columns.
#[derive(Clone, Copy, Debug)]
pub struct HalfRows<'a> {
    values: &'a [f16],
    count: usize,
    stride: usize,
    columns: (usize, usize),
}

impl<'a> HalfRows<'a> {
    /// The given columns of rows of `stride` values each.
    ///
    /// # Panics
    /// If the columns are not within a row.
    pub fn new(values: &'a [f16], stride: usize, columns: Range<usize>) -> Self {
        assert!(columns.start <= columns.end && columns.end <= stride, "columns {columns:?} of {stride}");
        let count = values.len().checked_div(stride).unwrap_or(0);
        Self { values, count, stride, columns: (columns.start, columns.end) }
    }
}

impl<'a> Source<'a> for HalfRows<'a> {
    type Value = f16;

    fn size(self) -> (usize, usize) {
        (self.count, self.columns.1 - self.columns.0)
    }

    fn rows(self, range: Range<usize>) -> Self {
        let values = &self.values[range.start * self.stride..range.end * self.stride];
        Self { values, count: range.len(), ..self }
    }

    #[inline(always)]
    fn values(self, row: usize, stretch: &Range<usize>) -> &'a [f16] {
        let from = row * self.stride + self.columns.0 + stretch.start;
        &self.values[from..][..stretch.len()]
    }
}

impl Lane for f16 {
    const IS_MADE: bool = true;

    #[inline(always)]
    fn is_read_in(lanes: usize) -> bool {
        cfg!(target_arch = "x86_64") && lanes == 16
    }

    #[inline(always)]
    fn make(values: &[Self], made: &mut [f32]) {
        make_f32(values, made);
    }

    #[allow(unsafe_code, reason = "see the trait")]
    #[inline(always)]
    unsafe fn register<S: Simd>(simd: S, values: *const Self) -> S::f32s {
        #[cfg(target_arch = "x86_64")]
        if S::F32_LANES == 16 {
            use std::arch::x86_64::{_mm256_loadu_si256, _mm512_cvtph_ps};
            // SAFETY: a register of sixteen f32 is one of AVX-512 F, which the processor therefore has; the caller
            // promises sixteen values, and both types are those sixteen f32.
            return unsafe { std::mem::transmute_copy(&_mm512_cvtph_ps(_mm256_loadu_si256(values.cast()))) };
        }
        let _ = values;
        simd.splat_f32s(f32::NAN)
    }
}

/// Makes f32 of half-precision numbers, which is exact. The conversion of the crate `half` takes longer than the
/// memory that half precision saves, because it stores through a buffer of its own.
#[inline(always)]
fn make_f32(from: &[f16], to: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has AVX-512 F.
        #[allow(unsafe_code, reason = "the instructions are called only where the processor has them")]
        return unsafe { x86::make_f32_by_16(from, to) };
    } else if is_x86_feature_detected!("f16c") {
        // SAFETY: the processor has F16C, and with it AVX.
        #[allow(unsafe_code, reason = "the instructions are called only where the processor has them")]
        return unsafe { x86::make_f32_by_8(from, to) };
    }
    one_by_one(from, to);
}

#[inline(always)]
fn one_by_one(from: &[f16], to: &mut [f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.to_f32());
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![allow(unsafe_code, reason = "the instructions are called only where the processor has them")]

    use std::arch::x86_64::{
        _mm_loadu_si128, _mm256_cvtph_ps, _mm256_loadu_si256, _mm256_storeu_ps, _mm512_cvtph_ps,
        _mm512_storeu_ps,
    };

    use half::f16;

    use super::one_by_one;

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn make_f32_by_8(from: &[f16], to: &mut [f32]) {
        let ((from, from_rest), (to, to_rest)) = (from.as_chunks::<8>(), to.as_chunks_mut::<8>());
        for (from, to) in from.iter().zip(to) {
            // SAFETY: the arrays hold 16 and 32 bytes; neither load nor store asks for alignment.
            unsafe {
                _mm256_storeu_ps(to.as_mut_ptr(), _mm256_cvtph_ps(_mm_loadu_si128(from.as_ptr().cast())));
            };
        }
        one_by_one(from_rest, to_rest);
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn make_f32_by_16(from: &[f16], to: &mut [f32]) {
        let ((from, from_rest), (to, to_rest)) = (from.as_chunks::<16>(), to.as_chunks_mut::<16>());
        for (from, to) in from.iter().zip(to) {
            // SAFETY: the arrays hold 32 and 64 bytes; neither load nor store asks for alignment.
            unsafe {
                _mm512_storeu_ps(to.as_mut_ptr(), _mm512_cvtph_ps(_mm256_loadu_si256(from.as_ptr().cast())));
            }
        }
        one_by_one(from_rest, to_rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_becomes_the_number_that_it_is() {
        // Every pattern of bits: zeros, subnormal numbers, infinities and what is no number among them.
        let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        for len in [0, 5, 16, 37, all.len()] {
            let mut made = vec![1.0f32; len];
            make_f32(&all[..len], &mut made);
            for (half, made) in all.iter().zip(made) {
                let right = half.to_f32();
                assert!(made.to_bits() == right.to_bits() || made.is_nan() && right.is_nan(), "{half:?}");
            }
        }
    }

    #[test]
    fn company_changes_no_bit_of_a_long_row() {
        use super::super::stream::stream_apart;
        use crate::random::Rng;
        let mut rng = Rng::new(3);
        // With and without a stretch that is short, and a register that is; more than four stretches.
        for width in [200, 1024, 1100, 1543, 2000, 2048, 5003] {
            let count = 9;
            let values: Vec<f16> = (0..count * width).map(|_| f16::from_f32(rng.normal() as f32)).collect();
            let queries: Vec<f32> = (0..3 * width).map(|_| rng.normal() as f32).collect();
            let scores = |queries: &[f32]| {
                let mut out = vec![f32::NAN; queries.len() / width * count];
                let rows = HalfRows::new(&values, width, 0..width);
                stream_apart(out.chunks_exact_mut(count).collect(), queries, rows);
                out.into_iter().map(f32::to_bits).collect::<Vec<u32>>()
            };
            let together = scores(&queries);
            for (query, expected) in queries.chunks_exact(width).zip(together.chunks_exact(count)) {
                assert_eq!(scores(query), expected, "{width}");
            }
        }
    }
}
