//! A whole training run: epochs, validations, checkpoints, and when to stop.

use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::chart::chart;
use super::{Checkpoint, ModelFolder, Project};
use crate::control::Control;
use crate::graph::Split;
use crate::model::{Card, CurvePoint, LinkMetrics, Ties};
use crate::store::{StoreError, write_atomically};
use crate::train::{Epoch, Progress, Settings, TrainError, Trainer, evaluate_some, sampled};

/// A finished epoch, with its validation if that was due; listeners of a [`Control`] hear of each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// The epoch, from 1.
    pub epoch: usize,
    /// The mean loss of a triple.
    pub loss: f64,
    /// How long it took, validation not counted.
    pub seconds: f64,
    /// The validation after it, if there was one.
    pub valid: Option<LinkMetrics>,
}

/// An event: validation got no better, so the run cools down and ends after this epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndsAfter(pub usize);

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All epochs were done.
    Finished,
    /// Validation got no better for as long as patience allowed.
    StoppedEarly,
    /// It was cancelled, or the time was up; the run can be resumed.
    Interrupted,
}

/// A training run in a model's folder.
///
/// The folder's checkpoint always describes one moment of the run, and everything after that moment
/// follows from it alone, so a run that was killed and resumed ends with the same bytes.
pub struct Run<'a> {
    project: &'a Project,
    folder: ModelFolder,
    trainer: Trainer,
    checkpoint: Checkpoint,
    saved: Instant,
    /// Seconds of the epoch under way.
    seconds: f64,
    /// Where the checkpoint on disk stands, if this run has written or read one.
    kept: Option<Progress>,
}

/// A checkpoint is written at an epoch's end when the last one is at least this old.
const CHECKPOINT_AFTER: Duration = Duration::from_secs(10);
/// Within an epoch, a checkpoint is written when the last one is at least this old.
const CHECKPOINT_WITHIN: Duration = Duration::from_mins(2);
/// Floating-point operations that a validation may cost; beyond that, it ranks a sample of the split.
const VALIDATION_FLOPS: f64 = 1e12;

impl<'a> Run<'a> {
    /// A new run. The files of an earlier one are replaced only when there is something to save.
    pub fn new(project: &'a Project, folder: ModelFolder, settings: Settings) -> Result<Self, TrainError> {
        project.verify_edges()?;
        let trainer = Trainer::new(project.graph(), settings.clone())?;
        fs::create_dir_all(folder.dir()).map_err(StoreError::io("create", folder.dir()))?;
        let checkpoint = Checkpoint::new(project, settings);
        Ok(Self { project, folder, trainer, checkpoint, saved: Instant::now(), seconds: 0.0, kept: None })
    }

    /// The run that the folder's checkpoint describes. To go on after its end, `length` may give another number of
    /// epochs, and how many of them cool down.
    pub fn resume(
        project: &'a Project,
        folder: ModelFolder,
        length: Option<(usize, usize)>,
    ) -> Result<Self, TrainError> {
        project.verify_edges()?;
        let (mut checkpoint, file) = Checkpoint::open(project, &folder)?
            .ok_or_else(|| TrainError::NothingToResume(folder.dir().to_owned()))?;
        let settings = &mut checkpoint.settings;
        if let Some(length) = length
            && length != (settings.epochs, settings.cool_down)
        {
            (settings.epochs, settings.cool_down) = length;
            (checkpoint.ends, checkpoint.finished) = (None, false);
        }
        let settings = checkpoint.settings.clone();
        let mut trainer = Trainer::restore(project.graph(), settings, checkpoint.progress, &file)?;
        trainer.end_after(checkpoint.last_epoch());
        let kept = Some(checkpoint.progress);
        Ok(Self { project, folder, trainer, checkpoint, saved: Instant::now(), seconds: 0.0, kept })
    }

    /// How far the checkpoint on disk has come, if this run has saved one: this is what is left after a failure.
    pub fn kept(&self) -> Option<Progress> {
        self.kept
    }

    /// The trainer, to ask for sizes.
    pub fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    /// Where the run stands.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// How many (head, relation) pairs each validation ranks, and of how many, where ranking all of them would
    /// cost too much; `None` if all of them are ranked.
    pub fn validation_sample(&self) -> Option<(usize, usize)> {
        let values = self.trainer.entity_values();
        let (looked_at, pairs) = sampled(self.project.graph(), Split::Valid, validation_pairs(values));
        (looked_at < pairs).then_some((looked_at, pairs))
    }

    /// The folder the run writes to.
    pub fn folder(&self) -> &ModelFolder {
        &self.folder
    }

