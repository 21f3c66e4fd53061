//! Results that were computed already, so that a benchmark that was stopped goes on where it was.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::benchmark::{Cell, Choice, Family, Part, QueryGroup, Setting, Tuned};
use crate::graph::Split;
use crate::model::{Calibration, LinkMetrics, Model};
use crate::store::{StoreError, write_atomically};

/// What identifies a cell. A baseline has its name for a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct CellKey<'a, W = Setting> {
    /// The queries' split.
    pub split: Split,
    /// The queries of the type.
    pub group: &'a QueryGroup,
    /// Which part of them.
    pub part: Part,
    /// How many queries of that part.
    pub queries: usize,
    /// How they are answered.
    pub setting: W,
    /// Which rules speak, and how much they count, where the setting takes them for evidence.
    pub rules: Option<String>,
}

/// How many results were dropped because they depend on an earlier calibration of the model, or were kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// Choices for types of query, in all families; dropped are those with a setting of that calibration among their
    /// trials.
    pub choices: usize,
    /// Cells; dropped are those of settings of that calibration.
    pub cells: usize,
}

/// The results of a model so far, in one file beside it. Several processes may add to it.
#[derive(Debug)]
pub struct Results {
    path: PathBuf,
    prints: Prints,
    saved: Saved,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Saved {
    format: String,
    version: u32,
    /// The fingerprint of the model's tables: results of another model do not count.
    fingerprint: String,
    /// The fingerprint of its adaptive calibration, if it has one: results with another one do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<String>,
    /// The same of its fitted calibration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fitted: Option<String>,
    tuned: BTreeMap<String, Tuned>,
    cells: BTreeMap<String, Kept>,
    /// The checksum of everything else, so that a changed digit is not taken for a result. Older files have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    /// The fingerprint of the queries of the type.
    fingerprint: String,
    #[serde(flatten)]
    cell: Cell,
}

const FILE: &str = "benchmark.json";
const LOCK: &str = ".benchmark.lock";
const FORMAT: &str = "relatum benchmark";
/// Since version 2 every choice and every cell says which queries it belongs to.
const VERSION: u32 = 2;

impl Results {
    /// The results of a model, kept in its folder. Results of another model that had this name are
    /// dropped, and so are those that depend on another calibration of it.
    pub fn open(folder: &Path, model: &Model) -> Result<Self, StoreError> {
        Self::with_prints(folder, Prints::of(model))
    }

    /// The results of a baseline whose values have this fingerprint.
    pub fn of_baseline(folder: &Path, print: &str) -> Result<Self, StoreError> {
        let (tables, both) = (print.to_owned(), print.to_owned());
        let prints = Prints { tables, calibration: None, fitted: None, both };
        Self::with_prints(folder, prints)
    }

    fn with_prints(folder: &Path, prints: Prints) -> Result<Self, StoreError> {
        let path = folder.join(FILE);
        let saved = read(&path, &prints)?.unwrap_or_else(|| Saved {
            format: FORMAT.to_owned(),
            version: VERSION,
            fingerprint: prints.tables.clone(),
            calibration: prints.calibration.clone(),
            fitted: prints.fitted.clone(),
            ..Saved::default()
        });
        Ok(Self { path, prints, saved })
    }

    /// Drops from disk the results that depend on an earlier calibration of the model, and keeps the rest.
    /// Returns how many were kept and how many were dropped; `None` if there were no results.
    pub fn recalibrate(folder: &Path, model: &Model) -> Result<Option<(Forgotten, Forgotten)>, StoreError> {
        let path = folder.join(FILE);
        let mut results = Self::open(folder, model)?;
        let before = read_any(&path)?.filter(|saved| saved.fingerprint == results.prints.tables);
        let Some(before) = before else { return Ok(None) };
        results.check_writable()?;
        let (before, kept) = (before.count(), results.saved.count());
        let forgotten =
            Forgotten { choices: before.choices - kept.choices, cells: before.cells - kept.cells };
        Ok(Some((kept, forgotten)))
    }

