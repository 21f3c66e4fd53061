//! Inner products of queries with very many candidates.

use std::ops::Range;

use pulp::{Simd, WithSimd};

#[cfg(feature = "kernels")]
use super::name::arch;
use super::one::{LONG, One};
use super::product::View;
use super::tiles::{bring_near, in_tiles};

/// Queries and candidates of one block: with so many sums, every register of AVX2 is in use, and every
/// value that is loaded is used several times.
const QUERIES: usize = 3;
const CANDIDATES: usize = 4;
/// Values of the widest register there is, that of AVX-512.
pub(super) const WIDE: usize = 16;
/// Candidates that one task takes.
const TILE: usize = 96;
/// The same for [`FEW`] queries, where tasks of that size would be too short to be worth handing over.
const TILE_OF_FEW: usize = 6 * TILE;
/// Up to this many multiplications, about a tenth of a millisecond, waking other threads takes longer than they
/// would save.
const ALONE: usize = 3 << 19;
/// Values of each vector that are summed at a time: that part of four candidates stays in the first
/// level of cache while all queries pass by, and the queries stay in the second.
pub(super) const DEPTH: usize = 512;
/// Queries that are taken at a time.
const ROWS: usize = 192;
/// Up to this many queries, reading the candidates takes longer than all sums, so each candidate is
/// read whole.
const FEW: usize = 8;
/// Values in a line of cache.
const LINE: usize = 16;

/// `out = queries · candidatesᵀ`, for a few queries up to some hundreds, against very many candidates.
///
/// Both operands are stored along the dimension that is summed, so blocks of inner products need no
/// rearranged copy of the candidates; where queries are few, a general product spends its time on that
/// copy. The sum of a pair does not depend on what else is computed with it.
///
/// # Panics
/// If the shapes do not fit, or if rows of the candidates are not stored whole.
#[cfg(any(test, feature = "kernels"))]
pub fn stream<'a>(out: &mut [f32], queries: &[f32], candidates: impl Source<'a>) {
    let (count, width) = candidates.size();
    if width == 0 || count == 0 {
        return;
    }
    assert!(queries.len().is_multiple_of(width), "whole queries");
    assert_eq!(out.len(), queries.len() / width * count, "one result for each pair");
    for (out, queries) in out.chunks_mut(ROWS * count).zip(queries.chunks(ROWS * width)) {
        block_of_rows(out.chunks_exact_mut(count), queries, candidates);
    }
}

/// The same into rows that lie apart, each as long as there are candidates.
///
/// # Panics
/// If there is not one row for each query, or if rows of the candidates are not stored whole.
pub fn stream_apart<'a>(out: Vec<&mut [f32]>, queries: &[f32], candidates: impl Source<'a>) {
    let (count, width) = candidates.size();
    if width == 0 || count == 0 {
        return;
    }
    assert!(
        queries.len() == out.len() * width && out.iter().all(|row| row.len() == count),
        "one row for each query, one result for each candidate"
    );
    let mut out = out.into_iter();
    for queries in queries.chunks(ROWS * width) {
        block_of_rows(out.by_ref().take(queries.len() / width), queries, candidates);
    }
}

/// The instructions of this machine; benchmarks may choose others.
#[cfg(not(feature = "kernels"))]
fn arch() -> pulp::Arch {
    pulp::Arch::new()
}

/// At most [`ROWS`] queries against all candidates.
fn block_of_rows<'a, 's, C: Source<'s>>(
    out: impl Iterator<Item = &'a mut [f32]>,
    queries: &[f32],
    candidates: C,
) {
    let (count, width) = candidates.size();
    let by_one =
        if C::Value::IS_MADE { width >= LONG && C::Value::is_read_in(arch().dispatch(Lanes)) } else { true };
    if queries.len() == width && by_one {
        return in_tiles(out, (count, TILE_OF_FEW), count * width <= ALONE, |at, out| {
            for out in out {
                arch().dispatch(One { out, query: queries, candidates: candidates.rows(at.clone()) });
            }
        });
    }
    let panels = arch().dispatch(Pack { queries, width });
    let size = if panels.queries() <= FEW { TILE_OF_FEW } else { TILE };
    let alone = panels.queries() * count * width <= ALONE;
    in_tiles(out, (count, size), alone, |at, out| {
        arch().dispatch(Tile::new(out, &panels, candidates.rows(at)));
    });
}

