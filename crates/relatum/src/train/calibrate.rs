//! The adaptive calibration: what a score of each relation is worth, learned from small questions.
//!
//! With the embeddings frozen, `truth = σ(a_r · s + b_r)` gets one a and one b for each relation (after
//! Arakelyan et al., 2023). They are learned from questions with two or three atoms that share their
//! answer, `?A : r₁(c₁, A) ∧ r₂(c₂, A)`, drawn from the training graph: only where atoms meet does it
//! matter what a score is worth. With the product t-norm the score of an entity is
//! `f(x) = Π σ(z_i(x))`, and the loss of a question with the drawn answer t is
//!
//! ```text
//! L = −log (f(t) / Σ_x f(x))  −  β (log f(t) + Σ_{x≠t} log (1 − f(x))),
//! ```
//!
//! the sums over all entities but the other true answers. The first part ranks; the second, of
//! which a little is enough, keeps f a probability and not only an order, which unions, negations
//! and chains need.
//!
//! What all relations have in common is learned as such: `a_r = e^{u + u_r}`, `b_r = v + v_r`, so a
//! relation that was never drawn gets the common line.

mod loss;
mod sample;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use super::TrainError;
use crate::graph::{Graph, Id, RelationId};
use crate::kernels::adagrad;
use crate::model::{Affine, Model, Reciprocals};
use crate::random::Rng;
use loss::{Scratch, differentiate};
use sample::Question;

/// How many questions make one step.
const BATCH: usize = 32;

/// How to calibrate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrateSettings {
    /// How many questions are drawn; a tenth of them is held out.
    pub queries: usize,
    /// How often each is seen.
    pub epochs: usize,
    /// The learning rate of Adagrad.
    pub learning_rate: f32,
    /// The weight β of the part of the loss that keeps truth values probabilities.
    pub binary: f32,
    /// What is drawn; equal seeds give equal bytes.
    pub seed: u64,
}

impl Default for CalibrateSettings {
    fn default() -> Self {
        Self { queries: 3000, epochs: 8, learning_rate: 0.2, binary: 0.01, seed: 0 }
    }
}

/// How a calibration came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// The maps of the best epoch.
    pub affine: Affine,
    /// The best epoch; 0 is the plain sigmoid.
    pub epoch: usize,
    /// The mean loss of a held-out question, before the first epoch and after each.
    pub losses: Vec<f64>,
    /// How many questions were drawn.
    pub queries: usize,
}

/// Learns the adaptive calibration of a model. `go_on` hears the held-out loss of each epoch and
/// may say no; then the best so far is taken.
pub fn calibrate(
    model: &Model,
    graph: &Graph,
    settings: CalibrateSettings,
    go_on: &mut dyn FnMut(usize, f64) -> bool,
) -> Result<Calibrated, TrainError> {
    let reciprocals = Reciprocals::of(graph);
    let questions = sample::draw(graph, &reciprocals, settings.queries, settings.seed);
    // One to learn from and one to be judged by.
    if questions.len() < 2 {
        return Err(TrainError::NothingToCalibrate);
    }
    let (held, learned) = questions.split_at((questions.len() / 10).max(1));
    let mut order: Vec<&Question> = learned.iter().collect();
    let held: Vec<&Question> = held.iter().collect();
    let mut lines = Lines::new(reciprocals.len());
    let judge = |lines: &Lines| {
        let losses = held.chunks(BATCH).map(|batch| pass(model, batch, lines, settings.binary).0);
        losses.sum::<f64>() / held.len() as f64
    };
    let mut losses = vec![judge(&lines)];
    if !losses[0].is_finite() {
        return Err(TrainError::Uncalibrated);
    }
    let mut best = (0, lines.clone());
    if !go_on(0, losses[0]) {
        return Ok(Calibrated { affine: lines.affine()?, epoch: 0, losses, queries: questions.len() });
    }
    for epoch in 1..=settings.epochs {
        Rng::stream(settings.seed, epoch as u64).shuffle(&mut order);
        for batch in order.chunks(BATCH) {
            let (_, gradient) = pass(model, batch, &lines, settings.binary);
            lines.step(&gradient, batch.len(), settings.learning_rate);
        }
        let loss = judge(&lines);
        // An infinite loss is a bad epoch like any other.
        if loss.is_nan() {
            return Err(TrainError::Uncalibrated);
        }
        if losses.iter().all(|&before| loss < before) {
            best = (epoch, lines.clone());
        }
        losses.push(loss);
        if !go_on(epoch, loss) {
            break;
        }
    }
    let (epoch, lines) = best;
    Ok(Calibrated { affine: lines.affine()?, epoch, losses, queries: questions.len() })
}

