//! Which entities stand on which side of a relation, and which could.

use std::sync::OnceLock;

use super::adjacency::{Adjacency, Edges};
use super::ids::{Id, RelationId};
use super::members::{Gather, Members};

/// For each relation, the entities that are its subject, and those that are its object, in some edges.
///
/// Edges say no more than this about the kinds of entities: whatever stands where directors stand is a person.
#[derive(Clone, Debug, Default)]
pub struct Sides {
    /// First the subject sides of all relations, then their object sides.
    members: Vec<Members>,
    edges: Vec<usize>,
    /// The entities that could stand on each side, in the same order. Each is found when it is first asked for.
    kinds: Vec<OnceLock<Members>>,
    entities: usize,
}

/// An entity is of the kind of a side if it stands on another side that holds at least this share of the
/// entities of this one.
const ALIKE: f64 = 0.5;

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
        let mut members = by_relation(&edges.outgoing, relations);
        members.extend(by_relation(&edges.incoming, relations));
        let mut sides = Self {
            members,
            edges: vec![0; relations],
            kinds: (0..2 * relations).map(|_| OnceLock::new()).collect(),
            entities: edges.outgoing.entities(),
        };
        for (_, relation, arcs) in edges.outgoing.groups() {
            if let Some(count) = sides.edges.get_mut(relation.index()) {
                *count += arcs.len();
            }
        }
        sides
    }

    /// The subjects of a relation.
    pub fn subjects(&self, relation: RelationId) -> &Members {
        &self.members[relation.index()]
    }

    /// The objects of a relation.
    pub fn objects(&self, relation: RelationId) -> &Members {
        &self.members[self.edges.len() + relation.index()]
    }

    /// The entities that are of the kind of a relation's subjects: the subjects themselves, and all entities of every
    /// other side on which at least half of the subjects stand.
    ///
    /// Most subjects of *rated* are subjects of *directed by*, so whatever was directed could be rated; a person
    /// could not.
    pub fn subject_kind(&self, relation: RelationId) -> &Members {
        self.kind(relation.index())
    }

    /// The entities that are of the kind of a relation's objects.
    pub fn object_kind(&self, relation: RelationId) -> &Members {
        self.kind(self.edges.len() + relation.index())
    }

    fn kind(&self, side: usize) -> &Members {
        self.kinds[side].get_or_init(|| self.find_kind(&self.members[side]))
    }

    fn find_kind(&self, side: &Members) -> Members {
        let enough = ((side.len() as f64 * ALIKE).ceil() as usize).max(1);
        // Most sides are too small to hold enough of the members, and need no look at all.
        let alike = |other: &&Members| other.len() >= enough && side.in_both(other) >= enough;
        Members::any_of(self.members.iter().filter(alike).chain([side]), self.entities)
    }

    /// How many edges, subjects and objects a relation has.
    pub fn counts(&self, relation: RelationId) -> RelationCounts {
        let edges = self.edges.get(relation.index()).copied().unwrap_or_default();
        if edges == 0 {
            return RelationCounts::default();
        }
        RelationCounts {
            edges,
            subjects: self.subjects(relation).len(),
            objects: self.objects(relation).len(),
        }
    }
}

/// For each relation the entities that have an arc of it. What a graph of millions of entities holds while it answers a
/// question is mostly this, so every set is counted before it is made.
fn by_relation(adjacency: &Adjacency, relations: usize) -> Vec<Members> {
    let mut counts = vec![0; relations];
    for (_, relation, _) in adjacency.groups() {
        if let Some(count) = counts.get_mut(relation.index()) {
            *count += 1;
        }
    }
    let mut sets: Vec<Gather> =
        counts.into_iter().map(|count| Gather::with_room(count, adjacency.entities())).collect();
    // Groups come by entity, so each set is ascending and holds every entity once.
    for (entity, relation, _) in adjacency.groups() {
        if let Some(set) = sets.get_mut(relation.index()) {
            set.push(entity);
        }
    }
    sets.into_iter().map(Gather::finish).collect()
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
    use crate::graph::{GraphBuilder, Members, Split};

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
        let names = |ids: &Members| ids.iter().map(|id| graph.entity_text(id)).collect::<Vec<_>>();
        let genre = graph.relation("genre").unwrap();
        assert_eq!(names(graph.sides().subjects(genre)), ["Jaws", "Hitch"]);
        assert_eq!(names(graph.sides().objects(genre)), ["Thriller", "Comedy", "Romance"]);
    }

    #[test]
    fn entities_of_a_side_with_most_subjects_are_of_their_kind() {
        let mut builder = GraphBuilder::default();
        for (head, relation, tail) in [
            ("Jaws", "made_by", "Steven"),
            ("Hitch", "made_by", "Andy"),
            ("Alien", "made_by", "Ridley"),
            ("Jaws", "rated", "PG"),
            ("Hitch", "rated", "PG"),
            ("Steven", "born_in", "Cincinnati"),
        ] {
            builder.add(Split::Train, head, relation, tail);
        }
        let (graph, _) = builder.finish();
        let names = |ids: &Members| ids.iter().map(|id| graph.entity_text(id)).collect::<Vec<_>>();
        let rated = graph.relation("rated").unwrap();
        assert_eq!(names(graph.sides().subject_kind(rated)), ["Jaws", "Hitch", "Alien"], "what was made");
        assert_eq!(names(graph.sides().object_kind(rated)), ["PG"]);
        let born_in = graph.relation("born_in").unwrap();
        assert_eq!(names(graph.sides().subject_kind(born_in)), ["Steven", "Andy", "Ridley"], "who makes");
    }
}
