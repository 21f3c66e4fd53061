//! What was measured, as small files in the repository: models do not survive a machine, figures do.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use relatum::benchmark::{PUBLISHED_TYPES, TypeResult};
use relatum::store::write_atomically;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::args::Name;
use super::examples::Examples;
use super::timing::Timing;
use super::work::Row;

/// The files of timing and examples of a dataset.
pub(super) const TIMING: &str = "timing.json";
pub(super) const EXAMPLES: &str = "examples.json";

/// The figures of one method with one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RowResult {
    pub(super) method: String,
    /// The name of the model, or of the baseline.
    pub(super) model: String,
    /// The link predictor, or the baseline.
    pub(super) predictor: String,
    /// The rank, or the dimension of a baseline.
    pub(super) rank: usize,
    /// What it was trained with, in words.
    pub(super) recipe: String,
    /// The epoch of the model.
    pub(super) epoch: usize,
    /// MRR on the validation edges; of a baseline on the validation queries, the mean over their types.
    pub(super) valid_mrr: Option<f64>,
    /// By type of query.
    pub(super) cells: BTreeMap<String, Cell>,
}

/// The figures of one type of query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Cell {
    #[serde(rename = "hits@3")]
    pub(super) hits_at_3: f64,
    pub(super) mrr: f64,
    /// How many test queries were answered.
    pub(super) queries: usize,
    /// How many there are.
    pub(super) of: usize,
    /// How they were answered.
    pub(super) setting: String,
    /// On how many validation queries that was chosen; 0 if there was nothing to choose.
    pub(super) chosen_on: usize,
    /// How long answering took.
    pub(super) seconds: f64,
}

impl Cell {
    pub(super) fn of(result: &TypeResult) -> Self {
        Self {
            hits_at_3: result.metrics.hits_at_3,
            mrr: result.metrics.mrr,
            queries: result.metrics.count,
            of: result.queries_there,
            setting: result.setting.to_string(),
            chosen_on: result.tuned_on.map_or(0, |on| on.queries),
            seconds: result.seconds,
        }
    }

    /// Whether it is of all queries.
    pub(super) fn is_whole(&self) -> bool {
        self.queries >= self.of
    }

    /// Whether nothing is left to measure for somebody who wants so many queries, or all.
    fn is_enough(&self, limit: Option<usize>) -> bool {
        self.is_whole() || limit.is_some_and(|limit| self.queries >= limit)
    }
}

impl RowResult {
    /// The mean Hits@3 over the nine types, if all are there.
    pub(super) fn mean(&self) -> Option<f64> {
        let cells = PUBLISHED_TYPES.iter().map(|shape| self.cells.get(*shape));
        let sum = cells.map(|cell| cell.map(|cell| cell.hits_at_3)).sum::<Option<f64>>()?;
        Some(sum / PUBLISHED_TYPES.len() as f64)
    }
}

/// The types that are left to measure of a row. A row has one model: where that is trained otherwise than before,
/// an unfinished row begins again, and a finished one stays as it is.
pub(super) fn left(
    done: Option<&RowResult>,
    recipe: Option<&str>,
    limit: Option<usize>,
    again: bool,
) -> Vec<&'static str> {
    let Some(done) = done.filter(|_| !again) else { return PUBLISHED_TYPES.to_vec() };
    let is_left = |shape: &&&str| !done.cells.get(**shape).is_some_and(|cell| cell.is_enough(limit));
    let left: Vec<&str> = PUBLISHED_TYPES.iter().filter(is_left).copied().collect();
    let other = recipe.is_some_and(|recipe| recipe != done.recipe);
    if !left.is_empty() && other { PUBLISHED_TYPES.to_vec() } else { left }
}

/// The folder of the results.
#[derive(Clone, Debug)]
pub(super) struct Store(pub(super) PathBuf);

/// Everything that was measured on a dataset.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Measured {
    pub(super) rows: Vec<RowResult>,
    pub(super) timing: Option<Timing>,
    pub(super) examples: Option<Examples>,
}

impl Store {
    /// The results of a row, if there are any.
    pub(super) fn row(&self, row: Row) -> anyhow::Result<Option<RowResult>> {
        self.read(row.dataset, &row.file())
    }

    /// Adds a cell to a row. Cells that another run has measured meanwhile stay, if they are of the same model.
    pub(super) fn keep_cell(
        &self,
        row: Row,
        fresh: &RowResult,
        shape: &str,
        cell: Cell,
    ) -> anyhow::Result<()> {
        let kept = self.row(row)?.filter(|kept| kept.recipe == fresh.recipe);
        let mut cells = kept.map(|kept| kept.cells).unwrap_or_default();
        cells.insert(shape.to_owned(), cell);
        self.keep(row.dataset, &row.file(), &RowResult { cells, ..fresh.clone() })
    }

    /// A file of a dataset, if it is there.
    pub(super) fn read<T: DeserializeOwned>(&self, dataset: Name, file: &str) -> anyhow::Result<Option<T>> {
        let path = self.dir(dataset).join(file);
        if !path.exists() {
            return Ok(None);
        }
        read(&path).map(Some)
    }

    /// Writes a file of a dataset, whole or not at all.
    pub(super) fn keep<T: Serialize>(&self, dataset: Name, file: &str, value: &T) -> anyhow::Result<()> {
        let dir = self.dir(dataset);
        std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        let text = serde_json::to_string_pretty(value)? + "\n";
        Ok(write_atomically(&dir.join(file), |out| out.write_all(text.as_bytes()))?)
    }

    /// All results of a dataset.
    pub(super) fn all(&self, dataset: Name) -> anyhow::Result<Measured> {
        let (dir, mut rows) = (self.dir(dataset), Vec::new());
        let mut files: Vec<PathBuf> = Vec::new();
        if dir.is_dir() {
            for entry in std::fs::read_dir(&dir)? {
                files.push(entry?.path());
            }
        }
        files.sort();
        for file in files {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_json = file.extension().is_some_and(|ending| ending == "json");
            if is_json && name != TIMING && name != EXAMPLES {
                rows.push(read(&file)?);
            }
        }
        let (timing, examples) = (self.read(dataset, TIMING)?, self.read(dataset, EXAMPLES)?);
        Ok(Measured { rows, timing, examples })
    }

    fn dir(&self, dataset: Name) -> PathBuf {
        self.0.join(dataset.folder())
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let damaged =
        || format!("{} does not hold results; delete it to measure again what it held", path.display());
    serde_json::from_str(&text).with_context(damaged)
}
