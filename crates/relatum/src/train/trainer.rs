//! Trains a model, one epoch after another.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::groups::{Batches, Groups};
use super::step::Stepper;
use super::{Memory, Settings, TrainError, memory};
use crate::control::{Control, available_memory};
use crate::graph::{Graph, Split};
use crate::model::{LinkPredictor, Model, Reciprocals};
use crate::random::Rng;
use crate::store::{Tensor, TensorFile, Values};

/// Where a training run stands: with the parameters and the optimiser's state, all that is needed
/// to go on, since every random number is drawn from the seed and the place it is used in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Finished epochs.
    pub epoch: usize,
    /// Finished batches of the epoch under way.
    pub batch: usize,
    /// Steps in all.
    pub step: u64,
    /// The sum of the losses of the triples of the epoch so far.
    pub loss_sum: f64,
    /// The triples of the epoch so far.
    pub triples: usize,
}

/// What is known after a batch; listeners of a [`Control`] hear of each.
#[derive(Clone, Copy, Debug)]
pub struct BatchReport {
    /// Finished batches of the epoch.
    pub batch: usize,
    /// Batches of the epoch.
    pub batches: usize,
    /// Triples of the epoch so far.
    pub triples: usize,
    /// Mean loss of the epoch so far.
    pub loss: f64,
    /// (head, relation) rows of this batch.
    pub rows: usize,
}

/// How an epoch ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Epoch {
    /// All batches were done; the mean loss of a triple.
    Finished(f64),
    /// It was cancelled, or the time was up; the trainer can go on from here.
    Stopped,
}

/// The names of a table and of what the optimiser remembers of it, in a checkpoint.
const TENSORS: [[&str; 3]; 2] = [
    ["entities", "entities.state.0", "entities.state.1"],
    ["relations", "relations.state.0", "relations.state.1"],
];

/// A model in training.
pub struct Trainer {
    settings: Settings,
    groups: Groups,
    stepper: Stepper,
    progress: Progress,
    batches: Batches,
    last_epoch: usize,
}

impl Trainer {
    /// A trainer at the beginning: random parameters.
    pub fn new(graph: &Graph, settings: Settings) -> Result<Self, TrainError> {
        let plan = Plan::new(graph, &settings)?;
        memory::affordable(plan.bytes(graph, &settings), available_memory())?;
        let model = Model::random(plan.predictor.clone(), graph, settings.init_scale, settings.seed);
        Ok(plan.trainer(settings, model))
    }

