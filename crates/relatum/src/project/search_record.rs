//! The search for a model's recipe on disk, `models/NAME/search.json`: what was tried, so that a search that was
//! stopped or killed goes on, and what was chosen.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Checkpoint, ModelFolder, Project};
use crate::store::{StoreError, write_atomically};
use crate::train::{GivenSettings, Open, Recipe, RecipeTrial, Settings, TrainError};

/// A search as far as it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRecord {
    version: u32,
    fingerprint: String,
    /// The settings that were given, which the search does not change.
    pub given: GivenSettings,
    /// The settings of the final run if nothing were searched.
    pub plain: Settings,
    /// The work that all trials may cost together, as a share of the final run's.
    pub share: f64,
    /// The trials that are done.
    pub trials: Vec<RecipeTrial>,
    /// What the search has found, once it is over.
    pub chosen: Option<Recipe>,
    checksum: String,
}

const VERSION: u32 = 1;
const FILE: &str = "search.json";

impl SearchRecord {
    /// A search that is about to begin.
    pub fn new(project: &Project, given: GivenSettings, plain: Settings, share: f64) -> Self {
        let (fingerprint, checksum) = (project.manifest().fingerprint.clone(), String::new());
        Self {
            version: VERSION,
            fingerprint,
            given,
            plain,
            share,
            trials: Vec::new(),
            chosen: None,
            checksum,
        }
    }

    /// Which settings are searched.
    pub fn open(&self) -> Open {
        Open::of(&self.given, &self.plain)
    }

    /// The settings of the final run, once the search is over.
    pub fn settings(&self) -> Option<Settings> {
        self.chosen.map(|recipe| recipe.over(self.plain.clone()))
    }

    /// How far it has come, in words.
    pub fn position(&self) -> String {
        match (self.chosen, self.trials.len()) {
            (Some(_), _) => "at the end of its search for settings".to_owned(),
            (None, 1) => "after one trial of its search for settings".to_owned(),
            (None, trials) => format!("after {trials} trials of its search for settings"),
        }
    }

    /// Reads the search of a model, if there is one.
    pub fn read(project: &Project, folder: &ModelFolder) -> Result<Option<Self>, TrainError> {
        let Some(record) = Self::read_any(folder)? else { return Ok(None) };
        let own = &project.manifest().fingerprint;
        if record.fingerprint != *own {
            return Err(TrainError::Checkpoint(format!(
                "its search was made on a graph with fingerprint {}, this graph has {own}",
                record.fingerprint
            )));
        }
        Ok(Some(record))
    }

    /// The search of a model whose final run has not begun: the search is not over, or there is no checkpoint of a
    /// run with what was chosen.
    pub fn pending(project: &Project, folder: &ModelFolder) -> Result<Option<Self>, TrainError> {
        let Some(record) = Self::read(project, folder)? else { return Ok(None) };
        let Some(chosen) = record.settings() else { return Ok(Some(record)) };
        let begun = Checkpoint::read(project, folder)?.is_some_and(|checkpoint| {
            let Settings { epochs, cool_down, .. } = chosen;
            Settings { epochs, cool_down, ..checkpoint.settings } == chosen
        });
        Ok((!begun).then_some(record))
    }

    /// Checks the file of a model's search. Returns whether there is one.
    pub fn check(folder: &ModelFolder) -> Result<bool, StoreError> {
        Ok(Self::read_any(folder)?.is_some())
    }

    /// Writes it, whole or not at all.
    pub fn write(&mut self, folder: &ModelFolder) -> Result<(), StoreError> {
        fs::create_dir_all(folder.dir()).map_err(StoreError::io("create", folder.dir()))?;
        self.checksum = self.own_checksum();
        // Numbers and strings only: there is nothing that could fail.
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        write_atomically(&Self::file(folder), |file| writeln!(file, "{text}"))
    }

    /// Removes the search of a model, if there is one: another run takes its place.
    pub fn remove(folder: &ModelFolder) -> Result<(), StoreError> {
        let path = Self::file(folder);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }

    fn file(folder: &ModelFolder) -> PathBuf {
        folder.dir().join(FILE)
    }

    fn read_any(folder: &ModelFolder) -> Result<Option<Self>, StoreError> {
        let path = Self::file(folder);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(StoreError::io("read", &path))?,
        };
        let damaged = |error| StoreError::damaged(&path, format!("it cannot be read ({error})"));
        let Head { version } = serde_json::from_str(&text).map_err(damaged)?;
        if version > VERSION {
            return Err(StoreError::Newer { path, found: version, known: VERSION });
        }
        let record: Self = serde_json::from_str(&text).map_err(damaged)?;
        if record.checksum != record.own_checksum() {
            return Err(StoreError::damaged(&path, "its content does not match its checksum"));
        }
        Ok(Some(record))
    }

    fn own_checksum(&self) -> String {
        let unsealed = Self { checksum: String::new(), ..self.clone() };
        format!("{:016x}", xxh3_64(&serde_json::to_vec(&unsealed).unwrap_or_default()))
    }
}

/// What every version of the file has.
#[derive(Deserialize)]
struct Head {
    version: u32,
}
