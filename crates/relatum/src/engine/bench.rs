//! Tuning and measuring. Nothing is done twice: every result is kept with the model as soon as it is there.

use std::cell::OnceCell;
use std::sync::Arc;

use super::{Engine, Error};
use crate::benchmark::{
    BenchmarkError, Cell, Choice, Evaluator, Family, Pace, Part, QueryGroup, QuerySet, Setting, Tuned,
    missing_links_of,
};
use crate::control::Control;
use crate::graph::{Graph, Split};
use crate::model::{Card, Model, StoredModel};
use crate::project::{CellKey, Queries, Results};
use crate::search::Evidence;
use crate::train::Floor;

/// An event: settings for a type of query are about to be chosen. [`TrialsDone`](crate::benchmark::TrialsDone)
/// follow, and a [`TypeTuned`] at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuningBegins {
    /// What is chosen from.
    pub family: Family,
    /// The type of query.
    pub shape: String,
    /// On how many queries; at most, if adaptive.
    pub queries: usize,
    /// Whether only as many of them are taken as are needed to tell settings apart.
    pub adaptive: bool,
    /// On how many queries a choice was made before, if they were too few.
    pub before: Option<usize>,
}

/// An event: the setting for a type of query was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeTuned {
    /// What was chosen from.
    pub family: Family,
    /// The type of query.
    pub shape: String,
    /// Which validation queries it was chosen on.
    pub part: Part,
    /// What was chosen, and what else was tried.
    pub choice: Choice,
}

/// An event: a type of query is about to be measured. [`QueriesDone`](crate::benchmark::QueriesDone) follow, and a
/// [`TypeMeasured`] at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuringBegins {
    /// The method, or whatever else it is measured for.
    pub label: String,
    /// The type of query.
    pub shape: String,
    /// How many queries.
    pub queries: usize,
}

/// An event: a type of query was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeMeasured {
    /// The method, or whatever else it was measured for.
    pub label: String,
    /// The type of query.
    pub shape: String,
    /// The figures.
    pub cell: Cell,
}

/// A model with the results that are kept with it, and the queries of its project.
pub(super) struct Bench<'a> {
    pub(super) name: String,
    pub(super) card: &'a Card,
    model: &'a Model,
    graph: &'a Graph,
    evaluator: Evaluator<'a>,
    results: Results,
    /// Which rules there are and how much they count, where they are used.
    rules_print: Option<String>,
    control: &'a Control,
    /// The rate of the machine's matrix products; measured with the first cell.
    peak: OnceCell<f64>,
    /// Whether it was checked that results can be kept.
    writable: bool,
    /// Whether a setting was chosen since, so that open models must be read again.
    pub(super) has_chosen: bool,
}

/// What is to be measured.
pub(super) struct Task<'g> {
    pub(super) label: &'g str,
    pub(super) split: Split,
    pub(super) group: &'g QueryGroup,
    pub(super) part: Part,
    pub(super) limit: Option<usize>,
    pub(super) setting: Setting,
    pub(super) by_missing: bool,
}

/// What there is to choose settings on.
pub(super) struct Tuning<'t> {
    pub(super) family: Family,
    /// The validation queries of each type.
    pub(super) groups: &'t [&'t QueryGroup],
    /// Which part of them to use.
    pub(super) part: &'t dyn Fn(&QueryGroup) -> Part,
    /// How many queries of that part to use; if omitted, as many as are needed to tell settings apart.
    pub(super) queries: Option<usize>,
    /// Whether to choose where a choice was made before.
    pub(super) again: bool,
}

impl Engine {
    /// Calls a function with a model and its results. The model is read from disk, because results are kept for the
    /// model that is there now.
    pub(super) fn with_bench<T>(
        &self,
        name: Option<&str>,
        with_rules: bool,
        control: &Control,
        work: impl FnOnce(&mut Bench<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let folder = self.folder(name)?;
        let StoredModel { model, card } = folder.load(self.project())?;
        let rules = if with_rules { self.evidence(Evidence::Both, &*self.model(name)?, None)? } else { None };
        let rules_print = rules.as_ref().map(|rules| self.rules_print(rules)).transpose()?;
        let mut bench = Bench {
            name: folder.name().to_owned(),
            card: &card,
            model: &model,
            graph: self.graph(),
            evaluator: Evaluator::new(&model, self.graph()).with_rules(rules),
            rules_print,
            results: Results::open(folder.dir(), &model)?,
            control,
            peak: OnceCell::new(),
            writable: false,
            has_chosen: false,
        };
        let done = work(&mut bench);
        if bench.has_chosen {
            self.forget(folder.name());
        }
        done
    }

    /// The queries of a split, of the types asked for, in the order of the literature.
    pub(super) fn groups<'q>(
        &self,
        queries: &'q Arc<Queries>,
        split: Split,
        types: &[String],
    ) -> Result<Vec<&'q QueryGroup>, BenchmarkError> {
        let set = queries.of(split).filter(|set| !QuerySet::is_empty(set));
        let dir = self.project().dir().to_owned();
        let set = set.ok_or(BenchmarkError::NoQueries { dir, split })?;
        let groups = || set.groups.iter().filter(|group| !group.is_empty());
        let there = |name: &&String| groups().any(|group| group.shape == **name);
        if let Some(unknown) = types.iter().find(|name| !there(name)) {
            let there = groups().map(|group| group.shape.clone()).collect();
            return Err(BenchmarkError::NoSuchType { split, name: unknown.clone(), there });
        }
        Ok(groups().filter(|group| types.is_empty() || types.contains(&group.shape)).collect())
    }
}

