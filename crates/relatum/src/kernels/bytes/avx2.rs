//! 8-bit products with AVX2: numbers are widened to 16 bits, of which `vpmaddwd` multiplies sixteen and adds
//! neighbours, with nothing to saturate.

#![allow(unsafe_code, reason = "vector instructions are called only where the processor has them")]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi32, _mm_loadu_si128, _mm_storeu_si128, _mm256_add_epi32,
    _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_hadd_epi32,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_setzero_si256,
};

use super::{ByteRows, Queries, score};
use crate::kernels::tiles::bring_near;

/// Numbers of one step.
const LANES: usize = 16;
/// Candidates of one block: with two queries, all sums and all that is read for them fit the registers.
const CANDIDATES: usize = 4;
/// How many bytes ahead of the candidates of a single query the next are fetched.
const AHEAD: usize = 2048;

pub(super) fn is_there() -> bool {
    is_x86_feature_detected!("avx2")
}

/// Some candidates against all queries: `out[query][candidate]`.
pub(super) fn tile(out: &mut [&mut [f32]], queries: &Queries<i16>, candidates: ByteRows<'_>) {
    assert!(is_there(), "AVX2");
    let single = out.len() == 1;
    for (group, out) in out.chunks_mut(2).enumerate() {
        let first = 2 * group;
        // SAFETY: the processor has AVX2.
        unsafe {
            match out.len() {
                2 => rows::<2>(out, queries, first, candidates, single),
                _ => rows::<1>(out, queries, first, candidates, single),
            }
        }
    }
}

/// `Q` queries from `first` on against all candidates: as many as there are rows.
#[target_feature(enable = "avx2")]
fn rows<const Q: usize>(
    out: &mut [&mut [f32]],
    queries: &Queries<i16>,
    first: usize,
    candidates: ByteRows<'_>,
    single: bool,
) {
    let (count, _) = candidates.size();
    let query: [&[[i16; LANES]]; Q] =
        std::array::from_fn(|at| queries.row(first + at).as_chunks::<LANES>().0);
    for from in (0..count).step_by(CANDIDATES) {
        let most = (count - from).min(CANDIDATES);
        if single {
            let at = ((from + CANDIDATES) * candidates.stride + AHEAD).min(candidates.values.len());
            let to = (at + CANDIDATES * candidates.stride).min(candidates.values.len());
            bring_near(&candidates.values[at..to]);
        }
        // Where fewer than four are left, the last one is computed several times.
        let sums = block(query, std::array::from_fn(|at| candidates.steps(from + at.min(most - 1))));
        for (at, sums) in sums.iter().enumerate() {
            let scale = queries.scales[first + at];
            for (j, &sum) in sums[..most].iter().enumerate() {
                out[at][from + j] = score(sum, scale, candidates.scales[from + j]);
            }
        }
    }
}

/// The whole steps of a candidate and its last one.
type Steps<'a> = (&'a [[i8; LANES]], [i8; LANES]);

#[target_feature(enable = "avx2")]
#[inline]
fn block<const Q: usize>(
    query: [&[[i16; LANES]]; Q],
    candidates: [Steps<'_>; CANDIDATES],
) -> [[i32; CANDIDATES]; Q] {
    let mut sums = [[_mm256_setzero_si256(); CANDIDATES]; Q];
    let len = candidates[0].0.len();
    // All slices have the same length, so that no index is checked inside the loop.
    let whole = candidates.map(|it| &it.0[..len]);
    let steps = query.map(|it| &it[..len]);
    for at in 0..len {
        let x: [__m256i; Q] = std::array::from_fn(|i| wide(&steps[i][at]));
        for j in 0..CANDIDATES {
            let y = widened(&whole[j][at]);
            for i in 0..Q {
                sums[i][j] = _mm256_add_epi32(sums[i][j], _mm256_madd_epi16(x[i], y));
            }
        }
    }
    // The query is padded with zeros to a whole number of steps; if there are none left, nothing is.
    if query[0].len() > len {
        for j in 0..CANDIDATES {
            let y = widened(&candidates[j].1);
            for i in 0..Q {
                sums[i][j] = _mm256_add_epi32(sums[i][j], _mm256_madd_epi16(wide(&query[i][len]), y));
            }
        }
    }
    sums.map(|parts| added_up(parts))
}

#[target_feature(enable = "avx2")]
#[inline]
fn wide(values: &[i16; LANES]) -> __m256i {
    // SAFETY: the array holds 32 bytes, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn widened(values: &[i8; LANES]) -> __m256i {
    // SAFETY: the array holds 16 bytes, and the load asks for no alignment.
    _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(values.as_ptr().cast()) })
}

/// The sum of the eight parts of each of four sums.
#[target_feature(enable = "avx2")]
#[inline]
fn added_up(sums: [__m256i; CANDIDATES]) -> [i32; CANDIDATES] {
    let [a, b, c, d] = sums;
    let halves = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    let whole: __m128i = _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
    let mut result = [0; CANDIDATES];
    // SAFETY: the array holds 16 bytes, and the store asks for no alignment.
    unsafe { _mm_storeu_si128(result.as_mut_ptr().cast(), whole) };
    result
}
