//! Searching for the assignments that make a question truest.
//!
//! Every t-norm is monotone, so `max` distributes over it: a variable can be maximised over as
//! soon as no later atom mentions it. [`exact`] uses that on whole vectors, for questions that
//! are trees; [`beam`] keeps the k best assignments, for every question. Both run a
//! [`Plan`](crate::plan::Plan) and see the model and the graph only through [`AtomTruth`].
//! [`continuous`] runs the same plan on vectors instead of entities.

mod at_most;
pub mod beam;
pub mod continuous;
mod error;
pub mod exact;
mod facts;
mod fold;
pub(crate) mod rows;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
pub(crate) mod tests;
mod top;
mod truth;

pub use error::SearchError;
pub use top::best;
pub use truth::{AtomTruth, Known, Scorer};

use crate::logic::{Negation, TNorm};

/// How truth values are combined, and when to stop.
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

/// What a search may use up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget {
    /// At most so many rows; none: no limit.
    pub rows: Option<usize>,
    /// Not longer than this moment; none: no limit.
    pub until: Option<std::time::Instant>,
    /// Asked between blocks of rows whether to stop: somebody may have lost patience.
    pub stop: Option<fn() -> bool>,
}

impl Budget {
    /// Whether the time is up, or somebody asked to stop.
    pub(crate) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| std::time::Instant::now() >= until)
            || self.stop.is_some_and(|stop| stop())
    }

    /// The same with half of the time that is left.
    pub(crate) fn halved(self) -> Self {
        let now = std::time::Instant::now();
        let half = |until: std::time::Instant| now + until.saturating_duration_since(now) / 2;
        Self { until: self.until.map(half), ..self }
    }

    /// Which limit ended a search that was stopped.
    pub(crate) fn limit(&self) -> Limit {
        if self.stop.is_some_and(|stop| stop()) {
            Limit::Asked
        } else if self.is_late() {
            Limit::Time
        } else {
            Limit::Rows
        }
    }

    /// How many values to take at once, each worth `cost` rows: at most `block`, and no more than are
    /// left after so many rows. 0: the budget is spent.
    pub(crate) fn block(&self, rows: usize, cost: usize, block: usize) -> usize {
        if self.is_late() { 0 } else { block.min(self.left(rows).checked_div(cost).unwrap_or(block)) }
    }

    /// How many rows are left after so many.
    pub(crate) fn left(&self, rows: usize) -> usize {
        self.rows.map_or(usize::MAX, |most| most.saturating_sub(rows))
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The score of every entity; where the search was not exhaustive, a lower bound of it.
    pub scores: Vec<f32>,
    /// How sure that is.
    pub certainty: Certainty,
    /// Rows scored: one known entity, one relation, all entities on the other side.
    pub rows: usize,
}

/// How sure the best answers of a search are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certainty {
    /// The best answers, their order and their scores are proven: nothing that was not looked at
    /// can change them by more than `within`, which is 0 unless a sub-query is negated.
    Exact {
        /// The largest possible error of a score.
        within: f32,
    },
    /// The best that a beam found; others may be better.
    Beam,
    /// Where the vectors of continuous optimisation came to rest; elsewhere may be better.
    Continuous {
        /// Steps taken, over all branches.
        steps: usize,
        /// Whether the vectors of every branch came to rest, and none was at its limit of steps first.
        at_rest: bool,
    },
    /// The budget was spent first; these are the best so far.
    Stopped {
        /// What of it.
        by: Limit,
    },
}

/// What ended a search before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The time.
    Time,
    /// The number of rows.
    Rows,
    /// Somebody asked to stop.
    Asked,
}

/// `rows[y][x]` for some y at once, in a buffer of bounded size.
pub(crate) fn block_of(entities: usize) -> usize {
    // 64 MB of truth values: far below the embeddings, far above what a product needs to be fast.
    (16_000_000 / entities.max(1)).clamp(1, 256)
}
