//! One batch: scores, loss, gradients, and the step they lead to.

use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use super::candidates::Candidates;
use super::groups::{Group, Groups};
use super::optimizer::{Stretch, Table};
use super::relation_loss::RelationLoss;
use super::{Optimizer, Regularizer, Settings};
use crate::graph::{EntityId, Id};
use crate::kernels::{Threads, View, ViewMut, add, exp_row, product, scale_by};
use crate::model::LinkPredictor;
use crate::random::Rng;

/// The parameters of a model in training, and the buffers that a batch needs.
///
/// The gradient of the entities is never held as a whole: a tile of it comes out of the third
/// product and goes into the optimiser while it is still in the cache.
pub(super) struct Stepper {
    pub(super) predictor: Arc<dyn LinkPredictor>,
    pub(super) entities: Table,
    pub(super) relations: Table,
    regularizer: Regularizer,
    weight: f32,
    optimizer: Optimizer,
    /// The length of the next step.
    pub(super) lr: f32,
    relation_loss: Option<RelationLoss>,
    room: Room,
}

/// Buffers that live as long as the training.
#[derive(Default)]
struct Room {
    queries: Vec<f32>,
    scores: Vec<f32>,
    query_gradients: Vec<f32>,
    relation_gradient: Vec<f32>,
    candidates: Vec<f32>,
    sparse: SparseRows,
    tiles: Vec<Mutex<Vec<f32>>>,
}

/// Gradients of single entity rows, to be added to the tiles they belong to.
#[derive(Default)]
pub(super) struct SparseRows {
    pub(super) width: usize,
    pub(super) rows: Vec<f32>,
    /// Which row belongs to which entity; by entity once sorted.
    pub(super) owners: Vec<(EntityId, u32)>,
}

impl SparseRows {
    fn clear(&mut self, width: usize) {
        self.width = width;
        self.rows.clear();
        self.owners.clear();
    }

    /// Makes `count` rows of zeros for the given owners and returns them.
    pub(super) fn extend(&mut self, owners: impl Iterator<Item = EntityId>) -> &mut [f32] {
        let from = self.owners.len();
        self.owners.extend(owners.zip(from as u32..));
        let start = self.rows.len();
        self.rows.resize(self.owners.len() * self.width, 0.0);
        &mut self.rows[start..]
    }

    fn row(&self, index: u32) -> &[f32] {
        &self.rows[index as usize * self.width..][..self.width]
    }
}

/// How often an entity is head and tail in the batch: the regulariser counts every occurrence.
#[derive(Clone, Copy)]
struct Uses {
    entity: EntityId,
    as_head: u32,
    as_tail: u32,
}

impl Stepper {
    pub(super) fn new(
        predictor: Arc<dyn LinkPredictor>,
        entities: Vec<f32>,
        relations: Vec<f32>,
        settings: &Settings,
    ) -> Self {
        let optimizer = settings.optimizer;
        let entities = Table::new(entities, predictor.entity_width(), optimizer);
        let relations = Table::new(relations, predictor.relation_width(), optimizer);
        let relation_loss = (settings.relation_loss > 0.0).then(|| RelationLoss::new(settings.relation_loss));
        Self {
            predictor,
            entities,
            relations,
            regularizer: settings.regularizer,
            weight: settings.regularizer_weight,
            optimizer,
            lr: settings.learning_rate,
            relation_loss,
            room: Room::default(),
        }
    }

    pub(super) fn entity_count(&self) -> usize {
        self.entities.values.len() / self.entities.width
    }

    /// Draws the candidates of a batch.
    pub(super) fn candidates(
        &self,
        groups: &Groups,
        batch: &[&Group],
        sample: usize,
        rng: &mut Rng,
    ) -> Candidates {
        let own = batch.iter().flat_map(|group| groups.tails(group).iter().copied().chain([group.head]));
        Candidates::draw(own.collect(), self.entity_count(), sample, rng)
    }

