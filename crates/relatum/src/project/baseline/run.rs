//! A whole training run of a baseline: epochs, validations, checkpoints, and when to stop.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{BaselineCard, BaselineFolder};
use crate::baseline::{BaselineError, BaselineSettings, BaselineTrainer, as_tensors, validate};
use crate::control::Control;
use crate::model::{CurvePoint, LinkMetrics};
use crate::project::chart::chart;
use crate::project::{EpochRecord, Outcome, Project};
use crate::store::{StoreError, TensorFile, write_atomically, write_tensors};
use crate::train::{Epoch, Progress};

/// Validation queries of each type that a validation answers, at most.
pub const VALIDATED: usize = 200;
/// A checkpoint is written at an epoch's end when the last one is at least this old.
const CHECKPOINT_AFTER: Duration = Duration::from_secs(30);
/// Within an epoch, a checkpoint is written when the last one is at least this old.
const CHECKPOINT_WITHIN: Duration = Duration::from_mins(3);
const VERSION: u32 = 1;

/// The description in a checkpoint; its matrices are the vectors and what the optimiser remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaselineCheckpoint {
    version: u32,
    fingerprint: String,
    /// What is being trained.
    pub settings: BaselineSettings,
    /// How far it has come.
    pub progress: Progress,
    /// Every finished epoch.
    pub epochs: Vec<EpochRecord>,
    /// The epoch and metrics of the best model so far, which is the one that was saved.
    pub best: Option<(usize, LinkMetrics)>,
    /// Whether the run is finished.
    pub finished: bool,
}

impl BaselineCheckpoint {
    /// The checkpoint of a folder, if there is one that belongs to the project's graph. Only its header is read.
    pub fn read(project: &Project, folder: &BaselineFolder) -> Result<Option<Self>, BaselineError> {
        let path = folder.checkpoint_file();
        if !path.exists() {
            return Ok(None);
        }
        Self::of(project, folder, &TensorFile::glance(&path)?).map(Some)
    }

    fn of(project: &Project, folder: &BaselineFolder, file: &TensorFile) -> Result<Self, BaselineError> {
        let path = folder.checkpoint_file();
        let text = file.text("checkpoint").unwrap_or_default();
        let checkpoint: Self = serde_json::from_str(text).map_err(|error| {
            StoreError::damaged(&path, format!("its description cannot be read ({error})"))
        })?;
        if checkpoint.version > VERSION {
            return Err(StoreError::Newer { path, found: checkpoint.version, known: VERSION }.into());
        }
        if checkpoint.fingerprint != project.manifest().fingerprint {
            let what = "it was made on another graph".to_owned();
            return Err(BaselineError::Unusable { path, what });
        }
        Ok(checkpoint)
    }

    /// Reads everything, as a run that goes on would. Returns whether there is one.
    pub fn check(project: &Project, folder: &BaselineFolder) -> Result<bool, BaselineError> {
        if !folder.checkpoint_file().exists() {
            return Ok(false);
        }
        BaselineRun::resume(project, folder.clone(), None)?.trainer.check()?;
        Ok(true)
    }

    /// How far it has come, in words.
    pub fn position(&self) -> String {
        let steps = match self.progress.batch {
            0 => String::new(),
            steps => format!(" and {steps} steps"),
        };
        format!("after {} of {} epochs{steps}", self.progress.epoch, self.settings.epochs)
    }
}

/// A training run in a baseline's folder. Everything after a checkpoint follows from it alone, so a run that was killed
/// and resumed ends with the same bytes.
pub struct BaselineRun<'a> {
    project: &'a Project,
    folder: BaselineFolder,
    trainer: BaselineTrainer,
    checkpoint: BaselineCheckpoint,
    saved: Instant,
    /// Seconds of the epoch under way.
    seconds: f64,
}

