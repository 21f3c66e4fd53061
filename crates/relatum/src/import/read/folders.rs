//! Folders that are read as a whole: the two benchmark forms, and plain files for each split.

use std::path::{Path, PathBuf};

use super::{BenchmarkFolder, FolderError, betae, query2box};
use crate::graph::Split;

/// A benchmark folder that is recognised by its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `train_ans_1c.pkl`, `valid_triples_2i.pkl`, …
    Query2Box,
    /// `train.txt`, `valid-queries.pkl`, …
    BetaE,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Query2Box => "Query2Box folder",
            Self::BetaE => "BetaE folder",
        })
    }
}

/// Which benchmark a folder holds, if any.
pub fn recognise(dir: &Path) -> Option<Kind> {
    if query2box::recognise(dir) {
        return Some(Kind::Query2Box);
    }
    betae::recognise(dir).then_some(Kind::BetaE)
}

/// Reads a benchmark folder; `progress` is told each file as its turn comes.
pub fn read(kind: Kind, dir: &Path, progress: &dyn Fn(&str)) -> Result<BenchmarkFolder, FolderError> {
    match kind {
        Kind::Query2Box => query2box::read(dir, progress),
        Kind::BetaE => betae::read(dir, progress),
    }
}

/// The files `train.*`, `valid.*` (or `dev.*`, `validation.*`) and `test.*` of a folder, if it
/// has a training file.
pub fn split_files(dir: &Path) -> Option<Vec<(Split, PathBuf)>> {
    let mut found: Vec<(Split, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(dir).ok()?.flatten() {
        let name = entry.file_name();
        let Some((stem, format)) = name.to_str().map(|name| name.split_once('.').unwrap_or((name, "")))
        else {
            continue;
        };
        let known = ["", "txt", "tsv", "csv", "nt", "ttl", "nq", "trig", "rdf", "owl", "jsonld"];
        let bare = format.strip_suffix(".gz").or_else(|| format.strip_suffix(".zst")).unwrap_or(format);
        if !entry.path().is_file() || !known.contains(&bare.to_ascii_lowercase().as_str()) {
            continue;
        }
        let split = match stem.to_ascii_lowercase().as_str() {
            "train" => Split::Train,
            "valid" | "validation" | "dev" => Split::Valid,
            "test" => Split::Test,
            _ => continue,
        };
        found.push((split, entry.path()));
    }
    // The order of a directory is not the same on every machine.
    found.sort();
    found.iter().any(|(split, _)| *split == Split::Train).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_splits_are_found_in_their_order() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["test.txt", "dev.tsv.gz", "train.txt", "entities.dict", "test.py", "train.tsv.bak"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let found = split_files(dir.path()).unwrap();
        let names: Vec<_> =
            found.iter().map(|(split, path)| (*split, path.file_name().unwrap().to_str().unwrap())).collect();
        assert_eq!(
            names,
            [(Split::Train, "train.txt"), (Split::Valid, "dev.tsv.gz"), (Split::Test, "test.txt")]
        );
        std::fs::remove_file(dir.path().join("train.txt")).unwrap();
        assert_eq!(split_files(dir.path()), None);
    }
}
