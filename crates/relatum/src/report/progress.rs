//! How far a search is, with names in place of ids.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::make::entity;
use super::reply::Entity;
use crate::graph::Graph;
use crate::search;

/// How far a search is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// Rows scored so far.
    pub rows: usize,
    /// How many of the best, from the first on, are proven to be in their place.
    pub proven: usize,
    /// How many answers are wanted.
    pub wanted: usize,
    /// The best answers so far, best first, with the part of their scores that is certain.
    pub best: Vec<Scored>,
}

/// An entity with its score so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scored {
    /// The entity.
    pub entity: Entity,
    /// The part of its score that is certain: a lower bound.
    pub score: f32,
}

impl Progress {
    /// The event of a search over a graph.
    pub fn of(event: &search::Progress, graph: &Graph) -> Self {
        let best = event.best.iter().map(|&(id, score)| Scored { entity: entity(graph, id), score });
        Self { rows: event.rows, proven: event.proven, wanted: event.wanted, best: best.collect() }
    }
}
