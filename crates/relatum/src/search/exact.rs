//! Exact search on tree-shaped questions: Viterbi in the (max, ⊤) semiring, stopped by a bound.
//!
//! The messages of a [`Plan`] are vectors over all entities. A projection needs a row for each
//! value y of its variable; but `m(y) ⊤ φ(y, x) ≤ m(y)` for every t-norm, so values with a small
//! message cannot lift any answer. Each round therefore looks only at values with a message of at
//! least ε, keeps for every message a lower and an upper bound, and ends when the bounds prove the
//! best answers; else ε falls and the next round goes on where this one stopped.

use rustc_hash::FxHashMap;

use super::fold::{fold_rows, meet};
use super::top::{best, better};
use super::{AtomTruth, Budget, Certainty, Found, Logic, SearchError, block_of};
use crate::graph::{EntityId, Id};
use crate::plan::{Message, MessageId, Plan, SignedHop};

/// What is to be proven.
#[derive(Clone, Copy)]
pub enum Goal<'a> {
    /// The best answers among those to keep: which they are, their order, and their scores.
    Top {
        /// How many.
        count: usize,
        /// Which entities count as answers.
        keep: &'a (dyn Fn(EntityId) -> bool + Sync),
    },
    /// The score of every entity, in one pass: no value of a variable whose message is below a
    /// floor is looked at, so each alternative's scores of at least the floor are exact and every
    /// other is provably less.
    All {
        /// The floor.
        floor: f32,
        /// Each projection looks at no more than so many best values of its source; none: no limit.
        most: Option<usize>,
    },
}

/// A message below this is as good as nothing: bounds smaller than it are not chased further.
const NEGLIGIBLE: f32 = 1e-6;
/// By how much ε falls from one round to the next.
const FALL: f32 = 8.0;
/// Truth values kept for projections that share rows.
const SHARED_VALUES: usize = 16_000_000;

/// An exact search, and after it what an explanation needs.
pub struct Exact<'a> {
    plan: &'a Plan,
    truth: &'a dyn AtomTruth,
    logic: Logic,
    budget: Budget,
    states: Vec<State>,
    shared: FxHashMap<(u32, EntityId), Vec<f32>>,
    rows: usize,
    stopped: bool,
    /// The largest bound that was taken for nothing.
    ignored: f32,
    /// Whether upper bounds are kept: only where something is to be proven from them.
    bounded: bool,
    /// How many values of its source a projection looks at.
    most: usize,
    /// Whether that left any out.
    cut: bool,
}

/// What is known of a message so far.
#[derive(Default)]
struct State {
    low: Vec<f32>,
    /// None: the same as `low`, so the message is exact.
    high: Option<Vec<f32>>,
    /// For a projection the values of its source that have been looked at, for a look the values
    /// of its own variable.
    done: Vec<bool>,
    /// For each entity, the value at the other end of the best assignment.
    via: Vec<EntityId>,
}

impl State {
    fn high(&self) -> &[f32] {
        self.high.as_deref().unwrap_or(&self.low)
    }

    fn is_exact(&self) -> bool {
        !self.low.is_empty() && self.high.is_none()
    }
}

impl<'a> Exact<'a> {
    /// Prepares a search; every branch of the plan must be a tree.
    pub fn new(
        plan: &'a Plan,
        truth: &'a dyn AtomTruth,
        logic: Logic,
        budget: Budget,
    ) -> Result<Self, SearchError> {
        if !plan.is_tree() {
            return Err(SearchError::NotATree);
        }
        let states = plan.messages.iter().map(|_| State::default()).collect();
        Ok(Self {
            plan,
            truth,
            logic,
            budget,
            states,
            shared: FxHashMap::default(),
            rows: 0,
            stopped: false,
            ignored: 0.0,
            bounded: true,
            most: usize::MAX,
            cut: false,
        })
    }

    /// Searches until the goal is proven or the budget is spent.
    pub fn run(&mut self, goal: Goal<'_>) -> Result<Found, SearchError> {
        match goal {
            Goal::All { floor, most } => self.pass(floor.max(NEGLIGIBLE), most),
            Goal::Top { count, keep } => self.prove(count, keep),
        }
    }

    /// One pass over the messages, with lower bounds alone.
    fn pass(&mut self, floor: f32, most: Option<usize>) -> Result<Found, SearchError> {
        (self.bounded, self.most) = (false, most.unwrap_or(usize::MAX));
        for message in self.needed() {
            self.advance(message, floor)?;
        }
        let (scores, _) = self.joined();
        let certainty = if self.stopped {
            Certainty::Stopped
        } else if self.cut {
            Certainty::Beam
        } else {
            Certainty::Exact { within: self.error() }
        };
        Ok(Found { scores, certainty, rows: self.rows })
    }

