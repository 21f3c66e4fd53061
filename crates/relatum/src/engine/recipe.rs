//! The search for the settings of a training run: when there is one, and its trials.

use std::fmt;

use serde::Serialize;

use super::{Engine, Error, WorkflowError};
use crate::control::Control;
use crate::graph::Split;
use crate::model::Ties;
use crate::project::{ModelFolder, Run, SearchRecord};
use crate::train::{
    Effort, Epoch, GivenSettings, Open, PlannedTrial, Recipe, RecipeSearch, RecipeTrial, Settings,
    TrainError, Trainer, TrialCost, evaluate_some, recommend,
};

/// Whether the settings that nobody gave are searched before a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Search {
    /// With [a quarter](Self::QUARTER) of the final run's work, unless the graph is so small that the plain settings
    /// train in seconds.
    #[default]
    Auto,
    /// With this share of the final run's work, however small the graph is.
    Share(f64),
    /// Not at all: the plain settings, by the size of the graph.
    Off,
}

impl Search {
    /// The share of the final run's work that a search takes by default.
    pub const QUARTER: f64 = 0.25;
    /// The greatest share that can be asked for.
    pub const MOST: f64 = 10.0;
}

/// An event: a search was due, but there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSearched {
    /// Recipes are compared by validation, and there are no validation edges.
    NoValidation,
    /// With plain settings the graph is learned in seconds.
    Small,
    /// All settings that could be searched were given, or make no difference.
    NothingOpen,
    /// The work that may be spent is not enough to compare two recipes.
    TooShort,
}

impl fmt::Display for NotSearched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoValidation => "there are no validation edges to compare by",
            Self::Small => "the graph is small, and trains in seconds",
            Self::NothingOpen => "all of them are given",
            Self::TooShort => "the run is too short: its share would not suffice to compare two recipes",
        })
    }
}

/// An event: a search begins, or goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchBegins {
    /// The work it may take, as a share of the final run's.
    pub share: f64,
    /// How many trials are done already.
    pub done: usize,
    /// The settings that are searched.
    pub open: Open,
}

/// An event: a search comes to a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct RecipeTrialBegins(pub PlannedTrial);

/// An event: a trial is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecipeTried(pub RecipeTrial);

/// What a search tried and found. Listeners hear of it before the final run begins.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecipeFound {
    /// The work that it was allowed, as a share of the final run's.
    pub share: f64,
    /// The work that it took, as a share of the final run's with plain settings.
    pub spent: f64,
    /// Every trial, in the order in which they were made.
    pub trials: Vec<RecipeTrial>,
    /// What the run would have been trained with otherwise.
    pub plain: Recipe,
    /// What it is trained with.
    pub chosen: Recipe,
    /// Why.
    pub reason: String,
}

/// A run with plain settings that costs less than this is not worth a search: some thirty seconds on two cores.
const SMALL: f64 = 5e12;
/// (head, relation) pairs that a trial's validation ranks at most: recipes that are closer than their noise are
/// equally good.
const PAIRS: usize = 10_000;

impl Engine {
    /// The search that a new run begins with; `None` where there is none, and listeners have heard why.
    pub(super) fn new_search(
        &self,
        search: Search,
        given: &GivenSettings,
        control: &Control,
    ) -> Result<Option<SearchRecord>, Error> {
        let share = match search {
            Search::Off => return Ok(None),
            Search::Auto => Search::QUARTER,
            Search::Share(share) if share > 0.0 && share <= Search::MOST => share,
            Search::Share(share) => {
                let (setting, expected) = ("the share of the search", "above 0 and at most 10");
                return Err(TrainError::Setting { setting, value: share.to_string(), expected }.into());
            }
        };
        let (chosen, effort) = (recommend(self.graph()).settings, Effort::of(self.graph()));
        let record = SearchRecord::new(self.project(), given.clone(), given.resolve(chosen.clone()), share);
        let skipped = if self.graph().edges(Split::Valid).is_empty() {
            Some(NotSearched::NoValidation)
        } else if !record.open().any() {
            Some(NotSearched::NothingOpen)
        } else if search == Search::Auto && work(&effort, &chosen) < SMALL {
            Some(NotSearched::Small)
        } else {
            let none = with_search(&record, &effort, |search, _| search.next(&[]).is_none());
            none.then_some(NotSearched::TooShort)
        };
        if let Some(why) = skipped {
            control.tell(&why);
        }
        Ok(skipped.is_none().then_some(record))
    }