    /// Whether there are results in a model's folder, of this model or of an earlier one.
    pub fn exist(folder: &Path) -> bool {
        folder.join(FILE).exists()
    }

    /// The same as [`open`](Self::open) if there are results; `None` if not, and then the model is not even hashed.
    pub fn find(folder: &Path, model: &Model) -> Result<Option<Self>, StoreError> {
        if Self::exist(folder) { Self::open(folder, model).map(Some) } else { Ok(None) }
    }

    /// Checks the results in a model's folder, whatever model they are of, so that damage is found before a
    /// benchmark fails on it. Returns whether there are any.
    pub fn check(folder: &Path) -> Result<bool, StoreError> {
        let path = folder.join(FILE);
        let Some(saved) = read_any(&path)? else { return Ok(path.exists()) };
        let damaged = |what: String| Err(StoreError::damaged(&path, what));
        if saved.format != FORMAT {
            return damaged(format!("its format is `{}`, expected `{FORMAT}`", saved.format));
        }
        for (key, Kept { cell, .. }) in &saved.cells {
            let LinkMetrics { mrr, hits, .. } = cell.metrics;
            let share = |value: &f64| (0.0..=1.0).contains(value);
            let timed = cell.seconds.is_finite() && cell.seconds >= 0.0;
            if !(timed && share(&mrr) && hits.iter().all(share)) {
                return damaged(format!("the result of `{key}` has impossible figures: {:?}", cell.metrics));
            }
        }
        Ok(true)
    }

    /// A cell that was computed before, for the very same queries.
    pub fn cell<W: Display>(&self, key: &CellKey<'_, W>) -> Option<&Cell> {
        let kept = self.saved.cells.get(&key.to_string())?;
        (kept.fingerprint == key.group.fingerprint()).then_some(&kept.cell)
    }

    /// Keeps a cell, on disk at once.
    pub fn keep<W: Display>(&mut self, key: &CellKey<'_, W>, cell: Cell) -> Result<(), StoreError> {
        let kept = Kept { fingerprint: key.group.fingerprint(), cell };
        self.change(|saved| {
            saved.cells.insert(key.to_string(), kept);
        })
    }

    /// The choices for a family of settings: those made on all validation queries or, if there are none, those
    /// made on a half.
    pub fn tuned(&self, family: Family) -> Option<&Tuned> {
        let on = |part| self.saved.tuned.get(&tuned_name(family, part));
        on(Part::All).or_else(|| on(Part::Even))
    }

    /// The choice for the type of these validation queries, made on a part of them.
    pub fn choice(&self, family: Family, part: Part, group: &QueryGroup) -> Option<&Choice> {
        let choice = self.saved.tuned.get(&tuned_name(family, part))?.types.get(&group.shape)?;
        (choice.fingerprint == group.fingerprint()).then_some(choice)
    }

    /// Keeps a choice for a type, on disk at once.
    pub fn keep_choice(
        &mut self,
        family: Family,
        part: Part,
        shape: &str,
        choice: Choice,
    ) -> Result<(), StoreError> {
        self.change(|saved| {
            saved.tuned.entry(tuned_name(family, part)).or_default().types.insert(shape.to_owned(), choice);
        })
    }

    /// Writes the file unchanged, to find out before a long computation whether its results can be kept.
    pub fn check_writable(&mut self) -> Result<(), StoreError> {
        self.change(|_| ())
    }

