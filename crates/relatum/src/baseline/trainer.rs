//! Trains a baseline, one epoch after another.

use super::adam::Adam;
use super::loss::{Loss, weight};
use super::model::{INSIDE, Table};
use super::questions::Pool;
use super::tape::{Gradients, Rows, Tape, gathered};
use super::{Baseline, BaselineError, BaselineSettings, Encoded};
use crate::control::{Control, available_memory};
use crate::graph::Graph;
use crate::kernels::{Slopes, add, distances, pair_distances, pair_slopes, slopes};
use crate::model::Reciprocals;
use crate::random::Rng;
use crate::store::{Tensor, TensorFile, Values};
use crate::train::{BatchReport, Epoch, Progress};

/// A baseline in training.
///
/// A *round* is one step for each shape of training; an epoch has as many rounds as it takes to see every pair of head
/// and relation once. What is drawn at random depends on seed, epoch and step alone.
pub struct BaselineTrainer {
    settings: BaselineSettings,
    model: Baseline,
    /// Of every table of the model, in order.
    states: Vec<Adam>,
    pools: Vec<Pool>,
    /// The order of the queries of every pool in the epoch under way.
    orders: Vec<Vec<u32>>,
    progress: Progress,
    last_epoch: usize,
}

impl BaselineTrainer {
    /// A trainer at the beginning: random vectors.
    pub fn new(graph: &Graph, settings: BaselineSettings) -> Result<Self, BaselineError> {
        settings.check()?;
        affordable(graph, &settings)?;
        let BaselineSettings { kind, dimension, margin, seed, .. } = settings;
        Self::with_model(graph, settings, Baseline::random(kind, graph, dimension, margin, seed))
    }

