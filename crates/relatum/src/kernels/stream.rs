//! Inner products of a few queries with very many candidates.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::product::{Threads, View};

/// Queries and candidates of one block: so many sums fit the registers of every machine with
/// vectors, and every value that is loaded is used several times.
const QUERIES: usize = 4;
const CANDIDATES: usize = 3;
/// Candidates that one task takes.
const TILE: usize = 96;

/// `out = queries · candidatesᵀ` for a few queries, each against very many candidates.
///
/// Such a product is bound by reading the candidates once; blocks of inner products do that, where a
/// packed product would spend its time on packing. The sum of a pair does not depend on what else is
/// computed with it.
///
/// # Panics
/// If the shapes do not fit, or if rows of the candidates are not stored whole.
pub fn stream(out: &mut [f32], queries: &[f32], candidates: View<'_>) {
    let (count, width) = candidates.size();
    if width == 0 || count == 0 {
        return;
    }
    assert!(queries.len().is_multiple_of(width), "whole queries");
    assert_eq!(out.len(), queries.len() / width * count, "one result for each pair");
    let mut tiles: Vec<Vec<&mut [f32]>> = (0..count.div_ceil(TILE)).map(|_| Vec::new()).collect();
    for row in out.chunks_exact_mut(count) {
        tiles.iter_mut().zip(row.chunks_mut(TILE)).for_each(|(tile, part)| tile.push(part));
    }
    let tiles = tiles.into_par_iter().enumerate().with_min_len(Threads::here().grain());
    tiles.for_each(|(tile, mut out)| {
        let from = tile * TILE;
        let candidates = candidates.rows(from..(from + TILE).min(count));
        Arch::new().dispatch(Tile { out: &mut out, queries, candidates, width });
    });
}

/// Some candidates against all queries: `out[query][candidate]`.
struct Tile<'a, 'b> {
    out: &'a mut [&'b mut [f32]],
    queries: &'a [f32],
    candidates: View<'a>,
    width: usize,
}

impl WithSimd for Tile<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (count, _) = self.candidates.size();
        for first in (0..count).step_by(CANDIDATES) {
            if first + CANDIDATES <= count {
                self.candidates::<S, CANDIDATES>(simd, first);
            } else {
                (first..count).for_each(|one| self.candidates::<S, 1>(simd, one));
            }
        }
    }
}

impl Tile<'_, '_> {
    #[inline(always)]
    fn candidates<S: Simd, const C: usize>(&mut self, simd: S, from: usize) {
        let candidates: [&[f32]; C] = std::array::from_fn(|at| self.candidates.row(from + at));
        let rows = self.out.len();
        for first in (0..rows).step_by(QUERIES) {
            match rows - first {
                1 => self.block::<S, 1, C>(simd, first, from, candidates),
                2 => self.block::<S, 2, C>(simd, first, from, candidates),
                3 => self.block::<S, 3, C>(simd, first, from, candidates),
                _ => self.block::<S, QUERIES, C>(simd, first, from, candidates),
            }
        }
    }

    #[inline(always)]
    fn block<S: Simd, const Q: usize, const C: usize>(
        &mut self,
        simd: S,
        first: usize,
        from: usize,
        candidates: [&[f32]; C],
    ) {
        let queries: [&[f32]; Q] =
            std::array::from_fn(|at| &self.queries[(first + at) * self.width..][..self.width]);
        let queries = queries.map(S::as_simd_f32s);
        let candidates = candidates.map(S::as_simd_f32s);
        let len = candidates[0].0.len();
        let (left, right) = (queries.map(|it| &it.0[..len]), candidates.map(|it| &it.0[..len]));
        let mut sums = [[simd.splat_f32s(0.0); C]; Q];
        for at in 0..len {
            let y: [S::f32s; C] = std::array::from_fn(|j| right[j][at]);
            for i in 0..Q {
                let x = left[i][at];
                for j in 0..C {
                    sums[i][j] = simd.mul_add_f32s(x, y[j], sums[i][j]);
                }
            }
        }
        for i in 0..Q {
            for j in 0..C {
                let rest = queries[i].1.iter().zip(candidates[j].1).map(|(x, y)| x * y).sum::<f32>();
                self.out[first + i][from + j] = simd.reduce_sum_f32s(sums[i][j]) + rest;
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
        let (table, count, width) = (random(1100 * 40), 1100, 37);
        let candidates = View::new(&table, count, 40).columns(3..40);
        for rows in 1..10 {
            let queries = random(rows * width);
            let (mut streamed, mut expected) = (vec![0.0; rows * count], vec![0.0; rows * count]);
            stream(&mut streamed, &queries, candidates);
            let out = ViewMut::new(&mut expected, rows, count);
            product(out, View::new(&queries, rows, width), candidates.transposed(), Threads::All);
            for (a, b) in streamed.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-4, "{a} {b}");
            }
            let mut alone = vec![0.0; count];
            stream(&mut alone, &queries[..width], candidates);
            assert_eq!(alone, streamed[..count], "a pair does not depend on its neighbours");
        }
    }
}
