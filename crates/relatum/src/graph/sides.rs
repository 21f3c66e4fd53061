//! Which entities stand on which side of a relation, and which could.

use std::sync::OnceLock;

use super::adjacency::{Adjacency, Edges};
use super::ids::{EntityId, Id, RelationId};

/// For each relation, the entities that are its subject, and those that are its object, in some edges.
///
/// Edges say no more than this about the kinds of entities: whatever stands where directors stand is a person.
#[derive(Clone, Debug, Default)]
pub struct Sides {
    subjects: Vec<Vec<EntityId>>,
    objects: Vec<Vec<EntityId>>,
    edges: Vec<usize>,
    /// The entities that could stand on each side: first the subject sides of all relations, then their object
    /// sides. Each is found when it is first asked for.
    kinds: Vec<OnceLock<Vec<EntityId>>>,
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
        let mut sides = Self {
            subjects: by_relation(&edges.outgoing, relations),
            objects: by_relation(&edges.incoming, relations),
            edges: vec![0; relations],
            kinds: (0..2 * relations).map(|_| OnceLock::new()).collect(),
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

    /// The entities that are of the kind of a relation's subjects, ascending: the subjects themselves, and all
    /// entities of every other side on which at least half of the subjects stand.
    ///
    /// Most subjects of *rated* are subjects of *directed by*, so whatever was directed could be rated; a person
    /// could not.
    pub fn subject_kind(&self, relation: RelationId) -> &[EntityId] {
        self.kind(relation.index())
    }

    /// The entities that are of the kind of a relation's objects, ascending.
    pub fn object_kind(&self, relation: RelationId) -> &[EntityId] {
        self.kind(self.subjects.len() + relation.index())
    }

    fn kind(&self, side: usize) -> &[EntityId] {
        self.kinds.get(side).map_or(&[], |kind| kind.get_or_init(|| self.find_kind(side)))
    }

    fn find_kind(&self, side: usize) -> Vec<EntityId> {
        let members = self.members(side);
        let enough = ((members.len() as f64 * ALIKE).ceil() as usize).max(1);
        let mut kind = members.to_vec();
        // Nothing is kept by entity, because a question may not hold anything that large. Most sides are too small
        // to hold enough of the members, and need no look at all.
        for other in (0..self.kinds.len()).map(|other| self.members(other)) {
            if other.len() >= enough && in_both(members, other) >= enough {
                kind.extend_from_slice(other);
            }
        }
        kind.sort_unstable();
        kind.dedup();
        kind
    }

    /// The entities that stand on a side.
    fn members(&self, side: usize) -> &[EntityId] {
        self.subjects
            .get(side)
            .or_else(|| self.objects.get(side - self.subjects.len()))
            .map_or(&[], Vec::as_slice)
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

/// How many entities two ascending lists have in common.
fn in_both(a: &[EntityId], b: &[EntityId]) -> usize {
    let (few, mut many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut shared = 0;
    for x in few {
        // Steps of doubling length find the place in time that follows how far it is, not how long the list is.
        let mut step = 1;
        while step < many.len() && many[step] < *x {
            step *= 2;
        }
        let from = step / 2;
        let at = from + many[from..many.len().min(step + 1)].partition_point(|other| other < x);
        many = &many[at..];
        shared += usize::from(many.first() == Some(x));
    }
    shared
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
    use super::in_both;
    use crate::graph::{EntityId, GraphBuilder, Split};

    proptest::proptest! {
        #[test]
        fn what_two_lists_share_is_counted(
            a in proptest::collection::btree_set(0u32..60, 0..40), b in proptest::collection::btree_set(0u32..900, 0..300)
        ) {
            let list = |ids: &std::collections::BTreeSet<u32>| ids.iter().map(|&id| EntityId(id)).collect::<Vec<_>>();
            proptest::prop_assert_eq!(in_both(&list(&a), &list(&b)), a.intersection(&b).count());
            proptest::prop_assert_eq!(in_both(&list(&b), &list(&a)), a.intersection(&b).count());
        }
    }

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
        let names =
            |ids: &[crate::graph::EntityId]| ids.iter().map(|&id| graph.entity_text(id)).collect::<Vec<_>>();
        let rated = graph.relation("rated").unwrap();
        assert_eq!(names(graph.sides().subject_kind(rated)), ["Jaws", "Hitch", "Alien"], "what was made");
        assert_eq!(names(graph.sides().object_kind(rated)), ["PG"]);
        let born_in = graph.relation("born_in").unwrap();
        assert_eq!(names(graph.sides().subject_kind(born_in)), ["Steven", "Andy", "Ridley"], "who makes");
    }
}
