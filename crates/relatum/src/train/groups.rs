//! Triples that share head and relation, and the batches made of them.

use std::ops::Range;

use crate::graph::{EntityId, Graph, RelationId, Split, Triple};
use crate::model::Reciprocals;
use crate::random::Rng;

/// Triples (h, r, t) with one head and one relation: they share one row of scores and one softmax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) head: EntityId,
    pub(super) relation: RelationId,
    tails: Range<usize>,
}

impl Group {
    pub(super) fn len(&self) -> usize {
        self.tails.len()
    }
}

/// All directed triples of a split, grouped.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    groups: Vec<Group>,
    tails: Vec<EntityId>,
}

impl Groups {
    /// The groups of a split in every direction the model learns.
    pub(super) fn of(graph: &Graph, split: Split, reciprocals: &Reciprocals) -> Self {
        Self::from_triples(reciprocals.directed(graph, split), usize::MAX)
    }

    /// Groups of at most `longest` tails. Longer ones are cut into pieces, so that no batch is one
    /// (head, relation) alone; each piece has its own softmax, which changes no loss.
    pub(super) fn from_triples(mut triples: Vec<Triple>, longest: usize) -> Self {
        triples.sort_unstable();
        triples.dedup();
        let tails = triples.iter().map(|triple| triple.tail).collect();
        let mut groups = Vec::new();
        let mut start = 0;
        for run in triples.chunk_by(|a, b| (a.head, a.relation) == (b.head, b.relation)) {
            let pieces = run.len().div_ceil(longest.max(1));
            for piece in 0..pieces {
                // Pieces of nearly equal length.
                let cut = |piece: usize| start + run.len() * piece / pieces;
                let tails = cut(piece)..cut(piece + 1);
                groups.push(Group { head: run[0].head, relation: run[0].relation, tails });
            }
            start += run.len();
        }
        Self { groups, tails }
    }

    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn triples(&self) -> usize {
        self.tails.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter()
    }

    pub(super) fn tails(&self, group: &Group) -> &[EntityId] {
        &self.tails[group.tails.clone()]
    }

    /// The batches of an epoch: all groups in an order drawn from seed and epoch alone, cut where
    /// one more group would exceed `batch_size` triples.
    pub(super) fn batches(&self, batch_size: usize, seed: u64, epoch: usize) -> Batches {
        let mut order: Vec<u32> = (0..self.groups.len() as u32).collect();
        Rng::stream(seed, 1 << 32 | epoch as u64).shuffle(&mut order);
        let mut ends = Vec::new();
        let mut triples = 0;
        for (at, &group) in order.iter().enumerate() {
            let len = self.groups[group as usize].len();
            if triples > 0 && triples + len > batch_size {
                ends.push(at);
                triples = 0;
            }
            triples += len;
        }
        if !order.is_empty() {
            ends.push(order.len());
        }
        Batches { order, ends }
    }

    /// The groups of one batch.
    pub(super) fn batch<'a>(&'a self, batches: &Batches, index: usize) -> Vec<&'a Group> {
        let from = if index == 0 { 0 } else { batches.ends[index - 1] };
        batches.order[from..batches.ends[index]].iter().map(|&group| &self.groups[group as usize]).collect()
    }
}

/// How an epoch is cut into batches.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    order: Vec<u32>,
    ends: Vec<usize>,
}

impl Batches {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_epoch_is_every_triple_once_in_batches_that_fit(
            raw in prop::collection::vec((0u32..6, 0u32..2, 0u32..40), 1..200), batch_size in 1usize..30, epoch in 0usize..5
        ) {
            let triples: Vec<Triple> = raw.iter().map(|&(h, r, t)| Triple::new(h, r, t)).collect();
            let groups = Groups::from_triples(triples.clone(), batch_size);
            let batches = groups.batches(batch_size, 7, epoch);
            let mut seen = Vec::new();
            for index in 0..batches.len() {
                let batch = groups.batch(&batches, index);
                prop_assert!(batch.iter().map(|group| group.len()).sum::<usize>() <= batch_size);
                for group in batch {
                    prop_assert!(group.len() > 0);
                    seen.extend(groups.tails(group).iter().map(|&tail| Triple { head: group.head, relation: group.relation, tail }));
                }
            }
            seen.sort_unstable();
            let mut expected = triples;
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(seen, expected);
        }
    }
}