    /// One step on a batch; returns the sum of the cross-entropies of its triples, before the step.
    ///
    /// With S the scores of the batch's groups, P̃ = exp(S − max), Z its row sums, n the tails of a
    /// group and B the triples of the batch, the gradient by S is `n/(BZ) · (P̃ − Z/n at the tails)`:
    /// the factor is applied to the small matrices, so that P̃ is written once and never again.
    pub(super) fn step(
        &mut self,
        groups: &Groups,
        batch: &[&Group],
        candidates: Option<&Candidates>,
        step: u64,
    ) -> f64 {
        let predictor = Arc::clone(&self.predictor);
        let (rows, width) = (batch.len(), predictor.tail().len());
        let triples: usize = batch.iter().map(|group| group.len()).sum();
        let mut room = std::mem::take(&mut self.room);
        room.sparse.clear(self.entities.width);

        fit(&mut room.queries, rows * width);
        room.queries.par_chunks_exact_mut(width).zip(batch).for_each(|(query, group)| {
            let (head, relation) = (group.head.index(), group.relation.index());
            predictor.query(self.entities.row(head), self.relations.row(relation), query);
        });

        let columns = candidates.map_or(self.entity_count(), |c| c.entities.len());
        let bias = self.bias(candidates);
        let chosen = self.gather(candidates, &mut room.candidates);
        fit(&mut room.scores, rows * columns);
        let queries = View::new(&room.queries, rows, width);
        product(ViewMut::new(&mut room.scores, rows, columns), queries, chosen.transposed(), Threads::All);

        let position = |tail: EntityId| match candidates {
            None => tail.index(),
            Some(candidates) => candidates.position(tail).unwrap_or_default(),
        };
        let softmax = |(row, group): (&mut [f32], &&Group)| {
            softmax_row(row, bias.as_deref(), groups.tails(group).iter().map(|&tail| position(tail)), triples)
        };
        let outcomes: Vec<(f64, f32)> =
            room.scores.par_chunks_exact_mut(columns).zip(batch).map(softmax).collect();
        let loss = outcomes.iter().map(|(loss, _)| loss).sum();

        fit(&mut room.query_gradients, rows * width);
        let scores = View::new(&room.scores, rows, columns);
        product(ViewMut::new(&mut room.query_gradients, rows, width), scores, chosen, Threads::All);

        fit(&mut room.relation_gradient, self.relations.values.len());
        room.relation_gradient.fill(0.0);
        let head_gradients = room.sparse.extend(batch.iter().map(|group| group.head));
        let rows_of = room.query_gradients.chunks_exact_mut(width).zip(room.queries.chunks_exact_mut(width));
        for ((((gradient, query), head_gradient), group), (_, scale)) in
            rows_of.zip(head_gradients.chunks_exact_mut(self.entities.width)).zip(batch).zip(&outcomes)
        {
            scale_by(gradient, *scale);
            scale_by(query, *scale);
            let (head, relation) = (group.head.index(), group.relation.index());
            let at = relation * self.relations.width;
            let relation_gradient = &mut room.relation_gradient[at..at + self.relations.width];
            let (head, relation) = (self.entities.row(head), self.relations.row(relation));
            predictor.pull_back(head, relation, gradient, head_gradient, relation_gradient);
        }

        if let Some(relation_loss) = &mut self.relation_loss {
            let tables = (&self.entities, &self.relations);
            relation_loss.add(
                &*predictor,
                tables,
                groups,
                batch,
                &mut room.sparse,
                &mut room.relation_gradient,
            );
        }
        room.sparse.owners.sort_unstable();
        self.step_entities(groups, batch, candidates, &mut room, &outcomes, step);
        self.step_relations(batch, triples, &mut room.relation_gradient, step);
        self.room = room;
        loss
    }

    /// Model biases and the candidates' weights, if there are any.
    fn bias(&self, candidates: Option<&Candidates>) -> Option<Vec<f32>> {
        let tail = self.predictor.tail();
        match candidates {
            None => crate::model::biases(&*self.predictor, &self.entities.values),
            Some(candidates) => {
                let each = candidates.entities.iter().zip(&candidates.log_weights);
                Some(
                    each.map(|(e, w)| w + self.predictor.bias(&self.entities.row(e.index())[tail.clone()]))
                        .collect(),
                )
            }
        }
    }