impl Bench<'_> {
    /// The best setting of a family for each type, by validation queries. It is chosen now where it was not
    /// before, or was on fewer queries.
    pub(super) fn tuned(&mut self, tuning: &Tuning<'_>) -> Result<Tuned, Error> {
        let Tuning { family, .. } = *tuning;
        let mut tuned = Tuned::default();
        for &group in tuning.groups {
            let shape = group.shape.clone();
            let part = (tuning.part)(group);
            let there = part.size(group.len());
            let kept = self.results.choice(family, part, group).filter(|_| !tuning.again);
            let is_good = |choice: &&Choice| match tuning.queries {
                Some(wanted) => choice.is_good_for(wanted.min(there)),
                None => choice.is_enough(there),
            };
            if let Some(choice) = kept.filter(is_good) {
                tuned.types.insert(shape, choice.clone());
                continue;
            }
            let before = kept.and_then(Choice::queries);
            self.make_sure_to_keep()?;
            let (queries, adaptive) =
                (tuning.queries.unwrap_or(Pace::ADAPTIVE.most), tuning.queries.is_none());
            let queries = queries.min(there);
            let begins = TuningBegins {
                family,
                shape: shape.clone(),
                queries,
                // If there are no more than are tried at first, all are taken.
                adaptive: adaptive && there > Pace::ADAPTIVE.first,
                before,
            };
            self.control.tell(&begins);
            let choice = if adaptive {
                let order = part.spread(group.len());
                self.evaluator.tune_adaptively(family, group, &order, self.control)
            } else {
                let chosen = part.choose(group.len(), Some(queries));
                self.evaluator.tune(family, group, &chosen, self.control)
            };
            let choice = choice.map_err(|error| error.of_type(&shape))?;
            self.results.keep_choice(family, part, &shape, choice.clone())?;
            self.has_chosen = true;
            self.control.tell(&TypeTuned { family, shape: shape.clone(), part, choice: choice.clone() });
            tuned.types.insert(shape, choice);
        }
        Ok(tuned)
    }

    /// The figures of the queries of a type; measured now where they were not before.
    pub(super) fn measure(&mut self, task: &Task<'_>) -> Result<Cell, Error> {
        let Task { split, group, part, setting, .. } = *task;
        let chosen = part.choose(group.len(), task.limit);
        let rules = self.rules_print.clone().filter(|_| setting.evidence != Evidence::Model);
        let key = CellKey { split, group, part, queries: chosen.len(), setting, rules };
        let enough = |cell: &&Cell| !task.by_missing || !cell.by_missing.is_empty();
        if let Some(cell) = self.results.cell(&key).filter(enough) {
            return Ok(cell.clone());
        }
        self.make_sure_to_keep()?;
        let (label, shape) = (task.label.to_owned(), group.shape.clone());
        self.control.tell(&MeasuringBegins {
            label: label.clone(),
            shape: shape.clone(),
            queries: chosen.len(),
        });
        let cell = self.answer(task, &chosen).map_err(|error| error.of_type(&shape))?;
        self.results.keep(&key, cell.clone())?;
        self.control.tell(&TypeMeasured { label, shape, cell: cell.clone() });
        Ok(cell)
    }

    fn answer(&self, task: &Task<'_>, chosen: &[usize]) -> Result<Cell, BenchmarkError> {
        let Task { split, group, setting, .. } = *task;
        let outcome = self.evaluator.run(group, chosen, &setting, self.control)?;
        let by_missing = if task.by_missing {
            let missing = missing_links_of(group, self.graph, split, &[Split::Train])?;
            let missing: Vec<Vec<Option<u8>>> = chosen.iter().map(|&index| missing[index].clone()).collect();
            outcome.by_missing(&missing)
        } else {
            Vec::new()
        };
        let of_peak = self.of_peak(outcome.rows, outcome.seconds);
        let (rows, seconds) = (outcome.rows, outcome.seconds);
        Ok(Cell { metrics: outcome.metrics(), rows, seconds, of_peak, by_missing })
    }

    /// Checks before the first long work whether its results can be kept.
    fn make_sure_to_keep(&mut self) -> Result<(), BenchmarkError> {
        if !self.writable {
            self.results.check_writable().map_err(BenchmarkError::NotKept)?;
            self.writable = true;
        }
        Ok(())
    }

    /// The share of the machine's matrix-product rate that scoring so many rows came to.
    fn of_peak(&self, rows: usize, seconds: f64) -> f64 {
        let (entities, width) = (self.model.entity_count(), self.model.predictor().tail().len());
        // Small enough to measure in a moment, large enough to reach the rate of the real products.
        let peak = self.peak.get_or_init(|| Floor::new(256, entities.min(16_384), width).rate(256));
        let flops = 2.0 * rows as f64 * entities as f64 * width as f64;
        (flops / seconds.max(1e-9) / peak).min(1.0)
    }
}