    /// Changes the file as it is on disk now, because another process may have added to it.
    fn change(&mut self, change: impl FnOnce(&mut Saved)) -> Result<(), StoreError> {
        let _lock = lock(&self.path.with_file_name(LOCK))?;
        if let Some(now) = read(&self.path, &self.prints)? {
            self.saved = now;
        }
        change(&mut self.saved);
        self.saved.seal();
        // Numbers and strings only: there is nothing that could fail.
        let text = serde_json::to_string_pretty(&self.saved).unwrap_or_default();
        write_atomically(&self.path, |file| writeln!(file, "{text}"))
    }
}

impl Saved {
    /// Writes the checksum of the content into it.
    fn seal(&mut self) {
        self.checksum = None;
        let content = serde_json::to_vec(self).unwrap_or_default();
        self.checksum = Some(format!("{:016x}", xxh3_64(&content)));
    }

    /// Whether the content matches its checksum, or has none.
    fn is_whole(&self) -> bool {
        let mut sealed = self.clone();
        sealed.seal();
        self.checksum.is_none() || self.checksum == sealed.checksum
    }

    fn count(&self) -> Forgotten {
        let choices = self.tuned.values().map(|tuned| tuned.types.len()).sum();
        Forgotten { choices, cells: self.cells.len() }
    }

    /// Drops everything that depends on a calibration.
    fn forget(&mut self, calibration: Calibration) {
        self.cells.retain(|key, _| !is_of(calibration, key));
        for tuned in self.tuned.values_mut() {
            tuned.types.retain(|_, choice| {
                let mut settings = choice.trials.iter().map(|trial| trial.setting).chain([choice.setting]);
                !settings.any(|setting| setting.calibration == calibration)
            });
        }
    }
}

/// Whether the key of a cell names a calibration. Its setting stands behind the number of queries; a type in front of
/// it may be a question in words.
fn is_of(calibration: Calibration, key: &str) -> bool {
    let setting = key.rsplit(' ').take_while(|word| word.parse::<usize>().is_err());
    setting.into_iter().any(|word| word == calibration.name())
}

/// The content of a file; `None` if it is of another model, or too old to say which queries it is about.
fn read(path: &Path, prints: &Prints) -> Result<Option<Saved>, StoreError> {
    let Some(mut saved) = read_any(path)? else { return Ok(None) };
    // Earlier files have one fingerprint of tables and calibration together.
    if saved.fingerprint == prints.both && saved.calibration.is_none() {
        saved.calibration.clone_from(&prints.calibration);
    } else if saved.fingerprint != prints.tables {
        return Ok(None);
    }
    if saved.calibration != prints.calibration {
        saved.forget(Calibration::Adaptive);
        saved.calibration.clone_from(&prints.calibration);
    }
    if saved.fitted != prints.fitted {
        saved.forget(Calibration::Fitted);
        saved.fitted.clone_from(&prints.fitted);
    }
    saved.fingerprint.clone_from(&prints.tables);
    Ok(Some(saved))
}

/// The content of a file, whichever model it is of; `None` if it is too old to say which queries it is about.
fn read_any(path: &Path) -> Result<Option<Saved>, StoreError> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(StoreError::io("read", path))?,
    };
    let damaged =
        |error| StoreError::damaged(path, format!("it cannot be read ({error}); remove it to begin anew"));
    let Head { version } = serde_json::from_str(&text).map_err(damaged)?;
    if version > VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found: version, known: VERSION });
    }
    if version < VERSION {
        return Ok(None);
    }
    let saved: Saved = serde_json::from_str(&text).map_err(damaged)?;
    if !saved.is_whole() {
        let what = "its content does not match its checksum; remove it to begin anew";
        return Err(StoreError::damaged(path, what));
    }
    Ok(Some(saved))
}

/// What every version of the file has.
#[derive(Deserialize)]
struct Head {
    version: u32,
}

/// Locks the results for a moment, while others wait. A killed process leaves the lock file, but not the lock.
fn lock(path: &Path) -> Result<File, StoreError> {
    let file = File::create(path).map_err(StoreError::io("create", path))?;
    file.lock().map_err(StoreError::io("lock", path))?;
    Ok(file)
}

/// The key of the choices of a family. Choices on a half have a key of their own, because test queries are
/// answered with those made on all.
fn tuned_name(family: Family, part: Part) -> String {
    match part {
        Part::All => family.name().to_owned(),
        half => format!("{}, {}", family.name(), half.name()),
    }
}