    /// The candidate vectors: the table itself, or copies of the chosen rows.
    fn gather<'a>(&'a self, candidates: Option<&Candidates>, copies: &'a mut Vec<f32>) -> View<'a> {
        let tail = self.predictor.tail();
        let Some(candidates) = candidates else {
            return View::new(&self.entities.values, self.entity_count(), self.entities.width).columns(tail);
        };
        fit(copies, candidates.entities.len() * tail.len());
        copies.par_chunks_exact_mut(tail.len()).zip(&candidates.entities).for_each(|(copy, entity)| {
            copy.copy_from_slice(&self.entities.row(entity.index())[tail.clone()]);
        });
        View::new(copies, candidates.entities.len(), tail.len())
    }

    /// The third product and the optimiser, tile by tile.
    fn step_entities(
        &mut self,
        groups: &Groups,
        batch: &[&Group],
        candidates: Option<&Candidates>,
        room: &mut Room,
        outcomes: &[(f64, f32)],
        step: u64,
    ) {
        let uses = uses(groups, batch);
        let (rows, width) = (batch.len(), self.predictor.tail().len());
        let (count, entity_width) = (self.entity_count(), self.entities.width);
        let columns = candidates.map_or(count, |c| c.entities.len());
        let triples: usize = batch.iter().map(|group| group.len()).sum();
        let scales: Vec<f32> = outcomes.iter().map(|(_, scale)| *scale).collect();
        room.tiles.resize_with(rayon::current_num_threads(), Mutex::default);

        let tile = tile_rows(entity_width);
        let mut tasks = Vec::with_capacity(columns / tile + 1);
        let mut rest = self.entities.stretch();
        let entity_at = |column: usize| candidates.map_or(column, |c| c.entities[column].index());
        for from in (0..columns).step_by(tile) {
            let to = (from + tile).min(columns);
            let end = if to == columns { count } else { entity_at(to) };
            let (stretch, after) = rest.split_before(end);
            tasks.push((from..to, stretch));
            rest = after;
        }
        let update = Update {
            predictor: &*self.predictor,
            regularizer: self.regularizer,
            weight: self.weight / triples as f32,
            sparse: &room.sparse,
            uses: &uses,
        };
        let (optimizer, lr) = (self.optimizer, self.lr);
        let scores = View::new(&room.scores, rows, columns);
        let queries = View::new(&room.queries, rows, width);
        tasks.into_par_iter().with_max_len(1).for_each(|(range, mut stretch)| {
            let mut own = Vec::new();
            let mut shared = rayon::current_thread_index()
                .and_then(|thread| room.tiles.get(thread))
                .and_then(|buffer| buffer.try_lock().ok());
            let gradient = shared.as_deref_mut().unwrap_or(&mut own);
            fit(gradient, range.len() * entity_width);
            if width < entity_width {
                gradient.fill(0.0);
            }
            let by_score = scores.columns(range.clone()).transposed();
            let out = ViewMut::within(gradient, range.len(), entity_width, update.predictor.tail());
            product(out, by_score, queries, Threads::One);
            if update.predictor.has_bias() {
                update.add_bias(by_score, &scales, &stretch, range.clone().map(entity_at), gradient);
            }
            update.add_sparse(&stretch, range.clone().map(entity_at), gradient);
            if candidates.is_none() {
                stretch.step(range.start, gradient, optimizer, lr, step);
            } else {
                for (row, column) in gradient.chunks_exact(entity_width).zip(range) {
                    stretch.step(entity_at(column), row, optimizer, lr, step);
                }
            }
        });
    }

    fn step_relations(&mut self, batch: &[&Group], triples: usize, gradient: &mut [f32], step: u64) {
        let width = self.relations.width;
        let layout = self.predictor.relation_layout();
        for group in batch {
            let row = self.relations.row(group.relation.index());
            let weight = self.weight * group.len() as f32 / triples as f32;
            let at = group.relation.index() * width;
            self.regularizer.pull_back(layout, row, weight, &mut gradient[at..at + width]);
        }
        self.relations.stretch().step(0, gradient, self.optimizer, self.lr, step);
    }
}

/// What is added to a tile's gradient beside the third product.
struct Update<'a> {
    predictor: &'a dyn LinkPredictor,
    regularizer: Regularizer,
    weight: f32,
    sparse: &'a SparseRows,
    uses: &'a [Uses],
}

