//! What an explanation needs: assignments, the scores of single alternatives, the truth of single edges.

use super::state::{Bounds, Entry};
use super::{GROWTH, Lists, NEGLIGIBLE};
use crate::graph::EntityId;
use crate::plan::{Message, MessageId, TreeNode};
use crate::query::{Hop, VariableId};
use crate::search::{SearchError, Why};

/// A difference of truth values that no output shows.
const CLOSE: f32 = 1e-5;
/// Values that are tried for the next best assignments of one entity.
const TRIED: usize = 64;

/// The best values at the other end of a projection or look for one entity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ways {
    /// The message of these values.
    pub far: Option<MessageId>,
    /// The values, best first, each with the truth of the atoms to it.
    pub best: Vec<(EntityId, f32)>,
    /// Whether no other value is better.
    pub certain: bool,
}

impl Lists<'_> {
    /// The value of a message for an entity, as closely as it can be told; after a search that was stopped, as
    /// closely as it was told by then.
    pub fn value(&mut self, message: MessageId, entity: EntityId) -> Result<Bounds, SearchError> {
        if self.rows.stopped.is_some() {
            return Ok(self.states[message.index()].bounds(entity));
        }
        loop {
            let values = self.probe(message, &[entity], CLOSE)?;
            let bounds = values.first().copied().unwrap_or(Bounds::OPEN);
            let is_close = bounds.high - bounds.low <= CLOSE || !self.uncertain[message.index()];
            if is_close || self.rows.stopped.is_some() || !self.lower_floor() {
                return Ok(bounds);
            }
        }
    }

    /// The best assignment that gives the variable of a node a value, if one is known.
    pub fn assignment(
        &mut self,
        node: &TreeNode,
        value: EntityId,
    ) -> Result<Option<Vec<(VariableId, EntityId)>>, SearchError> {
        let mut values = Vec::new();
        Ok(self.assign(node, value, &mut values)?.then_some(values))
    }

    fn assign(
        &mut self,
        node: &TreeNode,
        value: EntityId,
        values: &mut Vec<(VariableId, EntityId)>,
    ) -> Result<bool, SearchError> {
        values.push((node.variable, value));
        for (message, child) in &node.children {
            let Some(next) = self.via(*message, value)? else { return Ok(false) };
            if !self.assign(child, next, values)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The value at the other end of a projection or look in the best assignment.
    fn via(&mut self, message: MessageId, entity: EntityId) -> Result<Option<EntityId>, SearchError> {
        let state = &self.states[message.index()];
        let is_best = |entry: Entry| entry.bounds.low >= state.bounds(entity).high;
        if !is_best(state.best(entity)) && self.rows.stopped.is_none() {
            self.probe(message, &[entity], NEGLIGIBLE)?;
        }
        Ok(self.states[message.index()].best(entity).via)
    }

    /// The best values at the other end of a projection or look, no more than `count`.
    pub fn ways(&mut self, message: MessageId, entity: EntityId, count: usize) -> Result<Ways, SearchError> {
        let plan = self.plan;
        let (far, hops, away) = match &plan.messages[message.index()] {
            Message::Project { source, hops, .. } => (*source, hops, false),
            Message::Look { inner, hops } => (*inner, hops, true),
            _ => return Ok(Ways::default()),
        };
        // The best one is known; it is tried whatever its message is.
        let best = self.via(message, entity)?;
        let t_norm = self.logic.t_norm;
        let mut tried: Vec<(EntityId, f32, f32)> = Vec::new();
        let mut wanted = 1.0f32;
        loop {
            if self.can_be_listed[far.index()] {
                self.extend(far, wanted)?;
            }
            let state = &self.states[far.index()];
            let untried = state.met().chain(best).filter(|y| !tried.iter().any(|(other, ..)| other == y));
            let mut next: Vec<(EntityId, f32)> = untried.map(|y| (y, state.bounds(y).low)).collect();
            next.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            next.dedup();
            let (now, later): (Vec<_>, Vec<_>) =
                next.into_iter().partition(|&(y, low)| low >= wanted || best == Some(y));
            let room = TRIED.saturating_sub(tried.len());
            let cut = now.len() > room;
            let now: Vec<EntityId> = now.into_iter().take(room).map(|(y, _)| y).collect();
            let messages = self.probe(far, &now, NEGLIGIBLE)?;
            let pair = |&y: &EntityId| if away { (entity, y) } else { (y, entity) };
            let edges = self.between(&now.iter().map(pair).collect::<Vec<_>>(), hops)?;
            for ((y, message), edge) in now.into_iter().zip(messages).zip(edges) {
                tried.push((y, t_norm.and(message.low, edge.low), edge.low));
            }
            tried.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let last = tried.get(count - 1).map_or(0.0, |it| it.1);
            let left = later.iter().map(|it| it.1).fold(self.states[far.index()].rest, f32::max);
            let certain = !cut && left <= last.max(CLOSE) && self.rows.stopped.is_none();
            let further = self.can_be_listed[far.index()] && wanted > CLOSE && !self.rows.is_stopped();
            if certain || cut || !further {
                let best = tried.into_iter().filter(|it| it.1 > 0.0).take(count);
                let best = best.map(|(y, _, edge)| (y, edge)).collect();
                return Ok(Ways { far: Some(far), best, certain });
            }
            wanted = (wanted / GROWTH as f32).max(last.min(wanted)).max(CLOSE);
        }
    }

    /// How true an edge is.
    pub fn edge(&mut self, from: EntityId, hop: Hop, to: EntityId) -> Result<f32, SearchError> {
        let stopped = self.rows.stopped;
        let limited = self.rows.without_limits();
        let truths = self.rows.edges(&[(from, hop, to)]);
        self.rows.limit(limited, stopped);
        Ok(truths?.first().map_or(0.0, |truth| truth.low))
    }

    /// What speaks for an edge that is not trusted; `None` for raw scores.
    pub fn why(&mut self, from: EntityId, hop: Hop, to: EntityId) -> Result<Option<Why>, SearchError> {
        let stopped = self.rows.stopped;
        let limited = self.rows.without_limits();
        let by_predictor = self.rows.by_predictor(from, hop, to);
        self.rows.limit(limited, stopped);
        Ok(self.scorer.why_given(from, hop, to, by_predictor?))
    }
}
