//! The graph: names ↔ ids, triples by split, adjacency in both directions.
//!
//! In reading order: entities and relations are ids, a [`Dictionary`] gives them names,
//! [`Edges`] connect them, and a [`GraphBuilder`] builds a [`Graph`] from names.

mod adjacency;
mod builder;
mod complete;
mod dictionary;
mod films;
mod ids;
pub(crate) mod interner;
mod inverses;
mod members;
mod names;
mod nearest;
mod sides;
mod split;
mod stats;
pub(crate) mod visible;

pub use adjacency::{Adjacency, Arc, Edges};
pub use builder::{BuildReport, GraphBuilder};
pub use dictionary::{Dictionary, Texts};
pub use films::films;
pub use ids::{EntityId, Id, RelationId, Split, Triple};
pub use inverses::Inverses;
pub use members::Members;
pub use names::{NameError, Prefixes};
pub use sides::{RelationCounts, Sides};
pub use split::{Shares, SplitError, SplitReport};
pub use stats::{Quantiles, RelationStats, Stats};
pub use visible::visible;

use self::sides::Derived;

/// A graph with its names and splits, in memory or mapped from a project folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The names of the entities.
    pub entities: Dictionary<EntityId>,
    /// The names of the relations.
    pub relations: Dictionary<RelationId>,
    /// Which relations of the source are inverses of each other.
    pub inverses: Inverses,
    /// IRI prefixes of the sources.
    pub prefixes: Prefixes,
    pub(crate) edges: [Edges; 3],
    pub(crate) sides: Derived<Sides>,
}

impl Graph {
    /// The edges of a split.
    pub fn edges(&self, split: Split) -> &Edges {
        &self.edges[split as usize]
    }

    /// Which entities stand on which side of a relation in the training edges; found when first asked for.
    pub fn sides(&self) -> &Sides {
        self.sides.get(|| Sides::of(self.edges(Split::Train), self.relations.len()))
    }

    /// How many training edges, subjects and objects a relation has.
    pub fn relation_counts(&self, relation: RelationId) -> RelationCounts {
        self.sides().counts(relation)
    }

    /// The entity a person means; see [`Dictionary::resolve`].
    pub fn entity(&self, text: &str) -> Result<EntityId, NameError> {
        self.entities.resolve(text, &self.prefixes)
    }

    /// The relation a person means; see [`Dictionary::resolve`].
    pub fn relation(&self, text: &str) -> Result<RelationId, NameError> {
        self.relations.resolve(text, &self.prefixes)
    }

    /// How to write an entity so that a person can read it and [`entity`](Self::entity) finds it:
    /// [`Dictionary::readable`], made [`visible`].
    pub fn entity_text(&self, id: EntityId) -> String {
        visible(&self.entities.readable(id, &self.prefixes)).into_owned()
    }

    /// An entity for a list that a person reads; see [`Dictionary::shown`].
    pub fn entity_shown(&self, id: EntityId) -> String {
        self.entities.shown(id, &self.prefixes)
    }

    /// How to write a relation so that a person can read it and [`relation`](Self::relation) finds it:
    /// [`Dictionary::readable`], made [`visible`].
    pub fn relation_text(&self, id: RelationId) -> String {
        visible(&self.relations.readable(id, &self.prefixes)).into_owned()
    }
}
