//! Training, and other work on models.

use std::path::PathBuf;

use pyo3::prelude::*;
use relatum::control::Control;
use relatum::engine::{
    GridOptions, ImportOptions, MergeOptions, NotSearched, RecipeFound, RecipeTrialBegins, RecipeTried,
    Search, Start, TrainOptions, TrainingBegins, TrialBegins, TrialDiverged,
};
use relatum::project::{EndsAfter, EpochRecord};
use relatum::train::{BatchReport, CalibrateSettings, CalibrationEpoch, FitSettings, GivenSettings, Grid};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::errors::{json, options};
use crate::work::{Told, long};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Train {
    name: Option<String>,
    settings: GivenSettings,
    resume: bool,
    restart: bool,
    /// A share, `false` for no search, or nothing for the default.
    search: Option<Wanted>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Wanted {
    Share(f64),
    Switch(bool),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GridSearch {
    name: Option<String>,
    grid: Grid,
    settings: GivenSettings,
    replace: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Calibrate {
    name: Option<String>,
    queries: Option<usize>,
    epochs: Option<usize>,
    learning_rate: Option<f32>,
    binary: Option<f32>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fit {
    name: Option<String>,
    measure: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Merge {
    models: Vec<String>,
    weights: Vec<f32>,
    name: Option<String>,
    replace: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Import {
    files: Vec<PathBuf>,
    name: Option<String>,
    predictor: Option<String>,
    entity_names: Option<PathBuf>,
    relation_names: Option<PathBuf>,
    replace: bool,
}

#[pymethods]
impl Engine {
    #[pyo3(signature = (arguments, listener))]
    fn train(
        &self,
        py: Python<'_>,
        arguments: &str,
        listener: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let Train { name, settings, resume, restart, search } = options(arguments)?;
        let start = match (resume, restart) {
            (true, _) => Start::Resume,
            (false, true) => Start::Restart,
            (false, false) => Start::New,
        };
        let search = match search {
            Some(Wanted::Share(share)) => Search::Share(share),
            Some(Wanted::Switch(false)) => Search::Off,
            Some(Wanted::Switch(true)) | None => Search::Auto,
        };
        let options = TrainOptions { model: name, settings, start, search };
        let events = |control, told: &Told| training_events(search_events(control, told), told);
        json(&long(py, listener, events, |control| self.engine.train(&options, control))?)
    }

    #[pyo3(signature = (arguments, listener))]
    fn grid(&self, py: Python<'_>, arguments: &str, listener: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        let GridSearch { name, grid, settings, replace } = options(arguments)?;
        let options = GridOptions { model: name, grid, settings, replace };
        let events = |control, told: &Told| {
            let begins = |it: &TrialBegins| json!({ "number": it.number, "of": it.of, "name": it.name });
            let diverged = |it: &TrialDiverged| json!({ "what": it.what });
            let control = told.every(control, "trial", begins);
            training_events(told.every(control, "trial_diverged", diverged), told)
        };
        json(&long(py, listener, events, |control| self.engine.grid(&options, control))?)
    }

    #[pyo3(signature = (arguments, listener))]
    fn calibrate(
        &self,
        py: Python<'_>,
        arguments: &str,
        listener: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let given: Calibrate = options(arguments)?;
        let default = CalibrateSettings::default();
        let settings = CalibrateSettings {
            queries: given.queries.unwrap_or(default.queries),
            epochs: given.epochs.unwrap_or(default.epochs),
            learning_rate: given.learning_rate.unwrap_or(default.learning_rate),
            binary: given.binary.unwrap_or(default.binary),
            seed: given.seed.unwrap_or(default.seed),
        };
        let events = |control, told: &Told| {
            let epoch = |it: &CalibrationEpoch| json!({ "epoch": it.epoch, "loss": it.loss });
            told.every(control, "epoch", epoch)
        };
        let work = |control: &Control| self.engine.calibrate(given.name.as_deref(), settings, control);
        json(&long(py, listener, events, work)?)
    }

    fn fit(&self, py: Python<'_>, arguments: &str) -> PyResult<String> {
        let Fit { name, measure } = options(arguments)?;
        let work =
            |control: &Control| self.engine.fit(name.as_deref(), FitSettings::default(), measure, control);
        json(&long(py, None, |control, _| control, work)?)
    }

    fn merge(&self, py: Python<'_>, arguments: &str) -> PyResult<String> {
        let Merge { models, weights, name, replace } = options(arguments)?;
        let options = MergeOptions { models, weights, model: name, replace };
        json(&long(py, None, |control, _| control, |_| self.engine.merge(&options))?)
    }

    fn import_files(&self, py: Python<'_>, arguments: &str) -> PyResult<String> {
        let Import { files, name, predictor, entity_names, relation_names, replace } = options(arguments)?;
        let options = ImportOptions { files, model: name, predictor, entity_names, relation_names, replace };
        json(&long(py, None, |control, _| control, |_| self.engine.import(&options))?)
    }

    #[pyo3(signature = (name, to))]
    fn export(&self, py: Python<'_>, name: Option<&str>, to: PathBuf) -> PyResult<String> {
        json(&long(py, None, |control, _| control, |control| self.engine.export(name, &to, control))?)
    }
}

/// The events of the search for settings.
fn search_events(control: Control, told: &Told) -> Control {
    let begins = |RecipeTrialBegins(it): &RecipeTrialBegins| json!({ "rung": it.rung, "number": it.number, "of": it.of, "recipe": it.recipe, "settings": it.settings });
    let control = told.every(control, "not_searched", |it: &NotSearched| json!({ "why": it.to_string() }));
    let control = told.every(control, "search_trial", begins);
    let control = told.every(control, "search_tried", |RecipeTried(it): &RecipeTried| json!(it));
    told.every(control, "search_found", |it: &RecipeFound| json!(it))
}

/// The events of a training run.
fn training_events(control: Control, told: &Told) -> Control {
    let begins = |it: &TrainingBegins| {
        json!({
            "name": it.name,
            "settings": it.settings,
            "epochs_done": it.epochs_done,
            "last_epoch": it.last_epoch,
            "triples": it.triples,
            "resumed": it.resumed.is_some(),
        })
    };
    let batch = |it: &BatchReport| json!({ "batch": it.batch, "batches": it.batches, "triples": it.triples, "loss": it.loss });
    let epoch = |it: &EpochRecord| -> Value {
        json!({ "epoch": it.epoch, "loss": it.loss, "seconds": it.seconds, "valid": it.valid })
    };
    let control = told.every(control, "begin", begins);
    let control = told.some(control, "batch", batch);
    let control = told.every(control, "epoch", epoch);
    told.every(control, "ends_after", |it: &EndsAfter| json!({ "epoch": it.0 }))
}
