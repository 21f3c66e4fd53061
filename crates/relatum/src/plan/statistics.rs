//! What the planner knows about a graph.

use crate::graph::{EntityId, Graph, Id, Split};
use crate::query::{Direction, Hop};

/// Numbers of edges by relation; made once for a graph, in one pass over its training edges.
#[derive(Clone, Debug)]
pub struct Statistics<'g> {
    graph: &'g Graph,
    relations: Vec<Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    edges: u32,
    subjects: u32,
    objects: u32,
}

impl<'g> Statistics<'g> {
    /// Counts the edges of a graph.
    pub fn new(graph: &'g Graph) -> Self {
        let mut relations = vec![Counts::default(); graph.relations.len()];
        let edges = graph.edges(Split::Train);
        for (_, relation, arcs) in edges.outgoing.groups() {
            if let Some(counts) = relations.get_mut(relation.index()) {
                counts.edges += arcs.len() as u32;
                counts.subjects += 1;
            }
        }
        for (_, relation, _) in edges.incoming.groups() {
            if let Some(counts) = relations.get_mut(relation.index()) {
                counts.objects += 1;
            }
        }
        Self { graph, relations }
    }

    /// The number of entities: what a row has.
    pub fn entities(&self) -> f64 {
        self.graph.entities.len() as f64
    }

    /// How many entities an anchor is known to lead to; at least 1, for what is not known yet.
    pub fn degree(&self, anchor: EntityId, hop: Hop) -> f64 {
        let edges = self.graph.edges(Split::Train);
        let known = match hop.direction {
            Direction::Forward => edges.tails(anchor, hop.relation).len(),
            Direction::Backward => edges.heads(hop.relation, anchor).len(),
        };
        known.max(1) as f64
    }

    /// How many entities one is known to lead to, on average over those that lead anywhere.
    pub fn fanout(&self, hop: Hop) -> f64 {
        let counts = self.counts(hop);
        let from = match hop.direction {
            Direction::Forward => counts.subjects,
            Direction::Backward => counts.objects,
        };
        if from == 0 { 1.0 } else { f64::from(counts.edges) / f64::from(from) }
    }

    /// How many entities the relation is known to lead to at all; at least 1.
    pub fn reach(&self, hop: Hop) -> f64 {
        let counts = self.counts(hop);
        let to = match hop.direction {
            Direction::Forward => counts.objects,
            Direction::Backward => counts.subjects,
        };
        f64::from(to.max(1))
    }

    fn counts(&self, hop: Hop) -> Counts {
        self.relations.get(hop.relation.index()).copied().unwrap_or_default()
    }
}
