//! Lists of messages, made longer until no other entity can have a given value.

use super::edges::{Ends, lead_somewhere};
use super::state::{Bounds, Entry, Followed};
use super::{FIRST, GROWTH, Lists, shares};
use crate::graph::{EntityId, Id};
use crate::plan::{Message, MessageId, Plan, SignedHop};
use crate::query::Hop;
use crate::search::SearchError;

/// Values whose edges are followed at once.
const AT_ONCE: usize = 64;
/// Entities that are tried at once where nothing lists them.
const TRIED: usize = 256;
/// Of what a projection meets it keeps what is at least this share of the wanted value: a later round may want less.
const KEPT: f32 = 1.0 / 16.0;

/// Which messages can be listed from their parts. Of the others every entity has to be tried.
pub(super) fn can_be_listed(plan: &Plan) -> Vec<bool> {
    let mut can: Vec<bool> = Vec::with_capacity(plan.messages.len());
    for message in &plan.messages {
        let of = |part: &MessageId| can[part.index()];
        can.push(match message {
            Message::Row { .. } => true,
            Message::Project { hops, .. } => lead_somewhere(hops),
            Message::Meet(parts) => parts.iter().any(of),
            Message::Join(parts) => parts.iter().all(of),
            Message::All | Message::Not(_) | Message::Look { .. } => false,
        });
    }
    can
}

