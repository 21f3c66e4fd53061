//! Baselines: training them, listing them, and measuring them beside the methods of this engine.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::bench::{MeasuringBegins, TypeMeasured};
use super::{BenchmarkOptions, Engine, Error, Start};
use crate::baseline::{
    Baseline, BaselineError, BaselineSettings, GivenBaseline, Kind, QueryEncoder, rank, recommend_baseline,
};
use crate::benchmark::{BenchmarkError, Cell, MethodResult, Part, QueryGroup, TypeResult, missing_links_of};
use crate::control::Control;
use crate::graph::Split;
use crate::model::LinkMetrics;
use crate::project::{
    BaselineCard, BaselineCheckpoint, BaselineFolder, BaselineRun, CellKey, Outcome, Results, VALIDATED,
    baseline_print,
};
use crate::train::{Floor, Progress};

/// Which baseline to train, and what to do with one that is there already.
#[derive(Clone, Debug, PartialEq)]
pub struct BaselineOptions {
    /// Which baseline.
    pub kind: Kind,
    /// Its name; if omitted, that of its kind.
    pub name: Option<String>,
    /// The settings that are given; the rest is chosen by the size of the graph, or is what a resumed run was begun
    /// with.
    pub settings: GivenBaseline,
    /// How to begin.
    pub start: Start,
}

/// An event: the training of a baseline begins.
#[derive(Clone, Debug)]
pub struct BaselineBegins {
    /// Its name.
    pub name: String,
    /// What is trained.
    pub settings: BaselineSettings,
    /// Where a resumed run goes on.
    pub resumed: Option<Progress>,
    /// How many epochs are done.
    pub epochs_done: usize,
    /// Queries of an epoch.
    pub queries: usize,
    /// Steps of an epoch.
    pub steps: usize,
    /// How many validation queries of each type a validation answers at most; 0 if the project has none.
    pub validated: usize,
}

/// The result of training a baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BaselineTrained {
    /// Its name.
    pub name: String,
    /// How the run ended.
    pub outcome: Outcome,
    /// What was trained.
    pub settings: BaselineSettings,
    /// How many epochs are done.
    pub epochs: usize,
    /// The epoch of the model that was kept, and how well it answers validation queries, the mean over their types;
    /// `None` where there was no validation.
    pub best: Option<(usize, LinkMetrics)>,
    /// The file of the model.
    pub file: PathBuf,
}

/// A baseline, as far as can be told without reading its values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct BaselineSummary {
    /// Its name.
    pub name: String,
    /// `gqe` or `query2box`; `None` if its files are damaged.
    pub kind: Option<String>,
    /// Values of a vector.
    pub dimension: Option<usize>,
    /// The epoch it is from; `None` while there is only a checkpoint.
    pub epoch: Option<usize>,
    /// How well it answers validation queries, the mean over their types.
    pub valid: Option<LinkMetrics>,
    /// How far its training has come, where that is not finished.
    pub unfinished: Option<String>,
    /// Bytes of all its files.
    pub bytes: u64,
    /// Why it cannot be read.
    pub error: Option<String>,
}

impl Engine {
    /// Trains GQE or Query2Box on queries over the training edges, to the end or until it is cancelled. In either case
    /// model and checkpoint are on disk afterwards, and a stopped run can be resumed. It stops early by the validation
    /// queries of the project, where it has any.
    ///
    /// Listeners hear [`BaselineBegins`], then a [`BatchReport`](crate::train::BatchReport) after every step and an
    /// [`EpochRecord`](crate::project::EpochRecord) after every epoch.
    pub fn train_baseline(
        &self,
        options: &BaselineOptions,
        control: &Control,
    ) -> Result<BaselineTrained, Error> {
        let name = options.name.as_deref().unwrap_or(options.kind.name());
        let folder = BaselineFolder::of(self.project(), name)?;
        let _lock = folder.lock()?;
        let mut run = match options.start {
            Start::Resume => self.resumed_baseline(folder, options)?,
            start => {
                if start == Start::New {
                    self.refuse_to_discard_baseline(&folder)?;
                }
                let chosen = recommend_baseline(self.graph(), options.kind);
                BaselineRun::new(self.project(), folder, options.settings.over(&chosen))?
            }
        };
        let checkpoint = run.checkpoint();
        control.tell(&BaselineBegins {
            name: run.folder().name().to_owned(),
            settings: checkpoint.settings.clone(),
            resumed: (checkpoint.progress.step > 0).then_some(checkpoint.progress),
            epochs_done: checkpoint.epochs.len(),
            queries: run.trainer().queries(),
            steps: run.trainer().steps(),
            validated: if self.project().queries().valid.is_some() { VALIDATED } else { 0 },
        });
        let outcome = run.train(control)?;
        let checkpoint = run.checkpoint();
        Ok(BaselineTrained {
            name: run.folder().name().to_owned(),
            outcome,
            settings: checkpoint.settings.clone(),
            epochs: checkpoint.epochs.len(),
            best: checkpoint.best,
            file: run.folder().model_file(),
        })
    }

