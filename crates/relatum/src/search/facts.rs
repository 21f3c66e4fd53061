//! The stored edges that a search trusts.

use super::truth::Known;
use crate::graph::{EntityId, Graph, Id, Split};
use crate::query::Hop;

/// The edges that count as exactly 1.
pub(super) struct Facts<'a> {
    graph: &'a Graph,
    known: Known,
}

impl<'a> Facts<'a> {
    /// The facts of a graph that are trusted.
    pub(super) fn new(graph: &'a Graph, known: Known) -> Self {
        Self { graph, known }
    }

    /// The entities that a hop leads to in a split.
    pub(super) fn neighbours(
        &self,
        split: Split,
        from: EntityId,
        hop: Hop,
    ) -> impl ExactSizeIterator<Item = EntityId> + use<'a> {
        hop.arcs(self.graph.edges(split), from).iter().map(|arc| arc.neighbour)
    }

    /// Makes the known entries of a row exactly 1.
    pub(super) fn mark(&self, from: EntityId, hop: Hop, row: &mut [f32]) {
        self.facts(from, hop, &mut |tail| {
            if let Some(value) = row.get_mut(tail.index()) {
                *value = 1.0;
            }
        });
    }

    /// The split of the trusted graph that holds the edge, if one does.
    pub(super) fn known(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
        self.holding(self.known.splits(), from, hop, to)
    }

    /// The split that holds the edge, trusted or not.
    pub(super) fn stored(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
        self.holding(&Split::ALL, from, hop, to)
    }

    fn holding(&self, splits: &[Split], from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
        let triple = hop.edge(from, to);
        splits.iter().copied().find(|&split| self.graph.edges(split).contains(triple))
    }

    /// Names the entities to which a hop leads by trusted edges.
    pub(super) fn facts(&self, from: EntityId, hop: Hop, each: &mut dyn FnMut(EntityId)) {
        for &split in self.known.splits() {
            self.neighbours(split, from, hop).for_each(&mut *each);
        }
    }
}
