//! What the planner knows about a graph.

use crate::graph::{EntityId, Graph, RelationCounts, Split};
use crate::query::{Direction, Hop};

/// Numbers of edges of a graph, as the planner asks for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statistics<'g> {
    graph: &'g Graph,
}

impl<'g> Statistics<'g> {
    pub(super) fn of(graph: &'g Graph) -> Self {
        Self { graph }
    }

    /// The number of entities, which is the length of a row.
    pub(super) fn entities(self) -> f64 {
        self.graph.entities.len() as f64
    }

    /// How many entities an anchor is known to lead to; at least 1, for what is not known yet.
    pub(super) fn degree(self, anchor: EntityId, hop: Hop) -> f64 {
        let edges = self.graph.edges(Split::Train);
        hop.arcs(edges, anchor).len().max(1) as f64
    }

    /// How many entities one entity is known to lead to, on average over those that lead anywhere.
    pub(super) fn fanout(self, hop: Hop) -> f64 {
        let counts = self.counts(hop);
        let from = match hop.direction {
            Direction::Forward => counts.subjects,
            Direction::Backward => counts.objects,
        };
        if from == 0 { 1.0 } else { counts.edges as f64 / from as f64 }
    }

    /// How many entities the relation is known to lead to at all; at least 1.
    pub(super) fn reach(self, hop: Hop) -> f64 {
        let counts = self.counts(hop);
        let to = match hop.direction {
            Direction::Forward => counts.objects,
            Direction::Backward => counts.subjects,
        };
        to.max(1) as f64
    }

    fn counts(self, hop: Hop) -> RelationCounts {
        self.graph.relation_counts(hop.relation)
    }
}
