//! Exact search on tree-shaped questions: Viterbi in the (max, ⊤) semiring, stopped by a bound.
//!
//! The messages of a [`Plan`] are vectors over all entities. A projection needs a row for each
//! value y of its variable; but `m(y) ⊤ φ(y, x) ≤ m(y)` for every t-norm, so values with a small
//! message cannot lift any answer. Each round therefore looks at the best values only, keeps for
//! every message a lower and an upper bound, and ends when the bounds prove the best answers; else
//! the next round goes on where this one stopped, with more values.
//!
//! The first round scores nothing: what follows from trusted edges is exactly 1, and a prediction is
//! worth less than an edge, so a question with enough known answers is proven without any row.

mod advance;
mod bounds;
mod look;
mod refine;
mod scan;
mod state;

use super::proof::{Proof, examine};
use super::{AtomTruth, Certainty, Found, Logic, Progress, SearchError};
use crate::control::Control;
use crate::graph::{EntityId, Id};
use crate::plan::{Message, MessageId, Plan};
use crate::query::Hop;
use state::State;

/// What is to be proven.
#[derive(Clone, Copy)]
pub enum Goal<'a> {
    /// The best answers among those to keep: which they are, their order, and their scores.
    Top {
        /// How many.
        count: usize,
        /// Which entities count as answers.
        keep: &'a (dyn Fn(EntityId) -> bool + Sync),
        /// How uncertain the score of an answer may stay once its place is certain. Only disjunctions and
        /// negated sub-queries ever leave a score uncertain.
        within: f32,
        /// Each projection looks at no more than so many best values of its source, as a beam does;
        /// `None` for no limit.
        most: Option<usize>,
    },
    /// The score of every entity, in one pass: no value of a variable is looked at whose message is
    /// below a share of the best one, so each alternative's scores of at least that share are exact
    /// and every other is provably less.
    All {
        /// The share.
        floor: f32,
        /// As for [`Goal::Top`].
        most: Option<usize>,
    },
    /// The messages themselves, in one pass: each projection and each look takes the rows of its best
    /// values, no more than so many.
    Messages {
        /// How many.
        most: usize,
    },
}

/// Messages below this are treated as 0: tightening their bounds cannot change a printed score.
pub(super) const NEGLIGIBLE: f32 = 1e-6;
/// Rows of a projection in its first round; each later round may take twice as many.
const FIRST: usize = 16;
/// By how much smaller messages are looked at when those that can reach the best answers are done
/// and the scores are not yet certain.
const FALL: f32 = 3.0;

/// An exact search, and after it what an explanation needs.
pub struct Exact<'a> {
    plan: &'a Plan,
    truth: &'a dyn AtomTruth,
    logic: Logic,
    control: Control,
    states: Vec<State>,
    stages: Vec<Stage>,
    /// Buffers for the rows of a block, kept from one block to the next.
    buffers: (Vec<f32>, Vec<f32>),
    rows: usize,
    /// Pairs of a value and a contender whose edge was bounded one by one.
    compared: usize,
    /// Whether this round has looked at anything that no round before had.
    progress: bool,
    stopped: bool,
    /// The largest bound that was treated as 0.
    ignored: f32,
    /// Whether upper bounds are kept: only where something is to be proven from them.
    bounded: bool,
    /// How many values of its source a projection looks at.
    most: usize,
    /// Whether that limit left any value out.
    cut: bool,
    /// What the last round proved, for listeners to the progress of the search.
    progress_so_far: Progress,
}

/// What is computed at once; a stage needs only those before it.
enum Stage {
    One(MessageId),
    /// Projections that share their rows.
    Scan(Vec<MessageId>),
}

/// How far a round goes.
#[derive(Clone, Copy)]
struct Reach {
    /// Messages below this are not looked at.
    least: f32,
    /// Rows that each scan and each look may take.
    rows: usize,
}

