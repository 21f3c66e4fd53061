//! How a loss of distances changes with centres, half-widths and candidates.
//!
//! With x = e − c, δ = |x| and g the slope of the loss by one distance,
//!
//! ```text
//! ∂e = g · sign(x) · (1 where δ > h, else inside)     ∂c = −∂e     ∂h = −g · (1 − inside) where δ > h, else 0
//! ```
//!
//! The sums over all pairs of regions and candidates are made one stretch of dimensions after another: a stretch is
//! one task and writes what no other does, so threads need no copy of a gradient and change no sum.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::Regions;

/// Slopes of a loss: rows as those of the regions and of the candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Slopes {
    /// By the centre of each region.
    pub centres: Vec<f32>,
    /// By the half-widths of each region; empty for points.
    pub halves: Vec<f32>,
    /// By each candidate.
    pub candidates: Vec<f32>,
}

/// Dimensions of one task.
const STRETCH: usize = 32;
/// Candidates that all regions pass by at a time: one register of each, and its slope, stay in the first level of
/// cache.
const BLOCK: usize = 256;

/// The slopes of a loss whose slope by the distance of region i and candidate j is `by[i · count + j]`.
///
/// # Panics
/// If there is not one slope for each pair.
pub fn slopes(by: &[f32], regions: Regions<'_>, candidates: &[f32]) -> Slopes {
    let width = regions.width;
    let count = candidates.len().checked_div(width).unwrap_or(0);
    assert_eq!(by.len(), regions.count() * count, "one slope for each pair");
    let starts: Vec<usize> = (0..width).step_by(STRETCH).collect();
    let parts: Vec<Slopes> = starts
        .into_par_iter()
        .map(|start| {
            let columns = (start, STRETCH.min(width - start));
            Arch::new().dispatch(Part { by, regions, candidates, columns })
        })
        .collect();
    let whole = |rows: usize, of: &(dyn Fn(&Slopes) -> &[f32] + Sync)| {
        let mut rows = vec![0.0; rows * width];
        rows.par_chunks_mut(width).enumerate().with_min_len(64).for_each(|(row, out)| {
            for (part, out) in parts.iter().zip(out.chunks_mut(STRETCH)) {
                out.copy_from_slice(&of(part)[row * out.len()..][..out.len()]);
            }
        });
        rows
    };
    let boxes = if regions.halves.is_some() { regions.count() } else { 0 };
    Slopes {
        centres: whole(regions.count(), &|part| &part.centres),
        halves: whole(boxes, &|part| &part.halves),
        candidates: whole(count, &|part| &part.candidates),
    }
}

/// Some dimensions of all pairs.
struct Part<'a> {
    by: &'a [f32],
    regions: Regions<'a>,
    candidates: &'a [f32],
    /// The first dimension, and how many.
    columns: (usize, usize),
}

impl WithSimd for Part<'_> {
    type Output = Slopes;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Slopes {
        match self.regions.halves {
            Some(halves) => self.run::<S, true>(simd, halves),
            None => self.run::<S, false>(simd, self.regions.centres),
        }
    }
}

impl Part<'_> {
    #[inline(always)]
    fn run<S: Simd, const BOX: bool>(&self, simd: S, halves: &[f32]) -> Slopes {
        let (start, len) = self.columns;
        let width = self.regions.width;
        let (queries, count) = (self.regions.count(), self.candidates.len() / width);
        let boxes = if BOX { queries } else { 0 };
        let mut slopes = Slopes {
            centres: vec![0.0; queries * len],
            halves: vec![0.0; boxes * len],
            candidates: vec![0.0; count * len],
        };
        let zero = simd.splat_f32s(0.0);
        let Regions { centres, inside, .. } = self.regions;
        for at in (0..len).step_by(S::F32_LANES) {
            let part = at..(at + S::F32_LANES).min(len);
            // One register of every row, side by side: rows themselves are far apart in memory.
            let load = |values: &[f32], rows: usize| -> Vec<S::f32s> {
                let of = |row: usize| &values[row * width + start..][part.clone()];
                (0..rows).map(|row| simd.partial_load_f32s(of(row))).collect()
            };
            let mut panels = Panels {
                simd,
                inside: simd.splat_f32s(inside),
                centres: load(centres, queries),
                halves: load(halves, boxes),
                candidates: load(self.candidates, count),
                by_centre: vec![zero; queries],
                by_half: vec![zero; boxes],
                by_candidate: vec![zero; count],
            };
            for from in (0..count).step_by(BLOCK) {
                let block = from..(from + BLOCK).min(count);
                let mut first = 0;
                while first + 2 <= queries {
                    panels.pass_by::<2, BOX>(first, block.clone(), self.by, count);
                    first += 2;
                }
                if first < queries {
                    panels.pass_by::<1, BOX>(first, block, self.by, count);
                }
            }
            let minus = simd.splat_f32s(-1.0);
            let narrower = simd.splat_f32s(inside - 1.0);
            let store = |out: &mut [f32], values: &[S::f32s], factor: Option<S::f32s>| {
                for (row, &value) in values.iter().enumerate() {
                    let value = factor.map_or(value, |factor| simd.mul_f32s(factor, value));
                    simd.partial_store_f32s(&mut out[row * len..][part.clone()], value);
                }
            };
            store(&mut slopes.centres, &panels.by_centre, Some(minus));
            store(&mut slopes.halves, &panels.by_half, Some(narrower));
            store(&mut slopes.candidates, &panels.by_candidate, None);
        }
        slopes
    }
}

