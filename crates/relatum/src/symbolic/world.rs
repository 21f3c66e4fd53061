//! The edges that are believed, and what believing them costs.

use crate::graph::{Edges, EntityId, Graph, Id, Split, Triple};
use crate::query::Hop;

/// Stored edges that are taken for true, in layers: every edge of a layer has the layer's cost.
#[derive(Clone, Debug)]
pub struct World<'a> {
    layers: Vec<(&'a Edges, u8)>,
    entities: usize,
}

impl<'a> World<'a> {
    /// The edges of some splits, all at no cost.
    pub fn of(graph: &'a Graph, splits: &[Split]) -> Self {
        Self::with_missing(graph, splits, &[])
    }

    /// The edges that are known, at no cost, and those that would have to be predicted, at cost 1 each.
    pub fn with_missing(graph: &'a Graph, known: &[Split], missing: &[Split]) -> Self {
        let free = known.iter().map(|&split| (graph.edges(split), 0));
        let charged = missing.iter().map(|&split| (graph.edges(split), 1));
        Self { layers: free.chain(charged).collect(), entities: graph.entities.len() }
    }

    /// One set of edges at no cost.
    pub(crate) fn of_edges(edges: &'a Edges, entities: usize) -> Self {
        Self { layers: vec![(edges, 0)], entities }
    }

    /// The number of entities.
    pub(crate) fn entities(&self) -> usize {
        self.entities
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = EntityId> + use<> {
        (0..self.entities).map(EntityId::from_index)
    }

    /// Where a hop leads from an entity, with the cost of each edge; ascending within a layer.
    pub(super) fn row(&self, from: EntityId, hop: Hop) -> impl Iterator<Item = (EntityId, u8)> {
        self.layers.iter().flat_map(move |&(edges, cost)| {
            hop.arcs(edges, from).iter().map(move |arc| (arc.neighbour, cost))
        })
    }

    /// Where a hop leads from an entity, each place once even if several layers hold the edge.
    pub(super) fn row_once(&self, from: EntityId, hop: Hop) -> impl Iterator<Item = EntityId> {
        let layers = self.layers.iter().enumerate();
        layers.flat_map(move |(layer, &(edges, _))| {
            let before = &self.layers[..layer];
            let is_new =
                move |to: &EntityId| !before.iter().any(|(edges, _)| edges.contains(hop.edge(from, *to)));
            hop.arcs(edges, from).iter().map(|arc| arc.neighbour).filter(is_new)
        })
    }

    /// How many edges a hop finds.
    pub(super) fn row_len(&self, from: EntityId, hop: Hop) -> usize {
        self.layers.iter().map(|(edges, _)| hop.arcs(edges, from).len()).sum()
    }

    /// What it costs to believe an edge; `None` if it is in no layer.
    pub(super) fn cost(&self, triple: Triple) -> Option<u8> {
        self.layers.iter().filter(|(edges, _)| edges.contains(triple)).map(|&(_, cost)| cost).min()
    }
}
