//! A beam that widens until its answers are proven or no longer change.
//!
//! Questions whose variables form a cycle have no messages that a bound could stop; but a beam on them
//! carries the variables that close the cycle in its states, so that a beam which leaves nothing out is
//! an exact search. It needs to leave nothing out only above the worst of the best answers: no t-norm
//! lifts a state, so a state below them cannot change them.

use super::{Beam, Pass, WIDER};
use crate::graph::EntityId;
use crate::logic::TNorm;
use crate::plan::BranchPlan;
use crate::search::exact::NEGLIGIBLE;
use crate::search::proof::{examine, or};
use crate::search::{Certainty, Found, Progress, SearchError};

/// How much work a proof is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Up to about a second; longer, up to a few seconds, only while the answers still change.
    Some,
    /// As much as the proof takes, within the limits.
    All,
}

/// What a widened beam must prove.
#[derive(Clone, Copy)]
pub struct Widened<'a> {
    /// How many answers.
    pub count: usize,
    /// Which entities count as answers.
    pub keep: &'a (dyn Fn(EntityId) -> bool + Sync),
    /// How uncertain the score of an answer may stay once its place is certain.
    pub within: f32,
    /// How much work a proof is worth.
    pub effort: Effort,
}

/// Truth values (states × entities) that may always be combined for a proof: less than a second of work.
const A_MOMENT: usize = 400_000_000;
/// The most that are combined while the answers still change.
const SOME: usize = 4_000_000_000;
/// The most states, because they are held in memory.
const MOST_STATES: usize = 4_000_000;

impl Beam<'_> {
    /// Widens the beam until its best answers are proven, or further effort is not worth it; it stays as
    /// wide as it became.
    pub fn widen(&mut self, goal: &Widened<'_>) -> Result<Found, SearchError> {
        // The best answers of the last whole pass, its width, and all its scores.
        let (mut rows, mut before) = (0, None::<(_, (usize, Vec<f32>))>);
        self.progress_so_far.wanted = goal.count;
        let asked = self.width.k;
        self.width.k = self.first_width();
        loop {
            let pass = self.pass(rows)?;
            rows = pass.usage.rows;
            let scores = self.joined(&pass.branches);
            if pass.usage.stopped {
                let certainty = Certainty::Stopped { by: self.control.limit() };
                // A pass that was stopped on its way may have reached no answer; the one before it did.
                let scores = self.last_whole(before.map(|(_, whole)| whole), scores);
                return Ok(Found { scores, certainty, rows });
            }
            let below = self.error_below(&pass);
            let high = self.at_most(&pass, &scores);
            let proof = examine(&scores, Some(&high), goal.count, goal.keep);
            if proof.holds(goal.within) && below <= goal.within {
                let ignored = pass.left_out.iter().copied().fold(0.0, f32::max).min(NEGLIGIBLE);
                let within = proof.widest.max(below).max(if proof.worst > ignored { 0.0 } else { ignored });
                return Ok(Found { scores, certainty: Certainty::Exact { within }, rows });
            }
            let top = proof.top;
            self.progress_so_far =
                Progress { rows, best: top.clone(), proven: proof.certain, wanted: goal.count };
            self.control.report(|| self.progress_so_far.clone());
            let settled = before.as_ref().is_some_and(|(best, _)| *best == top);
            let narrower = self.width.k < asked;
            let most = if narrower { asked } else { usize::MAX };
            let k = self.width.k.saturating_mul(WIDER).min(most);
            let work = k.saturating_mul(self.truth.entities()).saturating_mul(self.longest());
            let enough = !narrower
                && match goal.effort {
                    Effort::Some => work > A_MOMENT && (settled || work > SOME),
                    Effort::All => self.width.k >= MOST_STATES,
                };
            if enough {
                let certainty = Certainty::Beam { k: self.width.k, settled };
                return Ok(Found { scores, certainty, rows });
            }
            before = Some((top, (self.width.k, scores)));
            self.width.k = k.min(MOST_STATES);
            // If alternatives add up, or sub-queries are not certain yet, a smaller state may still matter.
            let alone = self.plan.branches.len() == 1 || self.logic.t_norm == TNorm::Godel;
            if alone && below <= goal.within {
                self.floor = self.floor.max(proof.worst - below);
            }
        }
    }

    /// Upper bounds on the scores of all entities, given what was left out.
    fn at_most(&self, pass: &Pass, scores: &[f32]) -> Vec<f64> {
        let left_out = |branch: usize| {
            let value = pass.left_out[branch];
            if value <= NEGLIGIBLE { 0.0 } else { value }
        };
        let of_entity = |(x, &score): (usize, &f32)| {
            let mut branches = pass.branches.iter().enumerate();
            // Where nothing that was left out can change a score, the bound is that score, bit for bit.
            if branches.all(|(branch, scores)| scores[x] >= left_out(branch)) {
                return f64::from(score);
            }
            let highs = pass.branches.iter().enumerate();
            let highs = highs.map(|(branch, scores)| f64::from(scores[x].max(left_out(branch))));
            highs.fold(0.0, |all, one| or(self.logic.t_norm, all, one))
        };
        scores.iter().enumerate().map(of_entity).collect()
    }

    /// How much the states that negated sub-queries left out can change a score at most: a t-norm never
    /// changes more than its arguments do.
    fn error_below(&self, pass: &Pass) -> f32 {
        let value = pass.usage.left_out_below;
        if value <= 0.0 {
            return 0.0;
        }
        let nested: usize = self.plan.branches.iter().map(sub_queries).sum();
        (value * nested as f32).min(1.0)
    }

    /// The steps of the longest branch.
    fn longest(&self) -> usize {
        self.plan.branches.iter().map(|branch| branch.steps.len()).max().unwrap_or(1)
    }
}

fn sub_queries(branch: &BranchPlan) -> usize {
    branch.negated.iter().map(|nested| 1 + sub_queries(nested)).sum()
}
