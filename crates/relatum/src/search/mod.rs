//! Searching for the assignments that make a question truest.
//!
//! Every t-norm is monotone, so `max` distributes over it: a variable can be maximised over as
//! soon as no later atom mentions it. [`exact`] uses that on whole vectors, for questions that
//! are trees; [`beam`] keeps the k best assignments, for every question. Both run a
//! [`Plan`](crate::plan::Plan) and see the model and the graph only through [`AtomTruth`]; a [`Strategy`] says which of
//! them runs.
//! [`continuous`] runs the same plan on vectors instead of entities, and [`lists`] without any vector over all
//! entities, from sorted lists of candidates.

mod at_most;
pub mod beam;
pub mod continuous;
mod error;
mod evidence;
pub mod exact;
mod facts;
mod fold;
pub mod lists;
mod proof;
pub(crate) mod rows;
mod strategy;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod tests_with_rules;
mod top;
mod truth;
mod why;

pub use error::SearchError;
pub(crate) use evidence::mix_row;
pub use evidence::{Evidence, RuleEvidence, SharedRules, mixed};
pub use strategy::{Aim, Searcher, Strategy};
pub use top::best;
pub use truth::{AtomTruth, Known, Scorer};
pub use why::Why;

pub use crate::control::Limit;
use crate::graph::EntityId;
use crate::logic::{Negation, TNorm};

/// How truth values are combined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logic {
    /// Conjunction, and by duality disjunction.
    pub t_norm: TNorm,
    /// Negation of atoms; a negated sub-query is always `1 − x`.
    pub negation: Negation,
}

impl Default for Logic {
    fn default() -> Self {
        Self { t_norm: TNorm::Product, negation: Negation::default() }
    }
}

/// How far a search is: the event that [`Control`](crate::control::Control) listeners hear while it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Rows scored so far.
    pub rows: usize,
    /// The best answers so far, best first, with the part of their scores that is certain.
    pub best: Vec<(EntityId, f32)>,
    /// How many of them, from the first on, are proven to be in their place.
    pub proven: usize,
    /// How many answers are wanted.
    pub wanted: usize,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The score of every entity, or a lower bound of it where the search was not exhaustive.
    pub scores: Vec<f32>,
    /// How sure the scores are.
    pub certainty: Certainty,
    /// Rows scored: one known entity, one relation, all entities on the other side.
    pub rows: usize,
}

/// How sure the best answers of a search are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certainty {
    /// The best answers, their order and their scores are proven: values that were not looked at can
    /// change no score by more than `within`. That is 0 unless the question has a disjunction or a negated
    /// sub-query, or scores are as small as the messages that were treated as 0.
    Exact {
        /// The largest possible error of a score.
        within: f32,
    },
    /// The best that a beam found; others may be better.
    Beam {
        /// How many assignments it kept.
        k: usize,
        /// Whether a narrower beam had found the same answers.
        settled: bool,
    },
    /// The answers at the point where continuous optimisation converged; another local optimum may be better.
    Continuous {
        /// Steps taken, over all branches.
        steps: usize,
        /// Whether the vectors of every branch converged before they reached the limit of steps.
        at_rest: bool,
    },
    /// A limit was reached first; these are the best so far.
    Stopped {
        /// Which limit.
        by: Limit,
    },
}

/// How many rows are scored at once, so that their buffer stays within bounds.
pub(crate) fn block_of(entities: usize) -> usize {
    // 64 MB of truth values: far below the embeddings, far above what a product needs to be fast.
    (16_000_000 / entities.max(1)).clamp(1, 256)
}
