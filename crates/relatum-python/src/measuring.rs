//! Measuring: edges, and benchmark queries sampled, tuned for and answered.

use std::path::PathBuf;

use pyo3::prelude::*;
use relatum::benchmark::{BenchmarkReport, Family, QueriesDone, QueriesFound, Setting, TrialsDone};
use relatum::control::Control;
use relatum::engine::{
    BenchmarkOptions, Existing, LinkEvalOptions, MeasuringBegins, SampleOptions, SampledType, SamplingBegins,
    TuneOptions, TuningBegins, TypeMeasured, TypeTuned,
};
use relatum::graph::Split;
use relatum::model::Ties;
use relatum::search::Evidence;
use relatum::train::PairsRanked;
use serde::Deserialize;
use serde_json::json;

use crate::engine::Engine;
use crate::errors::{json, options, wrong};
use crate::work::{Told, long};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkEval {
    model: Option<String>,
    split: Option<Split>,
    ties: Ties,
    evidence: String,
    rules: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    types: Vec<String>,
    questions: Vec<String>,
    count: Option<usize>,
    split: Option<Split>,
    seed: u64,
    max_answers: Option<usize>,
    all_missing: bool,
    attempts: Option<usize>,
    existing: String,
    betae: Option<PathBuf>,
    examples: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tune {
    model: Option<String>,
    family: Family,
    types: Vec<String>,
    queries: Option<usize>,
    again: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Benchmark {
    model: Option<String>,
    families: Vec<Family>,
    settings: Vec<String>,
    baselines: Vec<String>,
    split: Option<Split>,
    types: Vec<String>,
    limit: Option<usize>,
    tune_on: Option<usize>,
    by_missing_links: bool,
}

impl Benchmark {
    fn resolve(self) -> PyResult<BenchmarkOptions> {
        let setting = |text: &String| {
            text.parse::<Setting>().map_err(|error| wrong(&format!("`settings` has '{text}': {error}")))
        };
        Ok(BenchmarkOptions {
            model: self.model,
            families: self.families,
            settings: self.settings.iter().map(setting).collect::<PyResult<_>>()?,
            baselines: self.baselines,
            split: self.split,
            types: self.types,
            limit: self.limit,
            tune_on: self.tune_on,
            by_missing_links: self.by_missing_links,
        })
    }
}

#[pymethods]
impl Engine {
    #[pyo3(signature = (arguments, listener))]
    fn link_eval(
        &self,
        py: Python<'_>,
        arguments: &str,
        listener: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let LinkEval { model, split, ties, evidence, rules } = options(arguments)?;
        let evidence = Evidence::from_name(&evidence).ok_or_else(|| {
            let message = format!("`evidence` must be 'model', 'rules' or 'both', not '{evidence}'");
            wrong(&message)
        })?;
        let options = LinkEvalOptions { model, split, ties, evidence, rules, pairs: None };
        let events = |control, told: &Told| {
            told.some(control, "ranked", |it: &PairsRanked| json!({ "done": it.done, "all": it.all }))
        };
        json(&long(py, listener, events, |control| self.engine.link_eval(&options, control))?)
    }

    #[pyo3(signature = (arguments, listener))]
    fn sample(
        &self,
        py: Python<'_>,
        arguments: &str,
        listener: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let given: Sample = options(arguments)?;
        let existing = match given.existing.as_str() {
            "refuse" => Existing::Refuse,
            "keep" => Existing::Keep,
            "replace" => Existing::Replace,
            other => {
                let message = format!("`existing` must be 'refuse', 'keep' or 'replace', not '{other}'");
                return Err(wrong(&message));
            }
        };
        let options = SampleOptions {
            types: given.types,
            questions: given.questions,
            count: given.count,
            split: given.split,
            seed: given.seed,
            max_answers: given.max_answers,
            all_missing: given.all_missing,
            attempts: given.attempts,
            existing,
            betae: given.betae,
            examples: given.examples,
        };
        let events = |control, told: &Told| {
            let begins =
                |it: &SamplingBegins| json!({ "split": it.split, "type": it.shape, "wanted": it.wanted });
            let found = |it: &QueriesFound| json!({ "found": it.found, "wanted": it.wanted });
            let control = told.every(control, "begin", begins);
            let control = told.some(control, "found", found);
            told.every(control, "type", |it: &SampledType| json!(it))
        };
        json(&long(py, listener, events, |control| self.engine.sample(&options, control))?)
    }

    #[pyo3(signature = (arguments, listener))]
    fn tune(&self, py: Python<'_>, arguments: &str, listener: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        let Tune { model, family, types, queries, again } = options(arguments)?;
        let options = TuneOptions { model, family, types, queries, again };
        json(&long(py, listener, measuring_events, |control| self.engine.tune(&options, control))?)
    }

    /// The report as JSON.
    #[pyo3(signature = (arguments, listener))]
    fn benchmark(
        &self,
        py: Python<'_>,
        arguments: &str,
        listener: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let options = options::<Benchmark>(arguments)?.resolve()?;
        json(&long(py, listener, measuring_events, |control| self.engine.benchmark(&options, control))?)
    }

    /// A picture of accuracy by the number of values that are followed (`k`), or by the models' rank.
    #[pyo3(signature = (what, arguments, listener))]
    fn benchmark_picture(
        &self,
        py: Python<'_>,
        what: &str,
        arguments: &str,
        listener: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<String>> {
        let options = options::<Benchmark>(arguments)?.resolve()?;
        let work = |control: &Control| match what {
            "k" => self.engine.accuracy_by_k_svg(&options, control).map(Some),
            _ => self.engine.accuracy_by_rank_svg(&options, control),
        };
        long(py, listener, measuring_events, work)
    }

    /// A report in another form: `accuracy` and `time` are pictures, `csv` and `markdown` tables.
    #[staticmethod]
    fn benchmark_as(report: &str, form: &str) -> PyResult<String> {
        let report: BenchmarkReport = options(report)?;
        match form {
            "accuracy" => Ok(report.accuracy_svg()),
            "time" => Ok(report.time_svg()),
            "csv" => Ok(report.to_csv()),
            "markdown" => Ok(report.to_markdown()),
            _ => Err(wrong(&format!("no form '{form}'"))),
        }
    }
}

/// The events while settings are chosen and queries are answered.
fn measuring_events(control: Control, told: &Told) -> Control {
    let tuning = |it: &TuningBegins| json!({ "family": it.family, "type": it.shape, "queries": it.queries, "adaptive": it.adaptive, "before": it.before });
    let tuned = |it: &TypeTuned| json!({ "family": it.family, "type": it.shape, "setting": it.choice.setting.to_string() });
    let measuring =
        |it: &MeasuringBegins| json!({ "label": it.label, "type": it.shape, "queries": it.queries });
    let measured = |it: &TypeMeasured| json!({ "label": it.label, "type": it.shape, "mrr": it.cell.metrics.mrr, "seconds": it.cell.seconds });
    let control = told.every(control, "tuning", tuning);
    let control = told.some(control, "trials", |it: &TrialsDone| json!({ "done": it.done, "all": it.all }));
    let control = told.every(control, "tuned", tuned);
    let control = told.every(control, "measuring", measuring);
    let control = told.some(control, "queries", |it: &QueriesDone| json!({ "done": it.done, "all": it.all }));
    told.every(control, "measured", measured)
}