/// How many f32 a register holds.
pub(super) struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}

/// Candidate vectors that a stream reads as f32, whatever they are stored as.
pub trait Source<'a>: Copy + Sync + 'a {
    /// What a value is stored as.
    type Value: Lane;

    /// The numbers of candidates and of values.
    fn size(self) -> (usize, usize);

    /// Some of the candidates.
    #[must_use]
    fn rows(self, range: Range<usize>) -> Self;

    /// Some values of a candidate.
    fn values(self, row: usize, stretch: &Range<usize>) -> &'a [Self::Value];
}

/// A number as candidates store it.
pub trait Lane: Copy + Sync {
    /// Whether it is not f32, so that making f32 of it once is worth it where many queries read it.
    const IS_MADE: bool;

    /// Whether registers of so many f32 can be read from where it is stored. If not, f32 must be made of it first.
    fn is_read_in(lanes: usize) -> bool;

    /// Makes f32 of some.
    fn make(values: &[Self], made: &mut [f32]);

    /// Reads one register.
    ///
    /// # Safety
    /// From `values` on there must be as many as a register has, and [`is_read_in`](Self::is_read_in) must hold of
    /// their number.
    #[allow(
        unsafe_code,
        reason = "indexes that are checked would keep the sums in memory and not in registers"
    )]
    unsafe fn register<S: Simd>(simd: S, values: *const Self) -> S::f32s;
}

impl Lane for f32 {
    const IS_MADE: bool = false;

    fn is_read_in(_: usize) -> bool {
        true
    }

    fn make(values: &[Self], made: &mut [f32]) {
        made.copy_from_slice(values);
    }

    #[allow(unsafe_code, reason = "see the trait")]
    #[inline(always)]
    unsafe fn register<S: Simd>(_: S, values: *const Self) -> S::f32s {
        // SAFETY: the caller promises that they are there; the read asks for no alignment, and any bits are f32.
        unsafe { values.cast::<S::f32s>().read_unaligned() }
    }
}

impl<'a> Source<'a> for View<'a> {
    type Value = f32;

    fn size(self) -> (usize, usize) {
        View::size(self)
    }

    fn rows(self, range: Range<usize>) -> Self {
        View::rows(self, range)
    }

    #[inline(always)]
    fn values(self, row: usize, stretch: &Range<usize>) -> &'a [f32] {
        &self.row(row)[stretch.clone()]
    }
}

/// Queries in the order in which blocks read them: for each stretch of [`DEPTH`] values, for each group
/// of up to [`QUERIES`] queries, one vector register of each in turn.
struct Panels {
    values: Vec<f32>,
    /// Where the panels begin in `values`: at the beginning of a line of cache.
    start: usize,
    /// The first query of each group, then the number of queries.
    groups: Vec<usize>,
    width: usize,
    lanes: usize,
}

impl Panels {
    fn queries(&self) -> usize {
        self.groups.last().copied().unwrap_or(0)
    }

    /// The ranges of values that are summed at a time.
    fn stretches(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let width = self.width;
        (0..width).step_by(DEPTH).map(move |from| from..(from + DEPTH).min(width))
    }

    /// The groups of a stretch one after another, and how many values of a query each holds.
    fn of(&self, stretch: &Range<usize>) -> (&[f32], usize) {
        let len = stretch.len().next_multiple_of(self.lanes);
        let at = self.start + stretch.start * self.queries();
        (&self.values[at..][..len * self.queries()], len)
    }
}

struct Pack<'a> {
    queries: &'a [f32],
    width: usize,
}

impl WithSimd for Pack<'_> {
    type Output = Panels;

    fn with_simd<S: Simd>(self, _: S) -> Panels {
        let rows = self.queries.len() / self.width;
        let lanes = S::F32_LANES;
        let mut values: Vec<f32> = Vec::with_capacity(LINE + rows * self.width.next_multiple_of(lanes));
        let start = values.as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE);
        values.resize(start, 0.0);
        let mut panels = Panels { values, start, groups: groups(rows), width: self.width, lanes };
        for stretch in panels.stretches() {
            for group in panels.groups.windows(2) {
                for at in stretch.clone().step_by(lanes) {
                    let part = at..(at + lanes).min(stretch.end);
                    for query in group[0]..group[1] {
                        panels.values.extend_from_slice(&self.queries[query * self.width..][part.clone()]);
                        panels.values.resize(panels.values.len() + lanes - part.len(), 0.0);
                    }
                }
            }
        }
        panels
    }
}

