//! The inner products of a single query: nothing but reading every candidate once, so there is no panel, no group and
//! no copy, and each step asks for what the candidates after the next need.

use pulp::{Simd, WithSimd};

use super::stream::{DEPTH, Lane, Source, WIDE};
use super::tiles::{LINE, bring_line_near};

/// Candidates of one block: with fewer sums at a time, each addition would wait for the one before it.
const CANDIDATES: usize = 4;
/// From so many half-precision values a candidate on, one at a time is faster: memory is what takes the time, and it
/// gives one long row sooner than four at once (f32 is faster by fours). The sums of its stretches of [`DEPTH`] values
/// are made side by side instead.
pub(super) const LONG: usize = 1024;

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
        if C::Value::IS_MADE {
            for (row, out) in out.iter_mut().enumerate() {
                *out = long(simd, query, candidates, row);
            }
            return;
        }
        let (mut blocks, mut from) = (out.chunks_exact_mut(CANDIDATES), 0);
        for out in &mut blocks {
            block::<S, C, CANDIDATES>(simd, out, query, candidates, from);
            from += CANDIDATES;
        }
        for out in blocks.into_remainder().chunks_exact_mut(1) {
            block::<S, C, 1>(simd, out, query, candidates, from);
            from += 1;
        }
    }
}

/// One long candidate, four stretches at a time.
#[inline(always)]
fn long<'s, S: Simd, C: Source<'s>>(simd: S, query: &[f32], candidates: C, row: usize) -> f32 {
    let (count, width) = candidates.size();
    assert!(width == query.len() && C::Value::is_read_in(S::F32_LANES), "values");
    let values = candidates.values(row, &(0..width));
    let next = candidates.values((row + 1).min(count - 1), &(0..width)).as_ptr();
    let mut total = None;
    for (at, query) in query.chunks(4 * DEPTH).enumerate() {
        let from = at * 4 * DEPTH;
        let (values, next) = (&values[from..][..query.len()], next.wrapping_add(from));
        match query.len().div_ceil(DEPTH) {
            1 => stretches::<S, C::Value, 1>(simd, query, values, next, &mut total),
            2 => stretches::<S, C::Value, 2>(simd, query, values, next, &mut total),
            3 => stretches::<S, C::Value, 3>(simd, query, values, next, &mut total),
            _ => stretches::<S, C::Value, 4>(simd, query, values, next, &mut total),
        }
    }
    total.unwrap_or(0.0)
}

/// Adds the sums of `N` stretches, of which only the last may be short, in their order.
#[inline(always)]
fn stretches<S: Simd, V: Lane, const N: usize>(
    simd: S,
    query: &[f32],
    values: &[V],
    next: *const V,
    total: &mut Option<f32>,
) {
    let mut sums = [simd.splat_f32s(0.0); N];
    let last = S::as_simd_f32s(&query[(N - 1) * DEPTH..]).0.len();
    let mut add = |at: usize, j: usize| {
        let at = j * DEPTH + at * S::F32_LANES;
        if at.is_multiple_of(LINE / size_of::<V>()) {
            bring_line_near(next.wrapping_add(at));
        }
        let x = simd.partial_load_f32s(&query[at..][..S::F32_LANES]);
        // SAFETY: there are as many values as the query has, and it has this register.
        #[allow(unsafe_code, reason = "see `Lane::register`")]
        let y = unsafe { V::register(simd, values.as_ptr().add(at)) };
        sums[j] = simd.mul_add_f32s(x, y, sums[j]);
    };
    for at in 0..last {
        for j in 0..N {
            add(at, j);
        }
    }
    for at in last..DEPTH / S::F32_LANES {
        for j in 0..N - 1 {
            add(at, j);
        }
    }
    let rest = query.len() % S::F32_LANES;
    if rest > 0 {
        let mut made = [0.0; WIDE];
        V::make(&values[values.len() - rest..], &mut made[..rest]);
        let x = simd.partial_load_f32s(&query[query.len() - rest..]);
        sums[N - 1] = simd.mul_add_f32s(x, simd.partial_load_f32s(&made[..rest]), sums[N - 1]);
    }
    for sum in sums {
        let sum = simd.reduce_sum_f32s(sum);
        *total = Some(total.map_or(sum, |total| total + sum));
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
