//! From a query to the score of every entity.

use rayon::prelude::*;

use super::{Branch, Kind, Program};
use crate::kernels::Regions;

/// Queries as regions of the space of entities: points, or boxes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Encoded {
    /// Values of a row.
    pub width: usize,
    /// One centre after another.
    pub centres: Vec<f32>,
    /// One row of half-widths after another; empty for points.
    pub halves: Vec<f32>,
}

impl Encoded {
    /// How many queries there are.
    pub fn len(&self) -> usize {
        self.centres.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there is no query.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same for the kernels.
    pub(super) fn regions(&self, inside: f32) -> Regions<'_> {
        let halves = (!self.halves.is_empty()).then_some(&self.halves[..]);
        Regions { width: self.width, centres: &self.centres, halves, inside }
    }
}

/// A model that embeds a whole query: a query graph becomes a region, and its distance from an entity is the entity's
/// score. It looks at no stored edge and knows no values of variables.
pub trait QueryEncoder: Send + Sync {
    /// Which baseline it is.
    fn kind(&self) -> Kind;

    /// How many entities it scores.
    fn entities(&self) -> usize;

    /// The regions of queries of one shape; each row of `queries` is the arguments of one.
    fn encode(&self, branch: &Branch, queries: &[&[u32]]) -> Encoded;

    /// The score of every entity for every region, each in its row of `rows`: the higher, the likelier an answer.
    fn scores(&self, encoded: &Encoded, rows: Vec<&mut [f32]>);

    /// The score of every entity for queries of one shape, one row after another. Of several alternatives, the best
    /// counts.
    fn answer(&self, program: &Program, queries: &[&[u32]]) -> Vec<f32> {
        let n = self.entities();
        let mut best: Vec<f32> = Vec::new();
        for branch in &program.branches {
            let mut scores = vec![0.0; queries.len() * n];
            self.scores(&self.encode(branch, queries), scores.chunks_mut(n.max(1)).collect());
            if best.is_empty() {
                best = scores;
            } else {
                let better = |(best, score): (&mut f32, &f32)| *best = best.max(*score);
                best.par_iter_mut().zip(&scores).with_min_len(1 << 14).for_each(better);
            }
        }
        best
    }
}
