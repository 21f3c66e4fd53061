//! The small types everything else is written in: ids, triples, splits.

use bytemuck::{Pod, Zeroable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An id of a name in a [`Dictionary`](super::Dictionary): dense, starting at 0.
pub trait Id: Copy + Ord + Pod + Send + Sync + std::fmt::Debug {
    /// What a person calls such a thing in a message: `entity` or `relation`.
    const KIND: &'static str;
    /// The id at a position.
    fn from_index(index: usize) -> Self;
    /// The position of the id.
    fn index(self) -> usize;
}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl Id for $name {
            const KIND: &'static str = $kind;
            fn from_index(index: usize) -> Self {
                Self(index as u32)
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id_type!(
    /// A node of the graph.
    EntityId,
    "entity"
);
id_type!(
    /// A kind of edge.
    RelationId,
    "relation"
);

/// One fact, `relation(head, tail)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Triple {
    /// The subject.
    pub head: EntityId,
    /// The predicate.
    pub relation: RelationId,
    /// The object.
    pub tail: EntityId,
}

impl Triple {
    /// The triple of three bare ids, for tests and readers of id files.
    pub fn new(head: u32, relation: u32, tail: u32) -> Self {
        Self { head: EntityId(head), relation: RelationId(relation), tail: EntityId(tail) }
    }
}

/// Which part of the graph an edge belongs to: what a model learns from, is tuned on, is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// Edges a model learns from; the graph a person asks about.
    Train,
    /// Edges every choice is made on.
    Valid,
    /// Edges that figures are reported on.
    Test,
}

impl Split {
    /// All splits, in the order in which they are stored.
    pub const ALL: [Self; 3] = [Self::Train, Self::Valid, Self::Test];

    /// The name in files, options and replies.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Valid => "valid",
            Self::Test => "test",
        }
    }
}

impl std::fmt::Display for Split {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