    /// What the values that were left out can change at most: nothing at or above the floor, unless
    /// they are added up by a disjunction or turned round by a negated sub-query.
    fn error(&self) -> f32 {
        let is_row = |part: &MessageId| matches!(self.plan.messages[part.index()], Message::Row { .. });
        let turned = |message: &&Message| matches!(message, Message::Not(part) if !is_row(part));
        let times =
            self.plan.branches.len().saturating_sub(1) + self.plan.messages.iter().filter(turned).count();
        (self.ignored * times as f32).min(1.0)
    }

    /// Rounds with ever smaller messages, until the bounds prove the best answers.
    fn prove(
        &mut self,
        count: usize,
        keep: &(dyn Fn(EntityId) -> bool + Sync),
    ) -> Result<Found, SearchError> {
        let needed = self.needed();
        let mut epsilon = 1.0 / FALL;
        loop {
            for &message in &needed {
                self.advance(message, epsilon)?;
            }
            let (low, high) = self.joined();
            if self.stopped {
                return Ok(Found { scores: low, certainty: Certainty::Stopped, rows: self.rows });
            }
            let last = epsilon <= NEGLIGIBLE;
            let (proven, worst) = proven(&low, high.as_deref(), count, keep);
            if proven || last {
                let within = if last { self.ignored } else { 0.0 };
                return Ok(Found { scores: low, certainty: Certainty::Exact { within }, rows: self.rows });
            }
            // Once every value that could still reach the worst of the best has been looked at, a
            // question without negation and disjunction is done; deeper than that only if it is not.
            epsilon =
                if worst < epsilon { worst.max(epsilon / FALL) } else { epsilon / FALL }.max(NEGLIGIBLE);
        }
    }

    /// The score of each branch for an answer.
    pub fn branch_scores(&self, answer: EntityId) -> Vec<f32> {
        let roots = self.plan.branches.iter().filter_map(|branch| branch.root);
        roots.map(|root| self.states[root.index()].low[answer.index()]).collect()
    }

    /// The value of a message for an entity.
    pub fn value(&self, message: MessageId, entity: EntityId) -> f32 {
        let state = self.states.get(message.index());
        state.and_then(|state| state.low.get(entity.index())).copied().unwrap_or(0.0)
    }

    /// The value at the other end of a projection or look in the best assignment that gives this
    /// entity its value; none if nothing does.
    pub fn via(&self, message: MessageId, entity: EntityId) -> Option<EntityId> {
        let state = self.states.get(message.index())?;
        let low = state.low.get(entity.index())?;
        state.via.get(entity.index()).copied().filter(|_| *low > 0.0)
    }

    /// The messages that the branches need, parts before wholes. Looks are run by their meets.
    fn needed(&self) -> Vec<MessageId> {
        let mut wanted = vec![false; self.plan.messages.len()];
        for root in self.plan.branches.iter().filter_map(|branch| branch.root) {
            wanted[root.index()] = true;
        }
        for index in (0..wanted.len()).rev() {
            if wanted[index] {
                for part in self.plan.messages[index].parts() {
                    wanted[part.index()] = true;
                }
            }
        }
        (0..wanted.len() as u32)
            .map(MessageId)
            .filter(|id| {
                wanted[id.index()] && !matches!(self.plan.messages[id.index()], Message::Look { .. })
            })
            .collect()
    }

    fn advance(&mut self, id: MessageId, epsilon: f32) -> Result<(), SearchError> {
        if self.states[id.index()].is_exact() || self.stopped {
            return Ok(());
        }
        let n = self.truth.entities();
        let plan = self.plan;
        match &plan.messages[id.index()] {
            Message::All => self.set(id, vec![1.0; n], None),
            Message::Row { anchor, hop } => {
                let hops = [SignedHop { hop: *hop, negated: false }];
                let row = self.rows_of(&[*anchor], &hops)?;
                self.set(id, row, None);
            }
            Message::Not(part) => {
                let of_atom = matches!(plan.messages[part.index()], Message::Row { .. });
                let not = |x: f32| if of_atom { self.logic.negation.not(x) } else { 1.0 - x };
                let part = &self.states[part.index()];
                let low: Vec<f32> = part.high().iter().map(|&x| not(x)).collect();
                let high = part.high.is_some().then(|| part.low.iter().map(|&x| not(x)).collect());
                self.set(id, low, high);
            }
            Message::Meet(parts) => self.meet(id, parts, epsilon)?,
            Message::Project { source, hops, scan } => {
                let shared = plan.scans.get(scan.0 as usize).is_some_and(|scan| scan.projections.len() > 1);
                self.project(id, *source, hops, shared.then_some(scan.0), epsilon)?;
            }
            Message::Look { .. } => {}
        }
        Ok(())
    }