    /// The run of the folder's checkpoint. The given settings must be those that the run was begun with, except for the
    /// number of epochs.
    fn resumed_baseline(
        &self,
        folder: BaselineFolder,
        options: &BaselineOptions,
    ) -> Result<BaselineRun<'_>, BaselineError> {
        let Some(checkpoint) = BaselineCheckpoint::read(self.project(), &folder)? else {
            let (dir, name) = (self.project().dir().to_owned(), folder.name().to_owned());
            return Err(BaselineError::NothingToResume { dir, name });
        };
        let begun = checkpoint.settings;
        let wanted = BaselineSettings { kind: options.kind, ..options.settings.over(&begun) };
        let same = BaselineSettings { epochs: begun.epochs, ..wanted.clone() } == begun;
        if !same || wanted.epochs < checkpoint.epochs.len() {
            return Err(BaselineError::OtherSettings(Box::new([begun, wanted])));
        }
        BaselineRun::resume(self.project(), folder, Some(wanted.epochs))
    }

    fn refuse_to_discard_baseline(&self, folder: &BaselineFolder) -> Result<(), BaselineError> {
        let name = folder.name().to_owned();
        // A checkpoint that cannot be read cannot be resumed.
        let begun = BaselineCheckpoint::read(self.project(), folder).ok().flatten();
        match begun.filter(|it| !it.finished && it.progress.step > 0) {
            Some(begun) => Err(BaselineError::Unfinished { name, position: begun.position() }),
            None if folder.model_file().exists() => Err(BaselineError::Trained(name)),
            None => Ok(()),
        }
    }

    /// The baselines of the project. Headers are read, not values.
    pub fn baselines(&self) -> Vec<BaselineSummary> {
        BaselineFolder::all(self.project()).iter().map(|folder| self.baseline_summary(folder)).collect()
    }

    fn baseline_summary(&self, folder: &BaselineFolder) -> BaselineSummary {
        let begun = BaselineCheckpoint::read(self.project(), folder).ok().flatten();
        let unfinished = begun.as_ref().filter(|it| !it.finished).map(BaselineCheckpoint::position);
        let summary = BaselineSummary {
            name: folder.name().to_owned(),
            bytes: super::models::size(folder.dir()),
            unfinished,
            ..BaselineSummary::default()
        };
        let of = |settings: &BaselineSettings| (settings.kind.name().to_owned(), settings.dimension);
        match (folder.card(self.project()), begun) {
            (Ok(card), _) => {
                let (kind, dimension) = of(&card.training);
                let (kind, dimension) = (Some(kind), Some(dimension));
                BaselineSummary { kind, dimension, epoch: Some(card.epoch), valid: card.valid, ..summary }
            }
            (Err(BaselineError::Missing { .. }), Some(begun)) => {
                let (kind, dimension) = of(&begun.settings);
                BaselineSummary { kind: Some(kind), dimension: Some(dimension), ..summary }
            }
            (Err(error), _) => BaselineSummary { error: Some(error.to_string()), ..summary },
        }
    }

    /// Deletes a baseline, with its checkpoint, its curve and its results.
    pub fn delete_baseline(&self, name: &str) -> Result<(), Error> {
        Ok(BaselineFolder::of(self.project(), name)?.delete(self.project())?)
    }

    /// The figures of the baselines that are asked for, and the cards of these. Figures are kept with the baseline.
    pub(super) fn baseline_rows(
        &self,
        options: &BenchmarkOptions,
        split: Split,
        groups: &[&QueryGroup],
        control: &Control,
    ) -> Result<Vec<(MethodResult, BaselineCard)>, Error> {
        let folders = options.baselines.iter().map(|name| BaselineFolder::of(self.project(), name));
        let folders: Vec<BaselineFolder> = folders.collect::<Result<_, _>>()?;
        // A missing one is told before the first is measured.
        folders.iter().try_for_each(|folder| folder.card(self.project()).map(|_| ()))?;
        let mut rows = Vec::new();
        for folder in folders {
            let (model, card) = folder.load(self.project())?;
            let results = Results::of_baseline(folder.dir(), &baseline_print(&model))?;
            let name = folder.name().to_owned();
            let mut bench = BaselineBench { engine: self, name, model: &model, results, control, peak: None };
            let mut types = Vec::new();
            for group in groups {
                let chosen_on = card.valid.map_or(0, |_| self.validated_on(&group.shape));
                types.extend(bench.measured(options, split, group, chosen_on)?);
            }
            rows.push((MethodResult::new(folder.name().to_owned(), types), card));
        }
        Ok(rows)
    }

    /// On how many validation queries of a type baselines are validated.
    fn validated_on(&self, shape: &str) -> usize {
        let queries = self.project().queries().valid.as_ref();
        queries.and_then(|set| set.group(shape)).map_or(0, |group| group.len().min(VALIDATED))
    }
}

