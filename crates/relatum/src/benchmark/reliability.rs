//! Whether truth values can be read as probabilities.

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::graph::{EntityId, Graph, Split};
use crate::model::Reciprocals;
use crate::query::Hop;
use crate::search::AtomTruth;

/// Bins of equal width between 0 and 1.
const BINS: usize = 10;
/// Predictions below this are not counted: nearly all entities lie there, and nobody is shown them.
const LEAST: f32 = 0.05;
/// Rows that are scored at a time.
const ROWS: usize = 128;

/// How often predictions of a truth value are right.
///
/// Counted are the predictions of at least 0.05 for (head, relation) pairs that have an edge in the split;
/// training edges are left out, and an edge of any other split confirms its prediction. A prediction that no
/// edge confirms may still be true, since the graph is incomplete: the shares are lower bounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reliability {
    /// Predictions by truth value, lowest first; bins without a prediction are left out.
    pub bins: Vec<ReliabilityBin>,
    /// The expected calibration error: how far truth value and share lie apart, Σ nᵦ·|truthᵦ − shareᵦ| / Σ nᵦ.
    pub error: f64,
    /// How many predictions were counted.
    pub predictions: usize,
    /// For how many (head, relation) pairs.
    pub pairs: usize,
    /// How many such pairs the split has.
    pub pairs_of_split: usize,
}

/// Predictions of similar truth values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReliabilityBin {
    /// How many there are.
    pub predictions: usize,
    /// The mean of their truth values.
    pub truth: f64,
    /// The share of them that an edge outside training confirms.
    pub confirmed: f64,
}

/// Counts how often predictions are right, for at most `most` (head, relation) pairs that have an edge in the
/// split, evenly spread; `None` if it was stopped.
///
/// The truth values must be those of predictions alone: with edges trusted, those of the split would be 1.
pub fn reliability(
    truth: &impl AtomTruth,
    graph: &Graph,
    split: Split,
    most: usize,
    control: &Control,
) -> Option<Reliability> {
    let all = pairs(graph, split);
    let step = all.len().div_ceil(most.max(1)).max(1);
    let chosen: Vec<(EntityId, Hop)> = all.iter().copied().step_by(step).collect();
    let n = truth.entities();
    let mut rows = vec![0.0; ROWS.min(chosen.len()) * n];
    let mut counts = [Count::default(); BINS];
    for block in chosen.chunks(ROWS) {
        let rows = &mut rows[..block.len() * n];
        truth.pairs(block, rows);
        let of_rows: Vec<[Count; BINS]> =
            rows.par_chunks_exact(n).zip(block).map(|(row, &pair)| count(truth, pair, row)).collect();
        // In the order of the pairs, so that sums do not depend on threads.
        for of_row in of_rows {
            counts.iter_mut().zip(of_row).for_each(|(sum, one)| sum.add(one));
        }
        if control.is_late() {
            return None;
        }
    }
    let bins: Vec<ReliabilityBin> = counts.iter().filter(|it| it.predictions > 0).map(Count::bin).collect();
    let predictions: usize = bins.iter().map(|bin| bin.predictions).sum();
    let apart: f64 = bins.iter().map(|bin| bin.predictions as f64 * (bin.truth - bin.confirmed).abs()).sum();
    let error = apart / predictions.max(1) as f64;
    Some(Reliability { bins, error, predictions, pairs: chosen.len(), pairs_of_split: all.len() })
}

/// The pairs of an entity and a hop along which the split has an edge, each once.
fn pairs(graph: &Graph, split: Split) -> Vec<(EntityId, Hop)> {
    let reciprocals = Reciprocals::of(graph);
    let mut triples = reciprocals.directed(graph, split);
    triples.sort_unstable();
    triples.dedup_by_key(|triple| (triple.head, triple.relation));
    triples.iter().map(|triple| (triple.head, reciprocals.hop(triple.relation))).collect()
}