impl<W: Display> Display for CellKey<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { split, group, part, queries, setting, rules } = self;
        write!(f, "{split} {} {} {queries} {setting}", group.shape, part.name())?;
        rules.as_ref().map_or(Ok(()), |print| write!(f, " rules={print}"))
    }
}

/// The fingerprints by which results are recognised as those of a model.
#[derive(Clone, Debug)]
struct Prints {
    tables: String,
    calibration: Option<String>,
    fitted: Option<String>,
    /// One fingerprint of tables and adaptive calibration together, as in older files.
    both: String,
}

impl Prints {
    fn of(model: &Model) -> Self {
        let text = |hash: &Xxh3| format!("{:016x}", hash.digest());
        let mut hash = Xxh3::new();
        hash.update(model.predictor().name().as_bytes());
        model.table().stored().into_iter().for_each(|bytes| hash.update(bytes));
        hash.update(bytemuck::cast_slice(model.relations()));
        let tables = text(&hash);
        let print = |values: &[f32]| {
            let mut own = Xxh3::new();
            own.update(bytemuck::cast_slice(values));
            text(&own)
        };
        let calibration = model.affine().map(|affine| {
            hash.update(bytemuck::cast_slice(affine.values()));
            print(affine.values())
        });
        let fitted = model.fitted().map(|fitted| print(fitted.values()));
        Self { tables, calibration, fitted, both: text(&hash) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::predictor;

    fn model(value: f32) -> Model {
        Model::new(predictor("distmult", 1).unwrap(), vec![value, 0.5], vec![1.0]).unwrap()
    }

    fn group(shape: &str, entity: u32) -> QueryGroup {
        QueryGroup {
            shape: shape.to_owned(),
            arity: 1,
            arguments: vec![entity].into(),
            ..QueryGroup::default()
        }
    }

    fn key(group: &QueryGroup) -> CellKey<'_> {
        let setting = Setting::default();
        CellKey { split: Split::Test, group, part: Part::All, queries: 10, setting, rules: None }
    }

    fn cell(rows: usize) -> Cell {
        let metrics = LinkMetrics::default();
        Cell { metrics, rows, seconds: 0.5, of_peak: 0.25, by_missing: Vec::new() }
    }

    fn choice(group: &QueryGroup) -> Choice {
        Choice {
            setting: Setting::default(),
            trials: Vec::new(),
            fingerprint: group.fingerprint(),
            adaptive: false,
            lead: None,
        }
    }

    #[test]
    fn a_cell_is_found_again_by_its_model_and_key_only() {
        let folder = tempfile::tempdir().unwrap();
        let queries = group("2p", 1);
        let mut results = Results::open(folder.path(), &model(0.1)).unwrap();
        results.keep(&key(&queries), cell(7)).unwrap();
        let again = Results::open(folder.path(), &model(0.1)).unwrap();
        assert_eq!(again.cell(&key(&queries)), Some(&cell(7)));
        assert_eq!(again.cell(&CellKey { queries: 11, ..key(&queries) }), None);
        assert_eq!(again.cell(&CellKey { part: Part::Odd, ..key(&queries) }), None);
        assert_eq!(again.cell(&CellKey { split: Split::Valid, ..key(&queries) }), None);
        let other = Results::open(folder.path(), &model(0.2)).unwrap();
        assert_eq!(other.cell(&key(&queries)), None);
    }

    #[test]
    fn a_new_calibration_drops_results_of_the_old_one_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let calibrated =
            |b: f32| model(0.1).with_affine(crate::model::Affine::new(&[[1.0, b]]).unwrap()).unwrap();
        let (chains, crossings) = (group("2p", 1), group("2i", 1));
        let adaptive: Setting = "adaptive".parse().unwrap();
        let by = |setting| CellKey { setting, ..key(&chains) };
        assert_eq!(Results::recalibrate(folder.path(), &model(0.1)).unwrap(), None);
        let mut results = Results::open(folder.path(), &model(0.1)).unwrap();
        results.keep(&by(Setting::default()), cell(1)).unwrap();
        results.keep_choice(Family::Best, Part::All, "2p", choice(&chains)).unwrap();
        // The first calibration has nothing to drop.
        let kept = |choices, cells| Forgotten { choices, cells };
        let outcome = Results::recalibrate(folder.path(), &calibrated(0.5)).unwrap();
        assert_eq!(outcome, Some((kept(1, 1), kept(0, 0))));
        let mut results = Results::open(folder.path(), &calibrated(0.5)).unwrap();
        results.keep(&by(adaptive), cell(2)).unwrap();
        let of_adaptive = Choice { setting: adaptive, ..choice(&crossings) };
        results.keep_choice(Family::Best, Part::All, "2i", of_adaptive).unwrap();
        let outcome = Results::recalibrate(folder.path(), &calibrated(0.25)).unwrap();
        assert_eq!(outcome, Some((kept(1, 1), kept(1, 1))));
        let results = Results::open(folder.path(), &calibrated(0.25)).unwrap();
        assert_eq!(results.cell(&by(Setting::default())), Some(&cell(1)));
        assert_eq!(results.cell(&by(adaptive)), None);
        assert!(results.choice(Family::Best, Part::All, &chains).is_some());
        assert!(results.choice(Family::Best, Part::All, &crossings).is_none());
    }