/// Where groups of [`QUERIES`] begin. Where a group of one would be left over, the group before it gives
/// it a query, so that both have two.
fn groups(rows: usize) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..rows).step_by(QUERIES).chain([rows]).collect();
    if let [.., before, last, end] = groups.as_mut_slice()
        && *end - *last == 1
        && *last > *before
    {
        *last -= 1;
    }
    groups
}

/// Some candidates against all queries: `out[query][candidate]`.
struct Tile<'a, 'b, C> {
    out: &'a mut [&'b mut [f32]],
    panels: &'a Panels,
    candidates: C,
    /// Where the values of a block of candidates are made f32, if they must be and if many queries read them.
    room: Vec<f32>,
}

impl<'a, 'b, 's, C: Source<'s>> Tile<'a, 'b, C> {
    fn new(out: &'a mut [&'b mut [f32]], panels: &'a Panels, candidates: C) -> Self {
        let is_made = !C::Value::is_read_in(panels.lanes) || C::Value::IS_MADE && panels.queries() > FEW;
        let room = vec![0.0; if is_made { CANDIDATES * DEPTH } else { 0 }];
        Self { out, panels, candidates, room }
    }
}

impl<'s, T: Source<'s>> WithSimd for Tile<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (count, _) = self.candidates.size();
        if self.panels.queries() <= FEW {
            self.each_whole::<S, CANDIDATES>(simd);
        } else {
            for stretch in self.panels.stretches() {
                for from in (0..count).step_by(CANDIDATES) {
                    self.candidates::<S, CANDIDATES>(simd, from, &stretch);
                }
            }
        }
    }
}

impl<'s, T: Source<'s>> Tile<'_, '_, T> {
    /// All candidates, `C` at a time, each read whole before the next.
    #[inline(always)]
    fn each_whole<S: Simd, const C: usize>(&mut self, simd: S) {
        let (count, _) = self.candidates.size();
        for from in (0..count).step_by(C) {
            for stretch in self.panels.stretches() {
                self.candidates::<S, C>(simd, from, &stretch);
            }
        }
    }

    /// The next `C` candidates against all queries.
    #[inline(always)]
    fn candidates<S: Simd, const C: usize>(&mut self, simd: S, from: usize, stretch: &Range<usize>) {
        let (count, _) = self.candidates.size();
        if from + C <= count {
            self.groups::<S, C>(simd, from, stretch);
        } else {
            (from..count).for_each(|one| self.groups::<S, 1>(simd, one, stretch));
        }
    }

    #[inline(always)]
    fn groups<S: Simd, const C: usize>(&mut self, simd: S, from: usize, stretch: &Range<usize>) {
        let source = self.candidates;
        let stored: [&[T::Value]; C] = std::array::from_fn(|at| source.values(from + at, stretch));
        let mut room = std::mem::take(&mut self.room);
        if room.is_empty() {
            self.pass_by::<S, T::Value, C>(simd, stored, from, stretch);
        } else {
            let mut rooms = room.chunks_exact_mut(DEPTH);
            let made: [&[f32]; C] = stored.map(|values| {
                let room = &mut rooms.next().unwrap_or_default()[..values.len()];
                T::Value::make(values, room);
                &*room
            });
            self.pass_by::<S, f32, C>(simd, made, from, stretch);
        }
        self.room = room;
    }

    /// All queries pass by `C` candidates.
    #[inline(always)]
    fn pass_by<S: Simd, L: Lane, const C: usize>(
        &mut self,
        simd: S,
        candidates: [&[L]; C],
        from: usize,
        stretch: &Range<usize>,
    ) {
        let source = self.candidates;
        let panels = self.panels;
        let (values, len) = panels.of(stretch);
        let groups = panels.groups.len() - 1;
        // While a group is summed, a share of the next candidates is brought into the cache.
        let (count, _) = source.size();
        let share = stretch.len().div_ceil(groups).next_multiple_of(LINE);
        for (group, bounds) in panels.groups.windows(2).enumerate() {
            if panels.queries() > FEW || panels.width <= DEPTH || L::IS_MADE {
                let part = (group * share).min(stretch.len())..((group + 1) * share).min(stretch.len());
                for next in from + C..(from + 2 * C).min(count) {
                    bring_near(&source.values(next, stretch)[part.clone()]);
                }
            }
            let panel = &values[bounds[0] * len..bounds[1] * len];
            let place = (bounds[0], from, stretch.start == 0);
            match bounds[1] - bounds[0] {
                1 => self.block::<S, L, 1, C>(simd, panel, candidates, place),
                2 => self.block::<S, L, 2, C>(simd, panel, candidates, place),
                _ => self.block::<S, L, QUERIES, C>(simd, panel, candidates, place),
            }
        }
    }

