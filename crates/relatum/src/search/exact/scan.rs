//! Projections along the same hops: each value's row is scored once and folded into all of them.

use super::state::{High, Seen, State};
use super::{Exact, NEGLIGIBLE, Reach};
use crate::graph::{EntityId, Id};
use crate::plan::{Message, MessageId, SignedHop};
use crate::search::fold::fold_rows;
use crate::search::top::better;
use crate::search::{AtomTruth, SearchError, rows};

/// Trusted edges of values with a smaller message are not followed, because they raise no bound.
const FOLLOWED: f32 = 1e-3;

/// A projection taken out of its place while its scan runs.
struct Projection {
    id: MessageId,
    source: MessageId,
    state: State,
    /// The values of its source to look at, best first: without a limit on the values, only those for
    /// which this round scores rows.
    chosen: Vec<(EntityId, f32)>,
    /// Whether the limit on the number of values excludes all others.
    full: bool,
}

impl Exact<'_> {
    pub(super) fn scan(&mut self, ids: &[MessageId], reach: Reach) -> Result<(), SearchError> {
        let n = self.truth.entities();
        let plan = self.plan;
        let mut along: &[SignedHop] = &[];
        let mut open = Vec::new();
        for &id in ids {
            let Message::Project { source, hops, .. } = &plan.messages[id.index()] else { continue };
            along = hops;
            let known = !self.states[id.index()].low.is_empty();
            if known && (self.stopped || self.states[id.index()].is_exact()) {
                continue;
            }
            let state = if known {
                std::mem::take(&mut self.states[id.index()])
            } else {
                State::open(n, High::AtLeast(1.0))
            };
            open.push(Projection { id, source: *source, state, chosen: Vec::new(), full: false });
        }
        for projection in &mut open {
            self.follow_facts(projection, along, reach);
            self.choose(projection, reach);
        }
        let scanned = self.score(&mut open, along, reach);
        for mut projection in open {
            self.bound(&mut projection);
            self.states[projection.id.index()] = projection.state;
        }
        scanned
    }

    /// `m(y) ⊤ 1 = m(y)`: where a trusted edge leads, no row is needed.
    fn follow_facts(&self, projection: &mut Projection, along: &[SignedHop], reach: Reach) {
        let positive: Vec<SignedHop> = along.iter().copied().filter(|signed| !signed.negated).collect();
        if positive.is_empty() || !self.bounded {
            return;
        }
        let all_positive = positive.len() == along.len();
        let source = &self.states[projection.source.index()];
        let State { low, seen, via, .. } = &mut projection.state;
        let least = reach.least.max(FOLLOWED);
        for (y, &message) in source.low.iter().enumerate() {
            if message < least || seen[y] != Seen::Not || message < source.high(y) {
                continue;
            }
            let from = EntityId::from_index(y);
            let mut leads_anywhere = false;
            follow(self.truth, from, &positive, &mut |tail| {
                leads_anywhere = true;
                let x = tail.index();
                if all_positive && x < low.len() && message > low[x] {
                    low[x] = message;
                    via[x] = from;
                }
            });
            // How much a negated hop leaves of an edge is known only from a row; without an edge it is no more
            // than a prediction.
            if all_positive || !leads_anywhere {
                seen[y] = Seen::Facts;
            }
        }
    }

    /// The best values of the source that are certain.
    fn choose(&mut self, projection: &mut Projection, reach: Reach) {
        let source = &self.states[projection.source.index()];
        let limited = self.most < usize::MAX;
        // If nothing is to be proven, what matters is how small a message is compared with the best.
        let best = if self.bounded { 1.0 } else { source.low.iter().copied().fold(0.0, f32::max) };
        let least = (reach.least * best).max(f32::MIN_POSITIVE);
        let seen = &projection.state.seen;
        let certain = |&(y, low): &(usize, &f32)| {
            *low >= least && (limited || seen[y] != Seen::Row) && *low >= source.high(y)
        };
        let keep = if limited { self.most } else { reach.rows };
        let wanted = &projection.state.wanted;
        let mut values: Vec<(EntityId, f32)> = if wanted.is_empty() {
            let ceiling = self.truth.ceiling();
            // A value whose trusted edges were followed can still give no more than a prediction.
            let worth = |y: usize, low: f32| match seen[y] {
                Seen::Facts if self.bounded => self.logic.t_norm.and(ceiling, low),
                _ => low,
            };
            let all = source.low.iter().enumerate().filter(certain);
            all.map(|(y, &low)| (EntityId::from_index(y), worth(y, low))).collect()
        } else {
            wanted.iter().take(keep).map(|&y| (y, source.low[y.index()])).collect()
        };
        projection.state.wanted.clear();
        if values.len() > keep {
            let (_, &mut (_, left_out), _) = values.select_nth_unstable_by(keep, better);
            projection.state.left_out = left_out;
            values.truncate(keep);
            if limited {
                self.cut = true;
                projection.full = true;
            }
        }
        values.sort_unstable_by(better);
        projection.chosen = values;
    }

    fn score(
        &mut self,
        open: &mut [Projection],
        along: &[SignedHop],
        reach: Reach,
    ) -> Result<(), SearchError> {
        let mut next: Vec<(EntityId, f32)> = Vec::new();
        for projection in open.iter() {
            let seen = &projection.state.seen;
            let left = projection.chosen.iter().filter(|(y, _)| seen[y.index()] != Seen::Row);
            next.extend(left.take(reach.rows));
        }
        // A value that several sources have is ranked by its best message.
        next.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(better(a, b)));
        next.dedup_by_key(|(y, _)| *y);
        next.sort_unstable_by(better);
        let mut left = next.as_slice();
        while let Some(block) = self.next_block(&mut left, along.len()) {
            let from: Vec<EntityId> = block.iter().map(|&(y, _)| y).collect();
            self.rows += from.len() * along.len();
            self.progress = true;
            rows::of(self.truth, self.logic, &from, along, &mut self.buffers)?;
            for projection in open.iter_mut() {
                let source = &self.states[projection.source.index()];
                let state = &mut projection.state;
                let messages: Vec<(usize, EntityId, f32)> = from
                    .iter()
                    .enumerate()
                    .map(|(at, &y)| (at, y, source.low[y.index()]))
                    .filter(|&(_, y, low)| {
                        low > 0.0 && low >= source.high(y.index()) && state.seen[y.index()] != Seen::Row
                    })
                    .collect();
                fold_rows(self.logic.t_norm, &messages, &self.buffers.0, &mut state.low, &mut state.via);
                for (_, y, _) in messages {
                    state.seen[y.index()] = Seen::Row;
                }
            }
        }
        Ok(())
    }

    /// Bounds what the values that were not looked at can still give.
    fn bound(&mut self, projection: &mut Projection) {
        let source = &self.states[projection.source.index()];
        let seen = &projection.state.seen;
        // The largest message whose trusted edges were followed, and the largest of all others.
        let (mut followed, mut unseen) = (0.0f32, 0.0f32);
        let mut see = |y: usize, high: f32| match seen[y] {
            Seen::Row => {}
            Seen::Facts if source.low[y] >= high => followed = followed.max(high),
            _ => unseen = unseen.max(high),
        };
        if projection.full {
            projection.chosen.iter().for_each(|&(y, low)| see(y.index(), low));
        } else {
            (0..seen.len()).for_each(|y| see(y, source.high(y)));
        }
        let bound = unseen.max(self.logic.t_norm.and(self.truth.ceiling(), followed));
        let State { low, high, .. } = &mut projection.state;
        if self.bounded && bound > NEGLIGIBLE {
            match high {
                // Bounds of single answers stay what they are.
                High::Each(each) => {
                    each.iter_mut().zip(low).for_each(|(high, low)| *high = high.min(bound).max(*low));
                }
                _ => *high = High::AtLeast(bound),
            }
        } else {
            self.ignored = self.ignored.max(bound);
            *high = High::Same;
        }
    }
}

/// Names the entities to which trusted edges lead along all of these hops, none of them negated.
pub(super) fn follow(
    truth: &dyn AtomTruth,
    from: EntityId,
    along: &[SignedHop],
    each: &mut dyn FnMut(EntityId),
) {
    let Some((first, others)) = along.split_first() else { return };
    truth.facts(from, first.hop, &mut |to| {
        if others.iter().all(|signed| truth.known(from, signed.hop, to).is_some()) {
            each(to);
        }
    });
}
