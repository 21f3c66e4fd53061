//! Why a baseline cannot be trained or used.

use std::path::PathBuf;

use crate::store::StoreError;

/// Why a baseline cannot be trained or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// There is no baseline of this name: train it.
    #[error(
        "there is no baseline `{name}` in {}: {}; train it first",
        dir.display(),
        if there.is_empty() { "it has none yet".to_owned() } else { format!("it has {}", there.join(", ")) }
    )]
    Missing {
        /// The name.
        name: String,
        /// The project.
        dir: PathBuf,
        /// The baselines that there are.
        there: Vec<String>,
    },
    /// A folder cannot have this name: use letters, digits, `-`, `_` and `.`.
    #[error("`{0}` is not a name for a baseline: use letters, digits, -, _ and ., and do not begin with .")]
    Name(String),
    /// The graph has nothing to learn from: give it training edges.
    #[error(
        "the graph has no training edges between different entities; a baseline learns from queries over them"
    )]
    NothingToLearn,
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
    /// Loss or parameters have become infinite or NaN. Nothing of this state was saved.
    #[error(
        "{what} in epoch {epoch}, step {step}: lower the learning rate (now {learning_rate}); nothing of this was saved"
    )]
    Diverged {
        /// The epoch, from 1.
        epoch: usize,
        /// The step within it, from 1.
        step: usize,
        /// What was seen.
        what: String,
        /// The learning rate it happened with.
        learning_rate: f32,
    },
    /// The machine does not have the memory: choose a smaller dimension.
    #[error(
        "training needs {needed} MB of memory for vectors, optimiser state and queries, but {available} MB are \
         available; choose a smaller dimension"
    )]
    Memory {
        /// Megabytes that are needed.
        needed: u64,
        /// Megabytes that the machine can give.
        available: u64,
    },
    /// A new run would discard one that can still be resumed: resume it, or begin anew on purpose.
    #[error(
        "an unfinished run of the baseline `{name}` is here, {position}: resume it, or begin anew to discard it"
    )]
    Unfinished {
        /// The baseline.
        name: String,
        /// How far the run has come.
        position: String,
    },
    /// A new run would replace a baseline: choose another name, or begin anew on purpose.
    #[error("there is a baseline `{0}` already: choose another name, or begin anew to replace it")]
    Trained(String),
    /// There is no run to go on with: begin one.
    #[error("there is nothing to resume: {} has no run of the baseline `{name}`; begin one", dir.display())]
    NothingToResume {
        /// The project.
        dir: PathBuf,
        /// The baseline.
        name: String,
    },
    /// Only the number of epochs may change when a run is resumed, and not below those that are done.
    #[error(
        "the run to resume was begun with other settings, or has done more epochs than are asked for; leave the settings \
         open, or begin anew\n  begun with: {}\n  asked for:  {}", .0[0], .0[1]
    )]
    OtherSettings(Box<[super::BaselineSettings; 2]>),
    /// Another process is training this baseline: wait for it.
    #[error("the baseline `{0}` is being trained by another process: wait for it, or choose another name")]
    Busy(String),
    /// The file is of another graph or damaged in its content: train the baseline again.
    #[error("{} cannot be used: {what}; train the baseline again", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// The disk or a file on it is at fault; the message says what to do.
    #[error(transparent)]
    Store(#[from] StoreError),
}
