//! A grid: every combination of some settings is trained, and the best one is installed.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use super::train::watched;
use super::workflow::unfinished;
use super::{Engine, Error, WorkflowError};
use crate::control::Control;
use crate::graph::Split;
use crate::model::LinkMetrics;
use crate::project::{Checkpoint, ModelFolder, Outcome, Run, SearchRecord};
use crate::store::{StoreError, write_atomically};
use crate::train::{GivenSettings, Grid, Settings, TrainError, recommend};

/// What to try.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridOptions {
    /// The name under which the best model is installed; `None` is the default one.
    pub model: Option<String>,
    /// The values to try.
    pub grid: Grid,
    /// The settings that are the same in all runs; the rest is chosen by the size of the graph.
    pub settings: GivenSettings,
    /// Whether a model of this name that no grid has installed may be replaced.
    pub replace: bool,
}

/// An event: a grid comes to one of its combinations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialBegins {
    /// Its place, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// The name of its run.
    pub name: String,
}

/// An event: the combination that was being trained diverged; the grid goes on with the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialDiverged {
    /// What was seen, and with which learning rate.
    pub what: String,
}

/// The result of a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Searched {
    /// The name of the model.
    pub name: String,
    /// The combinations that were tried, best first; those that diverged come last.
    pub trials: Vec<Trial>,
    /// Whether it was stopped before all were tried. The same grid goes on from there.
    pub interrupted: bool,
    /// The file of the best model, installed; `None` where the grid was interrupted or all runs diverged.
    pub file: Option<PathBuf>,
}

/// One combination of a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// The name of its run.
    pub name: String,
    /// What was trained.
    pub settings: Settings,
    /// How many epochs were done.
    pub epochs: usize,
    /// How long they took, validation not counted.
    pub seconds: f64,
    /// The epoch of the model that was kept.
    pub best_epoch: Option<usize>,
    /// How well that model does on the validation edges.
    pub valid: Option<LinkMetrics>,
    /// Why the run diverged, if it did.
    pub diverged: Option<String>,
}

impl Trial {
    /// The figure by which a run is chosen; a run that diverged is never chosen.
    fn mrr(&self) -> f64 {
        self.valid.filter(|_| self.diverged.is_none()).map_or(-1.0, |valid| valid.mrr)
    }
}

/// The reason of a run's divergence, in its folder: the run would diverge again.
const DIVERGED: &str = "diverged.txt";
/// The files of the best run that are copied to the model's own folder. The model comes last: until it is
/// there, the other files may be of the old or the new run, and are not in use yet.
const INSTALLED: [&str; 5] =
    ["card.json", "training.jsonl", "training.svg", "checkpoint.safetensors", "model.safetensors"];

impl Engine {
    /// Trains every combination of a grid, chooses by validation MRR and installs the best. Finished runs
    /// are not repeated: if the work is stopped or killed, the same grid goes on where it was.
    ///
    /// Listeners hear [`TrialBegins`] and [`TrialDiverged`], and for each run the events of
    /// [`train`](Self::train).
    pub fn grid(&self, options: &GridOptions, control: &Control) -> Result<Searched, Error> {
        let project = self.project();
        if project.graph().edges(Split::Valid).is_empty() {
            return Err(WorkflowError::NoValidation(project.dir().to_owned()).into());
        }
        let target = self.folder(options.model.as_deref())?;
        let _lock = target.lock()?;
        if !options.replace {
            self.refuse_to_replace(&target)?;
        }
        let all = options.grid.resolve(&options.settings, recommend(project.graph()).settings);
        // Every mistake is found before the first hour is spent.
        for settings in &all {
            settings.predictor()?;
        }
        let mut searched =
            Searched { name: target.name().to_owned(), trials: Vec::new(), interrupted: false, file: None };
        for (index, settings) in all.iter().enumerate() {
            let name = Grid::name(settings);
            control.tell(&TrialBegins { number: index + 1, of: all.len(), name: name.clone() });
            let Some(trial) = self.try_one(target.within(&name), settings, control)? else {
                searched.interrupted = true;
                return Ok(searched);
            };
            searched.trials.push(trial);
            let text = serde_json::to_string_pretty(&searched.trials).unwrap_or_default();
            write_atomically(&target.dir().join("grid.json"), |file| writeln!(file, "{text}"))?;
        }
        searched.trials.sort_by(|a, b| b.mrr().total_cmp(&a.mrr()));
        if let Some(best) = searched.trials.first().filter(|trial| trial.diverged.is_none()) {
            SearchRecord::remove(&target)?;
            install(&target.within(&best.name), &target)?;
            self.fit_new(&target, control)?;
            searched.file = Some(target.model_file());
        }
        self.forget(target.name());
        Ok(searched)
    }