impl<'a> BaselineRun<'a> {
    /// A new run. The files of an earlier one are replaced only when there is something to save.
    pub fn new(
        project: &'a Project,
        folder: BaselineFolder,
        settings: BaselineSettings,
    ) -> Result<Self, BaselineError> {
        project.verify_edges()?;
        let trainer = BaselineTrainer::new(project.graph(), settings.clone())?;
        let checkpoint = BaselineCheckpoint {
            version: VERSION,
            fingerprint: project.manifest().fingerprint.clone(),
            settings,
            progress: Progress::default(),
            epochs: Vec::new(),
            best: None,
            finished: false,
        };
        Ok(Self { project, folder, trainer, checkpoint, saved: Instant::now(), seconds: 0.0 })
    }

    /// The run that the folder's checkpoint describes; with another number of epochs it goes on after its end, and the
    /// learning rate falls towards the new one.
    pub fn resume(
        project: &'a Project,
        folder: BaselineFolder,
        epochs: Option<usize>,
    ) -> Result<Self, BaselineError> {
        project.verify_edges()?;
        let path = folder.checkpoint_file();
        if !path.exists() {
            let (dir, name) = (project.dir().to_owned(), folder.name().to_owned());
            return Err(BaselineError::NothingToResume { dir, name });
        }
        let file = TensorFile::open(&path)?;
        let mut checkpoint = BaselineCheckpoint::of(project, &folder, &file)?;
        if let Some(epochs) = epochs.filter(|&epochs| epochs != checkpoint.settings.epochs) {
            checkpoint.settings.epochs = epochs;
            checkpoint.finished = false;
        }
        let unfit = |what: String| BaselineError::Unusable { path: path.clone(), what };
        if checkpoint.epochs.len() != checkpoint.progress.epoch {
            let (said, done) = (checkpoint.epochs.len(), checkpoint.progress.epoch);
            return Err(unfit(format!("it has {done} finished epochs, but records of {said}")));
        }
        let trainer = BaselineTrainer::restore(
            project.graph(),
            checkpoint.settings.clone(),
            checkpoint.progress,
            &file,
            &unfit,
        )?;
        Ok(Self { project, folder, trainer, checkpoint, saved: Instant::now(), seconds: 0.0 })
    }

    /// The trainer, to ask for sizes.
    pub fn trainer(&self) -> &BaselineTrainer {
        &self.trainer
    }

    /// Where the run stands.
    pub fn checkpoint(&self) -> &BaselineCheckpoint {
        &self.checkpoint
    }

    /// The folder the run writes to.
    pub fn folder(&self) -> &BaselineFolder {
        &self.folder
    }

    /// Trains to the end, or until it is cancelled or the time is up. In each case model and checkpoint are on disk
    /// afterwards. Listeners hear a [`BatchReport`](crate::train::BatchReport) after every step and an [`EpochRecord`]
    /// after every epoch.
    pub fn train(&mut self, control: &Control) -> Result<Outcome, BaselineError> {
        fs::create_dir_all(self.folder.dir()).map_err(StoreError::io("create", self.folder.dir()))?;
        while !self.checkpoint.finished && self.trainer.progress().epoch < self.checkpoint.settings.epochs {
            let (began, before) = (Instant::now(), self.seconds);
            let epoch = self.trainer.run_epoch(&control.ending_by(self.saved + CHECKPOINT_WITHIN))?;
            self.seconds = before + began.elapsed().as_secs_f64();
            let mut due = true;
            if let Epoch::Finished(loss) = epoch {
                let record = self.finish_epoch(loss)?;
                control.tell(&record);
                due = record.valid.is_some() || record.epoch == 1 || self.saved.elapsed() > CHECKPOINT_AFTER;
            }
            if due || control.is_late() {
                self.save_checkpoint()?;
            }
            if control.is_late() && !self.checkpoint.finished {
                if self.checkpoint.best.is_none() {
                    self.save_model(None)?;
                }
                return Ok(Outcome::Interrupted);
            }
        }
        let early = self.trainer.progress().epoch < self.checkpoint.settings.epochs;
        if !self.checkpoint.finished {
            self.checkpoint.finished = true;
            self.save_checkpoint()?;
        }
        if self.checkpoint.best.is_none() {
            self.save_model(None)?;
        }
        Ok(if early { Outcome::StoppedEarly } else { Outcome::Finished })
    }

