//! L1 distances of points and boxes to very many candidates, and their slopes: what query embeddings are made of.
//!
//! A query is a centre c and, where it is a box, a half-width h for each dimension; a point is a box with h = 0.
//! With δ = |e − c|, what lies outside the box counts whole and what lies inside counts `inside` of it:
//!
//! ```text
//! D(e) = Σ max(0, δ − h) + inside · Σ min(δ, h)
//!      = Σ [inside · δ + (1 − inside) · max(δ, h)] − (1 − inside) · Σ h
//! ```
//!
//! The second form needs one operation fewer for each value, and Σ h once for a query.

mod slopes;

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

pub use slopes::{Slopes, pair_slopes, slopes};

use super::tiles::in_tiles;

/// Queries as regions: rows of centres, and rows of half-widths where they are boxes.
#[derive(Clone, Copy, Debug)]
pub struct Regions<'a> {
    /// Values of a row.
    pub width: usize,
    /// One centre after another.
    pub centres: &'a [f32],
    /// One row of half-widths after another; `None` for points.
    pub halves: Option<&'a [f32]>,
    /// How much a step inside a box counts.
    pub inside: f32,
}

impl<'a> Regions<'a> {
    /// How many regions there are.
    pub fn count(&self) -> usize {
        self.centres.len().checked_div(self.width).unwrap_or(0)
    }

    /// The centre of a region, and its half-widths where it is a box.
    #[inline(always)]
    fn row(&self, index: usize) -> (&'a [f32], &'a [f32]) {
        let at = index * self.width..(index + 1) * self.width;
        (&self.centres[at.clone()], self.halves.map_or(&[][..], |halves| &halves[at]))
    }

    /// `(1 − inside) · Σ h` of each region; 0 for points.
    fn widths(&self) -> Vec<f32> {
        let of = |index| (1.0 - self.inside) * self.row(index).1.iter().sum::<f32>();
        (0..self.count()).map(of).collect()
    }
}

/// Queries and candidates of one block. Six sums at a time are enough to hide how long each addition takes, and with
/// the values that they are made of they fit into the registers of AVX2.
const QUERIES: usize = 2;
const CANDIDATES: usize = 3;
/// Candidates that one task takes: their vectors stay in the second level of cache while all queries pass by.
const TILE: usize = 96;
/// Up to this many values, waking other threads takes longer than they would save.
const ALONE: usize = 1 << 18;

/// The distance of every region to every candidate: `out[region][candidate]`, in rows that may lie apart.
///
/// No distance depends on what else is computed with it.
///
/// # Panics
/// If there is not one row for each region, or if a row does not have one place for each candidate.
pub fn distances(out: Vec<&mut [f32]>, regions: Regions<'_>, candidates: &[f32]) {
    let Regions { width, .. } = regions;
    let count = candidates.len().checked_div(width).unwrap_or(0);
    assert!(
        out.len() == regions.count()
            && regions.halves.is_none_or(|halves| halves.len() == regions.centres.len())
            && out.iter().all(|row| row.len() == count),
        "one row for each region, one distance for each candidate"
    );
    let alone = out.len() * count * width <= ALONE;
    let widths = &regions.widths()[..];
    in_tiles(out.into_iter(), (count, TILE), alone, |at: Range<usize>, out| {
        let candidates = &candidates[at.start * width..at.end * width];
        Arch::new().dispatch(Tile { out, regions, widths, candidates });
    });
}

/// Some candidates against all regions.
struct Tile<'a, 'b> {
    out: &'a mut [&'b mut [f32]],
    regions: Regions<'a>,
    /// What is taken off all distances of each region.
    widths: &'a [f32],
    candidates: &'a [f32],
}

impl WithSimd for Tile<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (queries, width) = (self.out.len(), self.regions.width);
        let count = self.candidates.len() / width;
        for first in (0..queries).step_by(QUERIES) {
            let mut from = 0;
            if first + QUERIES <= queries {
                while from + CANDIDATES <= count {
                    self.block::<S, QUERIES, CANDIDATES>(simd, first, from);
                    from += CANDIDATES;
                }
            }
            for query in first..queries.min(first + QUERIES) {
                (from..count).for_each(|candidate| self.block::<S, 1, 1>(simd, query, candidate));
            }
        }
    }
}

impl Tile<'_, '_> {
    #[inline(always)]
    fn block<S: Simd, const Q: usize, const C: usize>(&mut self, simd: S, first: usize, from: usize) {
        match self.regions.halves {
            Some(_) => self.sums::<S, Q, C, true>(simd, first, from),
            None => self.sums::<S, Q, C, false>(simd, first, from),
        }
    }

    #[inline(always)]
    fn sums<S: Simd, const Q: usize, const C: usize, const BOX: bool>(
        &mut self,
        simd: S,
        first: usize,
        from: usize,
    ) {
        let Regions { width, inside, .. } = self.regions;
        let whole = width / S::F32_LANES;
        let rows: [(&[f32], &[f32]); Q] = std::array::from_fn(|i| self.regions.row(first + i));
        let near: [&[f32]; C] = std::array::from_fn(|j| &self.candidates[(from + j) * width..][..width]);
        // Slices of one length, so that the loop needs no test of its indexes.
        let centres = rows.map(|(centre, _)| &S::as_simd_f32s(centre).0[..whole]);
        let halves = rows.map(|(_, half)| if BOX { &S::as_simd_f32s(half).0[..whole] } else { &[] });
        let values = near.map(|row| &S::as_simd_f32s(row).0[..whole]);
        let step = Step { simd, inside: simd.splat_f32s(inside), beyond: simd.splat_f32s(1.0 - inside) };
        let mut sums = [[simd.splat_f32s(0.0); C]; Q];
        for at in 0..whole {
            for i in 0..Q {
                let c = centres[i][at];
                let h = if BOX { halves[i][at] } else { c };
                for j in 0..C {
                    sums[i][j] = step.add::<BOX>(values[j][at], c, h, sums[i][j]);
                }
            }
        }
        let rest = whole * S::F32_LANES;
        if rest < width {
            // Lanes behind the last value are 0 on both sides, and so is their distance.
            for i in 0..Q {
                let c = simd.partial_load_f32s(&rows[i].0[rest..]);
                let h = if BOX { simd.partial_load_f32s(&rows[i].1[rest..]) } else { c };
                for j in 0..C {
                    let e = simd.partial_load_f32s(&near[j][rest..]);
                    sums[i][j] = step.add::<BOX>(e, c, h, sums[i][j]);
                }
            }
        }
        for (i, sums) in sums.into_iter().enumerate() {
            for (j, sum) in sums.into_iter().enumerate() {
                self.out[first + i][from + j] = simd.reduce_sum_f32s(sum) - self.widths[first + i];
            }
        }
    }
}