    #[test]
    fn a_new_fit_drops_its_own_results_and_leaves_those_of_the_adaptive_calibration() {
        let folder = tempfile::tempdir().unwrap();
        let fitted = |b: f32| {
            let lines = crate::model::Affine::new(&[[1.0, 0.5]]).unwrap();
            let model = model(0.1).with_affine(lines).unwrap();
            model.with_fitted(crate::model::Fitted::new(&[[1.0, 1.0, b]]).unwrap()).unwrap()
        };
        let chains = group("2p", 1);
        let by = |words: &str| CellKey { setting: words.parse().unwrap(), ..key(&chains) };
        let mut results = Results::open(folder.path(), &fitted(0.5)).unwrap();
        for (rows, words) in [(1, "adaptive"), (2, "fitted"), (3, "softmax-count")] {
            results.keep(&by(words), cell(rows)).unwrap();
        }
        let again = Results::open(folder.path(), &fitted(0.5)).unwrap();
        assert_eq!(again.cell(&by("fitted")), Some(&cell(2)));
        let kept = |choices, cells| Forgotten { choices, cells };
        let outcome = Results::recalibrate(folder.path(), &fitted(0.25)).unwrap();
        assert_eq!(outcome, Some((kept(0, 2), kept(0, 1))));
        let results = Results::open(folder.path(), &fitted(0.25)).unwrap();
        assert_eq!(results.cell(&by("fitted")), None);
        for (rows, words) in [(1, "adaptive"), (3, "softmax-count")] {
            assert_eq!(results.cell(&by(words)), Some(&cell(rows)));
        }
    }

