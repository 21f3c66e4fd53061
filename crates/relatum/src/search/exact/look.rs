//! Messages seen from the other side: one row for each value that the rest of a meet leaves.

use rayon::prelude::*;

use super::scan::follow;
use super::state::{High, Seen, State};
use super::{Exact, Reach};
use crate::graph::{EntityId, Id};
use crate::kernels::Threads;
use crate::logic::TNorm;
use crate::plan::{Message, MessageId, SignedHop};
use crate::search::top::better;
use crate::search::{SearchError, rows};

impl Exact<'_> {
    /// `x ↦ max over y of φ(x, y) ⊤ m(y)` for the values x that the rest of the meet leaves, which
    /// is known between two bounds.
    pub(super) fn look(
        &mut self,
        id: MessageId,
        rest_low: &[f32],
        rest: &[f32],
        reach: Reach,
    ) -> Result<(), SearchError> {
        let n = self.truth.entities();
        let plan = self.plan;
        let Message::Look { hops, inner } = &plan.messages[id.index()] else { return Ok(()) };
        let mut state = std::mem::take(&mut self.states[id.index()]);
        if state.low.is_empty() {
            let high = if self.bounded { High::Each(vec![1.0; n]) } else { High::Same };
            state = State::open(n, high);
        }
        // Before any row is scored, edges are followed only from values that are certain: otherwise every entity
        // would have to be looked at.
        let by = if reach.rows == 0 { rest_low } else { rest };
        let mut next: Vec<(EntityId, f32)> = by
            .iter()
            .enumerate()
            .filter(|&(x, rest)| state.seen[x] != Seen::Row && *rest >= reach.least)
            .map(|(x, &rest)| (EntityId::from_index(x), rest))
            .collect();
        if !self.bounded {
            // A value that is skipped here is missing from any disjunction that it is part of.
            let left_out = rest.iter().copied().filter(|rest| *rest < reach.least);
            self.ignored = left_out.fold(self.ignored, f32::max);
        }
        self.follow_known(&mut state, *inner, hops, &next);
        let t_norm = self.logic.t_norm;
        if self.bounded {
            // Values are looked at in falling order of their upper bounds.
            next.retain_mut(|(x, rest)| {
                let (low, high) = (state.low[x.index()], state.high(x.index()));
                *rest = t_norm.and(*rest, high);
                low < high && *rest >= reach.least
            });
        }
        if next.len() > reach.rows {
            let (_, &mut (_, left_out), _) = next.select_nth_unstable_by(reach.rows, better);
            state.left_out = left_out;
            next.truncate(reach.rows);
        }
        next.sort_unstable_by(better);
        let mut left = next.as_slice();
        while let Some(block) = self.next_block(&mut left, hops.len()) {
            let from: Vec<EntityId> = block.iter().map(|&(x, _)| x).collect();
            self.rows += from.len() * hops.len();
            rows::of(self.truth, self.logic, &from, hops, &mut self.buffers)?;
            let inner = &self.states[inner.index()];
            let found: Vec<Best> = self
                .buffers
                .0
                .par_chunks_exact(n)
                .with_min_len(Threads::here().grain())
                .map(|row| Best::of(t_norm, row, inner))
                .collect();
            for (x, best) in from.iter().map(|x| x.index()).zip(found) {
                if best.low > state.low[x] {
                    state.low[x] = best.low;
                    state.via[x] = best.via;
                }
                if let High::Each(high) = &mut state.high {
                    high[x] = high[x].min(best.high).max(state.low[x]);
                }
                self.progress |= state.seen[x] == Seen::Not;
                // A value that is still uncertain is so because of y's message, and is looked at again.
                state.seen[x] = if state.low[x] >= best.high { Seen::Row } else { Seen::Facts };
            }
        }
        self.states[id.index()] = state;
        Ok(())
    }

    /// `1 ⊤ m(y) = m(y)` for the best y to which a trusted edge leads; every other edge is worth less.
    fn follow_known(
        &self,
        state: &mut State,
        inner: MessageId,
        hops: &[SignedHop],
        values: &[(EntityId, f32)],
    ) {
        let positive: Vec<SignedHop> = hops.iter().copied().filter(|signed| !signed.negated).collect();
        if positive.is_empty() || !self.bounded {
            return;
        }
        // How much a negated hop leaves of an edge is known only from a row.
        let all_positive = positive.len() == hops.len();
        let inner = &self.states[inner.index()];
        let largest = (0..inner.low.len()).map(|y| inner.high(y)).fold(0.0, f32::max);
        let predicted = self.logic.t_norm.and(self.truth.ceiling(), largest);
        for &(x, _) in values {
            let mut most = predicted;
            let at = x.index();
            follow(self.truth, x, &positive, &mut |y| {
                let Some(&low) = inner.low.get(y.index()) else { return };
                most = most.max(inner.high(y.index()));
                if all_positive && low > state.low[at] {
                    state.low[at] = low;
                    state.via[at] = y;
                }
            });
            if let High::Each(high) = &mut state.high {
                high[at] = high[at].min(most).max(state.low[at]);
            }
        }
    }
}

/// The best value of a row met with a message.
struct Best {
    low: f32,
    high: f32,
    via: EntityId,
}

impl Best {
    fn of(t_norm: TNorm, row: &[f32], inner: &State) -> Self {
        let mut best = Self { low: 0.0, high: 0.0, via: EntityId(0) };
        for (y, &truth) in row.iter().enumerate() {
            let value = t_norm.and(truth, inner.low[y]);
            if value > best.low {
                best.low = value;
                best.via = EntityId::from_index(y);
            }
            best.high = best.high.max(t_norm.and(truth, inner.high(y)));
        }
        best
    }
}
