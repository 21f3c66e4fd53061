//! Exact search by sorted lists: no vector over all entities is ever held.
//!
//! A message of a [`Plan`] is listed from its largest value down, as far as the answers need it, and one bound
//! holds for every entity that is in no list. Two questions are asked of a message:
//!
//! - **extend** it: which entities have at least so much? A row is a sorted list of its source. A projection
//!   follows the values of its source that have at least so much, because `m(y) ⊤ φ(y, x) ≤ m(y)`, each along its
//!   truest edges. A conjunction is Fagin's threshold algorithm: go down the lists of its parts, complete every
//!   entity by random access, and stop when the t-norm of the last values seen is too little.
//! - **probe** it: how much have these entities? That is random access, and all that a negated part is asked.
//!
//! Both give bounds. The search lowers what it asks for until the bounds prove the best answers, as exact search
//! does: the same answers, scores and certificate. What it takes is rows of the source and memory for the
//! entities that were met; there is a limit on these, and a search that reaches it says so.

mod curve;
mod edges;
mod explain;
mod extend;
mod probe;
mod prove;
mod rows;
mod state;
#[cfg(test)]
mod tests;

pub use explain::Ways;
pub use state::Bounds;

use super::truth::Scorer;
use super::{Certainty, Logic, SearchError};
use crate::control::{Control, Limit};
use crate::graph::EntityId;
use crate::logic::TNorm;
use crate::model::CandidateSource;
use crate::plan::{Message, MessageId, Plan};
use crate::query::Hop;
use rows::Rows;
use state::State;

/// Values below this are treated as 0, as exact search treats them.
const NEGLIGIBLE: f32 = 1e-6;
/// Entities of a row that are asked for first. A source reads a whole row however few are wanted, so this is more
/// than most questions need.
const FIRST: usize = if cfg!(test) { 2 } else { 128 };
/// How many times as many entities are asked for next, or how many times less truth.
const GROWTH: usize = 4;
/// Entities that all lists of a search may hold together: about 40 MB.
const HELD: usize = if cfg!(test) { 1 << 12 } else { 1 << 20 };
/// How uncertain negated sub-queries and alternatives may be at first.
const FLOOR: f32 = 1e-2;

/// What is to be proven.
#[derive(Clone, Copy)]
pub enum Wanted<'a> {
    /// The best answers among those to keep: which they are, their order, and their scores.
    Top {
        /// How many.
        count: usize,
        /// Which entities count as answers.
        keep: &'a (dyn Fn(EntityId) -> bool + Sync),
    },
    /// The score of one entity.
    One(EntityId),
}

/// The best answers of a search by lists.
#[derive(Clone, Debug, PartialEq)]
pub struct BestListed {
    /// The answers, best first; of each the part of its score that is certain.
    pub answers: Vec<(EntityId, f32)>,
    /// How sure they are.
    pub certainty: Certainty,
    /// Rows asked for: lists, and summaries of rows whose single edges were asked for. A row that is asked for
    /// again, with a longer list, counts again.
    pub rows: usize,
}

/// A search by lists, and after it what an explanation needs.
pub struct Lists<'a> {
    plan: &'a Plan,
    scorer: &'a Scorer<'a>,
    logic: Logic,
    rows: Rows<'a>,
    /// What is known about each message.
    states: Vec<State>,
    can_be_listed: Vec<bool>,
    /// Messages that a negated sub-query or alternatives are a part of: their bounds are no closer than the floor.
    uncertain: Vec<bool>,
    /// How uncertain negated sub-queries and alternatives may be.
    floor: f32,
}

impl<'a> Lists<'a> {
    /// Prepares a search. Every branch of the plan must be a tree, and the scorer must give truth values; the source
    /// holds the candidates of the scorer's model.
    pub fn new(
        plan: &'a Plan,
        scorer: &'a Scorer<'a>,
        source: &'a dyn CandidateSource,
        logic: Logic,
        control: &Control,
    ) -> Result<Self, SearchError> {
        if !plan.is_tree() {
            return Err(SearchError::NoLists);
        }
        if !scorer.calibration().is_truth() {
            return Err(SearchError::RawScores);
        }
        Ok(Self {
            plan,
            scorer,
            logic,
            rows: Rows::new(scorer, source, control),
            states: plan.messages.iter().map(|_| State::default()).collect(),
            can_be_listed: extend::can_be_listed(plan),
            uncertain: uncertain(plan),
            floor: FLOOR,
        })
    }

    /// Searches until the goal is proven or a limit is reached. The score of an answer whose place is certain may
    /// stay uncertain by `within`.
    pub fn run(&mut self, wanted: Wanted<'_>, within: f32) -> Result<BestListed, SearchError> {
        self.list_anchors()?;
        match wanted {
            Wanted::Top { count, keep } => self.prove(count, keep, within),
            Wanted::One(entity) => self.score(entity, within),
        }
    }

    /// The rows that the question itself names, all at once.
    fn list_anchors(&mut self) -> Result<(), SearchError> {
        let depths = self.plan.depths();
        let used =
            self.plan.messages.iter().zip(depths).enumerate().filter(|(_, (_, depth))| depth.is_some());
        let anchors: Vec<(usize, (EntityId, Hop))> = used
            .filter_map(|(id, (message, _))| match message {
                Message::Row { anchor, hop } => Some((id, (*anchor, *hop))),
                _ => None,
            })
            .collect();
        let rows: Vec<(EntityId, Hop)> = anchors.iter().map(|&(_, row)| row).collect();
        let lists = self.rows.lists(&rows, FIRST)?;
        for ((id, _), list) in anchors.into_iter().zip(lists) {
            self.states[id].set_row(list, FIRST);
        }
        Ok(())
    }

    /// Allows negated sub-queries and alternatives less uncertainty; `false` if they have next to none already.
    fn lower_floor(&mut self) -> bool {
        if self.floor <= NEGLIGIBLE {
            return false;
        }
        self.floor = (self.floor / 32.0).max(NEGLIGIBLE);
        for (state, _) in self.states.iter_mut().zip(&self.uncertain).filter(|(_, uncertain)| **uncertain) {
            *state = State::default();
        }
        true
    }

    /// Whether so many entities more can be held; stops the search if they cannot.
    fn has_room(&mut self, more: usize) -> bool {
        let held = self.states.iter().map(State::len).sum::<usize>().saturating_add(more);
        if held > HELD && self.rows.stopped.is_none() {
            self.rows.stopped = Some(Limit::Memory);
        }
        self.rows.stopped.is_none()
    }
}

/// The largest value such that alternatives which all have less have less than `least` together.
fn shares(t_norm: TNorm, least: f32, alternatives: usize) -> f32 {
    match (t_norm, alternatives) {
        (_, 0 | 1) | (TNorm::Godel, _) => least,
        // No t-conorm here gives more than the sum.
        _ => least / alternatives as f32,
    }
}

/// Which messages a negated sub-query or alternatives are a part of.
fn uncertain(plan: &Plan) -> Vec<bool> {
    let mut uncertain: Vec<bool> = Vec::with_capacity(plan.messages.len());
    for message in &plan.messages {
        let is_row = |part: &MessageId| matches!(plan.messages[part.index()], Message::Row { .. });
        let itself = match message {
            Message::Not(part) => !is_row(part),
            Message::Join(_) => true,
            _ => false,
        };
        uncertain.push(itself || message.parts().iter().any(|part| uncertain[part.index()]));
    }
    uncertain
}