    /// Trains to the end, or until it is cancelled or the time is up. In each case model and checkpoint are on
    /// disk afterwards.
    ///
    /// Listeners hear a [`BatchReport`](crate::train::BatchReport) after every batch, an [`EpochRecord`]
    /// after every epoch, and [`EndsAfter`] where the run will end before its last epoch.
    pub fn train(&mut self, control: &Control) -> Result<Outcome, TrainError> {
        let replaces = self.folder.model_file().exists() || Checkpoint::file(&self.folder).exists();
        if self.trainer.progress().step == 0 && !replaces {
            // From the first moment on, there is a checkpoint to resume.
            self.save_checkpoint()?;
        }
        while !self.checkpoint.finished && self.trainer.progress().epoch < self.checkpoint.last_epoch() {
            let began = Instant::now();
            let before = self.seconds;
            let epoch = self.trainer.run_epoch(&control.ending_by(self.saved + CHECKPOINT_WITHIN))?;
            self.seconds = before + began.elapsed().as_secs_f64();
            let Epoch::Finished(loss) = epoch else {
                self.save_checkpoint()?;
                if control.is_late() {
                    return self.interrupted();
                }
                continue;
            };
            let ended = self.checkpoint.ends;
            let record = self.finish_epoch(loss)?;
            control.tell(&record);
            if control.is_late() {
                self.save_checkpoint()?;
                return self.interrupted();
            }
            if self.checkpoint.finished {
                self.save_checkpoint()?;
                return Ok(Outcome::StoppedEarly);
            }
            if self.checkpoint.ends != ended {
                control.tell(&EndsAfter(self.checkpoint.last_epoch()));
            }
            let first = self.kept.is_none();
            if first || record.valid.is_some() || self.saved.elapsed() > CHECKPOINT_AFTER {
                self.save_checkpoint()?;
            }
        }
        let stopped_early = self.trainer.progress().epoch < self.checkpoint.settings.epochs;
        if !self.checkpoint.finished {
            if self.checkpoint.best.is_none() {
                self.save_model(None)?;
            }
            self.checkpoint.finished = true;
            self.save_checkpoint()?;
        }
        Ok(if stopped_early { Outcome::StoppedEarly } else { Outcome::Finished })
    }

    /// Saves the model if none is saved yet, so that there is one to ask even after an early interruption.
    fn interrupted(&mut self) -> Result<Outcome, TrainError> {
        if self.checkpoint.best.is_none() {
            self.save_model(None)?;
        }
        Ok(Outcome::Interrupted)
    }

    /// Validates where that is due, keeps the best model, and decides whether to go on.
    fn finish_epoch(&mut self, loss: f64) -> Result<EpochRecord, TrainError> {
        self.trainer.check()?;
        let epoch = self.trainer.progress().epoch;
        let settings = self.checkpoint.settings.clone();
        let graph = self.project.graph();
        let last = self.checkpoint.last_epoch();
        let due = epoch.is_multiple_of(settings.eval_every) || epoch == last;
        let valid = (due && !graph.edges(Split::Valid).is_empty()).then(|| {
            self.trainer.with_current_model(|model| {
                let most = validation_pairs(model.entities().len());
                evaluate_some(model, graph, Split::Valid, Ties::Mean, most).overall
            })
        });
        let record = EpochRecord { epoch, loss, seconds: self.seconds, valid };
        self.seconds = 0.0;
        self.checkpoint.epochs.push(record);
        if let Some(valid) = valid {
            if self.checkpoint.best.is_none_or(|(_, best)| valid.mrr > best.mrr) {
                self.checkpoint.best = Some((epoch, valid));
                self.save_model(Some(valid))?;
            }
            let (best_epoch, _) = self.checkpoint.best.unwrap_or((epoch, valid));
            let since =
                self.checkpoint.epochs.iter().filter(|e| e.epoch > best_epoch && e.valid.is_some()).count();
            let cooling = settings.cool_down > 0 && epoch + settings.cool_down > last;
            if settings.patience > 0 && since >= settings.patience && !cooling {
                self.end_soon(epoch);
            }
        }
        self.write_curve()?;
        Ok(record)
    }

    /// Ends the run, now or after it has cooled down, because validation got no better for a while.
    fn end_soon(&mut self, epoch: usize) {
        let Settings { epochs, cool_down, .. } = self.checkpoint.settings;
        let last = (epoch + cool_down).min(epochs);
        self.checkpoint.ends = Some(last);
        self.checkpoint.finished = last == epoch;
        self.trainer.end_after(last);
    }

    fn save_checkpoint(&mut self) -> Result<(), TrainError> {
        self.trainer.check()?;
        self.checkpoint.progress = self.trainer.progress();
        self.checkpoint.write(&self.folder, &self.trainer)?;
        self.saved = Instant::now();
        self.kept = Some(self.checkpoint.progress);
        Ok(())
    }

    fn save_model(&mut self, valid: Option<LinkMetrics>) -> Result<(), TrainError> {
        self.trainer.check()?;
        let (project, folder) = (self.project, &self.folder);
        // No times in the card: a resumed run must write the same bytes.
        let curve = self.checkpoint.epochs.iter();
        let curve = curve.map(|e| CurvePoint { epoch: e.epoch, loss: e.loss, valid: e.valid }).collect();
        let epoch = self.trainer.progress().epoch;
        let training = serde_json::to_value(&self.checkpoint.settings).ok();
        self.trainer.with_current_model(|model| {
            let card = Card {
                training,
                epoch,
                valid,
                curve,
                ..Card::new(&project.manifest().fingerprint, model, "trained")
            };
            folder.save(model, &card)
        })?;
        Ok(())
    }

    /// Rewrites `training.jsonl` and `training.svg` as a whole: they are small, and so are right after a resume.
    fn write_curve(&self) -> Result<(), TrainError> {
        let epochs = &self.checkpoint.epochs;
        write_atomically(&self.folder.dir().join("training.jsonl"), |file| {
            epochs
                .iter()
                .try_for_each(|epoch| writeln!(file, "{}", serde_json::to_string(epoch).unwrap_or_default()))
        })?;
        let title =
            format!("{} · rank {}", self.checkpoint.settings.predictor, self.checkpoint.settings.rank);
        let kept = self.checkpoint.best.map(|(epoch, _)| epoch);
        write_atomically(&self.folder.dir().join("training.svg"), |file| {
            file.write_all(chart(&title, epochs, kept).as_bytes())
        })?;
        Ok(())
    }
}

/// The most (head, relation) pairs that a validation scores against a table of so many values.
fn validation_pairs(values: usize) -> usize {
    (VALIDATION_FLOPS / (2.0 * values as f64)) as usize
}

#[cfg(test)]
mod tests;