impl Lists<'_> {
    /// Lists every entity for which a message may be at least `least`: all others have less. Only a limit leaves
    /// the list shorter; its `rest` is a bound all the same.
    pub(super) fn extend(&mut self, id: MessageId, least: f32) -> Result<(), SearchError> {
        if self.states[id.index()].rest < least || self.rows.is_stopped() {
            return Ok(());
        }
        let plan = self.plan;
        match &plan.messages[id.index()] {
            Message::Row { anchor, hop } => self.deepen(id, (*anchor, *hop), least),
            Message::Meet(parts) if self.can_be_listed[id.index()] => self.meet(id, parts, least),
            Message::Join(parts) if self.can_be_listed[id.index()] => self.join(id, parts, least),
            Message::Project { source, hops, .. } if self.can_be_listed[id.index()] => {
                self.project(id, *source, hops, least)
            }
            _ => self.try_everything(id, least),
        }
    }

    /// Asks for longer and longer lists of a row.
    fn deepen(&mut self, id: MessageId, row: (EntityId, Hop), least: f32) -> Result<(), SearchError> {
        while self.states[id.index()].rest >= least {
            let depth = deeper(self.states[id.index()].depth);
            if !self.has_room(depth.min(self.rows.entities())) {
                break;
            }
            let Some(list) = self.rows.lists(&[row], depth)?.pop() else { break };
            self.states[id.index()].set_row(list, depth);
        }
        Ok(())
    }

    /// Fagin's threshold algorithm: goes down the lists of the parts until the t-norm of the last values seen is
    /// below `least`, and completes what was met by random access.
    fn meet(&mut self, id: MessageId, parts: &[MessageId], least: f32) -> Result<(), SearchError> {
        let can_be_listed = |lists: &Self, part: &MessageId| lists.can_be_listed[part.index()];
        let bound = loop {
            let bound = self.unmet(parts);
            // The shortest list is made longer first, so that all are about equally long.
            let open = parts.iter().filter(|part| can_be_listed(self, part));
            let open = open.filter(|part| self.states[part.index()].rest >= least);
            let next = open.min_by_key(|part| (self.states[part.index()].values.len(), **part));
            let Some(&next) = next.filter(|_| bound >= least && self.rows.stopped.is_none()) else {
                break bound;
            };
            let wanted = (self.states[next.index()].rest / GROWTH as f32).max(least);
            self.extend(next, wanted)?;
        };
        let listed = parts.iter().filter(|part| can_be_listed(self, part));
        let mut met: Vec<EntityId> = listed.flat_map(|part| self.states[part.index()].met()).collect();
        met.sort_unstable();
        met.dedup();
        let highs: Vec<f32> = parts.iter().map(|part| self.most(*part)).collect();
        let most = |x: EntityId| {
            let of_part =
                |(part, high): (&MessageId, &f32)| self.states[part.index()].bounds(x).high.min(*high);
            self.logic.t_norm.all(parts.iter().zip(&highs).map(of_part))
        };
        let found = self.states[id.index()].values.iter();
        let is_found = found.filter(|(_, entry)| entry.bounds.is_exact()).map(|(x, _)| *x);
        let is_found: rustc_hash::FxHashSet<EntityId> = is_found.collect();
        let mut rest = bound;
        met.retain(|x| {
            let most = most(*x);
            if most < least {
                rest = rest.max(most);
            }
            most >= least && !is_found.contains(x)
        });
        let values = self.probe_all(parts, &met, least)?;
        self.keep(id, &met, &values, least, rest);
        Ok(())
    }

    /// Alternatives joined in place: what is below its share in each of them is below `least` in all together.
    fn join(&mut self, id: MessageId, parts: &[MessageId], least: f32) -> Result<(), SearchError> {
        let share = shares(self.logic.t_norm, least, parts.len());
        for part in parts {
            self.extend(*part, share)?;
        }
        let rest = self.logic.t_norm.any(parts.iter().map(|part| self.states[part.index()].rest));
        let mut met: Vec<EntityId> = parts.iter().flat_map(|part| self.states[part.index()].met()).collect();
        met.sort_unstable();
        met.dedup();
        let values = self.probe(id, &met, least)?;
        self.keep(id, &met, &values, least, rest);
        Ok(())
    }

    /// `x ↦ max over y of m(y) ⊤ φ(y, x)`: values y with less than `least` lead to nothing that has more, and of the
    /// others only the truest edges are listed.
    fn project(
        &mut self,
        id: MessageId,
        source: MessageId,
        hops: &[SignedHop],
        least: f32,
    ) -> Result<(), SearchError> {
        self.extend(source, least)?;
        while let Some((depth, values)) = self.to_follow(id, source, least) {
            for block in values.chunks(AT_ONCE) {
                let from: Vec<EntityId> = block.iter().map(|&(y, _)| y).collect();
                let ends = self.ends(&from, hops, depth)?;
                for (&(y, message), ends) in block.iter().zip(ends) {
                    self.follow(id, y, message, &ends, depth, least * KEPT);
                }
                if self.rows.stopped.is_some() || !self.has_room(0) {
                    break;
                }
            }
        }
        let t_norm = self.logic.t_norm;
        let (state, source) = (&self.states[id.index()], &self.states[source.index()]);
        let left = source.met().map(|y| {
            let followed = state.followed.get(&y).map_or(1.0, |followed| followed.rest);
            t_norm.and(source.bounds(y).high, followed)
        });
        let rest = left.fold(source.rest, f32::max);
        let state = &mut self.states[id.index()];
        (state.rest, state.unfollowed) = (rest, rest);
        Ok(())
    }

    /// The values whose edges may still lead to something, best first, and how deep to list those edges; those that
    /// were listed least come first. `None` if there are none, or a limit is reached.
    fn to_follow(
        &self,
        id: MessageId,
        source: MessageId,
        least: f32,
    ) -> Option<(usize, Vec<(EntityId, Bounds)>)> {
        let t_norm = self.logic.t_norm;
        let (state, source) = (&self.states[id.index()], &self.states[source.index()]);
        let open = source.met().filter_map(|y| {
            let message = source.bounds(y);
            let Followed { depth, rest } =
                state.followed.get(&y).copied().unwrap_or(Followed { depth: 0, rest: 1.0 });
            (t_norm.and(message.high, rest) >= least).then_some((depth, y, message))
        });
        let open: Vec<(usize, EntityId, Bounds)> = open.collect();
        let depth = open.iter().map(|&(depth, ..)| depth).min().filter(|_| self.rows.stopped.is_none())?;
        let same = open.into_iter().filter(|(other, ..)| *other == depth);
        let mut values: Vec<(EntityId, Bounds)> = same.map(|(_, y, message)| (y, message)).collect();
        values.sort_unstable_by(|a, b| b.1.high.total_cmp(&a.1.high).then(a.0.cmp(&b.0)));
        Some((deeper(depth), values))
    }

    /// Folds the ends of a value's edges into a projection.
    fn follow(&mut self, id: MessageId, y: EntityId, message: Bounds, ends: &Ends, depth: usize, cut: f32) {
        let t_norm = self.logic.t_norm;
        let state = &mut self.states[id.index()];
        let mut rest = ends.rest;
        for &(x, edge) in &ends.values {
            let value = message.and(t_norm, edge);
            if value.high >= cut {
                state.values.entry(x).or_insert(Entry::NOTHING).offer(value, y);
            } else {
                rest = rest.max(edge.high);
            }
        }
        state.followed.insert(y, Followed { depth, rest });
    }

    /// Tries every entity, a few at a time, and keeps those that have enough.
    fn try_everything(&mut self, id: MessageId, least: f32) -> Result<(), SearchError> {
        let n = self.rows.entities();
        let mut rest = 0.0f32;
        for start in (0..n).step_by(TRIED) {
            if self.rows.is_stopped() || !self.has_room(TRIED) {
                rest = 1.0;
                break;
            }
            let block: Vec<EntityId> = (start..(start + TRIED).min(n)).map(EntityId::from_index).collect();
            let values = self.probe(id, &block, least)?;
            let less = values.iter().map(|value| value.high).filter(|high| *high < least);
            rest = less.fold(rest, f32::max);
            self.keep(id, &block, &values, least, rest);
            // Until all were tried, the others may have anything.
            self.states[id.index()].rest = 1.0;
        }
        self.states[id.index()].rest = rest;
        Ok(())
    }

    /// Keeps the values that are large enough; the others raise the bound of what is not kept.
    fn keep(&mut self, id: MessageId, met: &[EntityId], values: &[Bounds], least: f32, rest: f32) {
        let state = &mut self.states[id.index()];
        state.rest = rest;
        for (&x, &bounds) in met.iter().zip(values) {
            if bounds.high >= least {
                state.values.insert(x, Entry { bounds, via: None });
            } else {
                state.values.remove(&x);
                state.rest = state.rest.max(bounds.high);
            }
        }
        self.has_room(0);
    }

    /// The most that an entity can have that is in no list of a meet's parts.
    fn unmet(&self, parts: &[MessageId]) -> f32 {
        let of_part = |part: &MessageId| {
            if self.can_be_listed[part.index()] { self.states[part.index()].rest } else { self.most(*part) }
        };
        self.logic.t_norm.all(parts.iter().map(of_part))
    }

    /// The most that any entity can have.
    pub(super) fn most(&self, id: MessageId) -> f32 {
        let t_norm = self.logic.t_norm;
        match &self.plan.messages[id.index()] {
            Message::All | Message::Not(_) => 1.0,
            Message::Row { .. } => self.states[id.index()].most(),
            Message::Meet(parts) => t_norm.all(parts.iter().map(|part| self.most(*part))),
            Message::Join(parts) => t_norm.any(parts.iter().map(|part| self.most(*part))),
            Message::Project { source: part, .. } | Message::Look { inner: part, .. } => self.most(*part),
        }
    }
}

/// How many entities to ask for after so many were too few.
pub(super) fn deeper(depth: usize) -> usize {
    if depth == 0 { FIRST } else { depth.saturating_mul(GROWTH) }
}