    /// Validates where that is due, keeps the best model, and decides whether to go on.
    fn finish_epoch(&mut self, loss: f64) -> Result<EpochRecord, BaselineError> {
        self.trainer.check()?;
        let epoch = self.trainer.progress().epoch;
        let BaselineSettings { epochs, eval_every, patience, .. } = self.checkpoint.settings;
        let due = epoch.is_multiple_of(eval_every) || epoch == epochs;
        let valid = if due { self.validation()? } else { None };
        let record = EpochRecord { epoch, loss, seconds: self.seconds, valid };
        self.seconds = 0.0;
        self.checkpoint.epochs.push(record);
        if let Some(valid) = valid {
            if self.checkpoint.best.is_none_or(|(_, best)| valid.mrr > best.mrr) {
                self.checkpoint.best = Some((epoch, valid));
                self.save_model(Some(valid))?;
            }
            let best = self.checkpoint.best.map_or(epoch, |(best, _)| best);
            let since = self.checkpoint.epochs.iter().filter(|it| it.epoch > best && it.valid.is_some());
            self.checkpoint.finished = patience > 0 && since.count() >= patience;
        }
        self.write_curve()?;
        Ok(record)
    }

    fn validation(&self) -> Result<Option<LinkMetrics>, BaselineError> {
        let Some(queries) = &self.project.queries().valid else { return Ok(None) };
        let model = self.trainer.model();
        validate(model, model.relation_count(), queries, VALIDATED).map_err(|error| BaselineError::Unusable {
            path: self.project.dir().join("queries"),
            what: error.to_string(),
        })
    }

    fn save_checkpoint(&mut self) -> Result<(), BaselineError> {
        self.trainer.check()?;
        self.checkpoint.progress = self.trainer.progress();
        let text = serde_json::to_string(&self.checkpoint).unwrap_or_default();
        let texts = BTreeMap::from([("checkpoint".to_owned(), text)]);
        let parts = self.trainer.tensors();
        write_tensors(&self.folder.checkpoint_file(), &texts, &as_tensors(&parts))?;
        self.saved = Instant::now();
        Ok(())
    }

    fn save_model(&self, valid: Option<LinkMetrics>) -> Result<(), BaselineError> {
        self.trainer.check()?;
        let model = self.trainer.model();
        // No times in the card: a resumed run must write the same bytes.
        let point = |it: &EpochRecord| CurvePoint { epoch: it.epoch, loss: it.loss, valid: it.valid };
        let card = BaselineCard {
            epoch: self.trainer.progress().epoch,
            valid,
            curve: self.checkpoint.epochs.iter().map(point).collect(),
            ..BaselineCard::new(self.project, model, self.checkpoint.settings.clone())
        };
        self.folder.save(model, &card)
    }

    /// Rewrites `training.jsonl` and `training.svg` as a whole: they are small, and so are right after a resume.
    fn write_curve(&self) -> Result<(), BaselineError> {
        let epochs = &self.checkpoint.epochs;
        write_atomically(&self.folder.dir().join("training.jsonl"), |file| {
            epochs
                .iter()
                .try_for_each(|epoch| writeln!(file, "{}", serde_json::to_string(epoch).unwrap_or_default()))
        })?;
        let BaselineSettings { kind, dimension, .. } = self.checkpoint.settings;
        let title = format!("{} · dimension {dimension}", kind.name());
        let kept = self.checkpoint.best.map(|(epoch, _)| epoch);
        write_atomically(&self.folder.dir().join("training.svg"), |file| {
            file.write_all(chart(&title, epochs, kept).as_bytes())
        })?;
        Ok(())
    }
}