/// `∂L/∂a`, `∂L/∂b` by the line of one relation.
type Slope = (RelationId, f32, f32);

/// The loss of some questions, and its slopes, in their order whatever the threads do.
fn pass(model: &Model, batch: &[&Question], lines: &Lines, binary: f32) -> (f64, Vec<Slope>) {
    let n = model.entity_count();
    let atoms = batch.iter().flat_map(|question| &question.atoms);
    let queries: Vec<_> = atoms.map(|atom| (atom.anchor, atom.relation)).collect();
    let mut scores = vec![0.0; queries.len() * n];
    model.scores(&queries, &mut scores);
    let mut rest = scores.as_slice();
    let mut tasks = Vec::with_capacity(batch.len());
    for question in batch {
        let (own, others) = rest.split_at(question.atoms.len() * n);
        tasks.push((*question, own));
        rest = others;
    }
    let done: Vec<(f64, Vec<Slope>)> = tasks
        .par_iter()
        .map_init(Scratch::default, |scratch, (question, scores)| {
            let maps: Vec<(f32, f32)> = question.atoms.iter().map(|atom| lines.of(atom.relation)).collect();
            let (loss, slopes) = differentiate(question, scores, &maps, binary, scratch);
            let slopes = question.atoms.iter().zip(slopes).map(|(atom, (a, b))| (atom.relation, a, b));
            (loss, slopes.collect())
        })
        .collect();
    let loss = done.iter().map(|(loss, _)| loss).sum();
    (loss, done.into_iter().flat_map(|(_, slopes)| slopes).collect())
}

/// The parameters: u and v of what is common, then of each relation.
#[derive(Clone)]
struct Lines {
    values: Vec<f32>,
    squares: Vec<f32>,
    gradient: Vec<f32>,
}

impl Lines {
    fn new(relations: usize) -> Self {
        let zeros = vec![0.0; 2 * (relations + 1)];
        Self { values: zeros.clone(), squares: zeros.clone(), gradient: zeros }
    }

    /// a and b of a relation.
    fn of(&self, relation: RelationId) -> (f32, f32) {
        let own = &self.values[2 * (relation.index() + 1)..];
        ((self.values[0] + own[0]).exp(), self.values[1] + own[1])
    }

    fn step(&mut self, slopes: &[Slope], questions: usize, lr: f32) {
        self.gradient.fill(0.0);
        let share = 1.0 / questions as f32;
        for &(relation, by_a, by_b) in slopes {
            let a = self.of(relation).0;
            let at = 2 * (relation.index() + 1);
            for at in [0, at] {
                self.gradient[at] += share * a * by_a;
                self.gradient[at + 1] += share * by_b;
            }
        }
        adagrad(&mut self.values, &mut self.squares, &self.gradient, lr);
    }

    fn affine(&self) -> Result<Affine, TrainError> {
        let relations = self.values.len() / 2 - 1;
        let maps: Vec<[f32; 2]> =
            (0..relations).map(|relation| self.of(RelationId::from_index(relation)).into()).collect();
        Affine::new(&maps).ok_or(TrainError::Uncalibrated)
    }
}
