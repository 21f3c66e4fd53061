//! Truth by the stored edges alone: what follows without any prediction.

use super::truth::{AtomTruth, Known};
use crate::benchmark::World;
use crate::graph::{EntityId, Graph, Id, Split, Triple};
use crate::query::{Direction, Hop};

/// Every trusted edge is 1 and every other 0: the closed world of an ordinary database. An answer
/// that has score 1 here is already known; any other is new.
pub struct Facts<'a> {
    graph: &'a Graph,
    known: Known,
}

impl<'a> Facts<'a> {
    /// The facts of a graph that are trusted.
    pub fn new(graph: &'a Graph, known: Known) -> Self {
        Self { graph, known }
    }

    /// The same facts as sets of edges.
    pub(crate) fn world(&self) -> World<'a> {
        World::of(self.graph, self.known.splits())
    }

    /// The entities that a hop leads to in a split.
    pub(super) fn neighbours(
        &self,
        split: Split,
        from: EntityId,
        hop: Hop,
    ) -> impl ExactSizeIterator<Item = EntityId> + use<'a> {
        let edges = self.graph.edges(split);
        let adjacency = match hop.direction {
            Direction::Forward => &edges.outgoing,
            Direction::Backward => &edges.incoming,
        };
        adjacency.along(from, hop.relation).iter().map(|arc| arc.neighbour)
    }

    /// Makes the known entries of a row exactly 1.
    pub(super) fn mark(&self, from: EntityId, hop: Hop, row: &mut [f32]) {
        self.facts(from, hop, &mut |tail| {
            if let Some(value) = row.get_mut(tail.index()) {
                *value = 1.0;
            }
        });
    }
}

impl AtomTruth for Facts<'_> {
    fn entities(&self) -> usize {
        self.graph.entities.len()
    }

    fn rows(&self, from: &[EntityId], hop: Hop, rows: &mut [f32]) {
        rows.fill(0.0);
        for (row, &entity) in rows.chunks_exact_mut(self.entities()).zip(from) {
            self.mark(entity, hop, row);
        }
    }

    fn known(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Split> {
        let (head, tail) = match hop.direction {
            Direction::Forward => (from, to),
            Direction::Backward => (to, from),
        };
        let triple = Triple { head, relation: hop.relation, tail };
        self.known.splits().iter().copied().find(|&split| self.graph.edges(split).contains(triple))
    }

    fn facts(&self, from: EntityId, hop: Hop, each: &mut dyn FnMut(EntityId)) {
        for &split in self.known.splits() {
            self.neighbours(split, from, hop).for_each(&mut *each);
        }
    }

    fn ceiling(&self) -> f32 {
        0.0
    }
}