/// One register of every row, and of the sum of its slopes.
struct Panels<S: Simd> {
    simd: S,
    inside: S::f32s,
    centres: Vec<S::f32s>,
    halves: Vec<S::f32s>,
    candidates: Vec<S::f32s>,
    by_centre: Vec<S::f32s>,
    by_half: Vec<S::f32s>,
    by_candidate: Vec<S::f32s>,
}

impl<S: Simd> Panels<S> {
    /// `Q` regions pass by a block of candidates.
    #[inline(always)]
    fn pass_by<const Q: usize, const BOX: bool>(
        &mut self,
        first: usize,
        block: std::ops::Range<usize>,
        by: &[f32],
        count: usize,
    ) {
        let simd = self.simd;
        let sign = simd.splat_f32s(-0.0);
        let len = block.len();
        let centres: [S::f32s; Q] = std::array::from_fn(|i| self.centres[first + i]);
        let halves: [S::f32s; Q] =
            std::array::from_fn(|i| if BOX { self.halves[first + i] } else { centres[i] });
        let slopes: [&[f32]; Q] = std::array::from_fn(|i| &by[(first + i) * count + block.start..][..len]);
        let mut by_centre: [S::f32s; Q] = std::array::from_fn(|i| self.by_centre[first + i]);
        let mut by_half = [simd.splat_f32s(0.0); Q];
        let candidates = &self.candidates[block.clone()][..len];
        let by_candidate = &mut self.by_candidate[block][..len];
        for j in 0..len {
            let e = candidates[j];
            let mut sum = by_candidate[j];
            for i in 0..Q {
                let x = simd.sub_f32s(e, centres[i]);
                let g = simd.splat_f32s(slopes[i][j]);
                let mut signed = g;
                if BOX {
                    let outside = simd.greater_than_f32s(simd.abs_f32s(x), halves[i]);
                    signed = simd.select_f32s(outside, g, simd.mul_f32s(self.inside, g));
                    let narrower = simd.select_f32s(outside, g, simd.splat_f32s(0.0));
                    by_half[i] = simd.add_f32s(by_half[i], narrower);
                }
                let signed = simd.xor_f32s(signed, simd.and_f32s(x, sign));
                sum = simd.add_f32s(sum, signed);
                by_centre[i] = simd.add_f32s(by_centre[i], signed);
            }
            by_candidate[j] = sum;
        }
        for i in 0..Q {
            self.by_centre[first + i] = by_centre[i];
            if BOX {
                self.by_half[first + i] = simd.add_f32s(self.by_half[first + i], by_half[i]);
            }
        }
    }
}

/// The same where each region has one candidate of its own: `by[i]` is the slope by the distance of region i and
/// candidate i.
///
/// # Panics
/// If there is not one slope and one candidate for each region.
pub fn pair_slopes(by: &[f32], regions: Regions<'_>, candidates: &[f32]) -> Slopes {
    let Regions { width, centres, halves, inside } = regions;
    assert!(
        by.len() == regions.count() && candidates.len() == centres.len(),
        "one slope and one candidate each"
    );
    let mut slopes = Slopes {
        centres: vec![0.0; centres.len()],
        halves: vec![0.0; halves.map_or(0, <[f32]>::len)],
        candidates: vec![0.0; candidates.len()],
    };
    for (row, &g) in by.iter().enumerate() {
        let at = row * width..(row + 1) * width;
        let (centre, e) = (&centres[at.clone()], &candidates[at.clone()]);
        let by_candidate = &mut slopes.candidates[at.clone()];
        match halves {
            Some(halves) => {
                boxed(
                    by_candidate,
                    &mut slopes.halves[at.clone()],
                    centre,
                    &halves[at.clone()],
                    e,
                    g,
                    inside,
                );
            }
            None => pointed(by_candidate, centre, e, g),
        }
        slopes.centres[at.clone()].iter_mut().zip(&slopes.candidates[at]).for_each(|(c, e)| *c = -e);
    }
    slopes
}

vectorised! {
    /// The slopes of one box and its candidate.
    fn boxed<'a>(
        by_e: &'a mut [f32], by_h: &'a mut [f32], c: &'a [f32], h: &'a [f32], e: &'a [f32], g: f32, inside: f32
    ) -> () {
        for ((((by_e, by_h), c), h), e) in by_e.iter_mut().zip(by_h).zip(c).zip(h).zip(e) {
            let x = e - c;
            let outside = x.abs() > *h;
            *by_e = if outside { g } else { g * inside }.copysign(x) * 1f32.copysign(g);
            *by_h = if outside { g * (inside - 1.0) } else { 0.0 };
        }
    }
}