    fn with_model(graph: &Graph, settings: BaselineSettings, model: Baseline) -> Result<Self, BaselineError> {
        let pools = Pool::all(graph, settings.seed);
        if pools.is_empty() {
            return Err(BaselineError::NothingToLearn);
        }
        let states = model.tables().map(|(_, values)| Adam::new(values.len(), model.width)).collect();
        let last_epoch = settings.epochs;
        let (orders, progress) = (Vec::new(), Progress::default());
        let mut trainer = Self { settings, model, states, pools, orders, progress, last_epoch };
        trainer.begin_epoch();
        Ok(trainer)
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &BaselineSettings {
        &self.settings
    }

    /// Where it stands; triples are queries, batches are steps.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// The baseline as it is now.
    pub fn model(&self) -> &Baseline {
        &self.model
    }

    /// Steps of an epoch.
    pub fn steps(&self) -> usize {
        self.pools[0].len().div_ceil(self.settings.batch_size) * self.pools.len()
    }

    /// Queries of an epoch.
    pub fn queries(&self) -> usize {
        (0..self.steps()).map(|step| self.batch(step).1.len()).sum()
    }

    /// Bytes of the queries to learn from.
    pub fn question_bytes(&self) -> usize {
        self.pools.iter().map(Pool::bytes).sum()
    }

    /// Fails if a value is NaN or infinite: such a state must never be saved.
    pub(crate) fn check(&self) -> Result<(), BaselineError> {
        for (name, values) in self.model.tables() {
            if let Some(value) = values.iter().find(|value| !value.is_finite()) {
                return Err(self.diverged(format!("a value of the {name} became {value}")));
            }
        }
        Ok(())
    }

    fn diverged(&self, what: String) -> BaselineError {
        let (epoch, step) = (self.progress.epoch + 1, self.progress.batch);
        BaselineError::Diverged { epoch, step, what, learning_rate: self.settings.learning_rate }
    }

    /// Runs the rest of the epoch under way. Listeners hear a [`BatchReport`] after every step, and the work can be
    /// stopped between two of them.
    pub fn run_epoch(&mut self, control: &Control) -> Result<Epoch, BaselineError> {
        let steps = self.steps();
        while self.progress.batch < steps {
            let (pool, batch) = self.batch(self.progress.batch);
            let loss = self.step(pool, &batch);
            self.progress.batch += 1;
            self.progress.step += 1;
            self.progress.loss_sum += loss * batch.len() as f64;
            self.progress.triples += batch.len();
            if !loss.is_finite() {
                return Err(self.diverged(format!("the loss became {loss}")));
            }
            control.tell(&BatchReport {
                batch: self.progress.batch,
                batches: steps,
                triples: self.progress.triples,
                loss: self.progress.loss_sum / self.progress.triples as f64,
                rows: batch.len(),
            });
            if control.is_late() && self.progress.batch < steps {
                return Ok(Epoch::Stopped);
            }
        }
        let loss = self.progress.loss_sum / self.progress.triples.max(1) as f64;
        let Progress { epoch, step, .. } = self.progress;
        self.progress = Progress { epoch: epoch + 1, step, ..Progress::default() };
        self.begin_epoch();
        Ok(Epoch::Finished(loss))
    }

    fn begin_epoch(&mut self) {
        let order = |(number, pool): (usize, &Pool)| {
            let mut order: Vec<u32> = (0..).take(pool.len()).collect();
            let part = ((number as u64 + 17) << 40) | self.progress.epoch as u64;
            Rng::stream(self.settings.seed, part).shuffle(&mut order);
            order
        };
        self.orders = self.pools.iter().enumerate().map(order).collect();
    }

    /// The pool of a step of the epoch, and its queries. A pool that is too small for the epoch begins again.
    fn batch(&self, step: usize) -> (usize, Vec<usize>) {
        let (round, pool) = (step / self.pools.len(), step % self.pools.len());
        let (order, size) = (&self.orders[pool], self.settings.batch_size);
        let from = round * size;
        let to = if pool == 0 { (from + size).min(order.len()) } else { from + size.min(order.len()) };
        (pool, (from..to).map(|at| order[at % order.len()] as usize).collect())
    }

    /// The rate falls in a straight line to 0.
    fn learning_rate(&self) -> f32 {
        let all = (self.last_epoch * self.steps()) as f64;
        self.settings.learning_rate * (1.0 - self.progress.step as f64 / all.max(1.0)).max(0.0) as f32
    }

    /// One step; the mean loss of a query, by the weights of the queries.
    fn step(&mut self, pool: usize, batch: &[usize]) -> f64 {
        let mut rng = Rng::stream(self.settings.seed, (1 << 56) | self.progress.step);
        let (gradients, loss) = {
            let drawn =
                Drawn::of(&self.pools[pool], batch, &self.settings, self.model.entity_count(), &mut rng);
            drawn.gradients(&self.pools[pool], &self.model, &self.settings)
        };
        let lr = self.learning_rate();
        let Gradients { rows, nets } = gradients;
        let nets = nets.into_iter().map(|values| {
            let rows = (0..).take(values.len() / self.model.width).collect();
            Rows { ids: rows, values }
        });
        let mut all: Vec<(Table, Rows)> =
            [Table::Entities, Table::Relations, Table::Offsets].into_iter().zip(rows).collect();
        all.extend(
            [Table::CentreIn, Table::CentreOut, Table::OffsetIn, Table::OffsetOut].into_iter().zip(nets),
        );
        for (state, table) in self.states.iter_mut().zip(Table::of(self.model.kind)) {
            if let Some((_, rows)) = all.iter().find(|(other, rows)| *other == table && !rows.ids.is_empty())
            {
                state.step(self.model.table_mut(table), rows, lr);
            }
        }
        loss
    }

    /// What a checkpoint stores: every table with what Adam remembers of it.
    pub(crate) fn tensors(&self) -> Vec<(String, [usize; 2], &[f32])> {
        let width = self.model.width;
        let mut tensors = Vec::new();
        for ((name, values), state) in self.model.tables().zip(&self.states) {
            let rows = values.len() / width;
            tensors.push((name.to_owned(), [rows, width], values));
            tensors.push((format!("{name}.mean"), [rows, width], &state.means[..]));
            tensors.push((format!("{name}.square"), [rows, width], &state.squares[..]));
            tensors.push((format!("{name}.count"), [rows, 1], &state.counts[..]));
        }
        tensors
    }

    /// A trainer that goes on where a checkpoint was made.
    pub(crate) fn restore(
        graph: &Graph,
        settings: BaselineSettings,
        progress: Progress,
        file: &TensorFile,
        unfit: &dyn Fn(String) -> BaselineError,
    ) -> Result<Self, BaselineError> {
        settings.check()?;
        affordable(graph, &settings)?;
        let names: Vec<&str> = Baseline::table_names(settings.kind).collect();
        let read = |name: String| Ok::<_, BaselineError>(file.matrix::<f32>(&name)?.1.to_vec());
        let tables = names.iter().map(|name| read((*name).to_owned())).collect::<Result<_, _>>()?;
        let model = Baseline::of_tables(settings.kind, settings.dimension, settings.margin, tables);
        let counts = (graph.entities.len(), Reciprocals::of(graph).len());
        let model = model.filter(|model| (model.entity_count(), model.relation_count()) == counts);
        let model =
            model.ok_or_else(|| unfit("its tables do not fit the graph and each other".to_owned()))?;
        let mut trainer = Self::with_model(graph, settings, model)?;
        for (state, name) in trainer.states.iter_mut().zip(names) {
            for (place, part) in
                [(&mut state.means, "mean"), (&mut state.squares, "square"), (&mut state.counts, "count")]
            {
                let values = read(format!("{name}.{part}"))?;
                if values.len() != place.len() {
                    return Err(unfit(format!("its `{name}.{part}` has {} values", values.len())));
                }
                *place = values;
            }
        }
        trainer.progress = progress;
        trainer.begin_epoch();
        Ok(trainer)
    }
}

/// The tensors of a checkpoint or model as they are written.
pub(crate) fn as_tensors<'a>(parts: &'a [(String, [usize; 2], &'a [f32])]) -> Vec<Tensor<'a>> {
    parts.iter().map(|(name, shape, values)| (name.as_str(), *shape, Values::F32(values))).collect()
}

/// What a step draws.
pub(super) struct Drawn<'p> {
    queries: Vec<&'p [u32]>,
    weights: Vec<f32>,
    answers: Vec<u32>,
    negatives: Vec<u32>,
}

impl<'p> Drawn<'p> {
    pub(super) fn of(
        pool: &'p Pool,
        batch: &[usize],
        settings: &BaselineSettings,
        entities: usize,
        rng: &mut Rng,
    ) -> Self {
        Self {
            queries: batch.iter().map(|&index| pool.query(index)).collect(),
            weights: batch.iter().map(|&index| weight(pool.size(index))).collect(),
            answers: batch.iter().map(|&index| pool.answer(index, rng)).collect(),
            negatives: (0..settings.negatives).map(|_| rng.below(entities) as u32).collect(),
        }
    }

    /// The gradients and the loss of the step.
    pub(super) fn gradients(
        &self,
        pool: &Pool,
        model: &Baseline,
        settings: &BaselineSettings,
    ) -> (Gradients, f64) {
        let branch = &pool.program.branches[0];
        let tape = Tape::forward(model, branch, &self.queries);
        let mut gradients = Gradients::default();
        let Some(encoded) = tape.last() else { return (gradients, 0.0) };
        let regions = encoded.regions(INSIDE);
        let near = gathered(model, Table::Entities, &self.answers);
        let far = gathered(model, Table::Entities, &self.negatives);
        let mut to_near = vec![0.0; self.answers.len()];
        pair_distances(&mut to_near, regions, &near);
        let mut to_far = vec![0.0; self.queries.len() * self.negatives.len()];
        distances(to_far.chunks_mut(self.negatives.len()).collect(), regions, &far);
        let loss =
            Loss { margin: settings.margin, adversarial: settings.adversarial, weights: &self.weights };
        let loss = loss.slopes(&mut to_near, &mut to_far);
        let by_near = pair_slopes(&to_near, regions, &near);
        let Slopes { mut centres, mut halves, candidates } = slopes(&to_far, regions, &far);
        add(&mut centres, &by_near.centres);
        add(&mut halves, &by_near.halves);
        gradients.rows[0].push(self.answers.iter().copied(), &by_near.candidates);
        gradients.rows[0].push(self.negatives.iter().copied(), &candidates);
        let by_last = Encoded { width: model.width, centres, halves };
        tape.backward(model, branch, &self.queries, by_last, &mut gradients);
        (gradients, loss)
    }
}

/// Refuses a run that needs more memory than is available, before anything is allocated.
fn affordable(graph: &Graph, settings: &BaselineSettings) -> Result<(), BaselineError> {
    let vectors = graph.entities.len() + 2 * Reciprocals::of(graph).len() + 4 * settings.dimension;
    let batch = settings.batch_size * 24 + settings.negatives * 4;
    let values = (3 * vectors + batch) as u64 * settings.dimension as u64
        + (settings.batch_size * settings.negatives) as u64;
    let needed = values.saturating_mul(4) / 1_000_000;
    match available_memory() {
        Some(available) if needed > available / 1_000_000 => {
            Err(BaselineError::Memory { needed, available: available / 1_000_000 })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
