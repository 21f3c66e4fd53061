//! Which entities stand on which side of a relation.

use std::sync::OnceLock;

use super::adjacency::{Adjacency, Edges};
use super::ids::{EntityId, Id, RelationId};

/// For each relation, the entities that are its subject, and those that are its object, in some edges.
///
/// That is all the graph says about kinds: what never was a genre in thousands of films is hardly one.
#[derive(Clone, Debug, Default)]
pub struct Sides {
    subjects: Vec<Vec<EntityId>>,
    objects: Vec<Vec<EntityId>>,
    edges: Vec<usize>,
}

/// How often a relation stands in some edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelationCounts {
    /// Edges.
    pub edges: usize,
    /// Entities that are the subject of one.
    pub subjects: usize,
    /// Entities that are the object of one.
    pub objects: usize,
}

impl Sides {
    /// The sides of some edges, in one pass over them.
    pub fn of(edges: &Edges, relations: usize) -> Self {
        let mut sides = Self {
            subjects: by_relation(&edges.outgoing, relations),
            objects: by_relation(&edges.incoming, relations),
            edges: vec![0; relations],
        };
        for (_, relation, arcs) in edges.outgoing.groups() {
            if let Some(count) = sides.edges.get_mut(relation.index()) {
                *count += arcs.len();
            }
        }
        sides
    }

    /// The subjects of a relation, ascending.
    pub fn subjects(&self, relation: RelationId) -> &[EntityId] {
        self.subjects.get(relation.index()).map_or(&[], Vec::as_slice)
    }

    /// How many edges, subjects and objects a relation has.
    pub fn counts(&self, relation: RelationId) -> RelationCounts {
        let edges = self.edges.get(relation.index()).copied().unwrap_or_default();
        RelationCounts {
            edges,
            subjects: self.subjects(relation).len(),
            objects: self.objects(relation).len(),
        }
    }

    /// The objects of a relation, ascending.
    pub fn objects(&self, relation: RelationId) -> &[EntityId] {
        self.objects.get(relation.index()).map_or(&[], Vec::as_slice)
    }
}

fn by_relation(adjacency: &Adjacency, relations: usize) -> Vec<Vec<EntityId>> {
    let mut lists = vec![Vec::new(); relations];
    // Groups come by entity, so each list is sorted and holds every entity once.
    for (entity, relation, _) in adjacency.groups() {
        if let Some(list) = lists.get_mut(relation.index()) {
            list.push(entity);
        }
    }
    lists
}

/// Something that follows from a graph and is computed when it is first asked for. It takes no part in
/// comparisons, and a clone computes its own.
#[derive(Debug)]
pub(crate) struct Derived<T>(OnceLock<T>);

impl<T> Derived<T> {
    pub(crate) fn get(&self, compute: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(compute)
    }
}

impl<T> Default for Derived<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Clone for Derived<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> PartialEq for Derived<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::{GraphBuilder, Split};

    #[test]
    fn the_sides_of_a_relation_are_what_training_edges_show() {
        let mut builder = GraphBuilder::default();
        for (split, head, relation, tail) in [
            (Split::Train, "Jaws", "genre", "Thriller"),
            (Split::Train, "Hitch", "genre", "Comedy"),
            (Split::Train, "Hitch", "genre", "Romance"),
            (Split::Train, "Hitch", "stars", "Eva"),
            (Split::Test, "Eva", "genre", "Jaws"),
        ] {
            builder.add(split, head, relation, tail);
        }
        let (graph, _) = builder.finish();
        let names =
            |ids: &[crate::graph::EntityId]| ids.iter().map(|&id| graph.entity_text(id)).collect::<Vec<_>>();
        let genre = graph.relation("genre").unwrap();
        assert_eq!(names(graph.sides().subjects(genre)), ["Jaws", "Hitch"]);
        assert_eq!(names(graph.sides().objects(genre)), ["Thriller", "Comedy", "Romance"]);
    }
}
