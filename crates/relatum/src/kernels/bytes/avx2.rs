//! 8-bit products with AVX2: numbers are widened to 16 bits, of which `vpmaddwd` multiplies sixteen and adds
//! neighbours, with nothing to saturate.
//!
//! `vpmaddubsw` on magnitudes, with the signs moved to the other side by `vpsignb`, would not saturate either, because
//! 2 · 127 · 127 < 2¹⁵, and needs nothing widened; but it takes as many instructions for a number, and measured a sixth
//! slower where many queries pass by.

#![allow(unsafe_code, reason = "vector instructions are called only where the processor has them")]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi32, _mm_loadu_si128, _mm_storeu_si128, _mm256_add_epi32,
    _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_hadd_epi32,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_setzero_si256, _mm256_storeu_si256,
};

use super::{ByteRows, Queries, score};

/// Numbers of one step.
const LANES: usize = 16;
/// Candidates of one block, and queries: their eight sums, the two queries, a candidate and its products fit the
/// sixteen registers. With three queries a sum would go through memory in every step.
const CANDIDATES: usize = 4;
const QUERIES: usize = 2;
/// From this many queries on, candidates are widened once for all of them.
const MANY: usize = 3;
/// Bytes of queries that are taken at a time: they stay in the second level of cache while the candidates pass by.
const QUERY_BYTES: usize = 256 << 10;

pub(super) fn is_there() -> bool {
    is_x86_feature_detected!("avx2")
}

/// Some candidates against all queries: `out[query][candidate]`.
pub(super) fn tile(out: &mut [&mut [f32]], queries: &Queries<i16>, candidates: ByteRows<'_>) {
    assert!(is_there(), "AVX2");
    // SAFETY: the processor has AVX2.
    unsafe {
        match out.len() {
            0 => {}
            1 => few::<1>(out, queries, candidates),
            2 => few::<2>(out, queries, candidates),
            MANY.. => {
                let rows = (QUERY_BYTES / size_of_val(queries.row(0))).next_multiple_of(QUERIES);
                for (at, out) in out.chunks_mut(rows).enumerate() {
                    many(out, queries, at * rows, candidates);
                }
            }
        }
    }
}

/// All queries, which are `Q`, against all candidates.
#[target_feature(enable = "avx2")]
fn few<const Q: usize>(out: &mut [&mut [f32]], queries: &Queries<i16>, candidates: ByteRows<'_>) {
    let (count, _) = candidates.size();
    let query: [&[[i16; LANES]]; Q] = std::array::from_fn(|at| queries.row(at).as_chunks::<LANES>().0);
    for from in (0..count).step_by(CANDIDATES) {
        candidates.bring_near_from(from + CANDIDATES, CANDIDATES);
        // Where fewer than four are left, the last one is computed several times.
        let sums =
            narrow_block(query, std::array::from_fn(|at| candidates.steps((from + at).min(count - 1))));
        write(out, &sums, (0, from), queries, candidates);
    }
}

/// The queries from `first` on, as many as there are rows, against all candidates, which are widened before the
/// queries pass by: otherwise that would take a quarter of all instructions.
#[target_feature(enable = "avx2")]
fn many(out: &mut [&mut [f32]], queries: &Queries<i16>, first: usize, candidates: ByteRows<'_>) {
    let (count, width) = candidates.size();
    let steps = width.div_ceil(LANES);
    let mut block = vec![[Wide([0; LANES]); CANDIDATES]; steps];
    let query = |at: usize| &queries.row(first + at).as_chunks::<LANES>().0[..steps];
    for from in (0..count).step_by(CANDIDATES) {
        for at in 0..CANDIDATES {
            widen(candidates.steps((from + at).min(count - 1)), at, &mut block);
        }
        for (group, out) in out.chunks_mut(QUERIES).enumerate() {
            let at = group * QUERIES;
            let place = (first + at, from);
            if out.len() == QUERIES {
                let sums = wide_block::<QUERIES>([query(at), query(at + 1)], &block);
                write(out, &sums, place, queries, candidates);
            } else {
                write(out, &wide_block([query(at)], &block), place, queries, candidates);
            }
        }
    }
}

/// Writes the scores of a block: queries from `first` on, candidates from `from` on.
#[inline(always)]
fn write<const Q: usize>(
    out: &mut [&mut [f32]],
    sums: &[[i32; CANDIDATES]; Q],
    (first, from): (usize, usize),
    queries: &Queries<i16>,
    candidates: ByteRows<'_>,
) {
    let scales = &candidates.scales[from..];
    for ((sums, out), &scale) in sums.iter().zip(out).zip(&queries.scales[first..]) {
        for ((&sum, out), &own) in sums.iter().zip(&mut out[from..]).zip(scales) {
            *out = score(sum, scale, own);
        }
    }
}

/// The whole steps of a candidate and its last one.
type Steps<'a> = (&'a [[i8; LANES]], [i8; LANES]);

#[target_feature(enable = "avx2")]
#[inline]
fn narrow_block<const Q: usize>(
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

/// One step of a candidate, widened. Where it is aligned, no load touches two lines of cache.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Wide([i16; LANES]);

/// The same with candidates that were widened before, and lie side by side step by step.
#[target_feature(enable = "avx2")]
#[inline]
fn wide_block<const Q: usize>(
    query: [&[[i16; LANES]]; Q],
    candidates: &[[Wide; CANDIDATES]],
) -> [[i32; CANDIDATES]; Q] {
    let mut sums = [[_mm256_setzero_si256(); CANDIDATES]; Q];
    let len = candidates.len();
    assert!(query.iter().all(|it| it.len() == len), "steps");
    let query = query.map(<[_]>::as_ptr);
    for (at, candidates) in candidates.iter().enumerate() {
        // SAFETY: every slice has so many steps, and the load asks for no alignment. With indexes that are checked,
        // the sums would be kept in memory and not in registers.
        let x: [__m256i; Q] = std::array::from_fn(|i| unsafe { _mm256_loadu_si256(query[i].add(at).cast()) });
        for j in 0..CANDIDATES {
            let y = wide(&candidates[j].0);
            for i in 0..Q {
                sums[i][j] = _mm256_add_epi32(sums[i][j], _mm256_madd_epi16(x[i], y));
            }
        }
    }
    sums.map(|parts| added_up(parts))
}

/// Widens the whole steps of a candidate and, where the block is longer, its last one, into its place in the block.
#[target_feature(enable = "avx2")]
#[inline]
fn widen((whole, last): Steps<'_>, place: usize, block: &mut [[Wide; CANDIDATES]]) {
    let put = |step: &mut [Wide; CANDIDATES], values: &[i8; LANES]| {
        // SAFETY: the array holds 32 bytes, and the store asks for no alignment.
        unsafe { _mm256_storeu_si256(step[place].0.as_mut_ptr().cast(), widened(values)) };
    };
    let (steps, rest) = block.split_at_mut(whole.len());
    steps.iter_mut().zip(whole).for_each(|(step, values)| put(step, values));
    for step in rest {
        put(step, &last);
    }
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