    fn set(&mut self, id: MessageId, low: Vec<f32>, high: Option<Vec<f32>>) {
        let state = &mut self.states[id.index()];
        (state.low, state.high) = (low, high);
    }

    fn meet(&mut self, id: MessageId, parts: &[MessageId], epsilon: f32) -> Result<(), SearchError> {
        let is_look = |part: &&MessageId| matches!(self.plan.messages[part.index()], Message::Look { .. });
        let (looks, plain): (Vec<&MessageId>, Vec<&MessageId>) = parts.iter().partition(is_look);
        let n = self.truth.entities();
        let mut low = vec![1.0; n];
        let mut high = if self.bounded { vec![1.0; n] } else { Vec::new() };
        for part in plain {
            let part = &self.states[part.index()];
            meet(self.logic.t_norm, &mut low, &part.low);
            meet(self.logic.t_norm, &mut high, part.high());
        }
        for look in looks {
            self.look(*look, if self.bounded { &high } else { &low }, epsilon)?;
            let look = &self.states[look.index()];
            meet(self.logic.t_norm, &mut low, &look.low);
            meet(self.logic.t_norm, &mut high, look.high());
        }
        if !self.bounded {
            self.set(id, low, None);
            return Ok(());
        }
        let widest = low.iter().zip(&high).map(|(low, high)| high - low).fold(0.0, f32::max);
        if widest > NEGLIGIBLE {
            self.set(id, low, Some(high));
        } else {
            self.ignored = self.ignored.max(widest);
            self.set(id, low, None);
        }
        Ok(())
    }

    fn project(
        &mut self,
        id: MessageId,
        source: MessageId,
        hops: &[SignedHop],
        shared: Option<u32>,
        epsilon: f32,
    ) -> Result<(), SearchError> {
        let n = self.truth.entities();
        let mut state = std::mem::take(&mut self.states[id.index()]);
        if state.low.is_empty() {
            state = State { low: vec![0.0; n], done: vec![false; n], via: vec![EntityId(0); n], ..state };
        }
        let of_source = &self.states[source.index()];
        let values = of_source.low.iter().zip(of_source.high()).enumerate();
        let mut next: Vec<(EntityId, f32)> = values
            .filter(|&(y, (low, high))| !state.done[y] && low >= high && *low >= epsilon)
            .map(|(y, (&low, _))| (EntityId::from_index(y), low))
            .collect();
        next.sort_unstable_by(better);
        if next.len() > self.most {
            next.truncate(self.most);
            self.cut = true;
        }
        for block in next.chunks(self.budget.block(self.rows, hops.len(), block_of(n))) {
            if self.budget.is_spent(self.rows) {
                self.stopped = true;
                break;
            }
            let from: Vec<EntityId> = block.iter().map(|&(y, _)| y).collect();
            let rows = match shared {
                Some(scan) => self.shared_rows(scan, &from, hops)?,
                None => self.rows_of(&from, hops)?,
            };
            fold_rows(self.logic.t_norm, block, &rows, &mut state.low, &mut state.via);
            for y in from {
                state.done[y.index()] = true;
            }
        }
        let of_source = &self.states[source.index()];
        let left = of_source.high().iter().zip(&state.done).filter(|(_, done)| !**done);
        let bound = left.map(|(high, _)| *high).fold(0.0, f32::max);
        if self.bounded && bound > NEGLIGIBLE {
            state.high = Some(state.low.iter().map(|&low| low.max(bound)).collect());
        } else {
            self.ignored = self.ignored.max(bound);
            state.high = None;
        }
        self.states[id.index()] = state;
        Ok(())
    }

    /// `x ↦ max over y of φ(x, y) ⊤ m(y)` for the values x that the rest of the meet leaves.
    fn look(&mut self, id: MessageId, rest: &[f32], epsilon: f32) -> Result<(), SearchError> {
        let n = self.truth.entities();
        let Message::Look { hops, inner } = &self.plan.messages[id.index()] else { return Ok(()) };
        let mut state = std::mem::take(&mut self.states[id.index()]);
        if state.low.is_empty() {
            state.low = vec![0.0; n];
            state.high = self.bounded.then(|| vec![1.0; n]);
            state.done = vec![false; n];
            state.via = vec![EntityId(0); n];
        }
        let mut next: Vec<(EntityId, f32)> = rest
            .iter()
            .enumerate()
            .filter(|&(x, high)| !state.done[x] && *high >= epsilon)
            .map(|(x, &high)| (EntityId::from_index(x), high))
            .collect();
        next.sort_unstable_by(better);
        for block in next.chunks(self.budget.block(self.rows, hops.len(), block_of(n))) {
            if self.budget.is_spent(self.rows) {
                self.stopped = true;
                break;
            }
            let from: Vec<EntityId> = block.iter().map(|&(x, _)| x).collect();
            let rows = self.rows_of(&from, hops)?;
            let of_inner = &self.states[inner.index()];
            for (x, row) in from.into_iter().zip(rows.chunks_exact(n)) {
                let (mut low, mut high) = (0.0f32, 0.0f32);
                for (y, &truth) in row.iter().enumerate() {
                    let value = self.logic.t_norm.and(truth, of_inner.low[y]);
                    if value > low {
                        low = value;
                        state.via[x.index()] = EntityId::from_index(y);
                    }
                    high = high.max(self.logic.t_norm.and(truth, of_inner.high()[y]));
                }
                state.low[x.index()] = low;
                if let Some(highs) = &mut state.high {
                    highs[x.index()] = high;
                }
                state.done[x.index()] = low >= high;
            }
        }
        self.states[id.index()] = state;
        Ok(())
    }

