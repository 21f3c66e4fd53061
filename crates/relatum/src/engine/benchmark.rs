//! Measures how well benchmark queries are answered, by type, beside the published figures; and chooses how to
//! answer them.

use std::collections::BTreeMap;

use super::bench::{Bench, Task, Tuning};
use super::options::at_least_one;
use super::{Engine, Error};
use crate::benchmark::plots::Series;
use crate::benchmark::{
    BenchmarkError, BenchmarkReport, Dataset, Family, MethodResult, Part, QueryGroup, Search, Setting, Tuned,
    TunedOn, TypeResult, accuracy_by, parts,
};
use crate::control::Control;
use crate::graph::Split;
use crate::project::ModelFolder;
use crate::search::Evidence;

/// What to choose settings for, and from what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TuneOptions {
    /// The name of the model; if omitted, the project's default.
    pub model: Option<String>,
    /// What to choose from.
    pub family: Family,
    /// The types of query; all of them if empty.
    pub types: Vec<String>,
    /// On how many validation queries of each type; what was chosen on fewer is chosen again. If omitted, on as many
    /// as are needed to tell settings apart ([`Pace::ADAPTIVE`](crate::benchmark::Pace::ADAPTIVE)).
    pub queries: Option<usize>,
    /// Whether to choose again where a choice was made before.
    pub again: bool,
}

/// What to measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchmarkOptions {
    /// The name of the model; if omitted, the project's default.
    pub model: Option<String>,
    /// The families of settings to choose from by type, on validation queries; if empty, all of them, unless there
    /// are fixed settings.
    pub families: Vec<Family>,
    /// Fixed settings.
    pub settings: Vec<Setting>,
    /// The names of baselines, which are measured beside the methods; where there are neither families nor settings,
    /// they alone.
    pub baselines: Vec<String>,
    /// The queries to report on; if omitted, test, or valid where there are no test queries.
    pub split: Option<Split>,
    /// The types of query; all of them if empty.
    pub types: Vec<String>,
    /// At most so many queries of each type, evenly spread; if omitted, all.
    pub limit: Option<usize>,
    /// On how many validation queries of each type settings are chosen; what was chosen on fewer is chosen again. If
    /// omitted, on as many as are needed to tell settings apart.
    pub tune_on: Option<usize>,
    /// Whether to split figures by how many links of a hard answer the training graph lacks.
    pub by_missing_links: bool,
}

impl BenchmarkOptions {
    /// The families that are asked for, each once.
    fn families(&self) -> Vec<Family> {
        let all = if self.families.is_empty() && self.settings.is_empty() && self.baselines.is_empty() {
            // Rules are asked for by name: they take a while to open, and not every project has any.
            &[Family::PaperBeam, Family::PaperContinuous, Family::Best][..]
        } else {
            &self.families
        };
        let mut families = Vec::new();
        for family in all {
            if !families.contains(family) {
                families.push(*family);
            }
        }
        families
    }

    /// Whether anything is measured that a link predictor answers.
    pub fn asks_a_predictor(&self) -> bool {
        !self.families().is_empty() || !self.settings.is_empty()
    }

    /// Whether rules are needed.
    fn with_rules(&self) -> bool {
        self.families().contains(&Family::BestRules)
            || self.settings.iter().any(|setting| setting.evidence != Evidence::Model)
    }
}

/// The widths of the picture of accuracy by k.
const WIDTHS: [usize; 6] = [1, 4, 16, 64, 256, 1024];
/// The most queries of each type for the pictures that need more than the table has.
const SAMPLE: usize = 300;

impl Engine {
    /// Chooses how to answer each type of query, on validation queries only. Every choice is kept with the model
    /// at once, and used by [`ask`](Self::ask) and [`benchmark`](Self::benchmark). If the work is stopped or killed,
    /// the same call goes on where it was.
    ///
    /// Listeners hear [`TuningBegins`](super::TuningBegins), [`TrialsDone`](crate::benchmark::TrialsDone) and
    /// [`TypeTuned`](super::TypeTuned).
    pub fn tune(&self, options: &TuneOptions, control: &Control) -> Result<Tuned, Error> {
        at_least_one(&[("queries", options.queries)])?;
        let queries = self.queries();
        let groups = self.groups(&queries, Split::Valid, &options.types)?;
        let with_rules = options.family == Family::BestRules;
        self.with_bench(options.model.as_deref(), with_rules, control, |bench| {
            bench.tuned(&Tuning {
                family: options.family,
                groups: &groups,
                part: &|_| Part::All,
                queries: options.queries,
                again: options.again,
            })
        })
    }