impl Update<'_> {
    /// Gradients of heads (and of the relation loss) and of the regulariser, for the rows that have any.
    fn add_sparse(
        &self,
        stretch: &Stretch<'_>,
        entities: impl Iterator<Item = usize> + Clone,
        gradient: &mut [f32],
    ) {
        let width = self.sparse.width;
        let Some(first) = entities.clone().next() else { return };
        let mut owners = self.sparse.owners[self.sparse.owners.partition_point(|o| o.0.index() < first)..]
            .iter()
            .peekable();
        let mut uses = self.uses[self.uses.partition_point(|u| u.entity.index() < first)..].iter().peekable();
        for (entity, row) in entities.zip(gradient.chunks_exact_mut(width)) {
            while let Some(owner) = owners.next_if(|owner| owner.0.index() == entity) {
                add(row, self.sparse.row(owner.1));
            }
            if let Some(uses) = uses.next_if(|uses| uses.entity.index() == entity) {
                self.regularize(uses, stretch.row(entity), row);
            }
        }
    }

    fn regularize(&self, uses: &Uses, values: &[f32], gradient: &mut [f32]) {
        let layout = self.predictor.entity_layout();
        let (head, tail) = (self.predictor.head(), self.predictor.tail());
        let weight = |count: u32| self.weight * count as f32;
        if head == tail {
            self.regularizer.pull_back(layout, values, weight(uses.as_head + uses.as_tail), gradient);
        } else {
            let (h, t) = (head.clone(), tail.clone());
            self.regularizer.pull_back(layout, &values[h], weight(uses.as_head), &mut gradient[head]);
            self.regularizer.pull_back(layout, &values[t], weight(uses.as_tail), &mut gradient[tail]);
        }
    }

    /// The gradient by `b_t` is the sum of the gradients by the scores of t.
    fn add_bias(
        &self,
        by_score: View<'_>,
        scales: &[f32],
        stretch: &Stretch<'_>,
        entities: impl ExactSizeIterator<Item = usize>,
        gradient: &mut [f32],
    ) {
        let mut amounts = vec![0.0; entities.len()];
        let scales = View::new(scales, scales.len(), 1);
        product(ViewMut::new(&mut amounts, entities.len(), 1), by_score, scales, Threads::One);
        let tail = self.predictor.tail();
        for ((entity, row), amount) in entities.zip(gradient.chunks_exact_mut(self.sparse.width)).zip(amounts)
        {
            let values = &stretch.row(entity)[tail.clone()];
            self.predictor.bias_pull_back(values, amount, &mut row[tail.clone()]);
        }
    }
}

/// Turns a row of scores into `P̃ − Z/n at the tails`; gives the row's loss and `n/(BZ)`.
fn softmax_row(
    row: &mut [f32],
    bias: Option<&[f32]>,
    tails: impl ExactSizeIterator<Item = usize> + Clone,
    triples: usize,
) -> (f64, f32) {
    let count = tails.len() as f32;
    let score = |tail: usize| f64::from(row[tail] + bias.map_or(0.0, |bias| bias[tail]));
    let wanted: f64 = tails.clone().map(score).sum();
    let (largest, sum) = exp_row(row, bias);
    for tail in tails {
        row[tail] -= sum / count;
    }
    let log_sum = f64::from(largest) + f64::from(sum).ln();
    (f64::from(count) * log_sum - wanted, count / (triples as f32 * sum))
}

fn uses(groups: &Groups, batch: &[&Group]) -> Vec<Uses> {
    let mut each: Vec<(EntityId, u32, u32)> = Vec::new();
    for group in batch {
        each.push((group.head, group.len() as u32, 0));
        each.extend(groups.tails(group).iter().map(|&tail| (tail, 0, 1)));
    }
    each.sort_unstable_by_key(|&(entity, ..)| entity);
    each.chunk_by(|a, b| a.0 == b.0)
        .map(|run| Uses {
            entity: run[0].0,
            as_head: run.iter().map(|u| u.1).sum(),
            as_tail: run.iter().map(|u| u.2).sum(),
        })
        .collect()
}

/// Rows of the entity gradient made at a time: enough that packing the queries is a small part of
/// the product, few enough that the tile is still in a cache when the optimiser reads it.
fn tile_rows(width: usize) -> usize {
    (262_144 / width.max(1)).clamp(256, 1024)
}

/// Makes a buffer exactly as long as needed; its old values are overwritten anyway.
fn fit(buffer: &mut Vec<f32>, len: usize) {
    buffer.resize(len, 0.0);
}