/// The numbers that every step of a sum needs.
struct Step<S: Simd> {
    simd: S,
    inside: S::f32s,
    beyond: S::f32s,
}

impl<S: Simd> Step<S> {
    #[inline(always)]
    fn add<const BOX: bool>(&self, e: S::f32s, c: S::f32s, h: S::f32s, sum: S::f32s) -> S::f32s {
        let simd = self.simd;
        let far = simd.abs_f32s(simd.sub_f32s(e, c));
        if BOX {
            let sum = simd.mul_add_f32s(self.inside, far, sum);
            simd.mul_add_f32s(self.beyond, simd.max_f32s(far, h), sum)
        } else {
            simd.add_f32s(far, sum)
        }
    }
}

/// The distance of each region to its own candidate: region i to row i of `candidates`.
///
/// # Panics
/// If there is not one candidate for each region.
pub fn pair_distances(out: &mut [f32], regions: Regions<'_>, candidates: &[f32]) {
    let width = regions.width;
    assert!(out.len() == regions.count() && candidates.len() == regions.centres.len(), "one candidate each");
    for (index, out) in out.iter_mut().enumerate() {
        let (centre, half) = regions.row(index);
        let halves = regions.halves.map(|_| half);
        let one = Regions { centres: centre, halves, ..regions };
        let candidates = &candidates[index * width..][..width];
        let (out, widths) = (&mut [std::slice::from_mut(out)][..], &one.widths()[..]);
        Arch::new().dispatch(Tile { out, regions: one, widths, candidates });
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::random::Rng;

    /// Random rows; half-widths may be negative, as those of a trained box may.
    pub(in crate::kernels) fn random(rng: &mut Rng, len: usize) -> Vec<f32> {
        (0..len).map(|_| (2.0 * rng.uniform() - 0.9) as f32).collect()
    }

    /// The distance by its definition.
    pub(in crate::kernels) fn plain(centre: &[f32], half: Option<&[f32]>, e: &[f32], inside: f64) -> f64 {
        let of = |i: usize| {
            let (far, h) = (f64::from(e[i] - centre[i]).abs(), half.map_or(0.0, |half| f64::from(half[i])));
            (far - h).max(0.0) + inside * far.min(h)
        };
        (0..e.len()).map(of).sum()
    }

    #[test]
    fn distances_of_points_and_boxes_are_those_of_a_plain_sum() {
        let mut rng = Rng::new(1);
        for (width, queries, count) in [(1, 1, 1), (7, 2, 3), (16, 3, 100), (37, 5, 7), (400, 4, 200)] {
            let centres = random(&mut rng, queries * width);
            let halves = random(&mut rng, queries * width);
            let candidates = random(&mut rng, count * width);
            for halves in [None, Some(&halves[..])] {
                let regions = Regions { width, centres: &centres, halves, inside: 0.02 };
                let mut out = vec![f32::NAN; queries * count];
                distances(out.chunks_mut(count).collect(), regions, &candidates);
                for query in 0..queries {
                    let at = query * width..(query + 1) * width;
                    for candidate in 0..count {
                        let e = &candidates[candidate * width..][..width];
                        let half = halves.map(|halves| &halves[at.clone()]);
                        let right =
                            plain(&centres[at.clone()], half, e, if half.is_some() { 0.02 } else { 0.0 });
                        let got = f64::from(out[query * count + candidate]);
                        assert!((got - right).abs() < 1e-5 * (1.0 + width as f64), "{width}: {got} {right}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_pair_has_the_distance_that_it_has_among_all() {
        let mut rng = Rng::new(2);
        let (width, queries) = (29, 5);
        let [centres, halves, own] = std::array::from_fn(|_| random(&mut rng, queries * width));
        let regions = Regions { width, centres: &centres, halves: Some(&halves), inside: 0.02 };
        let (mut all, mut pairs) = (vec![0.0; queries * queries], vec![0.0; queries]);
        distances(all.chunks_mut(queries).collect(), regions, &own);
        pair_distances(&mut pairs, regions, &own);
        for (index, pair) in pairs.iter().enumerate() {
            assert_eq!(pair.to_bits(), all[index * queries + index].to_bits());
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_distance() {
        let mut rng = Rng::new(3);
        let (width, queries, count) = (40, 70, 1000);
        let (centres, candidates) = (random(&mut rng, queries * width), random(&mut rng, count * width));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut out = vec![0.0; queries * count];
            let regions = Regions { width, centres: &centres, halves: None, inside: 0.0 };
            pool.install(|| distances(out.chunks_mut(count).collect(), regions, &candidates));
            out
        };
        assert_eq!(run(1), run(3));
    }
}