vectorised! {
    /// The slopes of one point and its candidate.
    fn pointed<'a>(by_e: &'a mut [f32], c: &'a [f32], e: &'a [f32], g: f32) -> () {
        for ((by_e, c), e) in by_e.iter_mut().zip(c).zip(e) {
            *by_e = g * 1f32.copysign(e - c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{plain, random};
    use super::*;
    use crate::random::Rng;

    /// The loss Σ by · D, in double precision.
    fn loss(by: &[f32], regions: Regions<'_>, candidates: &[f32]) -> f64 {
        let (width, count) = (regions.width, candidates.len() / regions.width);
        let mut sum = 0.0;
        for (pair, g) in by.iter().enumerate() {
            let at = pair / count * width..(pair / count + 1) * width;
            let half = regions.halves.map(|halves| &halves[at.clone()]);
            let inside = if half.is_some() { f64::from(regions.inside) } else { 0.0 };
            let e = &candidates[pair % count * width..][..width];
            sum += f64::from(*g) * plain(&regions.centres[at], half, e, inside);
        }
        sum
    }

    #[test]
    fn slopes_are_those_of_finite_differences() {
        const STEP: f32 = 1.0 / 1024.0;
        let mut rng = Rng::new(4);
        for (width, queries, count) in [(3, 1, 2), (35, 3, 5), (8, 2, 300)] {
            let [centres, halves] = std::array::from_fn(|_| random(&mut rng, queries * width));
            let candidates = random(&mut rng, count * width);
            let by = random(&mut rng, queries * count);
            for boxes in [false, true] {
                let value = |centres: &[f32], halves: &[f32], candidates: &[f32]| {
                    let halves = boxes.then_some(halves);
                    loss(&by, Regions { width, centres, halves, inside: 0.25 }, candidates)
                };
                let regions =
                    Regions { width, centres: &centres, halves: boxes.then_some(&halves[..]), inside: 0.25 };
                let got = slopes(&by, regions, &candidates);
                assert_eq!(got.halves.is_empty(), !boxes);
                let mut compared = 0;
                let mut compare = |what: &str, at: usize, got: f32, of: &dyn Fn(f32) -> f64| {
                    let (up, here, down) = (of(STEP), of(0.0), of(-STEP));
                    let (right, left) = ((up - here) / f64::from(STEP), (here - down) / f64::from(STEP));
                    // Where both sides differ, a kink of the distance lies between them.
                    if (right - left).abs() < 1e-4 {
                        compared += 1;
                        assert!((f64::from(got) - right).abs() < 2e-3, "{what} {at}: {got} {right}");
                    }
                };
                let moved = |values: &[f32], at: usize, by: f32| {
                    let mut values = values.to_vec();
                    values[at] += by;
                    values
                };
                for at in (0..centres.len()).step_by(centres.len().div_ceil(20)) {
                    let of = |by| value(&moved(&centres, at, by), &halves, &candidates);
                    compare("centre", at, got.centres[at], &of);
                    if boxes {
                        let of = |by| value(&centres, &moved(&halves, at, by), &candidates);
                        compare("half", at, got.halves[at], &of);
                    }
                }
                for at in (0..candidates.len()).step_by(candidates.len().div_ceil(60)) {
                    let of = |by| value(&centres, &halves, &moved(&candidates, at, by));
                    compare("candidate", at, got.candidates[at], &of);
                }
                assert!(compared > 2, "kinks everywhere");
            }
        }
    }

    #[test]
    fn slopes_of_pairs_are_those_of_all_pairs_with_the_others_left_out() {
        let mut rng = Rng::new(5);
        let (width, rows) = (19, 4);
        let [centres, halves, own] = std::array::from_fn(|_| random(&mut rng, rows * width));
        let by = random(&mut rng, rows);
        let mut all = vec![0.0; rows * rows];
        (0..rows).for_each(|row| all[row * rows + row] = by[row]);
        for halves in [None, Some(&halves[..])] {
            let regions = Regions { width, centres: &centres, halves, inside: 0.02 };
            let (pairs, full) = (pair_slopes(&by, regions, &own), slopes(&all, regions, &own));
            for (a, b) in [
                (&pairs.centres, &full.centres),
                (&pairs.halves, &full.halves),
                (&pairs.candidates, &full.candidates),
            ] {
                assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_slope() {
        let mut rng = Rng::new(6);
        let (width, queries, count) = (100, 30, 300);
        let [centres, halves] = std::array::from_fn(|_| random(&mut rng, queries * width));
        let (candidates, by) = (random(&mut rng, count * width), random(&mut rng, queries * count));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let regions = Regions { width, centres: &centres, halves: Some(&halves), inside: 0.02 };
            pool.install(|| slopes(&by, regions, &candidates))
        };
        assert_eq!(run(1), run(4));
    }
}