    /// A trainer that starts from given parameters.
    pub fn with_model(graph: &Graph, settings: Settings, model: Model) -> Result<Self, TrainError> {
        Ok(Plan::new(graph, &settings)?.trainer(settings, model))
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Where it stands.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Directed triples of an epoch.
    pub fn triples(&self) -> usize {
        self.groups.triples()
    }

    /// Entities of the model.
    pub fn entity_count(&self) -> usize {
        self.stepper.entity_count()
    }

    /// Values in the table of entities.
    pub(crate) fn entity_values(&self) -> usize {
        self.stepper.entities.values.len()
    }

    /// Score rows of an epoch.
    pub fn rows(&self) -> usize {
        self.groups.len()
    }

    /// The rows of every batch of the epoch under way.
    pub fn batch_rows(&self) -> Vec<usize> {
        rows(&self.groups, &self.batches).collect()
    }

    /// How many entities are drawn for a batch; `None` where that would be all of them.
    fn sample(&self) -> Option<usize> {
        self.settings.candidates.filter(|&sample| sample < self.stepper.entity_count())
    }

    /// A copy of the model as it is now.
    pub fn model(&self) -> Model {
        let (entities, relations) = (&self.stepper.entities.values, &self.stepper.relations.values);
        Model::new(self.stepper.predictor.clone(), entities.clone(), relations.clone())
            .unwrap_or_else(|| unreachable!("tables keep their shape"))
    }

    /// Shows the model as it is now, without copying it.
    pub fn with_current_model<R>(&mut self, look: impl FnOnce(&Model) -> R) -> R {
        let entities = std::mem::take(&mut self.stepper.entities.values);
        let relations = std::mem::take(&mut self.stepper.relations.values);
        let model = Model::new(self.stepper.predictor.clone(), entities, relations)
            .unwrap_or_else(|| unreachable!("tables keep their shape"));
        let result = look(&model);
        (self.stepper.entities.values, self.stepper.relations.values) = model.into_tables();
        result
    }

    /// Floating-point operations of the three matrix products of an epoch.
    pub fn product_flops(&self) -> f64 {
        self.flops(self.groups.len())
    }

    /// Floating-point operations of the three matrix products of a batch of this many rows.
    pub fn flops(&self, rows: usize) -> f64 {
        let own = self.settings.batch_size.min(self.stepper.entity_count());
        let all = self.stepper.entity_count();
        let columns = self.sample().map_or(all, |sample| (sample + own).min(all));
        6.0 * rows as f64 * columns as f64 * self.stepper.predictor.tail().len() as f64
    }

    /// Bytes of parameters, optimiser state, a gradient of all entities and one batch of scores.
    pub fn memory(&self) -> Memory {
        let tables = [&self.stepper.entities, &self.stepper.relations];
        let bytes = |values: usize| values * size_of::<f32>();
        let rows = self.batch_rows().into_iter().max().unwrap_or(0);
        let all = self.stepper.entity_count();
        let columns = columns(&self.settings, all);
        Memory {
            parameters: bytes(tables.iter().map(|table| table.values.len()).sum()),
            optimizer: bytes(tables.iter().flat_map(|table| &table.state).map(Vec::len).sum()),
            gradient: bytes(self.stepper.entities.values.len()),
            scores: bytes(rows * columns),
        }
    }

    /// Fails if a parameter is NaN or infinite, or if parameters are so large that a score could be
    /// infinite: such a state must never be saved.
    pub(crate) fn check(&self) -> Result<(), TrainError> {
        // Every score of every predictor is a sum of products of two entity factors and one relation factor.
        let [entities, relations] = [&self.stepper.entities, &self.stepper.relations].map(|table| {
            let states = table.state.iter().all(|state| largest(state).is_finite());
            if states { largest(&table.values) } else { f64::INFINITY }
        });
        let width = self.stepper.entities.width as f64;
        let score = 4.0 * width * entities.powi(2).max(entities) * relations.max(1.0).powi(2);
        if score < f64::from(f32::MAX) {
            return Ok(());
        }
        let finished = self.progress.batch == 0 && self.progress.epoch > 0;
        let (epoch, batch) = if finished {
            (self.progress.epoch, self.batches.len())
        } else {
            (self.progress.epoch + 1, self.progress.batch)
        };
        let what =
            format!("the largest parameters became {entities:e} (entities) and {relations:e} (relations)");
        Err(self.diverged(epoch, batch, what))
    }

    fn diverged(&self, epoch: usize, batch: usize, what: String) -> TrainError {
        let Settings { learning_rate, regularizer_weight: weight, .. } = self.settings;
        TrainError::Diverged { epoch, batch, what, learning_rate, weight }
    }

    /// Everything a checkpoint must hold.
    pub(crate) fn tensors(&self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::new();
        for (names, table) in TENSORS.iter().zip([&self.stepper.entities, &self.stepper.relations]) {
            let shape = [table.values.len() / table.width, table.width];
            tensors.push((names[0], shape, Values::F32(&table.values)));
            let slots = self.settings.optimizer.slots();
            let state = names[1..].iter().zip(&table.state).take(slots);
            tensors.extend(state.map(|(name, state)| (*name, shape, Values::F32(state))));
        }
        tensors
    }

    /// A trainer where a checkpoint left off.
    pub(crate) fn restore(
        graph: &Graph,
        settings: Settings,
        progress: Progress,
        file: &TensorFile,
    ) -> Result<Self, TrainError> {
        let mut trainer = Self::new(graph, settings)?;
        let slots = trainer.settings.optimizer.slots();
        for (names, table) in
            TENSORS.iter().zip([&mut trainer.stepper.entities, &mut trainer.stepper.relations])
        {
            let targets = std::iter::once(&mut table.values).chain(&mut table.state);
            for (name, target) in names.iter().zip(targets).take(1 + slots) {
                let (shape, values) = file.matrix::<f32>(name)?;
                if values.len() != target.len() || shape[1] != table.width {
                    return Err(TrainError::Checkpoint(format!(
                        "its matrix `{name}` has {} × {} values, this graph and these settings need {} × {}",
                        shape[0],
                        shape[1],
                        target.len() / table.width,
                        table.width
                    )));
                }
                target.copy_from_slice(&values);
            }
        }
        trainer.progress = progress;
        trainer.batches =
            trainer.groups.batches(trainer.settings.batch_size, trainer.settings.seed, progress.epoch);
        Ok(trainer)
    }

    /// The learning rate of the next batch: that of the settings, or less while the run cools down.
    fn learning_rate(&self) -> f32 {
        let Settings { learning_rate, cool_down, .. } = self.settings;
        if cool_down == 0 {
            return learning_rate;
        }
        let done = self.progress.epoch as f64 + self.progress.batch as f64 / self.batches.len().max(1) as f64;
        let left = (self.last_epoch as f64 - done) / cool_down as f64;
        (f64::from(learning_rate) * left.clamp(0.0, 1.0)) as f32
    }

    /// Ends the run after another epoch than its settings say: the learning rate falls towards that end.
    pub(crate) fn end_after(&mut self, epoch: usize) {
        self.last_epoch = epoch;
    }

    /// Runs the rest of the epoch under way. Listeners hear a [`BatchReport`] after every batch, and the
    /// work can be stopped between two of them.
    pub fn run_epoch(&mut self, control: &Control) -> Result<Epoch, TrainError> {
        while self.progress.batch < self.batches.len() {
            let batch = self.groups.batch(&self.batches, self.progress.batch);
            let candidates = self.sample().map(|sample| {
                let mut rng = Rng::stream(self.settings.seed, 1 << 40 | self.progress.step);
                self.stepper.candidates(&self.groups, &batch, sample, &mut rng)
            });
            let triples: usize = batch.iter().map(|group| group.len()).sum();
            let rows = batch.len();
            self.stepper.lr = self.learning_rate();
            let loss = self.stepper.step(&self.groups, &batch, candidates.as_ref(), self.progress.step + 1);
            self.progress.batch += 1;
            self.progress.step += 1;
            self.progress.loss_sum += loss;
            self.progress.triples += triples;
            if !loss.is_finite() {
                let (epoch, batch) = (self.progress.epoch + 1, self.progress.batch);
                return Err(self.diverged(epoch, batch, format!("the loss became {loss}")));
            }
            control.tell(&BatchReport {
                batch: self.progress.batch,
                batches: self.batches.len(),
                triples: self.progress.triples,
                loss: self.progress.loss_sum / self.progress.triples as f64,
                rows,
            });
            if control.is_late() && self.progress.batch < self.batches.len() {
                return Ok(Epoch::Stopped);
            }
        }
        let loss = self.progress.loss_sum / self.progress.triples as f64;
        let Progress { epoch, step, .. } = self.progress;
        self.progress = Progress { epoch: epoch + 1, step, ..Progress::default() };
        self.batches = self.groups.batches(self.settings.batch_size, self.settings.seed, epoch + 1);
        Ok(Epoch::Finished(loss))
    }
}

/// Tails of one (head, relation) in one batch. Longer groups are spread over the epoch: a batch that is
/// mostly one relation makes Adagrad shorten its steps for good. On FB15k-237 a limit of 16 instead of
/// 250 lifts validation MRR by .002 to .004 after 5 and 10 epochs; 32 costs 3% more rows, 16 costs 7%.
pub(super) const LONGEST_GROUP: usize = 32;

/// What is known before anything large is allocated.
struct Plan {
    predictor: Arc<dyn LinkPredictor>,
    groups: Groups,
    batches: Batches,
}

impl Plan {
    fn new(graph: &Graph, settings: &Settings) -> Result<Self, TrainError> {
        let predictor = settings.predictor()?;
        let triples = Reciprocals::of(graph).directed(graph, Split::Train);
        if triples.is_empty() {
            return Err(TrainError::NothingToLearn);
        }
        let groups = Groups::from_triples(triples, LONGEST_GROUP.min(settings.batch_size));
        let batches = groups.batches(settings.batch_size, settings.seed, 0);
        Ok(Self { predictor, groups, batches })
    }