    /// Ranks every hard answer of the benchmark queries among all entities except the other answers. Settings
    /// are chosen by type on validation queries; if validation queries are reported too, settings are chosen on one
    /// half of them and the other half is reported. Finished figures are kept with the model: if the work is stopped
    /// or killed, the same call goes on where it was.
    ///
    /// Listeners hear what they hear of [`tune`](Self::tune), and
    /// [`MeasuringBegins`](super::MeasuringBegins), [`QueriesDone`](crate::benchmark::QueriesDone) and
    /// [`TypeMeasured`](super::TypeMeasured).
    pub fn benchmark(&self, options: &BenchmarkOptions, control: &Control) -> Result<BenchmarkReport, Error> {
        at_least_one(&[("limit", options.limit), ("tune_on", options.tune_on)])?;
        let (queries, split) = (self.queries(), self.reported(options));
        let groups = self.groups(&queries, split, &options.types)?;
        let types: Vec<String> = groups.iter().map(|group| group.shape.clone()).collect();
        let families = options.families();
        let tuned_groups =
            if families.is_empty() { Vec::new() } else { self.groups(&queries, Split::Valid, &types)? };
        let baselines = self.baseline_rows(options, split, &groups, control)?;
        let report = |model: String, predictor: String, rank: usize, rows: Vec<MethodResult>| {
            let report = BenchmarkReport {
                model,
                predictor,
                rank,
                split,
                limit: options.limit,
                dataset: None,
                types: types.clone(),
                notes: Vec::new(),
                warnings: Vec::new(),
                rows: Vec::new(),
                published: Vec::new(),
            };
            let dataset = Dataset::of(self.graph(), queries.valid.as_ref(), queries.test.as_ref());
            report.with_rows(rows).beside(dataset)
        };
        if let Some((first, card)) = baselines.first().filter(|_| !options.asks_a_predictor()) {
            let (name, kind) = (first.method.clone(), card.kind().name().to_owned());
            let dimension = card.training.dimension;
            return Ok(report(name, kind, dimension, baselines.into_iter().map(|(row, _)| row).collect()));
        }
        self.with_bench(options.model.as_deref(), options.with_rules(), control, |bench| {
            let mut rows: Vec<MethodResult> = baselines.into_iter().map(|(row, _)| row).collect();
            for family in families {
                let chosen_on = |group: &QueryGroup| parts(split, true, group).0;
                let tuned = bench.tuned(&Tuning {
                    family,
                    groups: &tuned_groups,
                    part: &chosen_on,
                    queries: options.tune_on,
                    again: false,
                })?;
                let how = |group: &QueryGroup| {
                    let choice = tuned.types.get(&group.shape)?;
                    Some((choice.setting, Some(TunedOn::of(choice, chosen_on(group)))))
                };
                rows.push(row(bench, options, split, &groups, family.name(), &how)?);
            }
            for setting in &options.settings {
                let how = |_: &QueryGroup| Some((*setting, None));
                rows.push(row(bench, options, split, &groups, &setting.to_string(), &how)?);
            }
            let card = bench.card;
            Ok(report(bench.name.clone(), card.predictor.clone(), card.rank, rows))
        })
    }

    /// A picture of Hits@3 against how many values of a variable are followed, for the types that have variables,
    /// on some of the queries that [`benchmark`](Self::benchmark) reports. Figures are kept and events told as
    /// there.
    pub fn accuracy_by_k_svg(&self, options: &BenchmarkOptions, control: &Control) -> Result<String, Error> {
        let (queries, split) = (self.queries(), self.reported(options));
        let groups = self.groups(&queries, split, &options.types)?;
        self.with_bench(options.model.as_deref(), false, control, |bench| {
            let (mut counts, mut series) = (Vec::new(), Vec::new());
            for group in groups {
                let template = group.template().map_err(BenchmarkError::from)?;
                if template.query().variables.len() < 2 {
                    continue;
                }
                let mut values = Vec::new();
                for k in WIDTHS {
                    let setting = Setting { search: Search::Exact { floor: 0.0, k }, ..Setting::default() };
                    let metrics = bench.measure(&sample("k", options, split, group, setting))?.metrics;
                    counts.push(metrics.count);
                    values.push((k as f64, metrics.hits[1]));
                }
                series.push(Series { name: group.shape.clone(), values });
            }
            let model = format!("model {} ({}, rank {})", bench.name, bench.card.predictor, bench.card.rank);
            Ok(accuracy_by("Hits@3 by values of a variable", "k", split, &counts, &model, &series))
        })
    }

