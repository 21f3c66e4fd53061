//! The results of a benchmark as data: methods by types of query, with what every figure is based on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fair::{NOT_FAIR, doubt};
use super::{ByMissing, Choice, Dataset, Lead, PUBLISHED_TYPES, Part, Published, Setting, Way};
use crate::graph::Split;
use crate::model::LinkMetrics;
use crate::report::{Metrics, counted, grouped};
use crate::search::Known;

/// One cell of a table: a type of query under a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The metrics.
    pub metrics: LinkMetrics,
    /// Rows scored.
    pub rows: usize,
    /// Seconds that it took.
    pub seconds: f64,
    /// The share of the machine's matrix-product rate that scoring the rows reached, as measured at the
    /// time.
    pub of_peak: f64,
    /// The same by the number of links that the training graph lacks, if that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_missing: Vec<ByMissing>,
}

/// Everything that a benchmark found. Tables ([`tables`](Self::tables), [`to_markdown`](Self::to_markdown)),
/// comma-separated values ([`to_csv`](Self::to_csv)) and pictures ([`accuracy_svg`](Self::accuracy_svg),
/// [`time_svg`](Self::time_svg)) are made from it alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchmarkReport {
    /// The name of the model.
    pub model: String,
    /// Its link predictor.
    pub predictor: String,
    /// Factors of an entity.
    pub rank: usize,
    /// The queries that are reported on.
    pub split: Split,
    /// How many queries of each type were taken at most; `null` if all.
    pub limit: Option<usize>,
    /// The dataset of the literature that the graph is, if it is one.
    pub dataset: Option<String>,
    /// The types of query, in the order of the literature.
    pub types: Vec<String>,
    /// What the figures are based on, in words.
    pub notes: Vec<String>,
    /// Why some figures are better than they should be; empty if all are fair.
    pub warnings: Vec<String>,
    /// The methods.
    pub rows: Vec<MethodResult>,
    /// What others published for the test queries of the dataset.
    pub published: Vec<PublishedResult>,
}

/// One method on every type of query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MethodResult {
    /// The name of a family of settings, or a setting in words.
    pub method: String,
    /// The mean over types, all with the same weight.
    pub mean: Metrics,
    /// By type of query.
    pub types: Vec<TypeResult>,
}

/// One method on one type of query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TypeResult {
    /// The type of query.
    #[serde(rename = "type")]
    pub shape: String,
    /// Which queries were taken.
    pub part: Part,
    /// How many queries there are in this part; with a limit, fewer were taken.
    pub queries_there: usize,
    /// How they were answered.
    #[schemars(with = "Setting")]
    pub setting: Way,
    /// The stored edges that counted as true: `none`, `train`, `train+valid` or `all`.
    pub known: String,
    /// What the setting was chosen on; `null` if it was given.
    pub tuned_on: Option<TunedOn>,
    /// The metrics: the mean over the hard answers of a query, then over queries.
    pub metrics: Metrics,
    /// Rows scored.
    pub rows: usize,
    /// Seconds that it took.
    pub seconds: f64,
    /// The share of the machine's matrix-product rate that scoring the rows reached.
    pub of_peak: f64,
    /// The same by the number of links that the training graph lacks, if that was asked for.
    pub by_missing_links: Vec<MissingLinksResult>,
    /// Why the figure is not fair; `null` if it is.
    pub warning: Option<String>,
}

/// What a setting was chosen on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TunedOn {
    /// Always validation.
    pub split: Split,
    /// How many queries; 0 if there was nothing to choose, because every setting gives the same order.
    pub queries: usize,
    /// Which part of them.
    pub part: Part,
    /// The standard error of the Hits@3 of the chosen setting on them; `null` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// By how much the chosen setting is ahead of the best of the others; `null` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Lead>,
}

/// The hard answers that need the same number of predicted links.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissingLinksResult {
    /// How many atoms the training graph lacks, at least, on the way to such an answer.
    pub links: u8,
    /// How many such pairs of query and answer there are.
    pub pairs: usize,
    /// Their metrics: the mean over those of a query, then over queries.
    pub metrics: Metrics,
}

/// A row of a published table: Hits@3 on the test queries of Query2Box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedResult {
    /// The system.
    pub system: String,
    /// Its embedding size; `null` if it was not published.
    pub rank: Option<u32>,
    /// Always test.
    pub split: Split,
    /// Hits@3 by type of query.
    #[serde(rename = "hits@3")]
    pub hits_at_3: BTreeMap<String, f64>,
    /// The mean over the published types.
    pub mean: f64,
}

impl TunedOn {
    /// What a choice was made on, if it was made on this part of the validation queries.
    pub(crate) fn of(choice: &Choice, part: Part) -> Self {
        let standard_error = choice.trial().and_then(|trial| trial.standard_error);
        match choice.queries() {
            Some(queries) => Self { standard_error, lead: choice.lead, ..Self::on(queries, part) },
            None => Self::on(0, Part::All),
        }
    }

    /// So many validation queries, without any error known.
    pub(super) fn on(queries: usize, part: Part) -> Self {
        Self { split: Split::Valid, queries, part, standard_error: None, lead: None }
    }
}