/// A baseline with the results that are kept with it.
struct BaselineBench<'a> {
    engine: &'a Engine,
    name: String,
    model: &'a Baseline,
    results: Results,
    control: &'a Control,
    /// The rate of the machine's matrix products; measured with the first cell.
    peak: Option<f64>,
}

impl BaselineBench<'_> {
    /// The figures of a type; `None` if the baseline has no operators for it.
    fn measured(
        &mut self,
        options: &BenchmarkOptions,
        split: Split,
        group: &QueryGroup,
        chosen_on: usize,
    ) -> Result<Option<TypeResult>, Error> {
        let chosen = Part::All.choose(group.len(), options.limit);
        let (setting, queries) = (self.name.clone(), chosen.len());
        let key = CellKey { split, group, part: Part::All, queries, setting, rules: None };
        let enough = |cell: &&Cell| !options.by_missing_links || !cell.by_missing.is_empty();
        let kept = self.results.cell(&key).filter(enough).cloned();
        let cell = if let Some(cell) = kept {
            cell
        } else {
            self.results.check_writable().map_err(BenchmarkError::NotKept)?;
            let Some(cell) = self.answer(options, split, group, &chosen)? else { return Ok(None) };
            self.results.keep(&key, cell.clone())?;
            cell
        };
        let of = (Part::All, group.len());
        Ok(Some(TypeResult::of_baseline(&group.shape, split, of, &self.name, chosen_on, &cell)))
    }

    fn answer(
        &mut self,
        options: &BenchmarkOptions,
        split: Split,
        group: &QueryGroup,
        chosen: &[usize],
    ) -> Result<Option<Cell>, Error> {
        let (label, shape) = (self.name.clone(), group.shape.clone());
        self.control.tell(&MeasuringBegins {
            label: label.clone(),
            shape: shape.clone(),
            queries: chosen.len(),
        });
        let ranked = rank(self.model, self.model.relation_count(), group, chosen, self.control);
        let Some(ranked) = ranked.map_err(|error| error.of_type(&shape))? else { return Ok(None) };
        let by_missing = if options.by_missing_links {
            let missing = missing_links_of(group, self.engine.graph(), split, &[Split::Train])
                .map_err(BenchmarkError::from)?;
            let missing: Vec<Vec<Option<u8>>> = chosen.iter().map(|&index| missing[index].clone()).collect();
            ranked.by_missing(&missing)
        } else {
            Vec::new()
        };
        // A distance takes 3 operations for each value of a point, and 5 of a box.
        let (n, width) = (self.model.entities(), self.model.dimension());
        let operations = ranked.rows as f64 * n as f64 * width as f64;
        let operations = operations * if self.model.kind() == Kind::Gqe { 3.0 } else { 5.0 };
        let peak = *self.peak.get_or_insert_with(|| Floor::new(256, n.clamp(1, 16_384), width).rate(256));
        let of_peak = (operations / ranked.seconds.max(1e-9) / peak).min(1.0);
        let (rows, seconds) = (ranked.rows, ranked.seconds);
        let cell = Cell { metrics: ranked.metrics(), rows, seconds, of_peak, by_missing };
        self.control.tell(&TypeMeasured { label, shape, cell: cell.clone() });
        Ok(Some(cell))
    }
}
