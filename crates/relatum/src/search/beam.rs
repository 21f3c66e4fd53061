//! Beam search on any question: the k best assignments, one variable after another.
//!
//! States that agree on every variable that is still needed are merged and the best kept: the
//! others could never win. A chain of three hops then costs 2k rows, not k + k². In *paper* mode
//! every state keeps its own k best values by the truth of the atoms alone and nothing is cut
//! between states, as the paper describes; merging does not change the scores of that procedure.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::rows;
use super::top::best;
use super::{AtomTruth, Budget, Certainty, Found, Logic, SearchError, block_of};
use crate::graph::{EntityId, Id};
use crate::kernels::{Threads, meet};
use crate::logic::TNorm;
use crate::plan::{BranchPlan, Factor, Plan, SignedHop, Step};
use crate::query::{Direction, Hop, Term, VariableId};

/// How wide a beam is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// How many assignments are kept.
    pub k: usize,
    /// Whether each assignment keeps k values of the next variable by the atoms' own truth, as the
    /// paper does, instead of k being kept of all.
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
    budget: Budget,
    /// The score of what was never reached: 0, or −∞ where scores are no truth values.
    nothing: f32,
    /// The score of no condition at all: 1, or +∞ where the smallest of raw scores is wanted.
    unit: f32,
}

/// An assignment of some variables with the score of all atoms between them.
#[derive(Clone, Debug)]
struct State {
    values: Assignment,
    score: f32,
    /// Which of the best values of the state before it this one took.
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
    /// What those scores are still to be joined with, for each entity; nothing if empty.
    shared: Vec<f32>,
}

/// How true the values of a variable are.
struct Vectors {
    /// For each state.
    each: Vec<Vec<f32>>,
    /// By what no state has a part in, where that is not in `each` already; else empty.
    shared: Vec<f32>,
}

/// The entities whose assignments are wanted, and how many of each.
#[derive(Clone, Copy)]
struct Asked<'a> {
    entities: &'a [EntityId],
    count: usize,
}

impl Asked<'_> {
    /// Scores alone.
    const NOTHING: Self = Self { entities: &[], count: 1 };
}

/// States that agree on every variable that is still needed, best first: one, or as many as are asked
/// for.
type Merged = FxHashMap<Vec<EntityId>, Vec<State>>;

/// Rows used so far, across branches and sub-queries.
#[derive(Default)]
struct Usage {
    rows: usize,
    stopped: bool,
    /// Rows that the question itself names.
    anchors: FxHashMap<(EntityId, Hop), Vec<f32>>,
}

impl<'a> Beam<'a> {
    /// Prepares a search. `raw` says that truth values may leave [0, 1].
    pub fn new(
        plan: &'a Plan,
        truth: &'a dyn AtomTruth,
        logic: Logic,
        width: Width,
        budget: Budget,
        raw: bool,
    ) -> Result<Self, SearchError> {
        if width.k == 0 {
            return Err(SearchError::EmptyBeam);
        }
        let negates = |branch: &BranchPlan| !branch.branch.negative.is_empty() || !branch.negated.is_empty();
        if raw && (plan.branches.len() > 1 || plan.branches.iter().any(negates)) {
            return Err(SearchError::RawScores);
        }
        let nothing = if raw { f32::NEG_INFINITY } else { 0.0 };
        let unit = if raw && logic.t_norm == TNorm::Godel { f32::INFINITY } else { 1.0 };
        Ok(Self { plan, truth, logic, width, budget, nothing, unit })
    }

