//! Beam search on any question: the k best assignments, one variable after another.
//!
//! States that agree on every variable that is still needed are merged and the best kept: the
//! others could never win. A chain of three hops then costs 2k rows, not k + k². In *paper* mode
//! every state keeps its own k best values by the truth of the atoms alone and nothing is cut
//! between states, as the paper describes; merging does not change the scores of that procedure.
//!
//! No completion of a state scores higher than the state, so the best of the states that were left
//! out bounds all that a beam can have missed. [`Beam::widen`] uses that to prove answers of questions
//! that are not trees.

mod cache;
mod vectors;
mod widen;

pub use widen::{Effort, Widened};

use std::sync::Mutex;

use rustc_hash::FxHashMap;

use self::cache::RowCache;
use super::top::best;
use super::{AtomTruth, Certainty, Found, Logic, Progress, SearchError, block_of};
use crate::control::Control;
use crate::graph::{EntityId, Id, RelationId};
use crate::logic::TNorm;
use crate::plan::{BranchPlan, Factor, Plan, Step};
use crate::query::{Hop, Term, VariableId};

/// How wide a beam is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// How many assignments are kept.
    pub k: usize,
    /// Whether each assignment keeps k values of the next variable by the truth of the atoms alone, as the
    /// paper does, instead of k assignments being kept in all.
    pub paper: bool,
}

/// Values of variables.
pub type Assignment = Vec<(VariableId, EntityId)>;

/// A beam search.
pub struct Beam<'a> {
    plan: &'a Plan,
    truth: &'a dyn AtomTruth,
    logic: Logic,
    width: Width,
    control: Control,
    /// The score of entities that were never reached: 0, or −∞ for raw scores.
    nothing: f32,
    /// The neutral element of the conjunction: 1, or +∞ where it is the minimum of raw scores.
    unit: f32,
    /// States of the question itself that score less are left out: they cannot reach the best answers.
    floor: f32,
    /// What the narrower beam before this one found, for listeners to the progress of the search.
    progress_so_far: Progress,
    /// `φ(x, x)` of those x that were looked at before.
    diagonals: Mutex<FxHashMap<(EntityId, RelationId), f32>>,
    /// Rows that were scored before: a wider beam needs those of the narrower one again.
    cache: Mutex<RowCache>,
}

/// An assignment of some variables with the score of all atoms between them.
#[derive(Clone, Debug)]
struct State {
    values: Assignment,
    score: f32,
    /// The rank of its last value among those of the state that it extends.
    place: usize,
}

impl State {
    fn value(&self, variable: VariableId) -> Option<EntityId> {
        self.values.iter().find(|(id, _)| *id == variable).map(|&(_, value)| value)
    }
}

/// What running one branch gives.
struct Outcome {
    scores: Vec<f32>,
    /// The last states, each with its scores of the entities that were asked about.
    reached: Vec<(State, Vec<f32>)>,
    /// For each entity, a factor that those scores still have to be combined with; empty if there is none.
    shared: Vec<f32>,
    /// The best score of a state that was left out: an upper bound for every answer that it could have led to.
    left_out: f32,
}

/// The entities whose assignments are wanted, and how many of each.
#[derive(Clone, Copy)]
struct Asked<'a> {
    entities: &'a [EntityId],
    count: usize,
}

impl Asked<'_> {
    /// Asks for scores only.
    const NOTHING: Self = Self { entities: &[], count: 1 };
}

/// How wide the first beam is where a wide one may be stopped.
const NARROW: usize = 64;
/// By how much the next beam is wider.
const WIDER: usize = 8;
/// How many merged states any beam may hold: some hundred megabytes.
const MERGED: usize = if cfg!(test) { 64 } else { 1 << 20 };

/// States that agree on every variable that is still needed, best first: one, or as many as are asked
/// for.
type Merged = FxHashMap<Vec<EntityId>, Vec<State>>;
/// One entry of them.
type OfKey = (Vec<EntityId>, Vec<State>);

/// Rows used so far, across branches and sub-queries.
#[derive(Default)]
struct Usage {
    rows: usize,
    stopped: bool,
    /// The best score of a state that was left out in a negated sub-query.
    left_out_below: f32,
}

/// What one pass over all branches gives.
struct Pass {
    /// The scores of each branch.
    branches: Vec<Vec<f32>>,
    /// For each branch the best score of a state that was left out.
    left_out: Vec<f32>,
    usage: Usage,
}