    /// A model that a person trained or imported must not be lost; the best of an earlier grid may be replaced,
    /// because its run is still there.
    fn refuse_to_replace(&self, target: &ModelFolder) -> Result<(), WorkflowError> {
        let name = target.name().to_owned();
        if let Some(position) = unfinished(self.project(), target) {
            return Err(WorkflowError::Occupied { name, unfinished: Some(position) });
        }
        let Ok(card) = fs::read(target.dir().join("card.json")) else { return Ok(()) };
        let mut runs = fs::read_dir(target.dir().join("grid")).into_iter().flatten().flatten();
        let installed = runs.any(|run| fs::read(run.path().join("card.json")).is_ok_and(|c| c == card));
        if installed { Ok(()) } else { Err(WorkflowError::Occupied { name, unfinished: None }) }
    }

    /// Runs, resumes or looks up one combination; `None` if the work was cancelled.
    fn try_one(
        &self,
        folder: ModelFolder,
        settings: &Settings,
        control: &Control,
    ) -> Result<Option<Trial>, Error> {
        let project = self.project();
        let begun = Checkpoint::read(project, &folder)?.filter(|checkpoint| {
            Settings { epochs: settings.epochs, ..checkpoint.settings.clone() } == *settings
        });
        let mark = folder.dir().join(DIVERGED);
        let same = begun.as_ref().is_some_and(|checkpoint| checkpoint.settings.epochs == settings.epochs);
        let mut diverged = fs::read_to_string(&mark).ok().filter(|_| same);
        let mut run = match begun {
            Some(_) => Run::resume(project, folder, Some((settings.epochs, settings.cool_down)))?,
            None => Run::new(project, folder, settings.clone())?,
        };
        if !run.checkpoint().finished && diverged.is_none() {
            match watched(&mut run, None, control) {
                Ok(Outcome::Interrupted) => return Ok(None),
                Ok(_) => {}
                Err(error @ TrainError::Diverged { .. }) => {
                    let what = error.to_string();
                    control.tell(&TrialDiverged { what: what.clone() });
                    write_atomically(&mark, |file| file.write_all(what.as_bytes()))?;
                    diverged = Some(what);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let checkpoint = run.checkpoint();
        Ok(Some(Trial {
            name: run.folder().name().to_owned(),
            settings: settings.clone(),
            epochs: checkpoint.epochs.len(),
            seconds: checkpoint.epochs.iter().map(|epoch| epoch.seconds).sum(),
            best_epoch: checkpoint.best.map(|(epoch, _)| epoch),
            valid: checkpoint.best.map(|(_, valid)| valid),
            diverged,
        }))
    }
}

/// Copies the files of a run to the model's own folder.
fn install(run: &ModelFolder, target: &ModelFolder) -> Result<(), StoreError> {
    for file in INSTALLED {
        let from = run.dir().join(file);
        let bytes = fs::read(&from).map_err(StoreError::io("read", &from))?;
        write_atomically(&target.dir().join(file), |out| out.write_all(&bytes))?;
    }
    Ok(())
}
