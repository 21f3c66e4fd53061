//! What the two kinds of benchmark folders have in common: counts, names, edges that stand in
//! both directions, queries with their answers.

mod error;
mod mates;
mod names;
mod queries;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::path::{Path, PathBuf};

pub use error::FolderError;

pub(super) use queries::{Draft, Keys, collect};

use crate::benchmark::{QuerySet, Role, Skeleton};
use crate::graph::{EntityId, GraphBuilder, RelationId, Split};
use crate::import::pickle::{self, Item, Items, Pickle, Policy};

/// A benchmark folder: its graph and its queries. Ids are those of the files.
pub struct BenchmarkFolder {
    /// Names, edges of all splits, pairs of inverse relations.
    pub builder: GraphBuilder,
    /// Queries whose hard answers need an edge of valid.
    pub valid: Option<QuerySet>,
    /// Queries whose hard answers need an edge of test.
    pub test: Option<QuerySet>,
    /// What a person may want to know about the files.
    pub report: FolderReport,
}

/// Irregularities of a benchmark folder that did not keep it from being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderReport {
    /// Edges along relation 2i without the edge back along 2i + 1 in the same split, or the other
    /// way round. In these files every edge should stand in both directions; if many do not, the
    /// relations are perhaps not pairs at all.
    pub without_mate: usize,
    /// Entities that had the name of an earlier one and got ` (2)`, ` (3)`, … behind it, so that
    /// every name means one entity.
    pub renamed_entities: usize,
    /// The same for relations.
    pub renamed_relations: usize,
    /// Queries that a list holds more than once; they are kept once.
    pub repeated_queries: usize,
    /// Answers to queries that no list asks; they are left out.
    pub unasked_answers: usize,
}

/// A folder that is being read.
pub(super) struct Folder<'a> {
    dir: &'a Path,
    progress: &'a dyn Fn(&str),
    entities: usize,
    relations: usize,
    /// How many more items of sets and lists may be taken from the pickle that was read last.
    items_left: Cell<u64>,
    pub(super) builder: GraphBuilder,
    pub(super) report: FolderReport,
}

/// How many items may be taken for each byte of a pickle. In files that picklers write, each item takes a byte
/// or more; in a hostile file a thousand queries may share one set of a million answers.
const ITEMS_A_BYTE: u64 = 8;

impl<'a> Folder<'a> {
    /// Reads counts and names, and pairs the relations.
    pub(super) fn open(
        dir: &'a Path,
        progress: &'a dyn Fn(&str),
        [entity_names, relation_names]: [&str; 2],
    ) -> Result<Self, FolderError> {
        let mut folder = Self {
            dir,
            progress,
            entities: 0,
            relations: 0,
            items_left: Cell::new(0),
            builder: GraphBuilder::default(),
            report: FolderReport::default(),
        };
        folder.read_names(entity_names, relation_names)?;
        if !folder.relations.is_multiple_of(2) {
            return Err(FolderError::OddRelations { path: dir.to_owned(), count: folder.relations });
        }
        for even in (0..folder.relations as u32).step_by(2) {
            folder.builder.pair(RelationId(even), RelationId(even + 1));
        }
        Ok(folder)
    }

    /// Counts the edges without a mate and hands everything over.
    pub(super) fn finish(mut self, valid: Option<QuerySet>, test: Option<QuerySet>) -> BenchmarkFolder {
        for split in Split::ALL {
            self.report.without_mate += mates::without_mate(self.builder.triples_mut(split));
        }
        BenchmarkFolder { builder: self.builder, valid, test, report: self.report }
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.dir.join(file)
    }

    pub(super) fn has(&self, file: &str) -> bool {
        self.path(file).is_file()
    }

    /// Fails if a file is not there that another one needs.
    pub(super) fn require(&self, file: &str, because: &str) -> Result<(), FolderError> {
        if self.has(file) {
            return Ok(());
        }
        Err(FolderError::Missing { path: self.path(file), because: because.to_owned() })
    }

    pub(super) fn bytes(&self, file: &str) -> Result<Vec<u8>, FolderError> {
        (self.progress)(&format!("reading {file}"));
        let path = self.path(file);
        std::fs::read(&path).map_err(|source| FolderError::Io { path, source })
    }

    pub(super) fn pickle(&self, file: &str) -> Result<Pickle, FolderError> {
        let bytes = self.bytes(file)?;
        self.items_left.set(ITEMS_A_BYTE * bytes.len() as u64);
        pickle::read(&bytes, Policy::Data)
            .map_err(|source| FolderError::Pickle { path: self.path(file), source })
    }

    /// Counts so many items, or characters of names, as taken from the pickle that was read last.
    pub(super) fn pay(&self, count: usize, file: &str) -> Result<(), FolderError> {
        let left = self.items_left.get().checked_sub(count as u64);
        self.items_left.set(left.ok_or_else(|| FolderError::TooManyCopies { path: self.path(file) })?);
        Ok(())
    }

    /// The numbers of a query that has the given form, checked.
    pub(super) fn query(
        &self,
        item: Item<'_>,
        form: &Skeleton,
        roles: &[Role],
        arguments: &mut Vec<u32>,
        file: &str,
    ) -> Result<(), FolderError> {
        if !queries::matches(form, item, arguments) {
            return Err(self.malformed(file, format!("queries of the form {form}"), item));
        }
        for (&role, &id) in roles.iter().zip(arguments.iter()) {
            self.check(role, id, file, || format!("the query {item}"))?;
        }
        Ok(())
    }

    /// The answers to a query: a set, in some files a list.
    pub(super) fn answers<'p>(
        &self,
        value: Item<'p>,
        file: &str,
        query: Item<'_>,
    ) -> Result<Items<'p>, FolderError> {
        let answers = value
            .as_set()
            .or_else(|| value.as_list())
            .ok_or_else(|| self.malformed(file, format!("a set of answers to the query {query}"), value))?;
        self.pay(answers.len(), file)?;
        Ok(answers)
    }

    /// The id of an answer.
    pub(super) fn answer(
        &self,
        item: Item<'_>,
        file: &str,
        query: Item<'_>,
    ) -> Result<EntityId, FolderError> {
        let id = item.as_int().and_then(|int| u32::try_from(int).ok());
        let id = id.ok_or_else(|| {
            self.malformed(file, format!("ids of entities as answers to the query {query}"), item)
        })?;
        self.check(Role::Entity, id, file, || format!("an answer to the query {query}"))?;
        Ok(EntityId(id))
    }

    /// Checks an id against the number of entities or relations.
    pub(super) fn check(
        &self,
        role: Role,
        id: u32,
        file: &str,
        place: impl Fn() -> String,
    ) -> Result<(), FolderError> {
        let (kind, count) = match role {
            Role::Entity => ("entity", self.entities),
            Role::Relation => ("relation", self.relations),
        };
        if (id as usize) < count {
            return Ok(());
        }
        Err(FolderError::OutOfRange { path: self.path(file), place: place(), kind, id, count })
    }

    pub(super) fn malformed(&self, file: &str, expected: impl Into<String>, found: Item<'_>) -> FolderError {
        let (expected, found) = (expected.into(), found.to_string());
        FolderError::Malformed { path: self.path(file), expected, found }
    }
}
