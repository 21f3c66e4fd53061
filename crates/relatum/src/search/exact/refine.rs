//! Bounds of single answers, where those of whole messages prove too little.
//!
//! A value y that was not looked at can give any answer m(y) at most, because no edge is truer than 1.
//! For a few contenders much less can be said without a row: how true the edges from y to *them* can
//! be takes a few inner products, not one for every entity. Where alternatives add up, or a negated
//! sub-query must be known to its last digits, that saves thousands of rows; and it shows which of
//! the remaining values can matter at all.

use super::state::{High, Seen, State};
use super::{Exact, NEGLIGIBLE, Reach, Stage};
use crate::graph::{EntityId, Id};
use crate::kernels::meet;
use crate::plan::{Message, MessageId, SignedHop};
use crate::search::SearchError;
use crate::search::top::better;

/// The most contenders whose edges are bounded one by one.
pub(super) const CONTENDERS: usize = 256;
/// How much bounding may cost before it has paid off, in rows; beyond that, no more than scoring has cost so far.
const LEAST_WORK: usize = 32;
/// Pairs of a value and a contender that are held at once.
const PAIRS: usize = 4 << 20;
/// The cost of bounding the edges of a value, besides those to contenders.
const BESIDES: usize = 128;

impl Exact<'_> {
    /// Lowers the upper bounds of contenders for the best answers, which values that were not looked at could still
    /// lift; returns `false` if no bound could be lowered. A bound within `within` of the truth is good enough.
    pub(super) fn refine(&mut self, contenders: &[EntityId], within: f32) -> Result<bool, SearchError> {
        let mut lowered = false;
        for id in self.about_target() {
            let Message::Project { source, hops, .. } = &self.plan.messages[id.index()] else { continue };
            let mut state = std::mem::take(&mut self.states[id.index()]);
            if !state.is_exact() {
                lowered |= self.lower(&mut state, *source, hops, contenders, within);
            }
            self.states[id.index()] = state;
        }
        if lowered {
            self.settle()?;
        }
        Ok(lowered)
    }

    /// The projections to the target.
    fn about_target(&self) -> Vec<MessageId> {
        let mut found = Vec::new();
        let mut open = self.plan.roots();
        while let Some(id) = open.pop() {
            match &self.plan.messages[id.index()] {
                Message::Project { .. } if !found.contains(&id) => found.push(id),
                Message::Meet(parts) | Message::Join(parts) => open.extend(parts),
                Message::Not(part) => open.push(*part),
                _ => {}
            }
        }
        found
    }

    /// Lowers the bounds of contenders in one projection, and finds the values that are worth a look.
    fn lower(
        &mut self,
        state: &mut State,
        source: MessageId,
        hops: &[SignedHop],
        contenders: &[EntityId],
        within: f32,
    ) -> bool {
        // A message that is smaller than what every contender has already changes nothing.
        let had = contenders.iter().map(|x| state.low[x.index()]).fold(1.0, f32::min);
        let (open, passed_over) = self.left_open(state, source, had.max(within).max(NEGLIGIBLE));
        if !self.affords(open.len(), contenders.len()) {
            return false;
        }
        let Some(edges) = self.edges_at_most(&open, hops, contenders) else { return false };
        let source = &self.states[source.index()];
        let t_norm = self.logic.t_norm;
        let has = |x: &EntityId| state.low[x.index()];
        let mut can_have: Vec<f32> = contenders.iter().map(|x| has(x).max(passed_over)).collect();
        let mut wanted = Vec::new();
        for (&y, edges) in open.iter().zip(edges.chunks_exact(contenders.len().max(1))) {
            let message = source.high(y.index());
            let mut gain = 0.0f32;
            for ((x, can_have), &edge) in contenders.iter().zip(&mut can_have).zip(edges) {
                let most = t_norm.and(message, edge);
                *can_have = can_have.max(most);
                if most > has(x) + within {
                    gain = gain.max(most);
                }
            }
            // A value that is not certain itself cannot be looked at yet.
            if gain > 0.0 && source.low[y.index()] >= message {
                wanted.push((y, gain));
            }
        }
        wanted.sort_unstable_by(better);
        state.wanted = wanted.into_iter().map(|(y, _)| y).collect();
        let mut highs = state.highs();
        for (x, can_have) in contenders.iter().zip(can_have) {
            highs[x.index()] = highs[x.index()].min(can_have);
        }
        state.high = High::Each(highs);
        true
    }

    /// The values that were not looked at and may be worth more than `enough`, and the most that any other
    /// is worth.
    fn left_open(&self, state: &State, source: MessageId, enough: f32) -> (Vec<EntityId>, f32) {
        let source = &self.states[source.index()];
        let (mut open, mut passed_over) = (Vec::new(), 0.0f32);
        for (y, _) in state.seen.iter().enumerate().filter(|(_, seen)| **seen != Seen::Row) {
            let high = source.high(y);
            if high > enough {
                open.push(EntityId::from_index(y));
            } else {
                passed_over = passed_over.max(high);
            }
        }
        (open, passed_over)
    }

    /// Whether so many edges may be bounded: there is room, and rows have taken longer so far.
    fn affords(&mut self, values: usize, contenders: usize) -> bool {
        let work = self.compared.saturating_add(values.saturating_mul(contenders + BESIDES));
        let most = self.rows.max(LEAST_WORK).saturating_mul(self.truth.entities());
        let affords = values.saturating_mul(contenders) <= PAIRS && work <= most;
        if affords {
            self.compared = work;
        }
        affords
    }

    /// How true the edges from values to contenders can be at most, along all hops; `None` if no bound
    /// below 1 is known.
    fn edges_at_most(
        &self,
        values: &[EntityId],
        hops: &[SignedHop],
        contenders: &[EntityId],
    ) -> Option<Vec<f32>> {
        let mut all: Option<Vec<f32>> = None;
        for signed in hops.iter().filter(|signed| !signed.negated) {
            let mut one = vec![1.0; values.len() * contenders.len()];
            if self.truth.at_most(values, signed.hop, contenders, &mut one) {
                if let Some(all) = &all {
                    meet(self.logic.t_norm, &mut one, all);
                }
                all = Some(one);
            }
        }
        all
    }

    /// Computes the messages that depend on projections again, without any row.
    fn settle(&mut self) -> Result<(), SearchError> {
        let stages = std::mem::take(&mut self.stages);
        let nothing = Reach { least: f32::INFINITY, rows: 0 };
        let done = stages.iter().try_for_each(|stage| match stage {
            Stage::One(id) => self.advance(*id, nothing),
            Stage::Scan(_) => Ok(()),
        });
        self.stages = stages;
        done
    }
}