    /// Runs every branch and joins their scores.
    pub fn run(&self) -> Result<Found, SearchError> {
        let mut usage = Usage::default();
        self.score_anchors(&mut usage)?;
        let mut scores: Option<Vec<f32>> = None;
        for branch in &self.plan.branches {
            let found = self.branch(branch, &[], Asked::NOTHING, &mut usage)?.scores;
            scores = Some(match scores {
                None => found,
                Some(mut all) => {
                    all.iter_mut().zip(found).for_each(|(a, b)| *a = self.logic.t_norm.or(*a, b));
                    all
                }
            });
        }
        let scores = scores.unwrap_or_else(|| vec![self.nothing; self.truth.entities()]);
        let certainty =
            if usage.stopped { Certainty::Stopped { by: self.budget.limit() } } else { Certainty::Beam };
        Ok(Found { scores, certainty, rows: usage.rows })
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
        if self.budget.block(0, 1, pairs.len()) < pairs.len() {
            return Ok(());
        }
        let mut scored = Vec::new();
        rows::pairs(self.truth, &pairs, &mut scored)?;
        usage.rows += pairs.len();
        usage.anchors = pairs.into_iter().zip(scored.chunks_exact(n).map(<[f32]>::to_vec)).collect();
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
            let outcome = self.branch(plan, &[], Asked { entities: answers, count }, &mut usage)?;
            Ok::<_, SearchError>((outcome, usage.stopped))
        };
        let (mut outcome, stopped) = run(count)?;
        if stopped {
            // More states take more rows: within the budget there may be no more than the best.
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

    /// How true a negated sub-query is under an assignment of the branch around it, and the values
    /// by which it is: of its own variables and of those that it shares. It takes the rows that it
    /// needs, whatever the budget: half a sub-query would explain nothing.
    pub fn sub_query(
        &self,
        nested: &BranchPlan,
        outer: &Assignment,
    ) -> Result<(f32, Option<Assignment>), SearchError> {
        let value = |id: VariableId| outer.iter().find(|(other, _)| *other == id).map(|&(_, value)| value);
        let Some(target) = value(nested.target) else { return Ok((0.0, None)) };
        let inputs: Assignment = nested.inputs.iter().filter_map(|&id| Some((id, value(id)?))).collect();
        let whole = Self { budget: Budget { rows: None, until: None, ..self.budget }, ..*self };
        let asked = Asked { entities: &[target], count: 1 };
        let outcome = whole.branch(nested, &inputs, asked, &mut Usage::default())?;
        let mut found = self.assigned(nested.target, &outcome, 0, target, 1);
        Ok((outcome.scores[target.index()], found.pop().map(|(assignment, _)| assignment)))
    }

    fn branch(
        &self,
        plan: &BranchPlan,
        inputs: &[(VariableId, EntityId)],
        asked: Asked<'_>,
        usage: &mut Usage,
    ) -> Result<Outcome, SearchError> {
        let n = self.truth.entities();
        let mut states = vec![State { values: inputs.to_vec(), score: self.unit, place: 0 }];
        let mut scores = vec![self.nothing; n];
        let (mut reached, mut shared) = (Vec::new(), Vec::new());
        for (index, step) in plan.steps.iter().enumerate() {
            let to_target = index + 1 == plan.steps.len() && step.variable == plan.target;
            let mut next = Merged::default();
            let mut left = states.as_slice();
            while !left.is_empty() && !usage.stopped {
                let size = self.budget.block(usage.rows, cost(step, usage), block_of(n)).min(left.len());
                if size == 0 {
                    usage.stopped = true;
                    break;
                }
                let (block, rest) = left.split_at(size);
                left = rest;
                let Some(vectors) = self.vectors(plan, step, block, to_target, usage)? else { break };
                shared = vectors.shared;
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
                    } else if self.budget.is_late() {
                        usage.stopped = true;
                        break;
                    } else {
                        self.extend(step, state, &vector, asked.count, &mut next);
                    }
                }
            }
            if usage.stopped {
                break;
            }
            if !to_target {
                states = self.cut(step, next);
            }
        }
        for (score, &shared) in scores.iter_mut().zip(&shared).filter(|(score, _)| **score > self.nothing) {
            *score = self.logic.t_norm.and(*score, shared);
        }
        if usage.stopped {
            return Ok(Outcome { scores, reached, shared });
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
        Ok(Outcome { scores, reached, shared })
    }