    #[inline(always)]
    fn block<S: Simd, L: Lane, const Q: usize, const C: usize>(
        &mut self,
        simd: S,
        panel: &[f32],
        candidates: [&[L]; C],
        (first, from, is_new): (usize, usize, bool),
    ) {
        let (panel, _) = S::as_simd_f32s(panel).0.as_chunks::<Q>();
        let len = candidates[0].len();
        assert!(L::is_read_in(S::F32_LANES) && candidates.iter().all(|it| it.len() == len), "values");
        let (panel, last) = panel.split_at(len / S::F32_LANES);
        let values = candidates.map(<[_]>::as_ptr);
        let mut sums = [[simd.splat_f32s(0.0); C]; Q];
        for (at, x) in panel.iter().enumerate() {
            for j in 0..C {
                // SAFETY: of `len` values so many whole registers can be read.
                #[allow(unsafe_code, reason = "see `Lane::register`")]
                let y = unsafe { L::register(simd, values[j].add(at * S::F32_LANES)) };
                for i in 0..Q {
                    sums[i][j] = simd.mul_add_f32s(x[i], y, sums[i][j]);
                }
            }
        }
        if let [x] = last {
            let mut made = [0.0; WIDE];
            for j in 0..C {
                let rest = &candidates[j][panel.len() * S::F32_LANES..];
                L::make(rest, &mut made[..rest.len()]);
                let y = simd.partial_load_f32s(&made[..rest.len()]);
                for i in 0..Q {
                    sums[i][j] = simd.mul_add_f32s(x[i], y, sums[i][j]);
                }
            }
        }
        // Every register is named by constants until it is one number: an index that is only known at run time would
        // keep the sums in memory, and each step would store them all.
        let mut totals = [[0.0; C]; Q];
        for i in 0..Q {
            for j in 0..C {
                totals[i][j] = simd.reduce_sum_f32s(sums[i][j]);
            }
        }
        for (totals, out) in totals.iter().zip(&mut self.out[first..]) {
            for (&sum, out) in totals.iter().zip(&mut out[from..]) {
                *out = if is_new { sum } else { *out + sum };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ViewMut, product};
    use super::*;
    use crate::random::Rng;

    #[test]
    fn a_stream_is_the_product_it_stands_for() {
        let mut rng = Rng::new(3);
        let mut random = |len: usize| (0..len).map(|_| rng.normal() as f32).collect::<Vec<f32>>();
        // Widths that no number of lanes divides, in one stretch and in two.
        for (count, width, most) in [(211, 37, ROWS + 7), (102, DEPTH + 21, 14)] {
            let table = random(count * (width + 3));
            let candidates = View::new(&table, count, width + 3).columns(3..width + 3);
            let queries = random(most * width);
            let mut alone = vec![0.0; most * count];
            for (out, query) in alone.chunks_exact_mut(count).zip(queries.chunks_exact(width)) {
                stream(out, query, candidates);
            }
            let mut expected = vec![0.0; most * count];
            let out = ViewMut::new(&mut expected, most, count);
            product(
                out,
                View::new(&queries, most, width),
                candidates.transposed(),
                super::super::Threads::All,
            );
            for (a, b) in alone.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-3, "{a} {b}");
            }
            for rows in (1..FEW + 6).chain([most]) {
                let mut streamed = vec![f32::NAN; rows * count];
                stream(&mut streamed, &queries[..rows * width], candidates);
                assert_eq!(alone[..rows * count], streamed, "a pair does not depend on its neighbours");
            }
        }
    }

    #[test]
    fn groups_are_as_even_as_can_be() {
        assert_eq!(
            [1, 2, 3, 4, 7].map(groups),
            [vec![0, 1], vec![0, 2], vec![0, 3], vec![0, 2, 4], vec![0, 3, 5, 7]]
        );
    }
}
