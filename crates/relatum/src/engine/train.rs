//! Training: when a run begins, goes on, or may replace a model, and what it leaves behind.

use std::path::PathBuf;

use serde::Serialize;

use super::workflow::{Divergence, unfinished};
use super::{Engine, Error, RecipeFound, Search, WorkflowError};
use crate::control::Control;
use crate::model::LinkMetrics;
use crate::project::{Checkpoint, ModelFolder, Outcome, Run, SearchRecord};
use crate::train::{
    GivenSettings, Progress, Recommendation, Settings, TrainError, Trainer, cool_down, recommend,
};

/// What to train, and what to do with a model or run that is there already.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainOptions {
    /// The name of the model; `None` is the default one.
    pub model: Option<String>,
    /// The settings that are given; the rest is chosen by the size of the graph, or is what a resumed run
    /// was begun with.
    pub settings: GivenSettings,
    /// How to begin.
    pub start: Start,
    /// Whether those of regularisation, learning rate, batch size and relation loss that are not given are searched
    /// first. A resumed run goes on with the search that it was begun with.
    pub search: Search,
}

/// How a training run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// A new run; refused if a model or an unfinished run has the name.
    #[default]
    New,
    /// Goes on where an earlier run of the model was stopped or killed. Only the number of epochs and of those that
    /// cool down may change; with more epochs a finished run goes on too.
    Resume,
    /// A new run, which replaces the model or run of this name as soon as there is something to save.
    Restart,
}

/// An event: a run begins, with what is known before its first batch.
#[derive(Clone, Debug)]
pub struct TrainingBegins {
    /// The name of the model, or of a grid's run.
    pub name: String,
    /// What is trained.
    pub settings: Settings,
    /// What was chosen for the graph, with reasons, where this is a new run.
    pub recommended: Option<Recommendation>,
    /// Where a resumed run goes on.
    pub resumed: Option<Progress>,
    /// How far it has come, in words.
    pub position: String,
    /// How many epochs are done.
    pub epochs_done: usize,
    /// The last epoch.
    pub last_epoch: usize,
    /// Directed triples of an epoch.
    pub triples: usize,
    /// (head, relation) rows of a batch, on average; at least 1.
    pub batch_rows: usize,
    /// Entities that a row is scored against.
    pub columns: usize,
    /// Floating-point operations of the matrix products of one row.
    pub flops_a_row: f64,
    /// How many (head, relation) pairs each validation ranks, and of how many; `None` if it ranks all of them.
    pub validation_sample: Option<(usize, usize)>,
}

/// The result of a training run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trained {
    /// The name of the model.
    pub name: String,
    /// How the run ended.
    pub outcome: Outcome,
    /// What was trained.
    pub settings: Settings,
    /// How many epochs are done.
    pub epochs: usize,
    /// How far it has come, in words.
    pub position: String,
    /// The epoch of the model that was kept, and how well it does on the validation edges; `None` where
    /// there was no validation.
    pub best: Option<(usize, LinkMetrics)>,
    /// Whether the validations looked at a sample of the validation edges.
    pub sampled: bool,
    /// Whether it was stopped in the search for its settings, before the run itself began.
    pub searching: bool,
    /// What the search for its settings tried and found, if there was one and it is over.
    pub search: Option<RecipeFound>,
    /// How many validation edges the truth values were fitted to; none where there are too few, or the run was
    /// stopped.
    pub fitted: Option<usize>,
    /// The file of the model.
    pub file: PathBuf,
}