impl<'a> Beam<'a> {
    /// Prepares a search. `raw` says that truth values may leave [0, 1].
    pub fn new(
        plan: &'a Plan,
        truth: &'a dyn AtomTruth,
        logic: Logic,
        width: Width,
        control: &Control,
        raw: bool,
    ) -> Result<Self, SearchError> {
        if width.k == 0 {
            return Err(SearchError::EmptyBeam);
        }
        if raw && (plan.branches.len() > 1 || plan.negates()) {
            return Err(SearchError::RawScores);
        }
        let nothing = if raw { f32::NEG_INFINITY } else { 0.0 };
        let unit = if raw && logic.t_norm == TNorm::Godel { f32::INFINITY } else { 1.0 };
        let cache = Mutex::new(RowCache::new(truth.entities()));
        Ok(Self {
            plan,
            truth,
            logic,
            width,
            control: control.clone(),
            nothing,
            unit,
            floor: nothing,
            progress_so_far: Progress::default(),
            diagonals: Mutex::default(),
            cache,
        })
    }

    /// Runs every branch and joins their scores. Where limits may stop it, narrower beams run before: their answers
    /// are given if this one is stopped on its way.
    pub fn run(&mut self) -> Result<Found, SearchError> {
        let k = self.width.k;
        let (mut rows, mut whole) = (0, None);
        self.width.k = self.first_width();
        loop {
            let pass = self.pass(rows)?;
            rows = pass.usage.rows;
            let scores = self.joined(&pass.branches);
            if pass.usage.stopped {
                let certainty = Certainty::Stopped { by: self.control.limit() };
                return Ok(Found { scores: self.last_whole(whole, scores), certainty, rows });
            }
            if self.width.k >= k {
                return Ok(Found { scores, certainty: Certainty::Beam { k, settled: false }, rows });
            }
            whole = Some((self.width.k, scores));
            self.width.k = self.width.k.saturating_mul(WIDER).min(k);
        }
    }

    /// How wide the first beam is: a wide one that may be stopped begins narrow, so that there are answers early. The
    /// rows of the narrow one are kept, so that this takes little.
    fn first_width(&self) -> usize {
        if self.control.has_limits() { self.width.k.min(NARROW) } else { self.width.k }
    }

    /// The scores of a beam that was stopped: those of the last pass that was not, with its width, if there is one.
    fn last_whole(&mut self, whole: Option<(usize, Vec<f32>)>, stopped: Vec<f32>) -> Vec<f32> {
        let Some((k, scores)) = whole else { return stopped };
        // Explanations run that pass again, whose rows are kept.
        self.width.k = k;
        self.control = self.control.without_limits();
        scores
    }

    /// One pass over all branches, after so many rows were scored.
    fn pass(&self, rows: usize) -> Result<Pass, SearchError> {
        let mut usage = Usage { rows, ..Usage::default() };
        self.score_anchors(&mut usage)?;
        let (mut branches, mut left_out) = (Vec::new(), Vec::new());
        for branch in &self.plan.branches {
            let found = self.branch(branch, &[], Asked::NOTHING, self.floor, &mut usage)?;
            branches.push(found.scores);
            left_out.push(found.left_out);
        }
        Ok(Pass { branches, left_out, usage })
    }

    /// The scores of all branches, joined by the t-conorm.
    fn joined(&self, branches: &[Vec<f32>]) -> Vec<f32> {
        let Some((first, others)) = branches.split_first() else {
            return vec![self.nothing; self.truth.entities()];
        };
        let mut all = first.clone();
        for one in others {
            all.iter_mut().zip(one).for_each(|(a, b)| *a = self.logic.t_norm.or(*a, *b));
        }
        all
    }