impl TypeResult {
    /// A cell with what it is based on; `of` is how many queries there are in the part.
    pub(crate) fn new(
        shape: &str,
        split: Split,
        (part, of): (Part, usize),
        setting: Setting,
        tuned_on: Option<TunedOn>,
        cell: &Cell,
    ) -> Self {
        let missing = |by: &ByMissing| MissingLinksResult {
            links: by.links,
            pairs: by.pairs,
            metrics: by.metrics.into(),
        };
        Self {
            shape: shape.to_owned(),
            part,
            queries_there: of,
            setting: setting.into(),
            known: setting.known.name().to_owned(),
            tuned_on,
            metrics: cell.metrics.into(),
            rows: cell.rows,
            seconds: cell.seconds,
            of_peak: cell.of_peak,
            by_missing_links: cell.by_missing.iter().map(missing).collect(),
            warning: doubt(split, setting.known, part, tuned_on).map(str::to_owned),
        }
    }
}

impl TypeResult {
    /// A cell of a baseline, which looks at no stored edge; its model was chosen by `chosen_on` validation queries.
    pub(crate) fn of_baseline(
        shape: &str,
        split: Split,
        (part, of): (Part, usize),
        name: &str,
        chosen_on: usize,
        cell: &Cell,
    ) -> Self {
        let untrusting = Setting { known: Known::Ignore, ..Setting::default() };
        let chosen = TunedOn::on(chosen_on, Part::All);
        let tuned_on = (chosen_on > 0).then_some(chosen);
        Self {
            setting: Way::Baseline(name.to_owned()),
            ..Self::new(shape, split, (part, of), untrusting, tuned_on, cell)
        }
    }
}

impl MethodResult {
    /// A method with its cells.
    pub(crate) fn new(method: String, types: Vec<TypeResult>) -> Self {
        let mean = Metrics::mean(types.iter().map(|cell| &cell.metrics));
        Self { method, mean, types }
    }

    /// The cell of a type.
    pub fn of_type(&self, shape: &str) -> Option<&TypeResult> {
        self.types.iter().find(|cell| cell.shape == shape)
    }
}

impl PublishedResult {
    fn of(row: &Published) -> Self {
        let types = PUBLISHED_TYPES.iter().zip(row.hits_at_3);
        Self {
            system: row.system.to_owned(),
            rank: row.rank,
            split: Split::Test,
            hits_at_3: types.map(|(shape, hits)| ((*shape).to_owned(), hits)).collect(),
            mean: row.mean(),
        }
    }

    /// The system with its rank, marked as published.
    pub fn title(&self) -> String {
        let rank = self.rank.map_or(String::new(), |rank| format!(", rank {rank}"));
        format!("{}{rank} (published, test)", self.system)
    }
}

impl BenchmarkReport {
    /// The same with rows, and the notes and warnings that follow from them.
    pub(crate) fn with_rows(self, rows: Vec<MethodResult>) -> Self {
        let mut report = Self { rows, ..self };
        report.notes = report.what_it_rests_on();
        report.warnings = report.rows.iter().flat_map(warnings).collect();
        report
    }

    /// The same with the figures that were published for a dataset.
    pub(crate) fn beside(self, dataset: Option<&Dataset>) -> Self {
        Self {
            dataset: dataset.map(|dataset| dataset.name.to_owned()),
            published: dataset.map_or(&[][..], |it| it.rows).iter().map(PublishedResult::of).collect(),
            ..self
        }
    }

    /// The model in words: name, link predictor and rank.
    pub fn model_text(&self) -> String {
        format!("{} ({}, rank {})", self.model, self.predictor, self.rank)
    }

    fn what_it_rests_on(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(limit) = self.limit {
            notes.push(format!("at most {} of each type, evenly spread", counted(limit, "query")));
        }
        let cells = || self.rows.iter().flat_map(|row| &row.types);
        if cells().any(|cell| cell.part == Part::Odd) {
            notes.push(
                "settings chosen on every other validation query, from the first; reported on those \
                 between: no query is in both"
                    .to_owned(),
            );
        }
        let chosen = cells().filter_map(|cell| cell.tuned_on).map(|on| on.queries).filter(|on| *on > 0);
        if let (Some(least), Some(most)) = (chosen.clone().min(), chosen.max()) {
            let range = if least == most {
                grouped(least)
            } else {
                format!("{} to {}", grouped(least), grouped(most))
            };
            notes.push(format!("settings chosen on {range} validation queries of each type"));
        }
        let trusted = |row: &MethodResult| {
            let mut known: Vec<&str> = row.types.iter().map(|cell| cell.known.as_str()).collect();
            known.sort_unstable();
            known.dedup();
            format!("{} for {}", known.join(" or "), row.method)
        };
        if !self.rows.is_empty() {
            let each: Vec<String> = self.rows.iter().map(trusted).collect();
            notes.push(format!("known edges that count as true: {}", each.join(", ")));
        }
        notes
    }
}

/// Why the figures of a method are better than they should be.
fn warnings(row: &MethodResult) -> Vec<String> {
    let says = |what: &str| {
        let with = row.types.iter().filter(|cell| cell.warning.as_deref() == Some(what));
        let types: Vec<&str> = with.map(|cell| cell.shape.as_str()).collect();
        (!types.is_empty())
            .then(|| format!("{}: the setting of {} {what}: not a fair figure", row.method, types.join(", ")))
    };
    NOT_FAIR.into_iter().filter_map(says).collect()
}
