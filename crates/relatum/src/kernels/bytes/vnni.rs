//! 8-bit products with AVX-512 VNNI: `vpdpbusd` multiplies 64 unsigned numbers with 64 signed ones and adds them up in
//! fours, with nothing to saturate. Queries become unsigned by adding 128, so that each sum is too large by 128 times
//! the sum of its candidate; that is made once for all queries and taken off at the end.

#![allow(unsafe_code, reason = "vector instructions are called only where the processor has them")]

use std::arch::x86_64::{
    __m512i, _mm_add_epi32, _mm_storeu_si128, _mm256_add_epi32, _mm256_castsi256_si128,
    _mm256_extracti128_si256, _mm512_add_epi32, _mm512_castsi512_si256, _mm512_dpbusd_epi32,
    _mm512_extracti64x4_epi64, _mm512_loadu_si512, _mm512_setzero_si512, _mm512_unpackhi_epi32,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
};

use super::{ByteRows, Queries, STEP, score};

/// Candidates of one block, and queries: their sums and what is read for them fit the registers.
const CANDIDATES: usize = 4;
const QUERIES: usize = 6;

pub(super) fn is_there() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vnni")
}

/// A number of a query plus 128. What pads a query stays 0 and adds nothing to a sum.
pub(super) fn unsigned(byte: i8) -> u8 {
    byte.cast_unsigned() ^ 0x80
}

/// Some candidates against all queries: `out[query][candidate]`.
pub(super) fn tile(out: &mut [&mut [f32]], queries: &Queries<u8>, candidates: ByteRows<'_>) {
    assert!(is_there(), "AVX-512 VNNI");
    let (count, width) = candidates.size();
    let mut ones = vec![[1; STEP]; width.div_ceil(STEP)];
    if let Some(last) = ones.last_mut() {
        last[(width - 1) % STEP + 1..].fill(0);
    }
    // The sum of a candidate is its product with ones: they pass by together with the first queries.
    let mut own = vec![0; count];
    let (first, others) = out.split_at_mut(out.len().min(QUERIES - 1));
    // SAFETY: the processor has AVX-512 F, BW and VNNI.
    unsafe {
        match first.len() {
            1 => first_rows::<1, 2>(first, queries, &ones, candidates, &mut own),
            2 => first_rows::<2, 3>(first, queries, &ones, candidates, &mut own),
            3 => first_rows::<3, 4>(first, queries, &ones, candidates, &mut own),
            4 => first_rows::<4, 5>(first, queries, &ones, candidates, &mut own),
            _ => first_rows::<5, 6>(first, queries, &ones, candidates, &mut own),
        }
        for (group, out) in others.chunks_mut(QUERIES).enumerate() {
            let at = QUERIES - 1 + QUERIES * group;
            match out.len() {
                1 => rows::<1>(out, queries, at, candidates, &own),
                2 => rows::<2>(out, queries, at, candidates, &own),
                3 => rows::<3>(out, queries, at, candidates, &own),
                4 => rows::<4>(out, queries, at, candidates, &own),
                5 => rows::<5>(out, queries, at, candidates, &own),
                _ => rows::<QUERIES>(out, queries, at, candidates, &own),
            }
        }
    }
}

/// The first `Q` queries against all candidates, and `own`, the sum of each candidate; `R` is one more than `Q`.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn first_rows<const Q: usize, const R: usize>(
    out: &mut [&mut [f32]],
    queries: &Queries<u8>,
    ones: &[[u8; STEP]],
    candidates: ByteRows<'_>,
    own: &mut [i32],
) {
    let steps: [&[[u8; STEP]]; R] =
        std::array::from_fn(|at| if at < Q { queries.row(at).as_chunks::<STEP>().0 } else { ones });
    for from in (0..own.len()).step_by(CANDIDATES) {
        candidates.bring_near_from(from + CANDIDATES, CANDIDATES);
        let sums = block(steps, &block_at(candidates, from));
        own[from..].iter_mut().zip(sums[Q]).for_each(|(own, sum)| *own = sum);
        write(out, &sums[..Q], (0, from), queries, candidates, own);
    }
}

