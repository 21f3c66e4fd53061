//! The inner products of a single query: nothing but reading every candidate once, so there is no panel, no group and
//! no copy, and each step asks for what the candidates after the next need.

use pulp::{Simd, WithSimd};

use super::stream::{DEPTH, Lane, Source, WIDE};
use super::tiles::{LINE, bring_line_near};

/// Candidates of one block: with fewer sums at a time, each addition would wait for the one before it.
const CANDIDATES: usize = 4;
/// From so many half-precision values a candidate on, one at a time is faster: memory is what takes the time, and it
/// gives one long stretch sooner than four at once (1.3 ms against 1.7 for 14,505 candidates of 2,000 values on Zen 5;
/// f32 is faster by fours).
const LONG: usize = 1024;

/// A query against some candidates, which must be stored as f32 or be read as such: `out[candidate]`.
///
/// A pair is summed as in a [stream](super::stream) of several queries, in the same order, to the bit.
pub(super) struct One<'a, C> {
    pub(super) out: &'a mut [f32],
    pub(super) query: &'a [f32],
    pub(super) candidates: C,
}

impl<'s, C: Source<'s>> WithSimd for One<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { out, query, candidates } = self;
        let by_ones = size_of::<C::Value>() < size_of::<f32>() && query.len() >= LONG;
        let (by_fours, by_ones) = out.split_at_mut(if by_ones { 0 } else { out.len() });
        let (mut blocks, mut from) = (by_fours.chunks_exact_mut(CANDIDATES), 0);
        for out in &mut blocks {
            block::<S, C, CANDIDATES>(simd, out, query, candidates, from);
            from += CANDIDATES;
        }
        for out in blocks.into_remainder().chunks_exact_mut(1).chain(by_ones.chunks_exact_mut(1)) {
            block::<S, C, 1>(simd, out, query, candidates, from);
            from += 1;
        }
    }
}

/// `N` candidates from `from` on.
#[inline(always)]
fn block<'s, S: Simd, C: Source<'s>, const N: usize>(
    simd: S,
    out: &mut [f32],
    query: &[f32],
    candidates: C,
    from: usize,
) {
    let (count, width) = candidates.size();
    assert!(width == query.len() && C::Value::is_read_in(S::F32_LANES), "values");
    let (mut rows, mut next): ([&[C::Value]; N], _) = ([&[]; N], [std::ptr::null(); N]);
    // Loops over constants: closures for arrays of references are compiled as calls here.
    for j in 0..N {
        rows[j] = candidates.values(from + j, &(0..width));
        next[j] = candidates.values((from + N + j).min(count - 1), &(0..width)).as_ptr();
    }
    for (stretch, query) in query.chunks(DEPTH).enumerate() {
        let start = stretch * DEPTH;
        let (registers, rest) = S::as_simd_f32s(query);
        let mut sums = [simd.splat_f32s(0.0); N];
        for (at, &x) in registers.iter().enumerate() {
            let at = start + at * S::F32_LANES;
            for j in 0..N {
                if at.is_multiple_of(LINE / size_of::<C::Value>()) {
                    bring_line_near(next[j].wrapping_add(at));
                }
                // SAFETY: a row is as long as the query, which has this register, and its numbers can be read so.
                #[allow(unsafe_code, reason = "see `Lane::register`")]
                let y = unsafe { C::Value::register(simd, rows[j].as_ptr().add(at)) };
                sums[j] = simd.mul_add_f32s(x, y, sums[j]);
            }
        }
        if !rest.is_empty() {
            let x = simd.partial_load_f32s(rest);
            for j in 0..N {
                let mut made = [0.0; WIDE];
                let made = &mut made[..rest.len()];
                C::Value::make(&rows[j][start + query.len() - rest.len()..][..rest.len()], made);
                sums[j] = simd.mul_add_f32s(x, simd.partial_load_f32s(made), sums[j]);
            }
        }
        for j in 0..N {
            let sum = simd.reduce_sum_f32s(sums[j]);
            out[j] = if stretch == 0 { sum } else { out[j] + sum };
        }
    }
}
