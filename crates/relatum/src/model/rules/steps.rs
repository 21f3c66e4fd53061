//! Training edges along the relations of a model.

use crate::graph::{Adjacency, Arc, Edges, EntityId, Graph, Id, RelationId, Split};
use crate::model::Reciprocals;

/// The training edges, each along its relation and back along the reciprocal one.
#[derive(Clone, Debug)]
pub struct Steps {
    adjacency: Adjacency,
    reciprocals: Reciprocals,
    /// For each relation the entities from which it leads somewhere, ascending.
    starts: Vec<Vec<EntityId>>,
}

impl Steps {
    /// The steps of a graph without loops: a rule says nothing of an entity and itself.
    pub fn of(graph: &Graph) -> Self {
        Self::new(graph, false)
    }

    /// The steps of a graph with its loops, which a query may ask for.
    pub fn with_loops(graph: &Graph) -> Self {
        Self::new(graph, true)
    }

    fn new(graph: &Graph, loops: bool) -> Self {
        let reciprocals = Reciprocals::of(graph);
        let mut triples = reciprocals.directed(graph, Split::Train);
        triples.retain(|triple| loops || triple.head != triple.tail);
        let adjacency = Edges::new(graph.entities.len(), &triples).outgoing;
        let mut starts = vec![Vec::new(); reciprocals.len()];
        for (entity, relation, _) in adjacency.groups() {
            starts[relation.index()].push(entity);
        }
        Self { adjacency, reciprocals, starts }
    }

    /// All arcs of an entity, by relation, then neighbour.
    pub fn from(&self, entity: EntityId) -> &[Arc] {
        self.adjacency.of(entity)
    }

    /// The arcs of an entity along one relation, by neighbour.
    pub fn along(&self, entity: EntityId, relation: RelationId) -> &[Arc] {
        self.adjacency.along(entity, relation)
    }

    /// Whether a relation leads from one entity to another.
    pub fn leads(&self, from: EntityId, relation: RelationId, to: EntityId) -> bool {
        self.adjacency.of(from).binary_search(&Arc { relation, neighbour: to }).is_ok()
    }

    /// The entities from which a relation leads anywhere, ascending.
    pub fn starts(&self, relation: RelationId) -> &[EntityId] {
        &self.starts[relation.index()]
    }

    /// The relation read backwards.
    pub fn inverse(&self, relation: RelationId) -> RelationId {
        self.reciprocals.inverse(relation)
    }

    /// Of a relation and its inverse the one under which rules between two variables are kept.
    pub fn main(&self, relation: RelationId) -> RelationId {
        relation.min(self.inverse(relation))
    }

    /// The relations of the model.
    pub fn reciprocals(&self) -> &Reciprocals {
        &self.reciprocals
    }

    /// How many relations there are, reciprocal ones included.
    pub fn relations(&self) -> usize {
        self.reciprocals.len()
    }

    /// How many entities there are.
    pub fn entities(&self) -> usize {
        self.adjacency.entities()
    }

    /// How many arcs there are.
    pub fn arcs(&self) -> usize {
        self.adjacency.arcs.len()
    }

    /// Runs of arcs that share entity and relation.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (EntityId, RelationId, &[Arc])> {
        self.adjacency.groups()
    }
}