/// `Q` queries from `first` on against all candidates: as many as there are rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn rows<const Q: usize>(
    out: &mut [&mut [f32]],
    queries: &Queries<u8>,
    first: usize,
    candidates: ByteRows<'_>,
    own: &[i32],
) {
    let steps: [&[[u8; STEP]]; Q] = std::array::from_fn(|at| queries.row(first + at).as_chunks::<STEP>().0);
    for from in (0..own.len()).step_by(CANDIDATES) {
        let sums = block(steps, &block_at(candidates, from));
        write(out, &sums, (first, from), queries, candidates, own);
    }
}

/// Writes the scores of a block: queries from `first` on, candidates from `from` on.
#[inline(always)]
fn write(
    out: &mut [&mut [f32]],
    sums: &[[i32; CANDIDATES]],
    (first, from): (usize, usize),
    queries: &Queries<u8>,
    candidates: ByteRows<'_>,
    own: &[i32],
) {
    let scales = &candidates.scales[from..];
    for ((sums, out), &scale) in sums.iter().zip(out).zip(&queries.scales[first..]) {
        let of_candidates = scales.iter().zip(&own[from..]);
        for ((&sum, out), (&its_scale, &its_sum)) in sums.iter().zip(&mut out[from..]).zip(of_candidates) {
            *out = score(sum - 128 * its_sum, scale, its_scale);
        }
    }
}

/// The whole steps of a candidate and its last one.
type Steps<'a> = (&'a [[i8; STEP]], [i8; STEP]);

/// The candidates of a block. Where fewer than four are left, the last one stands for those that are missing.
#[inline(always)]
fn block_at(candidates: ByteRows<'_>, from: usize) -> [Steps<'_>; CANDIDATES] {
    let (count, _) = candidates.size();
    std::array::from_fn(|at| candidates.steps((from + at).min(count - 1)))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[inline]
fn block<const Q: usize>(
    query: [&[[u8; STEP]]; Q],
    candidates: &[Steps<'_>; CANDIDATES],
) -> [[i32; CANDIDATES]; Q] {
    let mut sums = [[_mm512_setzero_si512(); CANDIDATES]; Q];
    let whole = candidates[0].0.len();
    assert!(
        candidates.iter().all(|it| it.0.len() == whole) && query.iter().all(|it| it.len() >= whole),
        "steps"
    );
    let (x, y) = (query.map(<[_]>::as_ptr), candidates.each_ref().map(|it| it.0.as_ptr()));
    for at in 0..whole {
        // SAFETY: every slice has so many steps, and the loads ask for no alignment. With indexes that are checked,
        // the sums would be kept in memory and not in registers.
        let x: [__m512i; Q] = std::array::from_fn(|i| unsafe { _mm512_loadu_si512(x[i].add(at).cast()) });
        for j in 0..CANDIDATES {
            // SAFETY: as above.
            let y = unsafe { _mm512_loadu_si512(y[j].add(at).cast()) };
            for i in 0..Q {
                sums[i][j] = _mm512_dpbusd_epi32(sums[i][j], x[i], y);
            }
        }
    }
    // The query is padded with zeros to a whole number of steps; if there are none left, nothing is.
    if query.iter().all(|it| it.len() > whole) {
        for j in 0..CANDIDATES {
            // SAFETY: the array holds 64 bytes.
            let y = unsafe { _mm512_loadu_si512(candidates[j].1.as_ptr().cast()) };
            for i in 0..Q {
                // SAFETY: the slice has this step too.
                let x = unsafe { _mm512_loadu_si512(x[i].add(whole).cast()) };
                sums[i][j] = _mm512_dpbusd_epi32(sums[i][j], x, y);
            }
        }
    }
    sums.map(|parts| added_up(parts))
}

/// The sum of the sixteen parts of each of four sums.
#[target_feature(enable = "avx512f")]
#[inline]
fn added_up([a, b, c, d]: [__m512i; CANDIDATES]) -> [i32; CANDIDATES] {
    // Four numbers of each sum become two, then one in every quarter of the register: a, b, c, d next to each other.
    let ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    let quarters = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    let halves = _mm256_add_epi32(_mm512_castsi512_si256(quarters), _mm512_extracti64x4_epi64::<1>(quarters));
    let whole = _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
    let mut result = [0; CANDIDATES];
    // SAFETY: the array holds 16 bytes, and the store asks for no alignment.
    unsafe { _mm_storeu_si128(result.as_mut_ptr().cast(), whole) };
    result
}
