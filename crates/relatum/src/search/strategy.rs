//! Which search runs a plan, both for a single question and for a benchmark of thousands.

use super::beam::{Beam, Effort, Widened, Width};
use super::exact::{Exact, Goal};
use super::{AtomTruth, Found, Logic, SearchError};
use crate::control::Control;
use crate::graph::EntityId;
use crate::plan::Plan;

/// How a plan is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// By messages, which needs a tree; each projection follows no more than `most` values.
    Messages {
        /// How many; `None` for as many as the proof takes.
        most: Option<usize>,
    },
    /// By a beam as wide as it is asked to be.
    Beam,
    /// By a beam that widens until its answers are proven.
    Widening(Effort),
}

impl Strategy {
    /// The k best values of each variable if the question is a tree: they are at least as good as a beam of k
    /// assignments, and a bound saves most of their rows. Otherwise, and with raw scores, the beam.
    pub fn best_values(plan: &Plan, k: usize, raw: bool) -> Self {
        if plan.is_tree() && !raw { Self::Messages { most: Some(k) } } else { Self::Beam }
    }
}

/// What is wanted of a search.
#[derive(Clone, Copy)]
pub enum Aim<'a> {
    /// The best answers, proven where the strategy can prove anything.
    Top {
        /// How many.
        count: usize,
        /// Which entities count as answers.
        keep: &'a (dyn Fn(EntityId) -> bool + Sync),
        /// How uncertain the score of an answer may stay once its place is certain.
        within: f32,
    },
    /// The score of every entity, in one pass. A search by messages follows no value whose message is below this
    /// share of the best one.
    All {
        /// The share.
        floor: f32,
    },
}

/// A plan with all that a search of it needs, and after it what an explanation needs.
pub struct Searcher<'a> {
    plan: &'a Plan,
    truth: &'a dyn AtomTruth,
    logic: Logic,
    control: Control,
    /// The search by messages, if one has run.
    pub exact: Option<Exact<'a>>,
    /// The beam, whether it has run or not.
    pub beam: Beam<'a>,
}

impl<'a> Searcher<'a> {
    /// Prepares a search. `raw` says that truth values may leave [0, 1].
    pub fn new(
        plan: &'a Plan,
        truth: &'a dyn AtomTruth,
        logic: Logic,
        width: Width,
        control: &Control,
        raw: bool,
    ) -> Result<Self, SearchError> {
        let beam = Beam::new(plan, truth, logic, width, control, raw)?;
        Ok(Self { plan, truth, logic, control: control.clone(), exact: None, beam })
    }

    /// Runs the search.
    pub fn run(&mut self, strategy: Strategy, wanted: Aim<'_>) -> Result<Found, SearchError> {
        match (strategy, wanted) {
            (Strategy::Messages { most }, wanted) => {
                let goal = match wanted {
                    Aim::Top { count, keep, within } => Goal::Top { count, keep, within, most },
                    Aim::All { floor } => Goal::All { floor, most },
                };
                let exact = Exact::new(self.plan, self.truth, self.logic, &self.control)?;
                self.exact.insert(exact).run(goal)
            }
            (Strategy::Widening(effort), Aim::Top { count, keep, within }) => {
                self.beam.widen(&Widened { count, keep, within, effort })
            }
            (Strategy::Beam | Strategy::Widening(_), _) => self.beam.run(),
        }
    }
}