#[derive(Clone, Copy, Default)]
struct Count {
    predictions: usize,
    truth: f64,
    confirmed: usize,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.predictions += other.predictions;
        self.truth += other.truth;
        self.confirmed += other.confirmed;
    }

    fn bin(&self) -> ReliabilityBin {
        let count = self.predictions as f64;
        ReliabilityBin {
            predictions: self.predictions,
            truth: self.truth / count,
            confirmed: self.confirmed as f64 / count,
        }
    }
}

fn count(truth: &impl AtomTruth, (from, hop): (EntityId, Hop), row: &[f32]) -> [Count; BINS] {
    let mut counts = [Count::default(); BINS];
    for (to, &value) in row.iter().enumerate().filter(|(_, value)| **value >= LEAST) {
        let stored = truth.stored(from, hop, EntityId(to as u32));
        if stored == Some(Split::Train) {
            continue;
        }
        let value = f64::from(value.min(1.0));
        let bin = ((value * BINS as f64) as usize).min(BINS - 1);
        counts[bin].add(Count { predictions: 1, truth: value, confirmed: usize::from(stored.is_some()) });
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    /// Says .3 of every edge to an even entity, .9 of every other.
    struct Fixed<'a>(&'a Graph);

    impl AtomTruth for Fixed<'_> {
        fn entities(&self) -> usize {
            self.0.entities.len()
        }
        fn pairs(&self, _: &[(EntityId, Hop)], rows: &mut [f32]) {
            let n = self.entities();
            rows.iter_mut()
                .enumerate()
                .for_each(|(at, it)| *it = if (at % n).is_multiple_of(2) { 0.3 } else { 0.9 });
        }
        fn known(&self, _: EntityId, _: Hop, _: EntityId) -> Option<Split> {
            None
        }
        fn stored(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
            Split::ALL.into_iter().find(|&split| self.0.edges(split).contains(hop.edge(from, to)))
        }
        fn facts(&self, _: EntityId, _: Hop, _: &mut dyn FnMut(EntityId)) {}
        fn at_most(&self, _: &[EntityId], _: Hop, _: &[EntityId], _: &mut [f32]) -> bool {
            false
        }
        fn ceiling(&self) -> f32 {
            1.0
        }
    }

    #[test]
    fn predictions_are_counted_by_their_truth_and_training_edges_are_not() {
        let mut builder = GraphBuilder::default();
        for (head, tail, split) in [
            ("a", "b", Split::Train),
            ("a", "c", Split::Valid),
            ("a", "d", Split::Test),
            ("c", "d", Split::Train),
        ] {
            builder.add(split, head, "r", tail);
        }
        let graph = builder.finish().0;
        let all = reliability(&Fixed(&graph), &graph, Split::Valid, 99, &Control::default()).unwrap();
        // Rows of (a, r) and of (c, inverse of r): eight values, of which only the edge a → b is of training.
        assert_eq!((all.pairs, all.pairs_of_split, all.predictions), (2, 2, 7));
        let [low, high] = all.bins[..] else { panic!("{all:?}") };
        // a → a, a → c, c ← a, c ← c; of which two are the valid edge, once from each end.
        assert_eq!((low.predictions, low.confirmed), (4, 0.5));
        // a → d is of test; c ← b and c ← d are nowhere.
        assert_eq!(high.predictions, 3);
        assert!((high.confirmed - 1.0 / 3.0).abs() < 1e-9 && (high.truth - 0.9).abs() < 1e-6, "{high:?}");
        let error = (4.0 * 0.2 + 3.0 * (0.9 - 1.0 / 3.0)) / 7.0;
        assert!((all.error - error).abs() < 1e-6, "{}", all.error);
        let one = reliability(&Fixed(&graph), &graph, Split::Valid, 1, &Control::default()).unwrap();
        assert_eq!((one.pairs, one.pairs_of_split), (1, 2));
    }
}
