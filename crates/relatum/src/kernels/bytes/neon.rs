//! 8-bit products with NEON, which every 64-bit ARM processor has: `smull` and `smlal2` multiply sixteen numbers and add
//! them up in pairs of 16 bits, `sadalp` adds those to sums of 32 bits.
//!
//! No pair overflows: a query has no −128, so that a pair is at most 2 · 127 · 128 = 32,512 < 2¹⁵, whatever a
//! candidate holds.

#![allow(unsafe_code, reason = "vectors are read through pointers")]

use std::arch::aarch64::{
    int8x16_t, int32x4_t, vaddvq_s32, vdupq_n_s32, vget_low_s8, vld1q_s8, vmlal_high_s8, vmull_s8,
    vpadalq_s16,
};

use super::{ByteRows, Queries, score};

/// Numbers of one step.
const LANES: usize = 16;
/// Candidates of one block, and queries: their sums and what is read for them fit the registers.
const CANDIDATES: usize = 4;
const QUERIES: usize = 4;

/// Some candidates against all queries: `out[query][candidate]`.
pub(super) fn tile(out: &mut [&mut [f32]], queries: &Queries<i8>, candidates: ByteRows<'_>) {
    for (group, out) in out.chunks_mut(QUERIES).enumerate() {
        let at = group * QUERIES;
        // SAFETY: every processor of this architecture has NEON.
        unsafe {
            match out.len() {
                1 => rows::<1>(out, queries, at, candidates),
                2 => rows::<2>(out, queries, at, candidates),
                3 => rows::<3>(out, queries, at, candidates),
                _ => rows::<QUERIES>(out, queries, at, candidates),
            }
        }
    }
}

/// `Q` queries from `first` on against all candidates: as many as there are rows.
#[target_feature(enable = "neon")]
fn rows<const Q: usize>(
    out: &mut [&mut [f32]],
    queries: &Queries<i8>,
    first: usize,
    candidates: ByteRows<'_>,
) {
    let (count, _) = candidates.size();
    let query: [&[[i8; LANES]]; Q] = std::array::from_fn(|at| queries.row(first + at).as_chunks::<LANES>().0);
    for from in (0..count).step_by(CANDIDATES) {
        // Where fewer than four are left, the last one is computed several times.
        let sums = block(query, std::array::from_fn(|at| candidates.steps((from + at).min(count - 1))));
        let scales = &candidates.scales[from..];
        for ((sums, out), &scale) in sums.iter().zip(&mut *out).zip(&queries.scales[first..]) {
            for ((&sum, out), &own) in sums.iter().zip(&mut out[from..]).zip(scales) {
                *out = score(sum, scale, own);
            }
        }
    }
}

/// The whole steps of a candidate and its last one.
type Steps<'a> = (&'a [[i8; LANES]], [i8; LANES]);

#[target_feature(enable = "neon")]
#[inline]
fn block<const Q: usize>(
    query: [&[[i8; LANES]]; Q],
    candidates: [Steps<'_>; CANDIDATES],
) -> [[i32; CANDIDATES]; Q] {
    let mut sums = [[vdupq_n_s32(0); CANDIDATES]; Q];
    let len = candidates[0].0.len();
    // All slices have the same length, so that no index is checked inside the loop.
    let whole = candidates.map(|it| &it.0[..len]);
    let steps = query.map(|it| &it[..len]);
    for at in 0..len {
        let x: [int8x16_t; Q] = std::array::from_fn(|i| read(&steps[i][at]));
        for j in 0..CANDIDATES {
            let y = read(&whole[j][at]);
            for i in 0..Q {
                sums[i][j] = multiplied(sums[i][j], x[i], y);
            }
        }
    }
    // The query is padded with zeros to a whole number of steps; if there are none left, nothing is.
    if query[0].len() > len {
        for j in 0..CANDIDATES {
            let y = read(&candidates[j].1);
            for i in 0..Q {
                sums[i][j] = multiplied(sums[i][j], read(&query[i][len]), y);
            }
        }
    }
    let mut totals = [[0; CANDIDATES]; Q];
    for i in 0..Q {
        for j in 0..CANDIDATES {
            totals[i][j] = vaddvq_s32(sums[i][j]);
        }
    }
    totals
}

/// `sum` plus the products of sixteen pairs.
#[target_feature(enable = "neon")]
#[inline]
fn multiplied(sum: int32x4_t, x: int8x16_t, y: int8x16_t) -> int32x4_t {
    vpadalq_s16(sum, vmlal_high_s8(vmull_s8(vget_low_s8(x), vget_low_s8(y)), x, y))
}

#[target_feature(enable = "neon")]
#[inline]
fn read(values: &[i8; LANES]) -> int8x16_t {
    // SAFETY: the array holds 16 bytes, and the load asks for no alignment.
    unsafe { vld1q_s8(values.as_ptr()) }
}
