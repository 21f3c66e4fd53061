//! The adaptive calibration: how the scores of each relation become truth values, learned from small questions.
//!
//! With the embeddings frozen, `truth = σ(a_r · s + b_r)` gets one a and one b for each relation (after
//! Arakelyan et al., 2023). They are learned from questions with two or three atoms that share their
//! answer, `?A : r₁(c₁, A) ∧ r₂(c₂, A)`, drawn from the training graph: only where atoms are combined do
//! scores of different relations have to be comparable. With the product t-norm the score of an entity is
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
//! What relations have in common is learned in u and v, which they share: `a_r = e^{u + u_r}`,
//! `b_r = v + v_r`. So a relation that was never drawn gets the common line.

mod loss;
mod sample;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::TrainError;
use crate::control::Control;
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
    /// How often each is seen at most: the calibration ends earlier when the held-out loss has nearly
    /// stopped falling.
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
        Self { queries: 3000, epochs: 40, learning_rate: 0.2, binary: 0.01, seed: 0 }
    }
}

impl CalibrateSettings {
    fn check(&self) -> Result<(), TrainError> {
        let out = |setting, value: String, expected| Err(TrainError::Setting { setting, value, expected });
        if self.queries < 2 {
            let expected = "at least 2: one to learn from, one held out";
            return out("the number of questions", self.queries.to_string(), expected);
        }
        if self.epochs == 0 {
            return out("the number of epochs", "0".to_owned(), "at least 1");
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return out("the learning rate", self.learning_rate.to_string(), "above 0 and finite");
        }
        if !(self.binary >= 0.0 && self.binary.is_finite()) {
            return out("the weight of the binary loss", self.binary.to_string(), "at least 0 and finite");
        }
        Ok(())
    }
}

/// A held-out loss counts as falling if it is below this share of the least one before it.
const FALL: f64 = 0.999;
/// The calibration ends after so many epochs in which the loss does not fall.
const PATIENCE: usize = 3;

/// An event: the held-out loss after an epoch; epoch 0 is the plain sigmoid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationEpoch {
    /// The epoch.
    pub epoch: usize,
    /// The mean loss of a held-out question.
    pub loss: f64,
}

/// How a calibration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationEnd {
    /// The held-out loss nearly stopped falling.
    Settled,
    /// All epochs were done while the held-out loss still fell: more epochs would improve it.
    StillFalling,
    /// It was cancelled, or the time was up.
    Interrupted,
}

/// The result of a calibration.
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
    /// How it ended.
    pub end: CalibrationEnd,
}

/// Learns the adaptive calibration of a model. Listeners hear a [`CalibrationEpoch`] after each epoch; it can
/// be stopped between two batches of questions, and then the best epoch so far is taken.
pub fn calibrate(
    model: &Model,
    graph: &Graph,
    settings: CalibrateSettings,
    control: &Control,
) -> Result<Calibrated, TrainError> {
    settings.check()?;
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
    control.tell(&CalibrationEpoch { epoch: 0, loss: losses[0] });
    let mut best = (0, lines.clone());
    // The last epoch in which the loss fell, and how far.
    let (mut fell, mut least) = (0, losses[0]);
    let mut end = CalibrationEnd::StillFalling;
    'epochs: for epoch in 1..=settings.epochs {
        Rng::stream(settings.seed, epoch as u64).shuffle(&mut order);
        for batch in order.chunks(BATCH) {
            if control.is_late() {
                end = CalibrationEnd::Interrupted;
                break 'epochs;
            }
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
        control.tell(&CalibrationEpoch { epoch, loss });
        if loss < least * FALL {
            (fell, least) = (epoch, loss);
        }
        if epoch >= fell + PATIENCE {
            end = CalibrationEnd::Settled;
            break;
        }
    }
    let (epoch, lines) = best;
    Ok(Calibrated { affine: lines.affine()?, epoch, losses, queries: questions.len(), end })
}

/// `∂L/∂a`, `∂L/∂b` by the line of one relation.
type Slope = (RelationId, f32, f32);

/// The loss of some questions, and its slopes, in the order of the questions, so that threads change nothing.
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