impl Engine {
    /// Trains a link predictor on the training edges, to the end or until it is cancelled. In either case model
    /// and checkpoint are on disk afterwards, and a stopped run can be resumed.
    ///
    /// Settings that are not given may be [searched](TrainOptions::search) first. Listeners hear of each trial
    /// ([`RecipeTrialBegins`](super::RecipeTrialBegins), [`RecipeTried`](super::RecipeTried)) and of what was
    /// [found](RecipeFound), or why there is [no search](super::NotSearched). If the work is stopped in the search, the
    /// result is interrupted after 0 epochs, without a model.
    ///
    /// Of the run itself they hear [`TrainingBegins`], then a [`BatchReport`](crate::train::BatchReport) after every
    /// batch, an [`EpochRecord`](crate::project::EpochRecord) after every epoch, and
    /// [`EndsAfter`](crate::project::EndsAfter) where validation got no better and the run will end early.
    pub fn train(&self, options: &TrainOptions, control: &Control) -> Result<Trained, Error> {
        let folder = self.folder(options.model.as_deref())?;
        let _lock = folder.lock()?;
        let given = &options.settings;
        let search = match options.start {
            Start::Resume => self.search_to_resume(&folder, given)?,
            start => {
                if start == Start::New {
                    self.refuse_to_discard(&folder)?;
                }
                self.new_search(options.search, given, control)?
            }
        };
        if let Some(record) = search {
            return self.train_searched(folder, record, control);
        }
        if options.start == Start::Resume {
            return self.finish(self.resumed(folder, given)?, None, control);
        }
        let recommended = recommend(self.graph());
        let settings = given.resolve(recommended.settings.clone());
        let run = Run::new(self.project(), folder, settings)?;
        SearchRecord::remove(run.folder())?;
        self.finish(run, Some(recommended), control)
    }

    /// Searches, as far as that is not done, and trains with what was found.
    fn train_searched(
        &self,
        folder: ModelFolder,
        mut record: SearchRecord,
        control: &Control,
    ) -> Result<Trained, Error> {
        let found = self.search(&folder, &mut record, control)?;
        let Some((found, settings)) = found.zip(record.settings()) else {
            return Ok(Trained {
                name: folder.name().to_owned(),
                outcome: Outcome::Interrupted,
                settings: record.plain.clone(),
                epochs: 0,
                position: record.position(),
                best: None,
                sampled: false,
                searching: true,
                search: None,
                fitted: None,
                file: folder.model_file(),
            });
        };
        let recommended = recommend(self.graph()).with_found(found.chosen, record.open());
        let run = Run::new(self.project(), folder, settings)?;
        self.finish(run, Some(recommended), control)
    }

    /// Makes sure that there is a model with these settings: an unfinished run of them is resumed; where
    /// there is a model already, whatever its settings, nothing is done and the result is `None`.
    pub fn train_if_missing(
        &self,
        name: Option<&str>,
        given: &GivenSettings,
        control: &Control,
    ) -> Result<Option<Trained>, Error> {
        let folder = self.folder(name)?;
        // Two processes at once would overwrite each other's files.
        let _lock = folder.lock()?;
        let recommended = recommend(self.graph());
        let settings = given.resolve(recommended.settings.clone());
        // A checkpoint that cannot be read cannot be resumed.
        let begun = Checkpoint::read(self.project(), &folder).ok().flatten();
        let begun = begun.filter(|checkpoint| !checkpoint.finished && checkpoint.settings == settings);
        let (run, recommended) = match begun {
            Some(_) => (Run::resume(self.project(), folder, None)?, None),
            None if folder.model_file().exists() => return Ok(None),
            None => {
                let run = Run::new(self.project(), folder, settings)?;
                SearchRecord::remove(run.folder())?;
                (run, Some(recommended))
            }
        };
        self.finish(run, recommended, control).map(Some)
    }

