//! Collects triples by name and turns them into a [`Graph`].

use super::adjacency::Edges;
use super::dictionary::{Dictionary, Texts};
use super::ids::{EntityId, Id, RelationId, Split, Triple};
use super::interner::{Interner, Mark};
use super::names::Prefixes;
use super::sides::Derived;
use super::{Graph, Inverses};
use crate::column::memory;

/// Collects a graph; ids are given in order of first appearance.
///
/// ```
/// use relatum::graph::{GraphBuilder, Split};
///
/// let mut builder = GraphBuilder::default();
/// builder.add(Split::Train, "Martin Lawrence", "stars_in", "Bad Boys");
/// let (graph, report) = builder.finish();
/// assert_eq!((graph.entities.len(), report.repeated), (2, 0));
/// ```
#[derive(Default)]
pub struct GraphBuilder {
    entities: Interner,
    relations: Interner,
    entity_labels: Vec<String>,
    relation_labels: Vec<String>,
    triples: [Vec<Triple>; 3],
    pub(crate) inverses: Inverses,
    /// Prefixes found in the sources.
    pub prefixes: Prefixes,
}

/// What [`GraphBuilder::finish`] left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildReport {
    /// Triples that were there already in the same split.
    pub repeated: usize,
    /// Triples of valid or test that an earlier split holds already.
    pub leaked: usize,
}

impl GraphBuilder {
    /// Adds one triple by its names.
    ///
    /// # Panics
    /// If a name would be the 4,294,967,296th of its kind; the same holds for [`entity`](Self::entity) and
    /// [`relation`](Self::relation). The readers of files return an error before that.
    pub fn add(&mut self, split: Split, head: &str, relation: &str, tail: &str) {
        let triple =
            Triple { head: self.entity(head), relation: self.relation(relation), tail: self.entity(tail) };
        self.add_ids(split, triple);
    }

    /// Adds one triple of ids that this builder gave.
    pub fn add_ids(&mut self, split: Split, triple: Triple) {
        let triples = &mut self.triples[split as usize];
        memory::reserve(triples, 1);
        triples.push(triple);
    }

    /// The id of an entity, new or known.
    pub fn entity(&mut self, name: &str) -> EntityId {
        self.entity_marked(name.as_bytes(), Mark::of(name.as_bytes()))
    }

    /// The id of a relation, new or known.
    pub fn relation(&mut self, name: &str) -> RelationId {
        self.relation_marked(name.as_bytes(), Mark::of(name.as_bytes()))
    }

    pub(crate) fn relation_marked(&mut self, name: &[u8], mark: Mark) -> RelationId {
        RelationId(self.relations.intern(name, mark))
    }

    pub(crate) fn entity_marked(&mut self, name: &[u8], mark: Mark) -> EntityId {
        EntityId(self.entities.intern(name, mark))
    }

    pub(crate) fn warm_entities(&self, marks: impl Iterator<Item = Mark>) {
        self.entities.warm(marks);
    }

    /// Whether there are ids left for the names of so many more triples.
    pub(crate) fn has_room(&self, triples: usize) -> bool {
        self.entities.len().max(self.relations.len()) + 2 * triples <= Interner::MOST
    }

    /// The id of an entity, if it was added.
    pub fn find_entity(&self, name: &str) -> Option<EntityId> {
        self.entities.find(name.as_bytes()).map(EntityId)
    }

    /// The id of a relation, if it was added.
    pub fn find_relation(&self, name: &str) -> Option<RelationId> {
        self.relations.find(name.as_bytes()).map(RelationId)
    }

    /// Gives an entity its display label.
    pub fn label_entity(&mut self, id: EntityId, label: &str) {
        set_label(&mut self.entity_labels, id.index(), label);
    }

    /// Gives a relation its display label.
    pub fn label_relation(&mut self, id: RelationId, label: &str) {
        set_label(&mut self.relation_labels, id.index(), label);
    }

    /// Records that two relations of the source are inverses of each other.
    pub fn pair(&mut self, a: RelationId, b: RelationId) {
        self.inverses.pair(a, b);
    }

    /// The number of triples added so far, repeats included.
    pub fn len(&self) -> usize {
        self.triples.iter().map(Vec::len).sum()
    }

    /// Whether no triple was added.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of entities so far.
    pub fn entities(&self) -> usize {
        self.entities.len()
    }

    /// The number of relations so far.
    pub fn relations(&self) -> usize {
        self.relations.len()
    }

    pub(crate) fn triples_mut(&mut self, split: Split) -> &mut Vec<Triple> {
        &mut self.triples[split as usize]
    }

    /// Sorts names and edges into a graph.
    pub fn finish(self) -> (Graph, BuildReport) {
        let Self { entities, relations, entity_labels, relation_labels, triples, inverses, prefixes } = self;
        let count = entities.len();
        let (dictionaries, (edges, report)) = rayon::join(
            || (dictionary(entities, &entity_labels), dictionary(relations, &relation_labels)),
            || connect(count, triples),
        );
        (
            Graph {
                entities: dictionaries.0,
                relations: dictionaries.1,
                inverses,
                prefixes,
                edges,
                sides: Derived::default(),
            },
            report,
        )
    }
}

/// The edges of each split, without those that an earlier one holds.
fn connect(entities: usize, triples: [Vec<Triple>; 3]) -> ([Edges; 3], BuildReport) {
    let mut report = BuildReport::default();
    let mut edges: [Edges; 3] = Default::default();
    for (split, mut triples) in triples.into_iter().enumerate() {
        let given = triples.len();
        if edges[..split].iter().any(|earlier| !earlier.is_empty()) {
            triples.retain(|&triple| !edges[..split].iter().any(|earlier| earlier.contains(triple)));
        }
        report.leaked += given - triples.len();
        edges[split] = Edges::new(entities, &triples);
        report.repeated += triples.len() - edges[split].len();
    }
    (edges, report)
}

fn set_label(labels: &mut Vec<String>, index: usize, label: &str) {
    if labels.len() <= index {
        labels.resize_with(index + 1, String::new);
    }
    label.clone_into(&mut labels[index]);
}

fn dictionary<I: Id>(names: Interner, labels: &[String]) -> Dictionary<I> {
    let names = names.into_texts();
    let labels: Texts = match labels {
        [] => Texts::default(),
        given => (0..names.len()).map(|index| given.get(index).map_or("", String::as_str)).collect(),
    };
    Dictionary::new(names, labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_counts_once_in_the_first_split_that_holds_it() {
        let mut builder = GraphBuilder::default();
        builder.add(Split::Test, "a", "r", "b");
        builder.add(Split::Train, "a", "r", "b");
        builder.add(Split::Train, "a", "r", "b");
        builder.add(Split::Valid, "b", "r", "a");
        let (graph, report) = builder.finish();
        assert_eq!(report, BuildReport { repeated: 1, leaked: 1 });
        assert_eq!(Split::ALL.map(|split| graph.edges(split).len()), [1, 1, 0]);
    }
}
