//! How true the values of the next variable are, for each state of a beam.

use std::sync::Arc;
use std::sync::PoisonError;

use rayon::prelude::*;

use super::{Asked, Assignment, Beam, State, Usage};
use crate::graph::{EntityId, Id, RelationId};
use crate::kernels::{Threads, meet};
use crate::plan::{BranchPlan, Factor, Step};
use crate::query::{Direction, Hop, Term};
use crate::search::top::best;
use crate::search::{SearchError, block_of, rows};

/// How true the values of a variable are.
pub(super) struct Vectors {
    /// For each state.
    pub(super) each: Vec<Vec<f32>>,
    /// The factor that is the same for all states, where it is not part of `each` already; else empty.
    pub(super) shared: Vec<f32>,
    /// An upper bound for every value that was not looked at.
    pub(super) left_out: f32,
}

impl Beam<'_> {
    /// For each state, how true each value of the step's variable is by all factors; `None` if a limit
    /// was reached before all factors were included.
    pub(super) fn vectors(
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
                    let row = self.rows(&[(*anchor, *hop)], usage)?;
                    self.meet_row(&mut common, &row[0], *negated);
                }
                Factor::Row { from: Term::Variable(variable), hop, negated } => {
                    let mut from: Vec<EntityId> =
                        states.iter().filter_map(|state| state.value(*variable)).collect();
                    from.sort_unstable();
                    from.dedup();
                    let pairs: Vec<(EntityId, Hop)> = from.iter().map(|&value| (value, *hop)).collect();
                    let rows = self.rows(&pairs, usage)?;
                    let all = vectors.get_or_insert_with(|| vec![vec![self.unit; n]; states.len()]);
                    let grain = Threads::here().grain();
                    all.par_iter_mut().zip(states).with_min_len(grain).for_each(|(vector, state)| {
                        let value = state.value(*variable);
                        if let Some(at) = value.and_then(|value| from.binary_search(&value).ok()) {
                            self.meet_row(vector, &rows[at], *negated);
                        }
                    });
                }
                Factor::Loop { relation, negated } => loops.push((*relation, *negated)),
                Factor::Negated(which) => {
                    let Some(nested) = plan.negated.get(*which) else { continue };
                    if nested.inputs.is_empty() {
                        let Some(found) = self.sub_scores(nested, &[], usage)? else { return Ok(None) };
                        self.meet_negated(&mut common, &found);
                        continue;
                    }
                    let all = vectors.get_or_insert_with(|| vec![vec![self.unit; n]; states.len()]);
                    for (vector, state) in all.iter_mut().zip(states) {
                        let inputs: Assignment =
                            nested.inputs.iter().filter_map(|&id| Some((id, state.value(id)?))).collect();
                        let Some(found) = self.sub_scores(nested, &inputs, usage)? else { return Ok(None) };
                        self.meet_negated(vector, &found);
                    }
                }
            }
        }
        let mut left_out = self.nothing;
        let mut vectors = match vectors {
            None => vec![common; states.len()],
            // A variable is maximised over as soon as no other atom mentions it. For a t-norm that is
            // the same as at the end; for raw scores, which may be negative, it is not.
            Some(each) if to_target && self.is_raw() && loops.is_empty() => {
                return Ok(Some(Vectors { each, shared: common, left_out }));
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
            for (vector, state) in vectors.iter_mut().zip(states) {
                let missed = self.apply_loop(vector, relation, negated, usage)?;
                left_out = left_out.max(self.logic.t_norm.and(state.score, missed));
            }
        }
        Ok(Some(Vectors { each: vectors, shared: Vec::new(), left_out }))
    }

    fn meet_row(&self, vector: &mut [f32], row: &[f32], negated: bool) {
        if negated {
            let row: Vec<f32> = row.iter().map(|&x| self.logic.negation.not(x)).collect();
            meet(self.logic.t_norm, vector, &row);
        } else {
            meet(self.logic.t_norm, vector, row);
        }
    }

    fn meet_negated(&self, vector: &mut [f32], found: &[f32]) {
        vector.iter_mut().zip(found).for_each(|(all, x)| *all = self.logic.t_norm.and(*all, 1.0 - x));
    }

    /// How true a negated sub-query is for every entity; `None` if a limit was reached first, because a sub-query
    /// that is searched only in part would rule out too few answers.
    fn sub_scores(
        &self,
        nested: &BranchPlan,
        inputs: &[(crate::query::VariableId, EntityId)],
        usage: &mut Usage,
    ) -> Result<Option<Vec<f32>>, SearchError> {
        let found = self.branch(nested, inputs, Asked::NOTHING, self.nothing, usage)?;
        usage.left_out_below = usage.left_out_below.max(found.left_out);
        Ok((!usage.stopped).then_some(found.scores))
    }

    fn is_raw(&self) -> bool {
        self.nothing < 0.0
    }

    /// Joins the diagonal `φ(x, x)` to a vector. It costs a row for every x, so values are taken in falling order
    /// of their upper bounds, until these are below the k best; returns an upper bound for all other values.
    fn apply_loop(
        &self,
        vector: &mut [f32],
        relation: RelationId,
        negated: bool,
        usage: &mut Usage,
    ) -> Result<f32, SearchError> {
        let n = self.truth.entities();
        let hop = Hop { relation, direction: Direction::Forward };
        let and = |x: f32, y: f32| self.logic.t_norm.and(x, y);
        let mut bounds = vector.to_vec();
        if !negated && !self.is_raw() {
            // The entities of a chunk enter each other's softmax sums, so together they give tighter bounds.
            const CHUNK: usize = 256;
            let mut edges = Vec::new();
            for (chunk, values) in bounds.chunks_mut(CHUNK).enumerate() {
                let all = (chunk * CHUNK..).take(values.len()).map(EntityId::from_index);
                let of: Vec<EntityId> = all.filter(|x| vector[x.index()] > 0.0).collect();
                edges.resize(of.len() * of.len(), 1.0);
                if of.is_empty() || !self.truth.at_most(&of, hop, &of, &mut edges) {
                    continue;
                }
                for (at, x) in of.iter().enumerate() {
                    let value = &mut values[x.index() - chunk * CHUNK];
                    *value = and(*value, edges[at * of.len() + at]);
                }
            }
        }
        let in_order = best(&bounds, usize::MAX, |x| bounds[x.index()] > self.nothing);
        let mut kept = vec![self.nothing; n];
        let (mut found, mut bar, mut buffer) = (Vec::new(), self.nothing, Vec::new());
        let mut left = in_order.as_slice();
        while let Some(&(_, most)) = left.first() {
            if found.len() >= self.width.k && most < bar {
                break;
            }
            let size = self.control.block(usage.rows, 1, block_of(n)).min(left.len());
            if size == 0 {
                usage.stopped = true;
                break;
            }
            let (block, rest) = left.split_at(size);
            left = rest;
            let truths = self.diagonal(relation, block, &mut buffer, usage)?;
            for (truth, &(x, _)) in truths.into_iter().zip(block) {
                let truth = if negated { self.logic.negation.not(truth) } else { truth };
                let value = and(vector[x.index()], truth);
                kept[x.index()] = value;
                found.push(value);
            }
            found.sort_unstable_by(|a, b| b.total_cmp(a));
            found.truncate(self.width.k);
            bar = found.last().copied().unwrap_or(self.nothing);
        }
        vector.copy_from_slice(&kept);
        Ok(left.first().map_or(self.nothing, |&(_, most)| most))
    }

    /// `φ(x, x)` of some x: a row for each that was not looked at before, of which one entry is kept.
    fn diagonal(
        &self,
        relation: RelationId,
        values: &[(EntityId, f32)],
        buffer: &mut Vec<f32>,
        usage: &mut Usage,
    ) -> Result<Vec<f32>, SearchError> {
        let mut known = self.diagonals.lock().unwrap_or_else(PoisonError::into_inner);
        let new = values.iter().map(|&(x, _)| x).filter(|&x| !known.contains_key(&(x, relation)));
        let hop = Hop { relation, direction: Direction::Forward };
        let pairs: Vec<(EntityId, Hop)> = new.map(|x| (x, hop)).collect();
        rows::pairs(self.truth, &pairs, buffer)?;
        usage.rows += pairs.len();
        for (&(x, _), row) in pairs.iter().zip(buffer.chunks_exact(self.truth.entities().max(1))) {
            known.insert((x, relation), row[x.index()]);
        }
        Ok(values.iter().map(|&(x, _)| known.get(&(x, relation)).copied().unwrap_or(self.nothing)).collect())
    }

    /// One row for each pair: those that were not scored before, in one product.
    pub(super) fn rows(
        &self,
        pairs: &[(EntityId, Hop)],
        usage: &mut Usage,
    ) -> Result<Vec<Arc<[f32]>>, SearchError> {
        let n = self.truth.entities();
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<Option<Arc<[f32]>>> = pairs.iter().map(|&pair| cache.get(pair)).collect();
        let missing: Vec<(EntityId, Hop)> =
            pairs.iter().zip(&found).filter(|(_, row)| row.is_none()).map(|(&pair, _)| pair).collect();
        let mut scored = Vec::new();
        rows::pairs(self.truth, &missing, &mut scored)?;
        usage.rows += missing.len();
        let gaps = pairs.iter().zip(&mut found).filter(|(_, row)| row.is_none());
        for ((&pair, slot), row) in gaps.zip(scored.chunks_exact(n.max(1))) {
            let row: Arc<[f32]> = row.into();
            cache.keep(pair, &row);
            *slot = Some(row);
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// How many rows a state takes at most before its values are known, without those of loops and
    /// sub-queries, which keep to the limits themselves.
    pub(super) fn cost(&self, step: &Step) -> usize {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let takes_a_row = |factor: &&Factor| match factor {
            Factor::Row { from: Term::Entity(anchor), hop, .. } => !cache.holds((*anchor, *hop)),
            Factor::Row { from: Term::Variable(_), .. } => true,
            Factor::Loop { .. } | Factor::Negated(_) => false,
        };
        step.factors.iter().filter(takes_a_row).count()
    }
}