impl<'a> Exact<'a> {
    /// Prepares a search; every branch of the plan must be a tree.
    pub fn new(
        plan: &'a Plan,
        truth: &'a dyn AtomTruth,
        logic: Logic,
        control: &Control,
    ) -> Result<Self, SearchError> {
        if !plan.is_tree() {
            return Err(SearchError::NotATree);
        }
        Ok(Self {
            plan,
            truth,
            logic,
            control: control.clone(),
            states: plan.messages.iter().map(|_| State::default()).collect(),
            stages: stages(plan),
            buffers: (Vec::new(), Vec::new()),
            rows: 0,
            compared: 0,
            progress: false,
            stopped: false,
            ignored: 0.0,
            bounded: true,
            most: usize::MAX,
            cut: false,
            progress_so_far: Progress::default(),
        })
    }

    /// Searches until the goal is proven or a limit is reached.
    pub fn run(&mut self, goal: Goal<'_>) -> Result<Found, SearchError> {
        match goal {
            Goal::All { floor, most } => {
                self.pass(Reach { least: floor.max(NEGLIGIBLE), rows: usize::MAX }, most)
            }
            Goal::Messages { most } => self.pass(Reach { least: NEGLIGIBLE, rows: most }, Some(most)),
            Goal::Top { count, keep, within, most } => {
                self.most = most.unwrap_or(usize::MAX);
                self.prove(count, keep, within)
            }
        }
    }

    /// One pass over the messages, with lower bounds alone.
    fn pass(&mut self, reach: Reach, most: Option<usize>) -> Result<Found, SearchError> {
        (self.bounded, self.most) = (false, most.unwrap_or(usize::MAX));
        self.score_anchors()?;
        self.round(reach)?;
        let (scores, _) = self.joined();
        let within = self.error();
        Ok(self.found(scores, within))
    }

    /// Rounds with ever more values, until the bounds prove the best answers.
    fn prove(
        &mut self,
        count: usize,
        keep: &(dyn Fn(EntityId) -> bool + Sync),
        within: f32,
    ) -> Result<Found, SearchError> {
        let mut scored = self.truth.ceiling() >= 1.0;
        if scored {
            self.score_anchors()?;
        } else {
            self.read_anchors();
        }
        let mut reach =
            if scored { Reach { least: NEGLIGIBLE, rows: FIRST } } else { Reach { least: 1.0, rows: 0 } };
        let mut deeper = 1.0;
        loop {
            self.progress = false;
            self.round(reach)?;
            if !scored && !self.stopped && !self.has_known(count, keep) {
                self.score_anchors()?;
                (scored, reach) = (true, Reach { least: NEGLIGIBLE, rows: FIRST });
                continue;
            }
            let (mut low, mut high) = self.joined();
            let mut proof = examine(&low, high.as_deref(), count, keep);
            // Bounding single answers takes time and changes none of them.
            self.note(&proof, count);
            if scored && !self.stopped && !proof.holds(within) && self.most == usize::MAX {
                let contenders = high.as_deref().and_then(|high| bounds::contenders(high, proof.worst, keep));
                // A quarter: the errors of alternatives and sub-queries add up.
                if let Some(contenders) = contenders
                    && self.refine(&contenders, within / 4.0)?
                {
                    (low, high) = self.joined();
                    proof = examine(&low, high.as_deref(), count, keep);
                }
            }
            self.note(&proof, count);
            let idle = scored && !self.progress;
            let last = idle && reach.least <= NEGLIGIBLE;
            if self.stopped || proof.holds(within) || last {
                return Ok(self.found(low, proof.widest.max(self.passed_over(proof.worst))));
            }
            if idle {
                deeper /= FALL;
            }
            if scored {
                // With a limit on the values there are few of them, and one product of all is faster than two.
                let most = if self.most < usize::MAX { self.most } else { 0 };
                reach.rows = reach.rows.saturating_mul(2).max(most);
            } else {
                self.score_anchors()?;
                (scored, reach.rows) = (true, FIRST);
            }
            // Messages that are smaller than the worst of the best answers cannot change which answers these are.
            reach.least = (proof.worst * deeper).max(NEGLIGIBLE);
        }
    }

