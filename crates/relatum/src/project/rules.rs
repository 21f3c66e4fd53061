//! Rules on disk: one file for each name, in the project's `rules/`.
//!
//! ```text
//! rules/default.rules           a card, the rules, and the strongest rule of each one's cluster
//! models/NAME/rules.json        how much the default rules count beside the model NAME
//! models/NAME/rules-OTHER.json  the same for the rules OTHER
//! ```

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{ModelFolder, Project};
use crate::model::rules::{RuleCard, RuleError, RuleSet};
use crate::model::{Card, Reciprocals};
use crate::store::{MappedFile, StoreError, write_atomically, write_sections};
use crate::train::rules::RuleWeights;

const KIND: &str = "rules";

/// The place of rules in a project.
#[derive(Clone, Debug)]
pub struct RuleFolder {
    dir: PathBuf,
    project: PathBuf,
    name: String,
}

/// Rules as they are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRules {
    /// The rules, in their clusters.
    pub set: RuleSet,
    /// What they say of themselves.
    pub card: RuleCard,
    /// The checksum of the file.
    pub checksum: u64,
}

/// Rules taken for one process, until this is dropped.
#[derive(Debug)]
#[must_use = "the rules are free again when this is dropped"]
pub struct RuleLock {
    #[allow(dead_code, reason = "held open, never read")]
    file: File,
    path: PathBuf,
}

impl Drop for RuleLock {
    fn drop(&mut self) {
        // The name goes before the lock: who gets the lock later finds that its file is gone.
        let _ = fs::remove_file(&self.path);
        if let Some(dir) = self.path.parent() {
            // Only where nothing else is in it.
            let _ = fs::remove_dir(dir);
        }
    }
}

impl RuleFolder {
    /// The name of the rules that are taken when none are named.
    pub const DEFAULT: &'static str = "default";

    /// The place of rules, whether there are any or not.
    pub fn of(project: &Project, name: &str) -> Result<Self, RuleError> {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            return Err(RuleError::Name(name.to_owned()));
        }
        let project = project.dir().to_owned();
        Ok(Self { dir: project.join("rules"), project, name: name.to_owned() })
    }

    /// The names of the rules that a project has, in order.
    pub fn list(project: &Project) -> Vec<String> {
        rules_in(project.dir())
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file.
    pub fn file(&self) -> PathBuf {
        self.dir.join(format!("{}.rules", self.name))
    }

    /// Whether there are such rules.
    pub fn exists(&self) -> bool {
        self.file().exists()
    }

    /// Takes the rules for this process alone.
    pub fn lock(&self) -> Result<RuleLock, RuleError> {
        fs::create_dir_all(&self.dir).map_err(StoreError::io("create", &self.dir))?;
        let path = self.dir.join(format!(".{}.lock", self.name));
        let file = File::create(&path).map_err(StoreError::io("create", &path))?;
        match file.try_lock() {
            Ok(()) if !path.exists() => Err(RuleError::Busy(self.name.clone())),
            Ok(()) => Ok(RuleLock { file, path }),
            Err(TryLockError::WouldBlock) => Err(RuleError::Busy(self.name.clone())),
            Err(TryLockError::Error(error)) => Err(StoreError::io("lock", &path)(error).into()),
        }
    }

    /// Writes rules, whole or not at all.
    pub fn save(&self, set: &RuleSet, card: &RuleCard) -> Result<(), RuleError> {
        fs::create_dir_all(&self.dir).map_err(StoreError::io("create", &self.dir))?;
        let text = serde_json::to_vec_pretty(card).unwrap_or_default();
        let words = set.words();
        let sections: [&[u8]; 3] =
            [&text, bytemuck::cast_slice(words.as_slice()), bytemuck::cast_slice(set.leaders())];
        write_sections(&self.file(), KIND, &sections)?;
        Ok(())
    }

    /// Reads rules and makes sure that they are about the project's graph.
    pub fn load(&self, project: &Project) -> Result<StoredRules, RuleError> {
        self.must_exist()?;
        let damaged = |file, what| {
            let (name, dir) = (self.name.clone(), self.project.clone());
            RuleError::Damaged { name, dir, file, what }
        };
        // What the store says of any file does not help against damaged rules.
        self.read(project).map_err(|error| match error {
            RuleError::Store(StoreError::Damaged { path, what }) => damaged(path, what),
            RuleError::Store(StoreError::Foreign { path, found, .. }) => {
                damaged(path, format!("it begins with {found}, and not as a file of rules does"))
            }
            error => error,
        })
    }

    fn read(&self, project: &Project) -> Result<StoredRules, RuleError> {
        let path = self.file();
        let file = MappedFile::open(&path, KIND)?;
        // Every rule is read now anyway.
        file.verify()?;
        let damaged = |what: &str| StoreError::damaged(&path, what);
        let card = file.column::<u8>(0)?;
        let card: RuleCard = serde_json::from_slice(&card)
            .map_err(|error| damaged(&format!("its card cannot be read ({error})")))?;
        if card.version > RuleCard::VERSION {
            let (found, known) = (card.version, RuleCard::VERSION);
            return Err(StoreError::Newer { path, found, known }.into());
        }
        let ours = &project.manifest().fingerprint;
        if card.fingerprint != *ours {
            return Err(RuleError::OtherGraph {
                name: self.name.clone(),
                dir: self.project.clone(),
                theirs: card.fingerprint,
                ours: ours.clone(),
            });
        }
        let (words, leaders) = (file.column(1)?, file.column::<u32>(2)?);
        let graph = project.graph();
        let relations = Reciprocals::of(graph).len();
        let set = RuleSet::from_words(&words, leaders.to_vec(), graph.entities.len(), relations);
        let set = set.ok_or_else(|| damaged("it holds something that is no rule of this graph"))?;
        Ok(StoredRules { set, card, checksum: file.seal.checksum })
    }

    /// Removes the rules, and before them what the models say of how much they count.
    pub fn delete(&self, project: &Project) -> Result<(), RuleError> {
        self.must_exist()?;
        let _lock = self.lock()?;
        let weights = ModelFolder::all(project).into_iter().map(|model| weights_file(&model, &self.name));
        for path in weights.filter(|path| path.exists()).chain([self.file()]) {
            fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
        }
        Ok(())
    }

    fn must_exist(&self) -> Result<(), RuleError> {
        if self.exists() {
            return Ok(());
        }
        let (name, dir) = (self.name.clone(), self.project.clone());
        Err(RuleError::Missing { name, dir, there: rules_in(&self.project) })
    }
}

