//! Stored benchmark queries.

use crate::graph::EntityId;
use crate::store::Column;

/// Queries of one split.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuerySet {
    /// By shape.
    pub groups: Vec<QueryGroup>,
}

/// Queries of one shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryGroup {
    /// Name.
    pub shape: String,
    /// Nested tuple text.
    pub skeleton: String,
    /// Numbers a query.
    pub arity: usize,
    /// All arguments.
    pub arguments: Column<u32>,
    /// Easy answers.
    pub easy: Lists,
    /// Hard answers.
    pub hard: Lists,
}

/// Rows of entities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lists {
    /// Offsets.
    pub offsets: Column<u64>,
    /// Items.
    pub items: Column<EntityId>,
}