    /// Notes what is proven, for listeners to the progress of the search. Other answers than before are told at once:
    /// rounds are few, because each takes twice as many rows. What goes on within a round is told at the listeners'
    /// pace, and would otherwise keep new answers back until the next report is due.
    fn note(&mut self, proof: &Proof, wanted: usize) {
        let now = Progress { rows: self.rows, best: proof.top.clone(), proven: proof.certain, wanted };
        let before = std::mem::replace(&mut self.progress_so_far, now);
        let now = &self.progress_so_far;
        let same = |(a, b): (&(EntityId, f32), &(EntityId, f32))| a.0 == b.0;
        let is_same = before.best.len() == now.best.len() && before.best.iter().zip(&now.best).all(same);
        if !is_same || now.proven > before.proven {
            self.control.tell(now);
        } else {
            self.control.report(|| now.clone());
        }
    }

    fn found(&self, scores: Vec<f32>, within: f32) -> Found {
        let certainty = if self.stopped {
            Certainty::Stopped { by: self.control.limit() }
        } else if self.cut {
            Certainty::Beam { k: self.most, settled: false }
        } else {
            Certainty::Exact { within }
        };
        Found { scores, certainty, rows: self.rows }
    }

    /// By how much the values that were treated as 0 can change answers that score at least `worst`: not at all,
    /// unless these scores are as small as the values.
    fn passed_over(&self, worst: f32) -> f32 {
        if self.ignored >= worst { self.ignored.max(self.error()) } else { self.error() }
    }

    /// By how much the values that were left out can change a score: not at all for scores at or above the floor,
    /// unless a disjunction adds them up or a negated sub-query inverts them.
    fn error(&self) -> f32 {
        let is_row = |part: &MessageId| matches!(self.plan.messages[part.index()], Message::Row { .. });
        let turned = |message: &&Message| matches!(message, Message::Not(part) if !is_row(part));
        let roots = self.plan.roots().len();
        let joined = |message: &Message| if let Message::Join(parts) = message { parts.len() } else { 0 };
        let joined = self.plan.messages.iter().map(joined).sum::<usize>() + if roots > 1 { roots } else { 0 };
        let times = joined + self.plan.messages.iter().filter(turned).count();
        (self.ignored * times as f32).min(1.0)
    }

    /// The score of each branch for an answer.
    pub fn branch_scores(&self, answer: EntityId) -> Vec<f32> {
        let roots = self.plan.branches.iter().filter_map(|branch| branch.root);
        roots.map(|root| self.value(root, answer)).collect()
    }

    /// For each branch, whether its bounds for an answer are further apart than `within`: then the search
    /// left its score open, because it could not change the answer, as where stored edges alone prove
    /// another branch.
    pub fn branches_open(&self, answer: EntityId, within: f32) -> Vec<bool> {
        let is_open = |root: MessageId| match self.states.get(root.index()) {
            Some(state) if answer.index() < state.low.len() => {
                state.high(answer.index()) > state.value(answer) + within
            }
            _ => true,
        };
        self.plan.branches.iter().filter_map(|branch| branch.root).map(is_open).collect()
    }

    /// The value of a message for an entity.
    pub fn value(&self, message: MessageId, entity: EntityId) -> f32 {
        self.states.get(message.index()).map_or(0.0, |state| state.value(entity))
    }

    /// An upper bound on the value of a message for an entity: after a proof, the value itself except for
    /// a negligible difference.
    pub fn at_most(&self, message: MessageId, entity: EntityId) -> f32 {
        let state = self.states.get(message.index()).filter(|state| entity.index() < state.low.len());
        state.map_or(0.0, |state| state.high(entity.index()))
    }

    /// The values of a message for all entities; empty if it was never computed.
    pub(crate) fn values(&self, message: MessageId) -> &[f32] {
        self.states.get(message.index()).map_or(&[], |state| &state.low)
    }

    /// The largest value that a limit on their number left out, of a projection's source or of the values that a
    /// look was to look at; 0 if none was left out.
    pub(crate) fn left_out(&self, message: MessageId) -> f32 {
        self.states.get(message.index()).map_or(0.0, |state| state.left_out)
    }

    /// The value at the other end of a projection or look in the best assignment that gives this
    /// entity its value; `None` if no assignment does.
    pub fn via(&self, message: MessageId, entity: EntityId) -> Option<EntityId> {
        self.states.get(message.index())?.via(entity)
    }

