//! Training a link predictor on the edges of a graph.
//!
//! In reading order: [`Settings`] say what to train and how, `groups` cut the edges into
//! batches, a [`Trainer`] runs them epoch after epoch, and [`evaluate`] measures how good the
//! model has become.

mod calibrate;
mod candidates;
mod effort;
mod evaluate;
mod floor;
mod given;
mod grid;
mod groups;
mod memory;
mod optimizer;
mod probability;
mod recipe;
mod recommend;
mod regularizer;
mod relation_loss;
pub mod rules;
mod settings;
mod step;
mod trainer;

pub use calibrate::{CalibrateSettings, Calibrated, CalibrationEnd, CalibrationEpoch, calibrate};
pub use effort::Effort;
pub(crate) use evaluate::sampled;
pub use evaluate::{
    LinkReport, PairsRanked, RelationMetrics, Rows, evaluate, evaluate_rows, evaluate_some, evaluate_watched,
};
pub use floor::Floor;
pub use given::{Candidates, GivenSettings};
pub use grid::Grid;
pub use memory::Memory;
pub use optimizer::Optimizer;
#[cfg(test)]
pub(crate) use probability::tests::drawn;
pub use probability::{Fit, FitSettings, fit};
pub use recipe::{Open, PlannedTrial, Recipe, RecipeSearch, RecipeTrial, TrialCost};
pub use recommend::{Recommendation, cool_down, recommend};
pub use regularizer::Regularizer;
pub use settings::Settings;
pub use trainer::{BatchReport, Epoch, Progress, Trainer};

use crate::model::ModelError;
use crate::store::StoreError;

/// Why a model cannot be trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The graph has nothing to learn from: give it training edges.
    #[error("the graph has no training edges; a model learns from the edges of the `train` split")]
    NothingToLearn,
    /// The adaptive calibration learns from questions of two or three atoms about one entity, and the
    /// graph has fewer than two such questions: give it more training edges.
    #[error(
        "the training edges give fewer than two questions to calibrate by: they need entities to which two or \
         more edges lead"
    )]
    NothingToCalibrate,
    /// The fitted calibration learns from validation edges, and the graph has none: hold some out.
    #[error(
        "the graph has no validation edges, by which truth values are fitted to how often they are right"
    )]
    NothingToFit,
    /// A calibration went to infinity: take a smaller learning rate, or look whether the model has scores that are
    /// NaN.
    #[error("the calibration diverged: train or import the model again, or take a smaller learning rate")]
    Uncalibrated,
    /// No link predictor has this name: take one of those listed.
    #[error("there is no link predictor `{name}`; there are {known}")]
    UnknownPredictor {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A setting is outside its range: choose one inside it.
    #[error("{setting} is {value}, but must be {expected}")]
    Setting {
        /// The setting, in words.
        setting: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// Relations can be predicted only where the score is linear in them: choose another model, or
    /// a relation loss of 0.
    #[error(
        "the relation loss needs a score that is linear in the relation, which `{0}` is not; use complex, distmult or cp, or no relation loss"
    )]
    RelationLoss(&'static str),
    /// Loss or parameters have become infinite, NaN, or too large to score with: a smaller
    /// learning rate or a larger regularisation weight keeps the factors in bounds. Nothing of this
    /// state was saved.
    #[error(
        "{what} in epoch {epoch}, batch {batch}; the parameters have grown out of bounds: \
         lower the learning rate (now {learning_rate}) or raise the regulariser's weight (now {weight})"
    )]
    Diverged {
        /// The epoch, from 1.
        epoch: usize,
        /// The batch within it, from 1.
        batch: usize,
        /// What was seen, such as `the loss became NaN`.
        what: String,
        /// The learning rate it happened with.
        learning_rate: f32,
        /// The regulariser's weight it happened with.
        weight: f32,
    },
    /// The machine does not have the memory: choose a smaller rank, a smaller batch, or sampled candidates.
    #[error(
        "training needs {} of memory for parameters, optimiser state and scores, but {} are available; \
         choose a smaller rank or batch size, or sampled candidates",
        memory::readable(*needed), memory::readable(*available)
    )]
    Memory {
        /// Bytes of parameters, optimiser state and the scores of the largest batch.
        needed: u64,
        /// Bytes the machine can give.
        available: u64,
    },
    /// The disk or a file on it is at fault; the message says what to do.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model's folder or file is at fault; the message says what to do.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The checkpoint does not fit: start anew.
    #[error("the checkpoint cannot be continued: {0}; begin a new run")]
    Checkpoint(String),
    /// There is nothing to resume: begin a new run.
    #[error("there is no checkpoint in {}: there is nothing to resume, so begin a new run", .0.display())]
    NothingToResume(std::path::PathBuf),
}
