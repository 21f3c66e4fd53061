//! `relatum.json`: what a project holds, in words that a person can read.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::store::{CONTAINER_VERSION as VERSION, Seal, StoreError, write_atomically};

pub(crate) const MANIFEST: &str = "relatum.json";
const FORMAT: &str = "relatum project";

/// The content of a project's manifest. It is written last, so if it is there, so is the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: String,
    version: u32,
    /// The Relatum that made the project.
    pub made_by: String,
    /// Where the graph came from, in the order in which it was read.
    pub sources: Vec<Source>,
    /// How many entities, relations and edges there are.
    pub counts: Counts,
    /// Identifies names, ids and training edges; a model belongs to one fingerprint.
    pub fingerprint: String,
    pub(crate) prefixes: BTreeMap<String, String>,
    pub(crate) files: BTreeMap<String, FileSeal>,
    /// XXH3 of this file with this field empty.
    checksum: String,
}

/// One file or folder that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its name as it was given.
    pub name: String,
    /// How it was read: `TSV`, `Turtle`, `Query2Box folder`, …
    pub format: String,
    /// The split that its triples went to, if they all went to one.
    pub split: Option<String>,
    /// How many triples it gave.
    pub triples: u64,
}

/// How many entities, relations and edges there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Entities.
    pub entities: u64,
    /// Relations.
    pub relations: u64,
    /// Edges of the training split.
    pub train: u64,
    /// Edges of the validation split.
    pub valid: u64,
    /// Edges of the test split.
    pub test: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileSeal {
    pub(crate) bytes: u64,
    pub(crate) checksum: String,
}

impl From<Seal> for FileSeal {
    fn from(seal: Seal) -> Self {
        Self { bytes: seal.bytes, checksum: hex(seal.checksum) }
    }
}

impl Manifest {
    pub(crate) fn new(
        sources: Vec<Source>,
        counts: Counts,
        prefixes: BTreeMap<String, String>,
        files: BTreeMap<String, FileSeal>,
        fingerprint: u64,
    ) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            made_by: format!("relatum {}", env!("CARGO_PKG_VERSION")),
            sources,
            counts,
            fingerprint: hex(fingerprint),
            prefixes,
            files,
            checksum: String::new(),
        }
    }

    pub(crate) fn write(mut self, dir: &Path) -> Result<Self, StoreError> {
        self.checksum = self.own_checksum();
        let text = self.text();
        write_atomically(&dir.join(MANIFEST), |file| file.write_all(text.as_bytes()))?;
        Ok(self)
    }

    pub(crate) fn read(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(MANIFEST);
        let bytes = fs::read(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                StoreError::NotAProject { dir: dir.to_owned(), manifest: MANIFEST }
            }
            _ => StoreError::io("read", &path)(error),
        })?;
        // Version first: a newer manifest may have a form that does not parse as ours.
        let head: Head = serde_json::from_slice(&bytes).map_err(|error| not_ours(&path, &error))?;
        if head.format != FORMAT {
            let found = format!("format '{}'", head.format);
            return Err(StoreError::Foreign { path, expected: FORMAT.to_owned(), found });
        }
        if head.version > VERSION {
            return Err(StoreError::Newer { path, found: head.version, known: VERSION });
        }
        let manifest: Self = serde_json::from_slice(&bytes).map_err(|error| not_ours(&path, &error))?;
        if manifest.checksum != manifest.own_checksum() {
            return Err(StoreError::damaged(&path, "it does not match its checksum"));
        }
        Ok(manifest)
    }

    fn own_checksum(&self) -> String {
        let unsealed = Self { checksum: String::new(), ..self.clone() };
        hex(xxh3_64(unsealed.text().as_bytes()))
    }

    fn text(&self) -> String {
        let json = serde_json::to_string_pretty(self);
        // Strings, numbers and maps with string keys only: there is nothing that could fail.
        json.unwrap_or_default() + "\n"
    }
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

fn not_ours(path: &Path, error: &serde_json::Error) -> StoreError {
    StoreError::damaged(path, format!("it is not a manifest ({error})"))
}

fn hex(number: u64) -> String {
    format!("{number:016x}")
}