    /// The rows that the question itself names, all in one product.
    fn score_anchors(&mut self) -> Result<(), SearchError> {
        let anchors: Vec<(MessageId, (EntityId, Hop))> = self.anchors().collect();
        let n = self.truth.entities();
        let mut left = anchors.as_slice();
        while let Some(block) = self.next_block(&mut left, 1) {
            let pairs: Vec<(EntityId, Hop)> = block.iter().map(|&(_, pair)| pair).collect();
            let mut rows = std::mem::take(&mut self.buffers.0);
            super::rows::pairs(self.truth, &pairs, &mut rows)?;
            for (&(id, _), row) in block.iter().zip(rows.chunks_exact(n)) {
                self.states[id.index()].set_row(row);
            }
            self.buffers.0 = rows;
            self.rows += pairs.len();
        }
        if self.stopped {
            self.read_anchors();
        }
        Ok(())
    }

    /// Takes the next values to score, each worth `cost` rows, as many as the limits allow; `None` if
    /// none are left, or if a limit is reached, which stops the search.
    fn next_block<'v, T>(&mut self, left: &mut &'v [T], cost: usize) -> Option<&'v [T]> {
        if left.is_empty() {
            return None;
        }
        self.control.report(|| Progress { rows: self.rows, ..self.progress_so_far.clone() });
        let size = self.control.block(self.rows, cost, super::block_of(self.truth.entities()));
        self.stopped |= size == 0;
        let (block, rest) = left.split_at(size.min(left.len()));
        *left = rest;
        (!block.is_empty()).then_some(block)
    }

    /// The same rows, but only from trusted edges.
    fn read_anchors(&mut self) {
        let anchors: Vec<(MessageId, (EntityId, Hop))> = self.anchors().collect();
        for (id, (anchor, hop)) in anchors {
            if self.states[id.index()].low.is_empty() {
                self.states[id.index()].set_facts(self.truth, anchor, hop);
            }
        }
    }

    fn anchors(&self) -> impl Iterator<Item = (MessageId, (EntityId, Hop))> {
        self.stages.iter().filter_map(|stage| match stage {
            Stage::One(id) => match self.plan.messages[id.index()] {
                Message::Row { anchor, hop } => Some((*id, (anchor, hop))),
                _ => None,
            },
            Stage::Scan(_) => None,
        })
    }
}

/// About how many bytes the vectors of a search take: those of every message, the scores, and the rows of a block.
pub fn bytes(plan: &Plan, entities: usize) -> u64 {
    let of_message = |message: &Message| match message {
        Message::Row { .. } | Message::All => 4,
        // Both bounds.
        Message::Not(_) | Message::Meet(_) | Message::Join(_) => 8,
        // And for each entity the other end of the best assignment, and whether it was looked at.
        Message::Project { .. } | Message::Look { .. } => 13,
    };
    let used = plan.messages.iter().zip(plan.depths()).filter(|(_, depth)| depth.is_some());
    let messages: usize = used.map(|(message, _)| of_message(message)).sum();
    let scores = size_of::<f32>() + size_of::<f64>();
    let rows = 2 * super::block_of(entities) * size_of::<f32>();
    (messages + scores + rows) as u64 * entities as u64
}

/// The messages that the branches need, parts before wholes. Looks are run by their meets.
fn stages(plan: &Plan) -> Vec<Stage> {
    let depths = plan.depths();
    let mut order: Vec<(usize, MessageId)> =
        (0..depths.len()).filter_map(|index| Some((depths[index]?, MessageId(index as u32)))).collect();
    order.sort_by_key(|&(depth, id)| (std::cmp::Reverse(depth), id));
    let mut stages: Vec<Stage> = Vec::new();
    let mut scans = rustc_hash::FxHashMap::default();
    for (depth, id) in order {
        match &plan.messages[id.index()] {
            Message::Look { .. } => {}
            Message::Project { scan, .. } => {
                let at = *scans.entry((depth, scan.0)).or_insert(stages.len());
                match stages.get_mut(at) {
                    Some(Stage::Scan(projections)) => projections.push(id),
                    _ => stages.push(Stage::Scan(vec![id])),
                }
            }
            _ => stages.push(Stage::One(id)),
        }
    }
    stages
}
