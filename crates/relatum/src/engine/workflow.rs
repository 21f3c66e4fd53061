//! What training, merging and other work on models have in common: which model it is about, when it may
//! replace one, and why it is refused.

use std::path::PathBuf;

use super::{Engine, Error, Fault, SourcesError};
use crate::model::{MergeError, ModelError};
use crate::project::{Checkpoint, ModelFolder, ModelLock, Project, SearchRecord};
use crate::train::{Progress, Settings, TrainError};

/// Why work on a model was refused, or what it left behind when it failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowError {
    /// A new run would discard one that can still be resumed: resume it, or begin anew on purpose.
    #[error("an unfinished run of `{name}` is here, {position}: resume it, or begin anew to discard it")]
    Unfinished {
        /// The model.
        name: String,
        /// How far the run has come.
        position: String,
    },
    /// A new run would replace a model: choose another name, or begin anew on purpose.
    #[error("there is a model `{name}` already: choose another name, or begin anew to replace it")]
    Trained {
        /// The model.
        name: String,
    },
    /// The name is taken by a model or by an unfinished run: choose another, or replace it on purpose.
    #[error(
        "{}: choose another name, or replace it",
        match unfinished {
            Some(position) => format!("an unfinished run of `{name}` is here, {position}"),
            None => format!("there is a model `{name}` already"),
        }
    )]
    Occupied {
        /// The model.
        name: String,
        /// How far the run has come, where it is one.
        unfinished: Option<String>,
    },
    /// There is no run to go on with: begin one.
    #[error("there is nothing to resume: {} has no unfinished run of `{name}`; begin one", dir.display())]
    NothingToResume {
        /// The project.
        dir: PathBuf,
        /// The model.
        name: String,
    },
    /// The run has done more epochs than are asked for in all: ask for more, or leave their number open.
    #[error(
        "the run to resume has done {done} epochs already, and the {wanted} asked for are less: ask for more, or leave \
         their number open"
    )]
    FewerEpochs {
        /// Epochs that are done.
        done: usize,
        /// Epochs that were asked for.
        wanted: usize,
    },
    /// Only the number of epochs and the cool-down may change when a run is resumed.
    #[error(
        "the run to resume was begun with other settings; leave the settings open, or begin anew\n  begun with: {}\n  \
         asked for:  {}", .0[0], .0[1]
    )]
    OtherSettings(Box<[Settings; 2]>),
    /// A training run diverged; what is left of it is in the fields.
    #[error("{}", diverged(.0))]
    Diverged(Box<Divergence>),
    /// A grid chooses by validation, and the graph has no validation edges: hold some edges out.
    #[error("{} has no validation edges to choose by: make it with some of the edges held out", .0.display())]
    NoValidation(PathBuf),
    /// The weights do not fit the models: give one for each, or none.
    #[error("one weight for each model is needed: {models} models, {weights} weights")]
    Weights {
        /// How many models there are.
        models: usize,
        /// How many weights were given.
        weights: usize,
    },
    /// A weight is out of bounds: scores would soon be infinite, or their order would be reversed.
    #[error("a weight above 0 and of at most {most} is needed, {weight:e} given")]
    Weight {
        /// The weight.
        weight: f32,
        /// The greatest that is allowed.
        most: f32,
    },
    /// A model is named twice.
    #[error("`{0}` is named twice: a model merged with itself is itself; give it a greater weight")]
    Twice(String),
    /// The merged model would replace one of its parts.
    #[error("`{0}` cannot be merged into itself: choose another name")]
    IntoItself(String),
    /// The models cannot be merged; the message says what is needed.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// The model holds fewer bits than were trained: take the model that it was made from.
    #[error(
        "`{name}` cannot be {action}: it is {origin}, with numbers of {precision}; take the model that it was made from"
    )]
    Rounded {
        /// The model.
        name: String,
        /// How its numbers are stored.
        precision: &'static str,
        /// What its card says of how it came to be.
        origin: String,
        /// What was to be done with it.
        action: &'static str,
    },
    /// Models are trained in f32: choose `f16` or `int8`.
    #[error("models are trained in f32: choose f16 or int8")]
    NotSmaller,
    /// The quantised model would replace the one it is made from.
    #[error("`{0}` cannot be replaced by its own quantized form: choose another name")]
    OntoItself(String),
    /// The sources of a project cannot become one; the message says what is needed.
    #[error(transparent)]
    Sources(#[from] SourcesError),
    /// The target of an export is there already.
    #[error("{} exists already: choose another name", .0.display())]
    TargetExists(PathBuf),
    /// Files with this ending cannot be written.
    #[error("cannot write .{0}: give a FILE.safetensors, or a folder for .npy files")]
    Ending(String),
    /// The work was cancelled, or the time was up, before anything was changed.
    #[error("stopped as asked: nothing was changed")]
    Stopped,
}

/// What is left of a training run that diverged.
#[derive(Debug)]
pub struct Divergence {
    /// Why and where.
    pub error: TrainError,
    /// What was trained.
    pub settings: Settings,
    /// Where the checkpoint stands that was saved before, if one was.
    pub kept: Option<Progress>,
    /// The file of the model, where there is one: it is unchanged.
    pub model: Option<PathBuf>,
}

fn diverged(Divergence { error, kept, model, .. }: &Divergence) -> String {
    let kept = match kept {
        Some(at) if at.step > 0 => {
            format!("the checkpoint after epoch {}, batch {} is kept", at.epoch, at.batch)
        }
        _ => "nothing of this run was saved".to_owned(),
    };
    let model = model.as_ref().map_or_else(String::new, |file| format!("; {} is unchanged", file.display()));
    format!("{error}\n{kept}{model}")
}

impl WorkflowError {
    pub(super) fn fault(&self) -> Fault {
        match self {
            Self::Diverged(_) => Fault::Data,
            _ => Fault::Caller,
        }
    }
}

impl Engine {
    /// The folder of a model by its name, or of the default one.
    pub(super) fn folder(&self, name: Option<&str>) -> Result<ModelFolder, ModelError> {
        match name {
            Some(name) => ModelFolder::of(self.project(), name),
            None => ModelFolder::of(self.project(), &self.default_model()),
        }
    }

    /// Locks the folder of a new model. A model that is there already is an error unless it may be replaced.
    pub(super) fn claim(&self, folder: &ModelFolder, replace: bool) -> Result<ModelLock, Error> {
        let lock = folder.lock()?;
        let name = || folder.name().to_owned();
        if !replace && let Some(position) = unfinished(self.project(), folder) {
            return Err(WorkflowError::Occupied { name: name(), unfinished: Some(position) }.into());
        }
        if !replace && folder.model_file().exists() {
            return Err(WorkflowError::Occupied { name: name(), unfinished: None }.into());
        }
        Ok(lock)
    }
}

/// How far a run has come that could be resumed, if there is one.
pub(super) fn unfinished(project: &Project, folder: &ModelFolder) -> Option<String> {
    // A search or checkpoint of another graph or version cannot be resumed.
    let search = SearchRecord::pending(project, folder).ok().flatten();
    if let Some(search) = search.filter(|search| !search.trials.is_empty()) {
        return Some(search.position());
    }
    let checkpoint = Checkpoint::read(project, folder).ok()??;
    (!checkpoint.finished && checkpoint.progress.step > 0).then(|| checkpoint.position())
}

#[cfg(test)]
mod tests;