    /// Bytes of parameters, optimiser state and the scores of the largest batch.
    fn bytes(&self, graph: &Graph, settings: &Settings) -> u64 {
        let all = graph.entities.len();
        let product = |a: usize, b: usize| (a as u64).saturating_mul(b as u64);
        let entities = product(all, self.predictor.entity_width());
        let relations = product(Reciprocals::of(graph).len(), self.predictor.relation_width());
        let copies = 1 + settings.optimizer.slots() as u64;
        let rows = rows(&self.groups, &self.batches).max().unwrap_or(0);
        let scores = product(rows, columns(settings, all));
        let values = entities.saturating_add(relations).saturating_mul(copies).saturating_add(scores);
        values.saturating_mul(size_of::<f32>() as u64)
    }

    fn trainer(self, settings: Settings, model: Model) -> Trainer {
        let Self { predictor, groups, batches } = self;
        let (entities, relations) = model.into_tables();
        let stepper = Stepper::new(predictor, entities, relations, &settings);
        let last_epoch = settings.epochs;
        Trainer { settings, groups, stepper, progress: Progress::default(), batches, last_epoch }
    }
}

fn rows(groups: &Groups, batches: &Batches) -> impl Iterator<Item = usize> {
    (0..batches.len()).map(|index| groups.batch(batches, index).len())
}

/// How many candidates a batch has at most.
fn columns(settings: &Settings, all: usize) -> usize {
    let own = settings.batch_size.saturating_mul(2);
    settings.candidates.map_or(all, |sample| sample.saturating_add(own).min(all))
}

/// The largest magnitude, infinite if a value is NaN.
fn largest(values: &[f32]) -> f64 {
    values.iter().fold(0.0, |most, &value| {
        let size = f64::from(value.abs());
        if size.is_nan() { f64::INFINITY } else { most.max(size) }
    })
}

#[cfg(test)]
mod tests;