    /// One row for each entity, the conjunction of all hops.
    fn rows_of(&mut self, from: &[EntityId], hops: &[SignedHop]) -> Result<Vec<f32>, SearchError> {
        self.rows += from.len() * hops.len();
        rows_of(self.truth, self.logic, from, hops)
    }

    /// The same, where another projection may have scored a row already.
    fn shared_rows(
        &mut self,
        scan: u32,
        from: &[EntityId],
        hops: &[SignedHop],
    ) -> Result<Vec<f32>, SearchError> {
        let n = self.truth.entities();
        let missing: Vec<EntityId> =
            from.iter().copied().filter(|&y| !self.shared.contains_key(&(scan, y))).collect();
        let fresh = self.rows_of(&missing, hops)?;
        let mut fresh = missing.iter().zip(fresh.chunks_exact(n)).collect::<FxHashMap<_, _>>();
        let mut rows = Vec::with_capacity(from.len() * n);
        for y in from {
            match fresh.remove(y) {
                Some(row) => {
                    rows.extend_from_slice(row);
                    if self.shared.len() * n < SHARED_VALUES {
                        self.shared.insert((scan, *y), row.to_vec());
                    }
                }
                None => rows.extend_from_slice(&self.shared[&(scan, *y)]),
            }
        }
        Ok(rows)
    }

    /// The scores of all branches, joined by the t-conorm; the upper bounds only where they differ.
    fn joined(&self) -> (Vec<f32>, Option<Vec<f32>>) {
        let roots: Vec<&State> =
            self.plan.branches.iter().filter_map(|branch| Some(&self.states[branch.root?.index()])).collect();
        let n = self.truth.entities();
        let join = |values: &dyn Fn(&State) -> Vec<f32>| {
            roots.iter().map(|root| values(root)).reduce(|mut all, next| {
                all.iter_mut().zip(next).for_each(|(a, b)| *a = self.logic.t_norm.or(*a, b));
                all
            })
        };
        let low = join(&|root| root.low.clone()).unwrap_or_else(|| vec![0.0; n]);
        let inexact = roots.iter().any(|root| root.high.is_some());
        let high = inexact.then(|| join(&|root| root.high().to_vec())).flatten();
        (low, high)
    }
}

/// One row for each entity, the conjunction of all hops.
pub(super) fn rows_of(
    truth: &dyn AtomTruth,
    logic: Logic,
    from: &[EntityId],
    hops: &[SignedHop],
) -> Result<Vec<f32>, SearchError> {
    let n = truth.entities();
    let mut all: Option<Vec<f32>> = None;
    for signed in hops {
        let mut rows = vec![0.0; from.len() * n];
        truth.rows(from, signed.hop, &mut rows);
        if signed.negated {
            for value in &mut rows {
                *value = logic.negation.not(*value);
            }
        }
        all = Some(match all {
            None => rows,
            Some(mut all) => {
                meet(logic.t_norm, &mut all, &rows);
                all
            }
        });
    }
    let rows = all.unwrap_or_else(|| vec![1.0; from.len() * n]);
    if rows.iter().any(|value| value.is_nan()) {
        return Err(SearchError::NotANumber);
    }
    Ok(rows)
}

/// Whether the bounds prove the best answers, and the score of the worst of them.
fn proven(
    low: &[f32],
    high: Option<&[f32]>,
    count: usize,
    keep: &(dyn Fn(EntityId) -> bool + Sync),
) -> (bool, f32) {
    let top = best(low, count, keep);
    let worst = if top.len() < count { 0.0 } else { top.last().map_or(0.0, |(_, score)| *score) };
    let Some(high) = high else { return (true, worst) };
    let open =
        low.iter().zip(high).enumerate().any(|(x, (low, high))| {
            low < high && *high >= worst && *high > 0.0 && keep(EntityId::from_index(x))
        });
    (!open, worst)
}
