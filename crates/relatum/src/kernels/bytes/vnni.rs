//! 8-bit products with AVX-512 VNNI: `vpdpbusd` multiplies 64 unsigned numbers with 64 signed ones and adds them up in
//! fours, with nothing to saturate. Candidates become unsigned by adding 128, so that each sum is too large by 128 times
//! the sum of the query, which is taken off at the end.

#![allow(unsafe_code, reason = "vector instructions are called only where the processor has them")]

use std::arch::x86_64::{
    __m512i, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_reduce_add_epi32, _mm512_set1_epi8,
    _mm512_setzero_si512, _mm512_xor_si512,
};

use super::{ByteRows, Queries, STEP, score};
use crate::kernels::tiles::bring_near;

/// Candidates of one block, and queries: sixteen sums are half of the registers.
const CANDIDATES: usize = 4;
const QUERIES: usize = 4;
/// How many bytes ahead of the candidates of a single query the next are fetched.
const AHEAD: usize = 2048;

pub(super) fn is_there() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vnni")
}

/// Some candidates against all queries: `out[query][candidate]`.
pub(super) fn tile(out: &mut [&mut [f32]], queries: &Queries<i8>, candidates: ByteRows<'_>) {
    assert!(is_there(), "AVX-512 VNNI");
    let single = out.len() == 1;
    for (group, out) in out.chunks_mut(QUERIES).enumerate() {
        let first = QUERIES * group;
        // SAFETY: the processor has AVX-512 F, BW and VNNI.
        unsafe {
            match out.len() {
                QUERIES => rows::<QUERIES>(out, queries, first, candidates, single),
                3 => rows::<3>(out, queries, first, candidates, single),
                2 => rows::<2>(out, queries, first, candidates, single),
                _ => rows::<1>(out, queries, first, candidates, single),
            }
        }
    }
}

/// `Q` queries from `first` on against all candidates: as many as there are rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn rows<const Q: usize>(
    out: &mut [&mut [f32]],
    queries: &Queries<i8>,
    first: usize,
    candidates: ByteRows<'_>,
    single: bool,
) {
    let (count, _) = candidates.size();
    let query: [&[[i8; STEP]]; Q] = std::array::from_fn(|at| queries.row(first + at).as_chunks::<STEP>().0);
    let too_much: [i32; Q] =
        std::array::from_fn(|at| 128 * queries.row(first + at).iter().copied().map(i32::from).sum::<i32>());
    for from in (0..count).step_by(CANDIDATES) {
        let most = (count - from).min(CANDIDATES);
        if single {
            let at = ((from + CANDIDATES) * candidates.stride + AHEAD).min(candidates.values.len());
            let to = (at + CANDIDATES * candidates.stride).min(candidates.values.len());
            bring_near(&candidates.values[at..to]);
        }
        // Where fewer than four are left, the last one is computed several times.
        let sums = block(query, &std::array::from_fn(|at| candidates.steps(from + at.min(most - 1))));
        for (at, sums) in sums.iter().enumerate() {
            let scale = queries.scales[first + at];
            for (j, &sum) in sums[..most].iter().enumerate() {
                let sum = _mm512_reduce_add_epi32(sum) - too_much[at];
                out[at][from + j] = score(sum, scale, candidates.scales[from + j]);
            }
        }
    }
}

/// The whole steps of a candidate and its last one.
type Steps<'a> = (&'a [[i8; STEP]], [i8; STEP]);

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[inline]
fn block<const Q: usize>(
    query: [&[[i8; STEP]]; Q],
    candidates: &[Steps<'_>; CANDIDATES],
) -> [[__m512i; CANDIDATES]; Q] {
    let mut sums = [[_mm512_setzero_si512(); CANDIDATES]; Q];
    let len = candidates[0].0.len();
    // All slices have the same length, so that no index is checked inside the loop.
    let whole: [&[[i8; STEP]]; CANDIDATES] = std::array::from_fn(|j| &candidates[j].0[..len]);
    let steps = query.map(|it| &it[..len]);
    for at in 0..len {
        let x: [__m512i; Q] = std::array::from_fn(|i| loaded(&steps[i][at]));
        for j in 0..CANDIDATES {
            let y = unsigned(&whole[j][at]);
            for i in 0..Q {
                sums[i][j] = _mm512_dpbusd_epi32(sums[i][j], y, x[i]);
            }
        }
    }
    // The query is padded with zeros to a whole number of steps; if there are none left, nothing is.
    if query[0].len() > len {
        for j in 0..CANDIDATES {
            let y = unsigned(&candidates[j].1);
            for i in 0..Q {
                sums[i][j] = _mm512_dpbusd_epi32(sums[i][j], y, loaded(&query[i][len]));
            }
        }
    }
    sums
}

#[target_feature(enable = "avx512f")]
#[inline]
fn loaded(values: &[i8; STEP]) -> __m512i {
    // SAFETY: the array holds 64 bytes, and the load asks for no alignment.
    unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
}

/// The numbers plus 128.
#[target_feature(enable = "avx512f")]
#[inline]
fn unsigned(values: &[i8; STEP]) -> __m512i {
    _mm512_xor_si512(loaded(values), _mm512_set1_epi8(-128))
}
