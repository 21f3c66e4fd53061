//! The checkpoint of a training run on disk: how far it has come.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{EpochRecord, ModelFolder, Project};
use crate::model::{Card, LinkMetrics};
use crate::store::{StoreError, TensorFile, write_tensors};
use crate::train::{Progress, Settings, TrainError, Trainer};

/// The description in a checkpoint; its matrices are the parameters and the optimiser's state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    version: u32,
    fingerprint: String,
    /// What is being trained.
    pub settings: Settings,
    /// How far it has come.
    pub progress: Progress,
    /// Every finished epoch.
    pub epochs: Vec<EpochRecord>,
    /// The epoch and metrics of the best model so far, which is the one that was saved.
    pub best: Option<(usize, LinkMetrics)>,
    /// The epoch after which the run ends although more were asked for, because validation got no better; the
    /// learning rate falls towards it.
    #[serde(default)]
    pub(super) ends: Option<usize>,
    /// Whether the run is finished.
    pub finished: bool,
}

const VERSION: u32 = 1;
const FILE: &str = "checkpoint.safetensors";

impl Checkpoint {
    /// The beginning of a run.
    pub(super) fn new(project: &Project, settings: Settings) -> Self {
        let fingerprint = project.manifest().fingerprint.clone();
        let (progress, epochs) = (Progress::default(), Vec::new());
        Self {
            version: VERSION,
            fingerprint,
            settings,
            progress,
            epochs,
            best: None,
            ends: None,
            finished: false,
        }
    }

    /// The last epoch of the run.
    pub fn last_epoch(&self) -> usize {
        self.ends.unwrap_or(self.settings.epochs)
    }

    /// Reads the checkpoint of a run of this project, if there is one.
    pub fn read(project: &Project, folder: &ModelFolder) -> Result<Option<Self>, TrainError> {
        Ok(Self::open(project, folder)?.map(|(checkpoint, _)| checkpoint))
    }

    /// Checks the checkpoint of a model: its description, and that every value of its tables is a finite
    /// number. Returns whether there is one.
    pub fn check(project: &Project, folder: &ModelFolder) -> Result<bool, TrainError> {
        let Some((checkpoint, file)) = Self::open(project, folder)? else { return Ok(false) };
        let path = Self::file(folder);
        let damaged = |what: String| Err(StoreError::damaged(&path, what).into());
        if checkpoint.epochs.len() != checkpoint.progress.epoch {
            let (said, done) = (checkpoint.epochs.len(), checkpoint.progress.epoch);
            return damaged(format!("it has {done} finished epochs, but records of {said}"));
        }
        for name in file.shapes().map(|(name, _)| name.to_owned()).collect::<Vec<_>>() {
            let (_, values) = file.matrix::<f32>(&name)?;
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                return damaged(format!("value {at} of its `{name}` is {}", values[at]));
            }
        }
        // The tables must have the shapes that the settings need, or the run could not be resumed.
        Trainer::restore(project.graph(), checkpoint.settings.clone(), checkpoint.progress, &file)?;
        Ok(true)
    }

    /// How far the run of this model has come, if it is not finished: the model is then only the best so
    /// far. Only the header of the checkpoint is read.
    pub fn unfinished(folder: &ModelFolder, card: &Card) -> Option<String> {
        if card.unfinished.is_some() {
            return card.unfinished.clone();
        }
        // A checkpoint that cannot be read is ignored here; `check` reports it.
        let file = TensorFile::glance(&Self::file(folder)).ok()?;
        let checkpoint: Self = serde_json::from_str(file.text("checkpoint")?).ok()?;
        // The checkpoint may be of another run, which will replace the model.
        let own: Settings = serde_json::from_value(card.training.clone()?).ok()?;
        let Settings { epochs, cool_down, .. } = own;
        let same = Settings { epochs, cool_down, ..checkpoint.settings.clone() } == own;
        let same = same && checkpoint.fingerprint == card.fingerprint;
        (same && !checkpoint.finished).then(|| checkpoint.position())
    }

    /// How far it has come, in words.
    pub fn position(&self) -> String {
        let (at, epochs) = (self.progress, self.settings.epochs);
        let batches = match at.batch {
            0 => String::new(),
            batches => format!(" and {batches} batches"),
        };
        format!("after {} of {epochs} epochs{batches}", at.epoch)
    }

    /// Where the checkpoint of a model is, whether there is one or not.
    pub(super) fn file(folder: &ModelFolder) -> PathBuf {
        folder.dir().join(FILE)
    }

    pub(super) fn open(
        project: &Project,
        folder: &ModelFolder,
    ) -> Result<Option<(Self, TensorFile)>, TrainError> {
        let path = Self::file(folder);
        if !path.exists() {
            return Ok(None);
        }
        let file = TensorFile::open(&path)?;
        let text = file.text("checkpoint").unwrap_or_default();
        let checkpoint: Self = serde_json::from_str(text).map_err(|error| {
            StoreError::damaged(&path, format!("its description cannot be read ({error})"))
        })?;
        if checkpoint.version > VERSION {
            return Err(StoreError::Newer { path, found: checkpoint.version, known: VERSION }.into());
        }
        if checkpoint.fingerprint != project.manifest().fingerprint {
            return Err(TrainError::Checkpoint(format!(
                "it was made on a graph with fingerprint {}, this graph has {}",
                checkpoint.fingerprint,
                project.manifest().fingerprint
            )));
        }
        Ok(Some((checkpoint, file)))
    }

    pub(super) fn write(&self, folder: &ModelFolder, trainer: &Trainer) -> Result<(), TrainError> {
        let text = serde_json::to_string(self).unwrap_or_default();
        let texts = BTreeMap::from([("checkpoint".to_owned(), text)]);
        Ok(write_tensors(&Self::file(folder), &texts, &trainer.tensors())?)
    }
}