    /// Scores the rows of all anchors in one product, as far as they fit a block.
    fn score_anchors(&self, usage: &mut Usage) -> Result<(), SearchError> {
        let mut pairs: Vec<(EntityId, Hop)> = Vec::new();
        for branch in &self.plan.branches {
            for factor in branch.steps.iter().flat_map(|step| &step.factors) {
                if let Factor::Row { from: Term::Entity(anchor), hop, .. } = factor {
                    pairs.push((*anchor, *hop));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let n = self.truth.entities();
        pairs.truncate(block_of(n));
        if self.control.block(0, 1, pairs.len()) == pairs.len() {
            self.rows(&pairs, usage)?;
        }
        Ok(())
    }

    /// The best assignments of one branch that give an entity as the answer, best first; the
    /// target is among their variables.
    pub fn assignments(
        &self,
        branch: usize,
        answers: &[EntityId],
        count: usize,
    ) -> Result<Vec<Vec<(Assignment, f32)>>, SearchError> {
        let Some(plan) = self.plan.branches.get(branch) else { return Ok(Vec::new()) };
        let run = |count: usize| {
            let mut usage = Usage::default();
            self.score_anchors(&mut usage)?;
            let outcome =
                self.branch(plan, &[], Asked { entities: answers, count }, self.floor, &mut usage)?;
            Ok::<_, SearchError>((outcome, usage.stopped))
        };
        let (mut outcome, stopped) = run(count)?;
        if stopped {
            // More states take more rows, so under a row limit there may be only the best assignment.
            (outcome, _) = run(1)?;
        }
        let of_answer =
            |(place, answer): (usize, &EntityId)| self.assigned(plan.target, &outcome, place, *answer, count);
        Ok(answers.iter().enumerate().map(of_answer).collect())
    }

    /// The best assignments that were reached for one of the entities that were asked about.
    fn assigned(
        &self,
        target: VariableId,
        outcome: &Outcome,
        place: usize,
        answer: EntityId,
        count: usize,
    ) -> Vec<(Assignment, f32)> {
        let with_answer = |(state, scores): &(State, Vec<f32>)| {
            let mut values = state.values.clone();
            values.retain(|(id, _)| *id != target);
            values.push((target, answer));
            (values, scores[place])
        };
        let reached = outcome.reached.iter().map(with_answer);
        let mut all: Vec<(Assignment, f32)> = reached.filter(|(_, score)| *score > self.nothing).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all.truncate(count);
        if let Some(&shared) = outcome.shared.get(answer.index()) {
            for (_, score) in &mut all {
                *score = self.logic.t_norm.and(*score, shared);
            }
        }
        all
    }

    /// How true a negated sub-query is under an assignment of the branch around it, and the values that
    /// make it so: of its own variables and of those that it shares. It takes the rows that it needs,
    /// whatever the limits, because half a sub-query would explain nothing.
    pub fn sub_query(
        &self,
        nested: &BranchPlan,
        outer: &Assignment,
    ) -> Result<(f32, Option<Assignment>), SearchError> {
        let value = |id: VariableId| outer.iter().find(|(other, _)| *other == id).map(|&(_, value)| value);
        let Some(target) = value(nested.target) else { return Ok((0.0, None)) };
        let inputs: Assignment = nested.inputs.iter().filter_map(|&id| Some((id, value(id)?))).collect();
        let control = self.control.without_limits();
        let cache = Mutex::new(RowCache::new(self.truth.entities()));
        let Self { plan, truth, logic, width, nothing, unit, floor, .. } = *self;
        let progress_so_far = self.progress_so_far.clone();
        let whole = Self {
            plan,
            truth,
            logic,
            width,
            control,
            nothing,
            unit,
            floor,
            progress_so_far,
            diagonals: Mutex::default(),
            cache,
        };
        let asked = Asked { entities: &[target], count: 1 };
        let outcome = whole.branch(nested, &inputs, asked, self.nothing, &mut Usage::default())?;
        let mut found = self.assigned(nested.target, &outcome, 0, target, 1);
        Ok((outcome.scores[target.index()], found.pop().map(|(assignment, _)| assignment)))
    }

    fn branch(
        &self,
        plan: &BranchPlan,
        inputs: &[(VariableId, EntityId)],
        asked: Asked<'_>,
        floor: f32,
        usage: &mut Usage,
    ) -> Result<Outcome, SearchError> {
        let n = self.truth.entities();
        let mut left_out = self.nothing;
        let mut states = vec![State { values: inputs.to_vec(), score: self.unit, place: 0 }];
        let mut scores = vec![self.nothing; n];
        let (mut reached, mut shared) = (Vec::new(), Vec::new());
        for (index, step) in plan.steps.iter().enumerate() {
            let to_target = index + 1 == plan.steps.len() && step.variable == plan.target;
            let mut next = Merged::default();
            let mut left = states.as_slice();
            while !left.is_empty() && !usage.stopped {
                self.control.report(|| {
                    let rows = self.progress_so_far.rows.max(usage.rows);
                    Progress { rows, ..self.progress_so_far.clone() }
                });
                let size = self.control.block(usage.rows, self.cost(step), block_of(n)).min(left.len());
                if size == 0 {
                    usage.stopped = true;
                    break;
                }
                let (block, rest) = left.split_at(size);
                left = rest;
                let Some(vectors) = self.vectors(plan, step, block, to_target, usage)? else { break };
                shared = vectors.shared;
                left_out = left_out.max(vectors.left_out);
                for (state, vector) in block.iter().zip(vectors.each) {
                    if to_target {
                        let t_norm = self.logic.t_norm;
                        for (all, &truth) in scores.iter_mut().zip(&vector) {
                            *all = all.max(t_norm.and(state.score, truth));
                        }
                        if !asked.entities.is_empty() {
                            let own =
                                asked.entities.iter().map(|x| t_norm.and(state.score, vector[x.index()]));
                            reached.push((state.clone(), own.collect()));
                        }
                    } else if self.control.is_late() {
                        usage.stopped = true;
                        break;
                    } else {
                        let dropped = self.extend(step, state, &vector, asked.count, floor, &mut next);
                        left_out = left_out.max(dropped);
                        if asked.count <= 1 && next.len() > self.room(step) {
                            left_out = left_out.max(self.prune(step, &mut next));
                        }
                    }
                }
            }
            if usage.stopped {
                break;
            }
            if !to_target {
                let (kept, dropped) = self.cut(step, next);
                (states, left_out) = (kept, left_out.max(dropped));
            }
        }
        for (score, &shared) in scores.iter_mut().zip(&shared).filter(|(score, _)| **score > self.nothing) {
            *score = self.logic.t_norm.and(*score, shared);
        }
        if usage.stopped {
            return Ok(Outcome { scores, reached, shared, left_out });
        }
        let ends_at_target = plan.steps.last().is_some_and(|step| step.variable == plan.target);
        if !ends_at_target {
            for state in states {
                if let Some(answer) = state.value(plan.target) {
                    scores[answer.index()] = scores[answer.index()].max(state.score);
                    let own =
                        asked.entities.iter().map(|&x| if x == answer { state.score } else { self.nothing });
                    let own = own.collect();
                    reached.push((state, own));
                }
            }
        }
        Ok(Outcome { scores, reached, shared, left_out })
    }

    /// Adds the best extensions of a state to the next states, merged by the variables that are still needed,
    /// and returns the score of the best one that it left out.
    fn extend(
        &self,
        step: &Step,
        state: &State,
        vector: &[f32],
        keep: usize,
        floor: f32,
        next: &mut Merged,
    ) -> f32 {
        let own = |x: EntityId| vector[x.index()] > self.nothing;
        let joint: Vec<f32>;
        let by = if self.width.paper {
            vector
        } else {
            joint = vector.iter().map(|&truth| self.logic.t_norm.and(state.score, truth)).collect();
            &joint
        };
        let count = if step.beam.is_some() { self.width.k } else { usize::MAX };
        let mut left_out = self.nothing;
        for (place, (value, _)) in best(by, count.saturating_add(1), own).into_iter().enumerate() {
            let score = self.logic.t_norm.and(state.score, vector[value.index()]);
            if place >= count || score < floor {
                left_out = left_out.max(score);
                continue;
            }
            let mut values = state.values.clone();
            values.push((step.variable, value));
            let extended = State { values, score, place };
            let key: Vec<EntityId> = step.needed.iter().filter_map(|&id| extended.value(id)).collect();
            let merged = next.entry(key).or_default();
            let is_better = |other: &State| {
                other.score.total_cmp(&score).then_with(|| extended.values.cmp(&other.values)).is_gt()
            };
            let at = merged.partition_point(is_better);
            if at < keep {
                merged.insert(at, extended);
                merged.truncate(keep);
            }
        }
        left_out
    }

    /// The states to go on with, in an order that depends on nothing but them, and the score of the best
    /// one that was left out.
    fn cut(&self, step: &Step, next: Merged) -> (Vec<State>, f32) {
        let (merged, left_out) = self.best_of(step, next);
        (merged.into_iter().flat_map(|(_, states)| states).collect(), left_out)
    }

    /// The same while states are still being added: no state that is left out here would be kept at the end.
    fn prune(&self, step: &Step, next: &mut Merged) -> f32 {
        let (merged, left_out) = self.best_of(step, std::mem::take(next));
        next.extend(merged);
        left_out
    }

    /// How many merged states are held at a time where only the best are kept: a wide beam would hold its width
    /// squared.
    fn room(&self, step: &Step) -> usize {
        if self.width.paper || step.beam.is_none() {
            return usize::MAX;
        }
        self.width.k.saturating_mul(2).max(MERGED)
    }

    fn best_of(&self, step: &Step, next: Merged) -> (Vec<OfKey>, f32) {
        let mut merged: Vec<OfKey> = next.into_iter().collect();
        // Among equal scores, the first value of every state comes before the second of any: where many
        // facts are 1, a beam that took all values of its first state would see nothing else.
        let order = |(_, a): &OfKey, (_, b): &OfKey| {
            let (a, b) = (&a[0], &b[0]);
            let by_place = a.place.cmp(&b.place).then_with(|| a.values.cmp(&b.values));
            b.score.total_cmp(&a.score).then(by_place)
        };
        let mut left_out = self.nothing;
        let k = self.width.k;
        if !self.width.paper && step.beam.is_some() && merged.len() > k {
            // The first of those that are left out is the best of them.
            merged.select_nth_unstable_by(k, order);
            left_out = merged[k].1[0].score;
            merged.truncate(k);
        }
        merged.sort_unstable_by(order);
        (merged, left_out)
    }
}