    #[test]
    fn new_queries_of_one_type_leave_the_others_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (chains, crossings) = (group("2p", 1), group("2i", 1));
        let mut results = Results::open(folder.path(), &model(0.1)).unwrap();
        for queries in [&chains, &crossings] {
            results.keep(&key(queries), cell(7)).unwrap();
            results.keep_choice(Family::Best, Part::All, &queries.shape, choice(queries)).unwrap();
        }
        let again = Results::open(folder.path(), &model(0.1)).unwrap();
        let replaced = group("2i", 2);
        assert_eq!((again.cell(&key(&chains)), again.cell(&key(&replaced))), (Some(&cell(7)), None));
        assert!(again.choice(Family::Best, Part::All, &chains).is_some());
        assert!(again.choice(Family::Best, Part::All, &replaced).is_none());
        assert!(again.choice(Family::Best, Part::Even, &chains).is_none());
        assert_eq!(again.tuned(Family::Best).unwrap().types.len(), 2);
    }

    #[test]
    fn a_choice_on_a_half_serves_until_there_is_one_on_all() {
        let folder = tempfile::tempdir().unwrap();
        let queries = group("2p", 1);
        let mut results = Results::open(folder.path(), &model(0.1)).unwrap();
        assert!(results.tuned(Family::Best).is_none());
        let beam = |k| format!("beam k={k}").parse::<Setting>().unwrap();
        for (part, k) in [(Part::Even, 2), (Part::All, 3)] {
            let choice = Choice { setting: beam(k), ..choice(&queries) };
            results.keep_choice(Family::Best, part, "2p", choice).unwrap();
            assert_eq!(results.tuned(Family::Best).unwrap().types["2p"].setting, beam(k));
        }
        assert_eq!(results.choice(Family::Best, Part::Even, &queries).unwrap().setting, beam(2));
    }

    #[test]
    fn two_processes_keep_the_results_of_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let [chains, crossings, unions] = ["2p", "2i", "2u"].map(|shape| group(shape, 1));
        let mut one = Results::open(folder.path(), &model(0.1)).unwrap();
        let mut other = Results::open(folder.path(), &model(0.1)).unwrap();
        one.keep(&key(&chains), cell(1)).unwrap();
        one.keep_choice(Family::Best, Part::All, "2p", choice(&chains)).unwrap();
        other.keep(&key(&crossings), cell(2)).unwrap();
        other.keep_choice(Family::Best, Part::All, "2i", choice(&crossings)).unwrap();
        one.keep(&key(&unions), cell(3)).unwrap();
        let both = Results::open(folder.path(), &model(0.1)).unwrap();
        for (queries, rows) in [(&chains, 1), (&crossings, 2), (&unions, 3)] {
            assert_eq!(both.cell(&key(queries)), Some(&cell(rows)));
        }
        assert_eq!(both.tuned(Family::Best).unwrap().types.len(), 2);
        // Results of the other process are seen at once, not only on disk.
        assert_eq!(one.cell(&key(&crossings)), Some(&cell(2)));
    }

    #[test]
    fn many_writers_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let groups: Vec<QueryGroup> = (0..8).map(|id| group(&format!("t{id}"), id)).collect();
        std::thread::scope(|scope| {
            for group in &groups {
                let mut results = Results::open(folder.path(), &model(0.1)).unwrap();
                scope.spawn(move || results.keep(&key(group), cell(1)).unwrap());
            }
        });
        let all = Results::open(folder.path(), &model(0.1)).unwrap();
        assert!(groups.iter().all(|group| all.cell(&key(group)).is_some()));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_found_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let mut results = Results::open(folder.path(), &model(0.1)).unwrap();
        results.check_writable().unwrap();
        // Not by a permission, because tests may run as root.
        std::fs::remove_file(folder.path().join(LOCK)).unwrap();
        std::fs::create_dir(folder.path().join(LOCK)).unwrap();
        assert!(results.check_writable().unwrap_err().to_string().contains(LOCK));
    }

    #[test]
    fn a_damaged_file_is_named_and_an_old_one_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let write = |text: &str| std::fs::write(folder.path().join(FILE), text).unwrap();
        let message = || Results::open(folder.path(), &model(0.1)).unwrap_err().to_string();
        write("{");
        assert!(message().contains("benchmark.json") && message().contains("remove it"), "{}", message());
        write(r#"{ "version": 99 }"#);
        assert!(message().contains("version 99"), "{}", message());
        write(r#"{ "version": 1, "cells": { "test 2p 10": { "rows": 1 } } }"#);
        assert!(Results::open(folder.path(), &model(0.1)).unwrap().tuned(Family::Best).is_none());
    }
}
