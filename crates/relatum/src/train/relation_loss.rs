//! Predicts the relation as well as the tail: an auxiliary loss that makes better link predictors.

use rayon::prelude::*;

use super::groups::{Group, Groups};
use super::optimizer::Table;
use super::step::SparseRows;
use crate::graph::{EntityId, Id, RelationId};
use crate::kernels::{Threads, View, ViewMut, exp_row, product, scale_by};
use crate::model::LinkPredictor;

/// `−W · ln softmax_r s(h, r, t)` over all relations, for every triple of a batch (Chen et al., 2021).
///
/// For a trilinear score, `s(h, r, t) = ⟨p(h, t), r⟩` with p the pull-back of `e_t`, so relations are
/// scored as tails are; and a gradient g by p is a relation in its own right: it reaches the tail as
/// `q(h, g)` and the head as the pull-back of `e_t` at the relation g.
#[derive(Clone, Debug, Default)]
pub(super) struct RelationLoss {
    weight: f32,
    pairs: Vec<f32>,
    scores: Vec<f32>,
    pair_gradients: Vec<f32>,
    gradient: Vec<f32>,
}

impl RelationLoss {
    pub(super) fn new(weight: f32) -> Self {
        Self { weight, ..Self::default() }
    }

    /// Adds the gradients of a batch to those of its heads and tails and of all relations.
    pub(super) fn add(
        &mut self,
        predictor: &dyn LinkPredictor,
        (entities, relations): (&Table, &Table),
        groups: &Groups,
        batch: &[&Group],
        sparse: &mut SparseRows,
        relation_gradient: &mut [f32],
    ) {
        let triples: Vec<(EntityId, RelationId, EntityId)> = batch
            .iter()
            .flat_map(|group| groups.tails(group).iter().map(|&tail| (group.head, group.relation, tail)))
            .collect();
        let (count, width) = (triples.len(), relations.width);
        let all = relations.values.len() / width;
        let tail_range = predictor.tail();
        self.pairs.clear();
        self.pairs.resize(count * width, 0.0);
        let each = self.pairs.par_chunks_exact_mut(width).zip(&triples);
        each.for_each_init(
            || vec![0.0; entities.width],
            |unused, (pair, &(h, r, t))| {
                let tail = &entities.row(t.index())[tail_range.clone()];
                let (head, relation) = (entities.row(h.index()), relations.row(r.index()));
                predictor.pull_back(head, relation, tail, unused, pair);
            },
        );
        let table = View::new(&relations.values, all, width);
        let pairs = View::new(&self.pairs, count, width);
        self.scores.resize(count * all, 0.0);
        product(ViewMut::new(&mut self.scores, count, all), pairs, table.transposed(), Threads::All);
        let weight = self.weight;
        self.scores.par_chunks_exact_mut(all).zip(&triples).for_each(|(row, &(_, r, _))| {
            let (_, sum) = exp_row(row, None);
            scale_by(row, weight / (count as f32 * sum));
            row[r.index()] -= weight / count as f32;
        });
        let by_score = View::new(&self.scores, count, all);
        self.pair_gradients.resize(count * width, 0.0);
        product(ViewMut::new(&mut self.pair_gradients, count, width), by_score, table, Threads::All);
        self.gradient.resize(all * width, 0.0);
        product(ViewMut::new(&mut self.gradient, all, width), by_score.transposed(), pairs, Threads::All);
        crate::kernels::add(relation_gradient, &self.gradient);

        let owners = triples.iter().flat_map(|&(h, _, t)| [h, t]);
        let rows = sparse.extend(owners).par_chunks_exact_mut(2 * entities.width);
        rows.zip(self.pair_gradients.par_chunks_exact(width)).zip(&triples).for_each_init(
            || vec![0.0; width],
            |unused, ((rows, gradient), &(h, _, t))| {
                let (head_gradient, tail_gradient) = rows.split_at_mut(entities.width);
                let head = entities.row(h.index());
                let tail = &entities.row(t.index())[tail_range.clone()];
                predictor.query(head, gradient, &mut tail_gradient[tail_range.clone()]);
                predictor.pull_back(head, gradient, tail, head_gradient, unused);
            },
        );
    }
}
