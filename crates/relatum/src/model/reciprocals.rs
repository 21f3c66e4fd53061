//! Reciprocal relations: every relation can be read backwards.

use crate::graph::{Graph, Id, RelationId, Split, Triple};
use crate::query::{Direction, Hop};

/// The relations of a model: those of the graph and, after them, one reciprocal relation for each
/// that has no inverse in the graph. `r⁻¹(t, h)` says what `r(h, t)` says, so an unknown head is
/// found as an unknown tail is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reciprocals {
    inverse: Vec<RelationId>,
    graph_relations: usize,
}

impl Reciprocals {
    /// The relations of a model of this graph.
    pub fn of(graph: &Graph) -> Self {
        let graph_relations = graph.relations.len();
        let mut inverse: Vec<RelationId> = Vec::with_capacity(2 * graph_relations);
        let mut added = Vec::new();
        for relation in graph.relations.ids() {
            inverse.push(graph.inverses.of(relation).unwrap_or_else(|| {
                added.push(relation);
                RelationId::from_index(graph_relations + added.len() - 1)
            }));
        }
        inverse.extend(added);
        Self { inverse, graph_relations }
    }

    /// The number of relations of the model.
    pub fn len(&self) -> usize {
        self.inverse.len()
    }

    /// Whether there is no relation.
    pub fn is_empty(&self) -> bool {
        self.inverse.is_empty()
    }

    /// The relation that reads this one backwards.
    ///
    /// # Panics
    /// If the model has no such relation.
    pub fn inverse(&self, relation: RelationId) -> RelationId {
        self.inverse[relation.index()]
    }

    /// Whether the relation is one of the graph, and not a reciprocal one added for the model.
    pub fn in_graph(&self, relation: RelationId) -> bool {
        relation.index() < self.graph_relations
    }

    /// The relation as a hop along one of the graph: an added reciprocal relation reads its own backwards.
    pub fn hop(&self, relation: RelationId) -> Hop {
        if self.in_graph(relation) {
            Hop { relation, direction: Direction::Forward }
        } else {
            Hop { relation: self.inverse(relation), direction: Direction::Backward }
        }
    }

    /// Every edge of a split in every direction that the model learns: as it stands, and backwards
    /// along an added reciprocal relation; a graph that holds both directions is not doubled.
    pub fn directed(&self, graph: &Graph, split: Split) -> Vec<Triple> {
        let mut triples = Vec::with_capacity(2 * graph.edges(split).len());
        for triple in graph.edges(split).triples() {
            triples.push(triple);
            let inverse = self.inverse(triple.relation);
            if !self.in_graph(inverse) {
                triples.push(Triple { head: triple.tail, relation: inverse, tail: triple.head });
            }
        }
        triples
    }
}
