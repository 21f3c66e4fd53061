//! One round: every message as far as its parts allow.

use super::state::{High, State};
use super::{Exact, NEGLIGIBLE, Reach, Stage};
use crate::kernels::meet;
use crate::plan::{Message, MessageId};
use crate::search::SearchError;

impl Exact<'_> {
    pub(super) fn round(&mut self, reach: Reach) -> Result<(), SearchError> {
        let stages = std::mem::take(&mut self.stages);
        let done = stages.iter().try_for_each(|stage| match stage {
            Stage::One(id) => self.advance(*id, reach),
            Stage::Scan(projections) => self.scan(projections, reach),
        });
        self.stages = stages;
        done
    }

    pub(super) fn advance(&mut self, id: MessageId, reach: Reach) -> Result<(), SearchError> {
        if !self.states[id.index()].low.is_empty() && self.states[id.index()].is_exact() {
            return Ok(());
        }
        let plan = self.plan;
        match &plan.messages[id.index()] {
            Message::All => self.states[id.index()] = State::exact(vec![1.0; self.truth.entities()]),
            Message::Not(part) => {
                let of_atom = matches!(plan.messages[part.index()], Message::Row { .. });
                let not = |x: f32| if of_atom { self.logic.negation.not(x) } else { 1.0 - x };
                let part = &self.states[part.index()];
                let state = if part.is_exact() {
                    State::exact(part.low.iter().map(|&x| not(x)).collect())
                } else {
                    let low = (0..part.low.len()).map(|x| not(part.high(x))).collect();
                    let high = High::Each(part.low.iter().map(|&x| not(x)).collect());
                    State { high, ..State::exact(low) }
                };
                self.states[id.index()] = state;
            }
            Message::Meet(parts) => self.meet(id, parts, reach)?,
            Message::Join(parts) => self.states[id.index()] = self.join(parts),
            // Anchors are scored together, projections by their scan, looks by their meet.
            Message::Row { .. } | Message::Project { .. } | Message::Look { .. } => {}
        }
        Ok(())
    }

    /// Any of several messages, by the t-conorm.
    fn join(&self, parts: &[MessageId]) -> State {
        let parts: Vec<&State> = parts.iter().map(|part| &self.states[part.index()]).collect();
        let any = |value: &dyn Fn(&State, usize) -> f32| {
            let of_entity = |x| self.logic.t_norm.any(parts.iter().map(|part| value(part, x)));
            (0..self.truth.entities()).map(of_entity).collect()
        };
        let low = any(&|part, x| part.low[x]);
        if parts.iter().all(|part| part.is_exact()) {
            return State::exact(low);
        }
        State { high: High::Each(any(&|part, x| part.high(x))), ..State::exact(low) }
    }

    fn meet(&mut self, id: MessageId, parts: &[MessageId], reach: Reach) -> Result<(), SearchError> {
        let is_look = |part: &&MessageId| matches!(self.plan.messages[part.index()], Message::Look { .. });
        let (looks, plain): (Vec<&MessageId>, Vec<&MessageId>) = parts.iter().partition(is_look);
        let n = self.truth.entities();
        let t_norm = self.logic.t_norm;
        let mut low = vec![1.0; n];
        // Kept apart from the lower bound from the first part on that has a bound of its own.
        let mut high: Option<Vec<f32>> = None;
        let join = |part: &State, low: &mut Vec<f32>, high: &mut Option<Vec<f32>>| {
            if high.is_some() || !part.is_exact() {
                let high = high.get_or_insert_with(|| low.clone());
                if part.is_exact() {
                    meet(t_norm, high, &part.low);
                } else {
                    meet(t_norm, high, &part.highs());
                }
            }
            meet(t_norm, low, &part.low);
        };
        for part in plain {
            join(&self.states[part.index()], &mut low, &mut high);
        }
        for look in looks {
            self.look(*look, &low, high.as_deref().unwrap_or(&low), reach)?;
            join(&self.states[look.index()], &mut low, &mut high);
        }
        let mut state = State::exact(low);
        if let Some(high) = high {
            let widest = state.low.iter().zip(&high).map(|(low, high)| high - low).fold(0.0, f32::max);
            if widest > NEGLIGIBLE {
                state.high = High::Each(high);
            } else {
                self.ignored = self.ignored.max(widest);
            }
        }
        self.states[id.index()] = state;
        Ok(())
    }
}
