//! Which models a project has.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Engine, Error};
use crate::benchmark::Family;
use crate::model::{Card, LinkMetrics, ModelError, Precision};
use crate::project::{Checkpoint, ModelFolder, Project, Results, SearchRecord};

/// The models of a project.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Models {
    /// The name of the default model, whether it exists or not.
    pub default: String,
    /// The models, by name; half-trained ones too.
    pub models: Vec<ModelSummary>,
}

/// A model, as far as can be told without reading its values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ModelSummary {
    /// Its name.
    pub name: String,
    /// The link predictor; `None` where nothing but a checkpoint is there yet, or the file is damaged.
    pub predictor: Option<String>,
    /// Factors of a row.
    pub rank: Option<usize>,
    /// How the numbers of its entities are stored.
    pub precision: Option<Precision>,
    /// Where it comes from.
    pub origin: Option<String>,
    /// The epoch it is from.
    pub epoch: Option<usize>,
    /// How well it does on the validation edges.
    pub valid: Option<LinkMetrics>,
    /// How far its training has come, where that is not finished.
    pub unfinished: Option<String>,
    /// Whether it has an adaptive calibration.
    pub calibrated: bool,
    /// Whether it has a fitted calibration.
    pub fitted: bool,
    /// How many types of questions have settings that were tuned.
    pub tuned_types: usize,
    /// Bytes of all its files.
    pub bytes: u64,
    /// Seconds since it was written.
    pub age_seconds: Option<u64>,
    /// Why it cannot be read.
    pub error: Option<String>,
}

/// A model with its card and tuned settings.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ModelDetails {
    /// The summary.
    pub summary: ModelSummary,
    /// Its card: the settings it was trained with, its curve, its metrics; `null` while there is only a checkpoint,
    /// or if the file is damaged.
    pub card: Option<Card>,
    /// What was tuned for it, as text, by the shape of question.
    pub tuned: BTreeMap<String, String>,
}

impl Engine {
    /// A model with its card, its curve and what was tuned for it.
    pub fn model_details(&self, name: &str) -> Result<ModelDetails, Error> {
        let folder = ModelFolder::of(self.project(), name)?;
        let missing = || ModelError::Missing {
            name: name.to_owned(),
            dir: self.project().dir().to_owned(),
            there: ModelFolder::list(self.project()),
        };
        let summary = summary(self.project(), &folder).ok_or_else(missing)?;
        let card = folder.glance().ok().map(|glance| glance.card);
        let tuned = match Results::exist(folder.dir()).then(|| self.model(Some(name))) {
            Some(Ok(open)) => open.all_tuned(),
            _ => BTreeMap::new(),
        };
        Ok(ModelDetails { summary, card, tuned })
    }

    /// The models of the project. Headers are read, not values.
    pub fn models(&self) -> Models {
        let all = ModelFolder::all(self.project()).into_iter().filter(|folder| !folder.is_trial());
        let models = all.filter_map(|folder| summary(self.project(), &folder)).collect();
        Models { default: self.default_model(), models }
    }

    /// Deletes a model, with its checkpoint, its curve and its results.
    pub fn delete(&self, name: &str) -> Result<(), Error> {
        ModelFolder::of(self.project(), name)?.delete()?;
        self.forget(name);
        Ok(())
    }

    /// Makes a model the default one.
    pub fn choose_default(&self, name: &str) -> Result<(), Error> {
        Ok(ModelFolder::of(self.project(), name)?.choose()?)
    }
}

/// A model in words and figures; `None` for a folder in which nothing was begun.
fn summary(project: &Project, folder: &ModelFolder) -> Option<ModelSummary> {
    let written = fs::metadata(folder.model_file()).and_then(|data| data.modified()).ok();
    let age = written.and_then(|time| SystemTime::now().duration_since(time).ok());
    let mut summary = ModelSummary {
        name: folder.name().to_owned(),
        tuned_types: tuned_types(project, folder),
        bytes: size(folder.dir()),
        age_seconds: age.map(|age| age.as_secs()),
        ..ModelSummary::default()
    };
    if !folder.model_file().exists() {
        let search = SearchRecord::pending(project, folder).ok().flatten();
        summary.unfinished = match search {
            Some(search) => Some(search.position()),
            None => Some(Checkpoint::read(project, folder).ok()??.position()),
        };
        return Some(summary);
    }
    match folder.glance() {
        Ok(glance) => {
            summary.unfinished = Checkpoint::unfinished(folder, &glance.card);
            (summary.calibrated, summary.fitted) = (glance.calibrated, glance.fitted);
            let card = glance.card;
            (summary.predictor, summary.rank) = (Some(card.predictor), Some(card.rank));
            summary.precision = Some(card.precision);
            (summary.origin, summary.epoch, summary.valid) =
                (Some(card.origin), Some(card.epoch), card.valid);
        }
        Err(error) => summary.error = Some(error.to_string()),
    }
    Some(summary)
}

/// How many types of questions settings were chosen for.
fn tuned_types(project: &Project, folder: &ModelFolder) -> usize {
    if !Results::exist(folder.dir()) {
        return 0;
    }
    // The results belong to this model only if its values are still the same.
    let results =
        folder.load(project).ok().and_then(|stored| Results::find(folder.dir(), &stored.model).ok()?);
    results.and_then(|results| Some(results.tuned(Family::Best)?.types.len())).unwrap_or(0)
}

/// Bytes of all files in a folder.
pub(super) fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => size(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    entries.map(of).sum()
}