    /// The search that was begun and stopped before its final run. The settings given now must be those that it was
    /// begun with.
    pub(super) fn search_to_resume(
        &self,
        folder: &ModelFolder,
        given: &GivenSettings,
    ) -> Result<Option<SearchRecord>, Error> {
        let Some(record) = SearchRecord::pending(self.project(), folder)? else { return Ok(None) };
        let plain = record.plain.clone();
        let wanted = given.over(plain.clone());
        if wanted != plain || !record.open().within(Open::of(given, &wanted)) {
            return Err(WorkflowError::OtherSettings(Box::new([plain, wanted])).into());
        }
        Ok(Some(record))
    }

    /// Makes the trials that are not done yet; `None` if the work was stopped. Each is on disk as soon as it is done.
    pub(super) fn search(
        &self,
        folder: &ModelFolder,
        record: &mut SearchRecord,
        control: &Control,
    ) -> Result<Option<RecipeFound>, Error> {
        if record.chosen.is_none() {
            // What would fail in the final run fails now, and not after the search.
            drop(Run::new(self.project(), folder.clone(), record.plain.clone())?);
            record.write(folder)?;
            let (share, done, open) = (record.share, record.trials.len(), record.open());
            control.tell(&SearchBegins { share, done, open });
        }
        let effort = Effort::of(self.graph());
        while record.chosen.is_none() {
            let next = with_search(record, &effort, |search, _| match search.next(&record.trials) {
                Some(planned) => Ok(planned),
                None => Err(search.winner(&record.trials).unwrap_or(Recipe::of(search.plain))),
            });
            match next {
                Ok(planned) => {
                    control.tell(&RecipeTrialBegins(planned.clone()));
                    let Some(trial) = self.try_recipe(&planned, control)? else { return Ok(None) };
                    record.trials.push(trial);
                    record.write(folder)?;
                    control.tell(&RecipeTried(trial));
                }
                Err(chosen) => {
                    record.chosen = Some(chosen);
                    record.write(folder)?;
                }
            }
        }
        let found = self.found(record);
        if let Some(found) = &found {
            control.tell(found);
        }
        Ok(found)
    }

    /// What a search has found, if it is over.
    pub(super) fn found(&self, record: &SearchRecord) -> Option<RecipeFound> {
        let (plain, chosen) = (Recipe::of(&record.plain), record.chosen?);
        let spent = with_search(record, &Effort::of(self.graph()), |search, whole| {
            let costs = record.trials.iter().map(|trial| {
                let trial = search.settings(trial);
                let cost = (search.cost)(&trial);
                trial.epochs as f64 * cost.epoch + cost.validation
            });
            costs.sum::<f64>() / whole
        });
        let (share, trials) = (record.share, record.trials.clone());
        let reason = chosen.reason(plain, &trials);
        Some(RecipeFound { share, spent, trials, plain, chosen, reason })
    }

    /// Trains a recipe to the end of its schedule and validates it; `None` if the work was stopped.
    fn try_recipe(&self, planned: &PlannedTrial, control: &Control) -> Result<Option<RecipeTrial>, Error> {
        let PlannedTrial { rung, recipe, settings, .. } = planned;
        let (graph, (rank, epochs)) = (self.graph(), (settings.rank, settings.epochs));
        let tried = |mrr| Ok(Some(RecipeTrial { rung: *rung, rank, epochs, recipe: *recipe, mrr }));
        let mut trainer = Trainer::new(graph, settings.clone())?;
        while trainer.progress().epoch < epochs {
            // The batches of a trial are not those of the run that was asked for.
            match trainer.run_epoch(&control.quiet()).and_then(|epoch| trainer.check().map(|()| epoch)) {
                Ok(Epoch::Finished(_)) if !control.is_late() => {}
                Ok(_) => return Ok(None),
                Err(TrainError::Diverged { .. }) => return tried(None),
                Err(error) => return Err(error.into()),
            }
        }
        let mrr = trainer.with_current_model(|model| {
            evaluate_some(model, graph, Split::Valid, Ties::Mean, PAIRS).overall.mrr
        });
        tried(Some(mrr))
    }
}

/// The work of a whole run, its validations not counted.
fn work(effort: &Effort, settings: &Settings) -> f64 {
    settings.epochs as f64 * effort.epoch(settings)
}

/// Calls `then` with the search of a record, and the work of the final run with plain settings.
fn with_search<R>(
    record: &SearchRecord,
    effort: &Effort,
    then: impl FnOnce(&RecipeSearch<'_>, f64) -> R,
) -> R {
    let cost = |settings: &Settings| TrialCost {
        epoch: effort.epoch(settings),
        validation: effort.validation(settings, PAIRS),
    };
    let (plain, open) = (&record.plain, record.open());
    let whole = work(effort, plain);
    then(&RecipeSearch { plain, open, budget: record.share * whole, cost: &cost }, whole)
}