    /// A picture of the mean Hits@3 of all models of the project against their rank; `None` if all have the same
    /// rank, because there is nothing to compare. Figures are kept and events told as in
    /// [`benchmark`](Self::benchmark).
    pub fn accuracy_by_rank_svg(
        &self,
        options: &BenchmarkOptions,
        control: &Control,
    ) -> Result<Option<String>, Error> {
        let (queries, split) = (self.queries(), self.reported(options));
        let groups = self.groups(&queries, split, &options.types)?;
        let names = ModelFolder::list(self.project());
        let mut ranks = Vec::new();
        for name in &names {
            ranks.push(self.folder(Some(name))?.load(self.project())?.card.rank);
        }
        if ranks.windows(2).all(|two| two[0] == two[1]) {
            return Ok(None);
        }
        let mut points: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        let mut counts = Vec::new();
        for name in &names {
            self.with_bench(Some(name), false, control, |bench| {
                let mut total = 0.0;
                for group in &groups {
                    let task = sample(name, options, split, group, Setting::default());
                    let metrics = bench.measure(&task)?.metrics;
                    counts.push(metrics.count);
                    total += metrics.hits[1];
                }
                let point = (bench.card.rank as f64, total / groups.len().max(1) as f64);
                points.entry(bench.card.predictor.clone()).or_default().push(point);
                Ok(())
            })?;
        }
        let of_predictor = |(name, mut values): (String, Vec<(f64, f64)>)| {
            values.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
            // Of several models of one rank, the best is shown.
            values.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
            Series { name, values }
        };
        let series: Vec<Series<(f64, f64)>> = points.into_iter().map(of_predictor).collect();
        let how = Setting::default().to_string();
        Ok(Some(accuracy_by("Mean Hits@3 by rank", "rank", split, &counts, &how, &series)))
    }

    /// The split whose queries are reported.
    fn reported(&self, options: &BenchmarkOptions) -> Split {
        let default = if self.queries().test.is_some() { Split::Test } else { Split::Valid };
        options.split.unwrap_or(default)
    }
}

/// A setting, and what it was chosen on; `None` if it was given.
type Chosen = (Setting, Option<TunedOn>);

/// The figures of a method on every type, answered as `how` says.
fn row(
    bench: &mut Bench<'_>,
    options: &BenchmarkOptions,
    split: Split,
    groups: &[&QueryGroup],
    label: &str,
    how: &dyn Fn(&QueryGroup) -> Option<Chosen>,
) -> Result<MethodResult, Error> {
    let mut types = Vec::new();
    for &group in groups {
        let Some((setting, tuned_on)) = how(group) else { continue };
        let (_, part) = parts(split, !options.families().is_empty(), group);
        let (limit, by_missing) = (options.limit, options.by_missing_links);
        let cell = bench.measure(&Task { label, split, group, part, limit, setting, by_missing })?;
        let of = part.size(group.len());
        types.push(TypeResult::new(&group.shape, split, (part, of), setting, tuned_on, &cell));
    }
    Ok(MethodResult::new(label.to_owned(), types))
}

/// A few of the queries that the table reports.
fn sample<'g>(
    label: &'g str,
    options: &BenchmarkOptions,
    split: Split,
    group: &'g QueryGroup,
    setting: Setting,
) -> Task<'g> {
    let (_, part) = parts(split, !options.families().is_empty(), group);
    let limit = Some(options.limit.map_or(SAMPLE, |limit| limit.min(SAMPLE)));
    Task { label, split, group, part, limit, setting, by_missing: false }
}

#[cfg(test)]
mod tests;