    /// Adds the best extensions of a state to the next states, merged by what is still needed.
    fn extend(&self, step: &Step, state: &State, vector: &[f32], keep: usize, next: &mut Merged) {
        let own = |x: EntityId| vector[x.index()] > self.nothing;
        let joint: Vec<f32>;
        let by = if self.width.paper {
            vector
        } else {
            joint = vector.iter().map(|&truth| self.logic.t_norm.and(state.score, truth)).collect();
            &joint
        };
        let count = if step.beam.is_some() { self.width.k } else { usize::MAX };
        for (place, (value, _)) in best(by, count, own).into_iter().enumerate() {
            let score = self.logic.t_norm.and(state.score, vector[value.index()]);
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
    }

    /// The states to go on with, in an order that depends on nothing but them.
    fn cut(&self, step: &Step, next: Merged) -> Vec<State> {
        let mut merged: Vec<Vec<State>> = next.into_values().collect();
        // Of equal scores the first value of every state comes before the second of any: where many
        // facts are 1, a beam that took all values of its first state would see nothing else.
        merged.sort_unstable_by(|a, b| {
            let (a, b) = (&a[0], &b[0]);
            let by_place = a.place.cmp(&b.place).then_with(|| a.values.cmp(&b.values));
            b.score.total_cmp(&a.score).then(by_place)
        });
        if !self.width.paper && step.beam.is_some() {
            merged.truncate(self.width.k);
        }
        merged.into_iter().flatten().collect()
    }

    /// For each state, how true each value of the step's variable is by all factors. None: the budget
    /// was spent before all of them had their say.
    fn vectors(
        &self,
        plan: &BranchPlan,
        step: &Step,
        states: &[State],
        to_target: bool,
        usage: &mut Usage,
    ) -> Result<Option<Vectors>, SearchError> {
        let n = self.truth.entities();
        let mut common = vec![self.unit; n];
        let mut vectors: Option<Vec<Vec<f32>>> = None;
        let mut loops = Vec::new();
        for factor in &step.factors {
            match factor {
                Factor::Row { from: Term::Entity(anchor), hop, negated } => {
                    let row = match usage.anchors.get(&(*anchor, *hop)) {
                        Some(row) if *negated => row.iter().map(|&x| self.logic.negation.not(x)).collect(),
                        Some(row) => row.clone(),
                        None => self.rows(&[*anchor], *hop, *negated, usage)?,
                    };
                    meet(self.logic.t_norm, &mut common, &row);
                }
                Factor::Row { from: Term::Variable(variable), hop, negated } => {
                    let mut from: Vec<EntityId> =
                        states.iter().filter_map(|state| state.value(*variable)).collect();
                    from.sort_unstable();
                    from.dedup();
                    let rows = self.rows(&from, *hop, *negated, usage)?;
                    let all = vectors.get_or_insert_with(|| vec![vec![self.unit; n]; states.len()]);
                    let grain = Threads::here().grain();
                    all.par_iter_mut().zip(states).with_min_len(grain).for_each(|(vector, state)| {
                        let value = state.value(*variable);
                        if let Some(at) = value.and_then(|value| from.binary_search(&value).ok()) {
                            meet(self.logic.t_norm, vector, &rows[at * n..][..n]);
                        }
                    });
                }
                Factor::Loop { relation, negated } => loops.push((*relation, *negated)),
                Factor::Negated(which) => {
                    let Some(nested) = plan.negated.get(*which) else { continue };
                    if nested.inputs.is_empty() {
                        let found = self.branch(nested, &[], Asked::NOTHING, usage)?.scores;
                        if usage.stopped {
                            return Ok(None);
                        }
                        common
                            .iter_mut()
                            .zip(found)
                            .for_each(|(all, x)| *all = self.logic.t_norm.and(*all, 1.0 - x));
                        continue;
                    }
                    let all = vectors.get_or_insert_with(|| vec![vec![self.unit; n]; states.len()]);
                    for (vector, state) in all.iter_mut().zip(states) {
                        let inputs: Assignment =
                            nested.inputs.iter().filter_map(|&id| Some((id, state.value(id)?))).collect();
                        let found = self.branch(nested, &inputs, Asked::NOTHING, usage)?.scores;
                        // Less than the whole sub-query would refuse too little.
                        if usage.stopped {
                            return Ok(None);
                        }
                        vector
                            .iter_mut()
                            .zip(found)
                            .for_each(|(all, x)| *all = self.logic.t_norm.and(*all, 1.0 - x));
                    }
                }
            }
        }
        let mut vectors = match vectors {
            None => vec![common; states.len()],
            // A variable is maximised over as soon as no other atom mentions it. For a t-norm that is
            // the same as at the end; for raw scores, which may be negative, it is not.
            Some(each) if to_target && self.is_raw() && loops.is_empty() => {
                return Ok(Some(Vectors { each, shared: common }));
            }
            Some(mut all) => {
                let grain = Threads::here().grain();
                all.par_iter_mut()
                    .with_min_len(grain)
                    .for_each(|vector| meet(self.logic.t_norm, vector, &common));
                all
            }
        };
        for (relation, negated) in loops {
            for vector in &mut vectors {
                self.apply_loop(vector, Hop { relation, direction: Direction::Forward }, negated, usage)?;
            }
        }
        Ok(Some(Vectors { each: vectors, shared: Vec::new() }))
    }

    fn is_raw(&self) -> bool {
        self.nothing < 0.0
    }

    /// `φ(x, x)` costs a row for every x; only those that the other factors leave at the top get one.
    fn apply_loop(
        &self,
        vector: &mut [f32],
        hop: Hop,
        negated: bool,
        usage: &mut Usage,
    ) -> Result<(), SearchError> {
        let n = self.truth.entities();
        let looked_at = best(vector, self.width.k.max(block_of(n)), |x| vector[x.index()] > self.nothing);
        let mut kept = vec![self.nothing; n];
        let mut left = looked_at.as_slice();
        while !left.is_empty() {
            let size = self.budget.block(usage.rows, 1, block_of(n)).min(left.len());
            if size == 0 {
                usage.stopped = true;
                break;
            }
            let (block, rest) = left.split_at(size);
            left = rest;
            let from: Vec<EntityId> = block.iter().map(|&(x, _)| x).collect();
            let rows = self.rows(&from, hop, negated, usage)?;
            for (index, &(x, value)) in block.iter().enumerate() {
                kept[x.index()] = self.logic.t_norm.and(value, rows[index * n + x.index()]);
            }
        }
        vector.copy_from_slice(&kept);
        Ok(())
    }

    fn rows(
        &self,
        from: &[EntityId],
        hop: Hop,
        negated: bool,
        usage: &mut Usage,
    ) -> Result<Vec<f32>, SearchError> {
        usage.rows += from.len();
        let mut buffers = Default::default();
        rows::of(self.truth, self.logic, from, &[SignedHop { hop, negated }], &mut buffers)?;
        Ok(buffers.0)
    }
}

/// How many rows a state takes at most before its values are known, those of loops and sub-queries
/// left out, which keep to the budget themselves.
fn cost(step: &Step, usage: &Usage) -> usize {
    let takes_a_row = |factor: &&Factor| match factor {
        Factor::Row { from: Term::Entity(anchor), hop, .. } => !usage.anchors.contains_key(&(*anchor, *hop)),
        Factor::Row { from: Term::Variable(_), .. } => true,
        Factor::Loop { .. } | Factor::Negated(_) => false,
    };
    step.factors.iter().filter(takes_a_row).count()
}
