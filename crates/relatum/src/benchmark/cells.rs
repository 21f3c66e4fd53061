//! Results that were computed already: a benchmark that was stopped goes on where it was.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::{ByMissing, Setting, Tuned};
use crate::graph::Split;
use crate::model::{LinkMetrics, Model};
use crate::store::{StoreError, write_atomically};

/// One cell of a table: a type of query under a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// How well it did.
    pub metrics: LinkMetrics,
    /// Rows scored.
    pub rows: usize,
    /// Seconds that it took.
    pub seconds: f64,
    /// The same by the number of links that the training graph lacks, if that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_missing: Vec<ByMissing>,
}

/// Which cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellKey<'a> {
    /// The queries' split.
    pub split: Split,
    /// Their type.
    pub shape: &'a str,
    /// How many of them.
    pub queries: usize,
    /// How they are answered.
    pub setting: Setting,
}

/// The results of a model so far, in one file beside it.
#[derive(Debug)]
pub struct Results {
    path: PathBuf,
    saved: Saved,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Saved {
    format: String,
    version: u32,
    /// Of the model and the queries: what was computed for another model says nothing.
    fingerprint: String,
    tuned: BTreeMap<String, Tuned>,
    cells: BTreeMap<String, Cell>,
}

const FILE: &str = "benchmark.json";
const FORMAT: &str = "relatum benchmark";
const VERSION: u32 = 1;

impl Results {
    /// The results of a model, kept in its folder; those of another model that had this name, or of
    /// other queries, are forgotten.
    pub fn open(folder: &Path, model: &Model, queries: &str) -> Result<Self, StoreError> {
        let path = folder.join(FILE);
        let fingerprint = fingerprint(model, queries);
        let fresh = || Saved {
            format: FORMAT.to_owned(),
            version: VERSION,
            fingerprint: fingerprint.clone(),
            ..Saved::default()
        };
        let saved = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => fresh(),
            Err(error) => return Err(StoreError::io("read", &path)(error)),
            Ok(text) => {
                let saved: Saved = serde_json::from_str(&text).map_err(|error| {
                    StoreError::damaged(
                        &path,
                        format!("it cannot be read ({error}); remove it to begin anew"),
                    )
                })?;
                if saved.version > VERSION {
                    return Err(StoreError::Newer { path, found: saved.version, known: VERSION });
                }
                if saved.fingerprint == fingerprint { saved } else { fresh() }
            }
        };
        Ok(Self { path, saved })
    }

    /// The same, where something was kept: the model is not even hashed where nothing was.
    pub fn find(folder: &Path, model: &Model, queries: &str) -> Result<Option<Self>, StoreError> {
        if folder.join(FILE).exists() { Self::open(folder, model, queries).map(Some) } else { Ok(None) }
    }

    /// A cell that was computed before.
    pub fn cell(&self, key: &CellKey<'_>) -> Option<&Cell> {
        self.saved.cells.get(&key.to_string())
    }

    /// Keeps a cell, on disk at once.
    pub fn keep(&mut self, key: &CellKey<'_>, cell: Cell) -> Result<(), StoreError> {
        self.saved.cells.insert(key.to_string(), cell);
        self.save()
    }

    /// What was chosen for a family of settings.
    pub fn tuned(&self, family: &str) -> Option<&Tuned> {
        self.saved.tuned.get(family)
    }

    /// Keeps a choice, on disk at once.
    pub fn keep_tuned(&mut self, family: &str, tuned: Tuned) -> Result<(), StoreError> {
        self.saved.tuned.insert(family.to_owned(), tuned);
        self.save()
    }

    fn save(&self) -> Result<(), StoreError> {
        // Numbers and strings only: there is nothing that could fail.
        let text = serde_json::to_string_pretty(&self.saved).unwrap_or_default();
        write_atomically(&self.path, |file| writeln!(file, "{text}"))
    }
}

impl std::fmt::Display for CellKey<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {} {}", self.split.name(), self.shape, self.queries, self.setting)
    }
}

fn fingerprint(model: &Model, queries: &str) -> String {
    let mut hash = Xxh3::new();
    hash.update(model.predictor().name().as_bytes());
    hash.update(bytemuck::cast_slice(model.entities()));
    hash.update(bytemuck::cast_slice(model.relations()));
    if let Some(affine) = model.affine() {
        hash.update(bytemuck::cast_slice(affine.values()));
    }
    hash.update(queries.as_bytes());
    format!("{:016x}", hash.digest())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::predictor;

    fn model(value: f32) -> Model {
        Model::new(predictor("distmult", 1).unwrap(), vec![value, 0.5], vec![1.0]).unwrap()
    }

    #[test]
    fn a_cell_is_found_again_by_its_model_and_key_only() {
        let folder = tempfile::tempdir().unwrap();
        let key = |queries| CellKey { split: Split::Test, shape: "2p", queries, setting: Setting::default() };
        let cell = Cell { metrics: LinkMetrics::default(), rows: 7, seconds: 0.5, by_missing: Vec::new() };
        let mut results = Results::open(folder.path(), &model(0.1), "q").unwrap();
        results.keep(&key(10), cell.clone()).unwrap();
        let again = Results::open(folder.path(), &model(0.1), "q").unwrap();
        assert_eq!(again.cell(&key(10)), Some(&cell));
        assert_eq!(again.cell(&key(11)), None);
        for (model, queries) in [(model(0.2), "q"), (model(0.1), "other")] {
            assert_eq!(Results::open(folder.path(), &model, queries).unwrap().cell(&key(10)), None);
        }
    }

    #[test]
    fn a_damaged_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("benchmark.json"), "{").unwrap();
        let error = Results::open(folder.path(), &model(0.1), "q").unwrap_err().to_string();
        assert!(error.contains("benchmark.json") && error.contains("remove it"), "{error}");
    }
}
