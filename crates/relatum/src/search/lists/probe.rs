//! Messages for given entities: random access to everything that a question is made of.

use rustc_hash::{FxHashMap, FxHashSet};

use super::edges::lead_somewhere;
use super::extend::deeper;
use super::state::{Bounds, Entry};
use super::{GROWTH, Lists, NEGLIGIBLE};
use crate::graph::EntityId;
use crate::plan::{Message, MessageId, SignedHop};
use crate::search::SearchError;

/// Values that are tried at once.
const AT_ONCE: usize = 64;

/// Atoms to a variable further from the target.
#[derive(Clone, Copy)]
struct Beyond<'a> {
    /// The projection or look.
    id: MessageId,
    /// The message of the further variable.
    far: MessageId,
    hops: &'a [SignedHop],
    /// Whether the atoms are read from the nearer variable.
    away: bool,
}

impl Lists<'_> {
    /// The values of a message for some entities, exact except for what negated sub-queries leave open; what is
    /// provably below `least` is not looked at any further.
    pub(super) fn probe(
        &mut self,
        id: MessageId,
        xs: &[EntityId],
        least: f32,
    ) -> Result<Vec<Bounds>, SearchError> {
        let plan = self.plan;
        let t_norm = self.logic.t_norm;
        match &plan.messages[id.index()] {
            Message::All => Ok(vec![Bounds::exact(1.0); xs.len()]),
            Message::Row { anchor, hop } => {
                let unmet = |x: &EntityId| !self.states[id.index()].values.contains_key(x);
                let others: Vec<EntityId> = xs.iter().copied().filter(unmet).collect();
                let edges: Vec<_> = others.iter().map(|&x| (*anchor, *hop, x)).collect();
                let others: FxHashMap<EntityId, Bounds> =
                    others.into_iter().zip(self.rows.edges(&edges)?).collect();
                let state = &self.states[id.index()];
                Ok(xs.iter().map(|x| others.get(x).copied().unwrap_or_else(|| state.bounds(*x))).collect())
            }
            Message::Not(part) => {
                let of_atom = matches!(plan.messages[part.index()], Message::Row { .. });
                let negation = self.logic.negation;
                // A small value becomes a large one, so what is small here has to be known well.
                let values = self.probe(*part, xs, self.floor)?.into_iter();
                let not = |x: f32| if of_atom { negation.not(x) } else { 1.0 - x };
                Ok(values.map(|value| value.turned(not)).collect())
            }
            Message::Meet(parts) => self.probe_all(parts, xs, least),
            Message::Join(parts) => {
                let mut all = vec![Bounds::exact(0.0); xs.len()];
                for part in parts {
                    // Small values add up.
                    let values = self.probe(*part, xs, self.floor / parts.len() as f32)?;
                    all.iter_mut().zip(values).for_each(|(all, value)| *all = all.or(t_norm, value));
                }
                Ok(all)
            }
            Message::Project { source, hops, .. } => {
                let beyond = Beyond { id, far: *source, hops, away: false };
                self.through(beyond, xs, least)
            }
            Message::Look { hops, inner } => {
                self.look(Beyond { id, far: *inner, hops, away: true }, xs, least)
            }
        }
    }

    /// The t-norm of several messages; those that are quickly known come first, and rule out what is not looked at
    /// further.
    pub(super) fn probe_all(
        &mut self,
        parts: &[MessageId],
        xs: &[EntityId],
        least: f32,
    ) -> Result<Vec<Bounds>, SearchError> {
        let t_norm = self.logic.t_norm;
        let of_part = |part: &MessageId| {
            let most = self.most(*part);
            let state = &self.states[part.index()];
            let of_entity = |&x: &EntityId| {
                let Bounds { low, high } = state.bounds(x);
                Bounds { low, high: high.min(most) }
            };
            xs.iter().map(of_entity).collect()
        };
        let mut values: Vec<Vec<Bounds>> = parts.iter().map(of_part).collect();
        // Always folded in the order of the parts, so that rounding cannot lift a value above its bound.
        let folded = |values: &[Vec<Bounds>], at: usize| {
            let parts = values.iter().map(|part| part[at]);
            parts.reduce(|all, part| all.and(t_norm, part)).unwrap_or(Bounds::exact(1.0))
        };
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|&place| self.cost(parts[place]));
        for place in order {
            let may_have_enough = |at: &usize| folded(&values, *at).high >= least;
            let is_open = |at: &usize| !values[place][*at].is_exact();
            let open: Vec<usize> = (0..xs.len()).filter(may_have_enough).filter(is_open).collect();
            let asked: Vec<EntityId> = open.iter().map(|&at| xs[at]).collect();
            let found = self.probe(parts[place], &asked, least)?;
            for (at, found) in open.into_iter().zip(found) {
                values[place][at] = found;
            }
        }
        Ok((0..xs.len()).map(|at| folded(&values, at)).collect())
    }

    /// How much work a message is for one entity: none, an edge, or a search.
    fn cost(&self, id: MessageId) -> usize {
        match &self.plan.messages[id.index()] {
            Message::All => 0,
            Message::Row { .. } => 1,
            Message::Not(part) => 1 + self.cost(*part),
            Message::Meet(parts) | Message::Join(parts) => parts.iter().map(|part| self.cost(*part)).sum(),
            Message::Project { source: part, .. } | Message::Look { inner: part, .. } => {
                100 + self.cost(*part)
            }
        }
    }

    /// `max over y of φ(x, y) ⊤ m(y)` where φ is read from x: first the y to which x leads best, then, if these prove
    /// too little, those of the largest messages.
    fn look(&mut self, beyond: Beyond<'_>, xs: &[EntityId], least: f32) -> Result<Vec<Bounds>, SearchError> {
        let t_norm = self.logic.t_norm;
        let Beyond { id, far, hops, .. } = beyond;
        let mut depth = 0;
        let mut open = self.still_open(id, xs, least);
        while !open.is_empty() && lead_somewhere(hops) && !self.rows.is_stopped() {
            depth = deeper(depth);
            for block in open.chunks(AT_ONCE) {
                let ends = self.ends(block, hops, depth)?;
                let mut met: Vec<EntityId> =
                    ends.iter().flat_map(|ends| ends.values.iter().map(|&(y, _)| y)).collect();
                met.sort_unstable();
                met.dedup();
                let messages = self.probe(far, &met, least)?;
                let messages: FxHashMap<EntityId, Bounds> = met.into_iter().zip(messages).collect();
                let most = self.most(far);
                for (&x, ends) in block.iter().zip(ends) {
                    let mut entry = Entry::NOTHING;
                    for (y, edge) in ends.values {
                        entry.offer(edge.and(t_norm, messages[&y]), y);
                    }
                    entry.bounds.high = entry.bounds.high.max(t_norm.and(ends.rest, most));
                    self.note(id, x, entry);
                }
                self.has_room(0);
            }
            if depth >= self.rows.entities() && self.rows.stopped.is_none() {
                // What is uncertain now is so because of the messages of y.
                return Ok(self.bounds(id, xs));
            }
            open = self.still_open(id, &open, least);
            if self.can_be_listed[far.index()] {
                break;
            }
        }
        self.through(beyond, xs, least)
    }

    /// The same by the largest messages: a value y cannot give more than m(y), so values are tried in falling
    /// order of their messages until what is left cannot lift any of the entities.
    fn through(
        &mut self,
        beyond: Beyond<'_>,
        xs: &[EntityId],
        least: f32,
    ) -> Result<Vec<Bounds>, SearchError> {
        let Beyond { id, far, .. } = beyond;
        let least = least.max(NEGLIGIBLE);
        let open = self.still_open(id, xs, least);
        // What was found before is a lower bound; upper bounds are made of all that is tried here.
        let begin = |x: &EntityId| {
            let Entry { bounds, via } = self.states[id.index()].best(*x);
            Entry { bounds: Bounds::exact(bounds.low), via }
        };
        let mut found: Vec<Entry> = open.iter().map(begin).collect();
        let mut tried: FxHashSet<EntityId> = FxHashSet::default();
        let mut wanted = 1.0f32;
        while !open.is_empty() {
            self.extend(far, wanted)?;
            self.try_values(beyond, &open, &mut found, &mut tried, wanted)?;
            let source = &self.states[far.index()];
            let untried = source.met().filter(|y| !tried.contains(y)).map(|y| source.bounds(y).high);
            let left = untried.fold(source.rest, f32::max);
            let settled = found.iter().all(|entry| left <= entry.bounds.low || left < least);
            if settled || self.rows.is_stopped() {
                for entry in &mut found {
                    entry.bounds.high = entry.bounds.high.max(left);
                }
                break;
            }
            let lifted = found.iter().map(|entry| entry.bounds.low.max(least)).fold(1.0, f32::min);
            wanted = (wanted / GROWTH as f32).max(lifted);
        }
        for (x, entry) in open.into_iter().zip(found) {
            self.note(id, x, entry);
        }
        self.has_room(0);
        Ok(self.bounds(id, xs))
    }

    /// Tries the values of a further variable whose messages are at least `wanted`.
    fn try_values(
        &mut self,
        beyond: Beyond<'_>,
        xs: &[EntityId],
        found: &mut [Entry],
        tried: &mut FxHashSet<EntityId>,
        wanted: f32,
    ) -> Result<(), SearchError> {
        let t_norm = self.logic.t_norm;
        let source = &self.states[beyond.far.index()];
        let untried = source.met().filter(|y| !tried.contains(y)).map(|y| (y, source.bounds(y)));
        let mut next: Vec<(EntityId, Bounds)> = untried.filter(|(_, it)| it.high >= wanted).collect();
        next.sort_unstable_by(|a, b| b.1.high.total_cmp(&a.1.high).then(a.0.cmp(&b.0)));
        for block in next.chunks(AT_ONCE) {
            // No value gives more than its message.
            let most = block[0].1.high;
            let places: Vec<usize> = (0..xs.len()).filter(|&at| found[at].bounds.low < most).collect();
            if places.is_empty() || self.rows.is_stopped() {
                break;
            }
            // Edges of one row stand together.
            let (mut pairs, mut of) = (Vec::new(), Vec::new());
            if beyond.away {
                for &at in &places {
                    pairs.extend(block.iter().map(|&(y, _)| (xs[at], y)));
                    of.extend(block.iter().map(|&(y, message)| (at, y, message)));
                }
            } else {
                for &(y, message) in block {
                    pairs.extend(places.iter().map(|&at| (y, xs[at])));
                    of.extend(places.iter().map(|&at| (at, y, message)));
                }
            }
            let edges = self.between(&pairs, beyond.hops)?;
            for ((at, y, message), edge) in of.into_iter().zip(edges) {
                found[at].offer(message.and(t_norm, edge), y);
            }
            tried.extend(block.iter().map(|&(y, _)| y));
        }
        Ok(())
    }

    fn bounds(&self, id: MessageId, xs: &[EntityId]) -> Vec<Bounds> {
        xs.iter().map(|x| self.states[id.index()].bounds(*x)).collect()
    }

    /// The entities whose bounds are not good enough yet.
    fn still_open(&self, id: MessageId, xs: &[EntityId], least: f32) -> Vec<EntityId> {
        let state = &self.states[id.index()];
        let is_open = |x: &EntityId| {
            let bounds = state.bounds(*x);
            !bounds.is_exact() && bounds.high >= least
        };
        xs.iter().copied().filter(is_open).collect()
    }

    /// Notes bounds of one entity.
    pub(super) fn settle(&mut self, id: MessageId, x: EntityId, bounds: Bounds) {
        self.note(id, x, Entry { bounds, via: None });
    }

    /// Notes what was found out about one entity; what was known before stays true.
    fn note(&mut self, id: MessageId, x: EntityId, entry: Entry) {
        let state = &mut self.states[id.index()];
        let before = state.bounds(x);
        let via = if entry.bounds.low > before.low || entry.via.is_none() {
            entry.via.or(state.best(x).via)
        } else {
            state.best(x).via.or(entry.via)
        };
        let bounds = Bounds {
            low: before.low.max(entry.bounds.low),
            high: before.high.min(entry.bounds.high).max(entry.bounds.low),
        };
        state.probed.insert(x, Entry { bounds, via });
    }
}