    /// Trains to the end; if the run diverges, the error says what is left of it.
    fn finish(
        &self,
        mut run: Run<'_>,
        recommended: Option<Recommendation>,
        control: &Control,
    ) -> Result<Trained, Error> {
        let outcome = watched(&mut run, recommended, control);
        // A run that failed may have saved a model before.
        self.forget(run.folder().name());
        let outcome = outcome.map_err(|error| match error {
            TrainError::Diverged { .. } => {
                let settings = run.checkpoint().settings.clone();
                let model = Some(run.folder().model_file()).filter(|file| file.exists());
                let left = Divergence { error, settings, kept: run.kept(), model };
                WorkflowError::Diverged(Box::new(left)).into()
            }
            other => Error::from(other),
        })?;
        let fitted = match outcome {
            Outcome::Interrupted => None,
            _ => self.fit_new(run.folder(), control)?,
        };
        // A record that cannot be read takes nothing from the model; `check` reports it.
        let searched = SearchRecord::read(self.project(), run.folder()).ok().flatten();
        let checkpoint = run.checkpoint();
        Ok(Trained {
            name: run.folder().name().to_owned(),
            outcome,
            settings: checkpoint.settings.clone(),
            epochs: checkpoint.epochs.len(),
            position: checkpoint.position(),
            best: checkpoint.best,
            sampled: run.validation_sample().is_some(),
            searching: false,
            search: searched.and_then(|record| self.found(&record)),
            fitted,
            file: run.folder().model_file(),
        })
    }

    /// The run of the folder's checkpoint. The given settings must be those that the run was begun with, except for
    /// the number of epochs and how many of them cool down.
    fn resumed(&self, folder: ModelFolder, given: &GivenSettings) -> Result<Run<'_>, Error> {
        let Some(checkpoint) = Checkpoint::read(self.project(), &folder)? else {
            let (dir, name) = (self.project().dir().to_owned(), folder.name().to_owned());
            return Err(WorkflowError::NothingToResume { dir, name }.into());
        };
        let begun = checkpoint.settings;
        let mut wanted = given.over(begun.clone());
        if wanted.epochs != begun.epochs && begun.cool_down == cool_down(begun.epochs) {
            // The cool-down was a tenth of the epochs, and stays a tenth.
            wanted = given.cooled(wanted);
        }
        let done = checkpoint.epochs.len();
        if wanted.epochs < done {
            return Err(WorkflowError::FewerEpochs { done, wanted: wanted.epochs }.into());
        }
        let Settings { epochs, cool_down, .. } = begun;
        if (Settings { epochs, cool_down, ..wanted.clone() }) != begun {
            return Err(WorkflowError::OtherSettings(Box::new([begun, wanted])).into());
        }
        Ok(Run::resume(self.project(), folder, Some((wanted.epochs, wanted.cool_down)))?)
    }

    /// Refuses to replace a model or an unfinished run by accident: they may be hours of work.
    fn refuse_to_discard(&self, folder: &ModelFolder) -> Result<(), WorkflowError> {
        let name = folder.name().to_owned();
        if let Some(position) = unfinished(self.project(), folder) {
            return Err(WorkflowError::Unfinished { name, position });
        }
        if folder.model_file().exists() {
            return Err(WorkflowError::Trained { name });
        }
        Ok(())
    }
}

/// Trains, after listeners have heard what is about to begin.
pub(super) fn watched(
    run: &mut Run<'_>,
    recommended: Option<Recommendation>,
    control: &Control,
) -> Result<Outcome, TrainError> {
    let (trainer, checkpoint) = (run.trainer(), run.checkpoint());
    let rows = trainer.batch_rows();
    control.tell(&TrainingBegins {
        name: run.folder().name().to_owned(),
        settings: checkpoint.settings.clone(),
        recommended,
        resumed: run.kept(),
        position: checkpoint.position(),
        epochs_done: checkpoint.epochs.len(),
        last_epoch: checkpoint.last_epoch(),
        triples: trainer.triples(),
        batch_rows: (rows.iter().sum::<usize>() / rows.len().max(1)).max(1),
        columns: columns(trainer),
        flops_a_row: trainer.flops(1),
        validation_sample: run.validation_sample(),
    });
    run.train(control)
}

fn columns(trainer: &Trainer) -> usize {
    trainer.settings().candidates.map_or(trainer.entity_count(), |n| n.min(trainer.entity_count()))
}