fn rules_in(project: &Path) -> Vec<String> {
    let entries = fs::read_dir(project.join("rules")).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let names = names.filter_map(|name| name.strip_suffix(".rules").map(str::to_owned));
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort_unstable();
    names
}

/// What a model's folder says about rules.
#[derive(Serialize, Deserialize)]
struct SavedWeights {
    format: String,
    version: u32,
    /// The checksum of the file of rules, and the hash of the model's card: weights of others do not count.
    rules: String,
    model: String,
    #[serde(flatten)]
    weights: RuleWeights,
}

const FORMAT: &str = "relatum rule weights";
/// Weights of version 1 were those of another way to join rules with a predictor: they are learned again.
const VERSION: u32 = 2;

fn card_print(card: &Card) -> String {
    format!("{:016x}", xxh3_64(&serde_json::to_vec(card).unwrap_or_default()))
}

/// The file in which a model's folder keeps how much the rules of a name count.
fn weights_file(folder: &ModelFolder, rules: &str) -> PathBuf {
    let own = if rules == RuleFolder::DEFAULT { String::new() } else { format!("-{rules}") };
    folder.dir().join(format!("rules{own}.json"))
}

/// Keeps how much rules, given by their name and checksum, count beside a model.
pub fn save_weights(
    folder: &ModelFolder,
    card: &Card,
    (name, checksum): (&str, u64),
    weights: &RuleWeights,
) -> Result<(), StoreError> {
    let saved = SavedWeights {
        format: FORMAT.to_owned(),
        version: VERSION,
        rules: format!("{checksum:016x}"),
        model: card_print(card),
        weights: weights.clone(),
    };
    let text = serde_json::to_string_pretty(&saved).unwrap_or_default();
    write_atomically(&weights_file(folder, name), |file| writeln!(file, "{text}"))
}

/// The files in which a model's folder keeps how much rules count, by name, each with what is wrong with it.
pub fn check_weights(folder: &ModelFolder) -> Vec<(String, Result<(), StoreError>)> {
    let entries = fs::read_dir(folder.dir()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_weights = |name: &String| {
        let own = name.strip_prefix("rules").and_then(|rest| rest.strip_suffix(".json"));
        own.is_some_and(|own| own.is_empty() || own.starts_with('-'))
    };
    let mut names: Vec<String> = names.filter(is_weights).collect();
    // A model whose header cannot be read is found when the model itself is checked.
    let card = folder.glance().ok().map(|glance| glance.card);
    names.sort_unstable();
    let check = |name: String| {
        let outcome = check_weights_file(&folder.dir().join(&name), card.as_ref());
        (name, outcome)
    };
    names.into_iter().map(check).collect()
}

fn check_weights_file(path: &Path, card: Option<&Card>) -> Result<(), StoreError> {
    let text = fs::read_to_string(path).map_err(StoreError::io("read", path))?;
    let damaged = |what: String| {
        StoreError::damaged(path, format!("{what}; remove it, and learn the weights of the rules again"))
    };
    let saved: SavedWeights = serde_json::from_str(&text)
        .map_err(|error| damaged(format!("it does not hold weights of rules ({error})")))?;
    if saved.format != FORMAT {
        return Err(damaged(format!("expected the format `{FORMAT}`, found `{}`", saved.format)));
    }
    let found = saved.weights.weights.len();
    // Weights of another model or an older version do not count: they are learned again.
    let counts = |card: &&Card| saved.version == VERSION && saved.model == card_print(card);
    match card.filter(counts).map(|card| card.relations) {
        Some(relations) if found != relations => {
            let what = format!("expected a weight for each of {relations} relations, found {found}");
            return Err(damaged(what));
        }
        _ => {}
    }
    match saved.weights.weights.iter().find(|weight| !is_weight(**weight)) {
        Some(weight) => Err(damaged(format!("expected weights from 0 to 1, found {weight}"))),
        None => Ok(()),
    }
}

fn is_weight(weight: f32) -> bool {
    (0.0..=1.0).contains(&weight)
}

/// How much these rules count beside this model, where that was learned.
pub fn load_weights(folder: &ModelFolder, card: &Card, (name, checksum): (&str, u64)) -> Option<RuleWeights> {
    let text = fs::read_to_string(weights_file(folder, name)).ok()?;
    // What cannot be read is learned again; there is a default until then.
    let saved: SavedWeights = serde_json::from_str(&text).ok()?;
    let fits = saved.format == FORMAT
        && saved.version == VERSION
        && saved.rules == format!("{checksum:016x}")
        && saved.model == card_print(card);
    let good = saved.weights.weights.len() == card.relations
        && saved.weights.weights.iter().all(|weight| is_weight(*weight));
    (fits && good).then_some(saved.weights)
}
