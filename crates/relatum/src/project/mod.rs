//! A project: one folder that holds a graph and all that is made from it.
//!
//! ```text
//! relatum.json            the manifest, written last
//! graph/entities.dict     names, labels, and their sorted orders
//! graph/relations.dict
//! graph/inverses.pairs    which relations are inverses of each other
//! graph/train.edges       adjacency in both directions, one file for each split
//! queries/valid.queries   benchmark queries with their answers, where there were any
//! models/                 trained link predictors
//! baselines/              trained GQE and Query2Box
//! rules/                  mined or imported rules
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

mod baseline;
mod chart;
mod check;
mod check_model;
mod checkpoint;
mod manifest;
mod models;
mod queries;
mod results;
mod rules;
mod run;
mod search_record;

pub use baseline::{
    BaselineCard, BaselineCheckpoint, BaselineFolder, BaselineRun, VALIDATED, baseline_print,
};
pub use checkpoint::Checkpoint;
pub use manifest::{Counts, Manifest, Source};
pub(crate) use models::{CALIBRATION, FITTED};
pub use models::{Glance, ModelFolder, ModelLock, write_model};
pub use results::{CellKey, Forgotten, Results};
pub use rules::{RuleFolder, RuleLock, StoredRules, check_weights, load_weights, save_weights};
pub use run::{EndsAfter, EpochRecord, Outcome, Run};
pub use search_record::SearchRecord;

use self::manifest::FileSeal;
use crate::benchmark::QuerySet;
use crate::column::Column;
use crate::graph::{Adjacency, Dictionary, Edges, Graph, Id, Inverses, Prefixes, RelationId, Split, Texts};
use crate::store::{MappedFile, Seal, Staging, StoreError, sync_folder, write_sections};

pub(crate) const ENTITIES: &str = "graph/entities.dict";
pub(crate) const RELATIONS: &str = "graph/relations.dict";
pub(crate) const INVERSES: &str = "graph/inverses.pairs";

/// The benchmark queries of the validation and test splits, where there are any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queries {
    /// Queries to tune on.
    pub valid: Option<QuerySet>,
    /// Queries to report on.
    pub test: Option<QuerySet>,
}

impl Queries {
    /// The queries of a split; training has none.
    pub fn of(&self, split: Split) -> Option<&QuerySet> {
        match split {
            Split::Train => None,
            Split::Valid => self.valid.as_ref(),
            Split::Test => self.test.as_ref(),
        }
    }

    pub(crate) fn slot(&mut self, split: Split) -> Option<&mut Option<QuerySet>> {
        match split {
            Split::Train => None,
            Split::Valid => Some(&mut self.valid),
            Split::Test => Some(&mut self.test),
        }
    }
}

/// An open project. Everything in it is mapped: opening reads headers only.
#[derive(Debug)]
pub struct Project {
    dir: PathBuf,
    manifest: Manifest,
    graph: Graph,
    queries: Queries,
}

impl Project {
    /// Writes a new project into a folder begun with [`Staging::begin`], and gives it its name.
    pub fn create(
        staging: Staging,
        graph: &Graph,
        queries: &Queries,
        sources: Vec<Source>,
    ) -> Result<(), StoreError> {
        let dir = staging.path();
        for folder in ["graph", "queries", "models"] {
            fs::create_dir(dir.join(folder)).map_err(StoreError::io("create", &dir.join(folder)))?;
        }
        // Files are written side by side: while one waits for the disk, another is summed.
        let seals: Vec<(String, Seal)> =
            pieces(graph, queries).into_par_iter().map(|piece| piece.write(dir)).collect::<Result<_, _>>()?;
        let fingerprint = fingerprint(&seals);
        let files: BTreeMap<String, FileSeal> =
            seals.into_iter().map(|(name, seal)| (name, seal.into())).collect();
        let prefixes =
            graph.prefixes.iter().map(|(prefix, iri)| (prefix.to_owned(), iri.to_owned())).collect();
        Manifest::new(sources, counts(graph), prefixes, files, fingerprint).write(dir)?;
        for folder in ["graph", "queries", "models"] {
            sync_folder(&dir.join(folder))?;
        }
        staging.finish()
    }

    /// Opens a project. This takes the same time for every size of the graph.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let manifest = Manifest::read(dir)?;
        let entities = open_dictionary(&sealed(dir, &manifest, ENTITIES, "dict")?)?;
        let relations = open_dictionary(&sealed(dir, &manifest, RELATIONS, "dict")?)?;
        let inverses =
            open_inverses(&sealed(dir, &manifest, INVERSES, "pairs")?, relations.len(), &dir.join(INVERSES))?;
        let mut edges: [Edges; 3] = Default::default();
        let mut stored_queries = Queries::default();
        for split in Split::ALL {
            edges[split as usize] = open_edges(&sealed(dir, &manifest, &edges_name(split), "edges")?)?;
            if let Some(slot) = stored_queries.slot(split)
                && let Some(name) = queries_file(&manifest, split)
            {
                let file = sealed(dir, &manifest, name, queries::KIND)?;
                *slot = Some(queries::open(&file, &dir.join(name))?);
            }
        }
        let mut prefixes = Prefixes::default();
        for (prefix, iri) in &manifest.prefixes {
            prefixes.insert(prefix, iri);
        }
        let graph = Graph { entities, relations, inverses, prefixes, edges, ..Graph::default() };
        if counts(&graph) != manifest.counts {
            let what = format!("it counts {:?}, but the files hold {:?}", manifest.counts, counts(&graph));
            return Err(StoreError::damaged(&dir.join(manifest::MANIFEST), what));
        }
        Ok(Self { dir: dir.to_owned(), manifest, graph, queries: stored_queries })
    }

    /// Replaces the queries of a project, for the splits that are given; other splits keep theirs.
    ///
    /// The new files stand beside the old ones until the manifest names them, so if the process dies, the
    /// project has either its old queries or its new ones.
    pub fn replace_queries(dir: &Path, queries: &Queries) -> Result<(), StoreError> {
        let _lock = lock_queries(dir)?;
        let mut manifest = Manifest::read(dir)?;
        let mut old = Vec::new();
        for split in Split::ALL {
            let Some(set) = queries.of(split) else { continue };
            let now = queries_file(&manifest, split).map(str::to_owned);
            let name = match &now {
                Some(name) if *name == queries_name(split) => other_queries_name(split),
                _ => queries_name(split),
            };
            let piece = Piece { name, kind: queries::KIND, sections: queries::sections(set) };
            let (name, seal) = piece.write(dir)?;
            if let Some(now) = now {
                manifest.files.remove(&now);
                old.push(now);
            }
            manifest.files.insert(name, seal.into());
        }
        manifest.write(dir)?;
        for name in old {
            // If this fails, the old file stays, but the manifest no longer names it.
            let _ = fs::remove_file(dir.join(name));
        }
        Ok(())
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What the folder says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The benchmark queries.
    pub fn queries(&self) -> &Queries {
        &self.queries
    }
}

/// Locks the queries while they are replaced. A killed process leaves the lock file, but not the lock.
fn lock_queries(dir: &Path) -> Result<fs::File, StoreError> {
    let path = dir.join("queries/.lock");
    let lock = fs::File::create(&path).map_err(StoreError::io("create", &path))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(fs::TryLockError::WouldBlock) => Err(StoreError::Busy(dir.join("queries"))),
        Err(fs::TryLockError::Error(source)) => Err(StoreError::io("lock", &path)(source)),
    }
}

/// One file to be written: its name, kind, and sections.
struct Piece<'a> {
    name: String,
    kind: &'static str,
    sections: Vec<std::borrow::Cow<'a, [u8]>>,
}

impl Piece<'_> {
    fn write(self, dir: &Path) -> Result<(String, Seal), StoreError> {
        let sections: Vec<&[u8]> = self.sections.iter().map(AsRef::as_ref).collect();
        let seal = write_sections(&dir.join(&self.name), self.kind, &sections)?;
        Ok((self.name, seal))
    }
}

fn pieces<'a>(graph: &'a Graph, queries: &'a Queries) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    for split in Split::ALL {
        let edges = graph.edges(split);
        let sections = [&edges.outgoing, &edges.incoming].into_iter().flat_map(|adjacency| {
            [bytemuck::cast_slice(&adjacency.offsets), bytemuck::cast_slice(&adjacency.arcs)]
        });
        let sections = sections.map(Into::into).collect();
        pieces.push(Piece { name: edges_name(split), kind: "edges", sections });
        if let Some(set) = queries.of(split) {
            let sections = queries::sections(set);
            pieces.push(Piece { name: queries_name(split), kind: queries::KIND, sections });
        }
    }
    pieces.push(dictionary_piece(ENTITIES, &graph.entities));
    pieces.push(dictionary_piece(RELATIONS, &graph.relations));
    let pairs: Vec<[RelationId; 2]> = graph.inverses.pairs().map(|(a, b)| [a, b]).collect();
    let pairs = bytemuck::cast_slice(&pairs).to_vec().into();
    pieces.push(Piece { name: INVERSES.to_owned(), kind: "pairs", sections: vec![pairs] });
    pieces
}

fn dictionary_piece<'a, I: Id>(name: &str, dictionary: &'a Dictionary<I>) -> Piece<'a> {
    let sections: [&[u8]; 6] = [
        bytemuck::cast_slice(&dictionary.names.offsets),
        &dictionary.names.bytes,
        bytemuck::cast_slice(&dictionary.by_name),
        bytemuck::cast_slice(&dictionary.labels.offsets),
        &dictionary.labels.bytes,
        bytemuck::cast_slice(&dictionary.by_label),
    ];
    Piece { name: name.to_owned(), kind: "dict", sections: sections.into_iter().map(Into::into).collect() }
}

/// Opens a file of the project and compares its header with the manifest.
pub(super) fn sealed(
    dir: &Path,
    manifest: &Manifest,
    name: &str,
    kind: &str,
) -> Result<MappedFile, StoreError> {
    let path = dir.join(name);
    let file = MappedFile::open(&path, kind)?;
    match manifest.files.get(name) {
        Some(seal) if *seal == FileSeal::from(file.seal) => Ok(file),
        _ => Err(StoreError::damaged(&path, "it is not the file that the manifest describes")),
    }
}

fn open_dictionary<I: Id>(file: &MappedFile) -> Result<Dictionary<I>, StoreError> {
    Ok(Dictionary {
        names: Texts { offsets: file.column(0)?, bytes: file.column(1)? },
        by_name: file.column(2)?,
        labels: Texts { offsets: file.column(3)?, bytes: file.column(4)? },
        by_label: file.column(5)?,
    })
}

fn open_inverses(file: &MappedFile, relations: usize, path: &Path) -> Result<Inverses, StoreError> {
    let pairs: Column<[RelationId; 2]> = file.column(0)?;
    let mut inverses = Inverses::default();
    for &[a, b] in pairs.iter() {
        if a.max(b).index() >= relations {
            let what = format!("it pairs the relations {} and {}, but there are {relations}", a.0, b.0);
            return Err(StoreError::damaged(path, what));
        }
        inverses.pair(a, b);
    }
    Ok(inverses)
}

fn open_edges(file: &MappedFile) -> Result<Edges, StoreError> {
    Ok(Edges {
        outgoing: Adjacency { offsets: file.column(0)?, arcs: file.column(1)? },
        incoming: Adjacency { offsets: file.column(2)?, arcs: file.column(3)? },
    })
}

pub(super) fn edges_name(split: Split) -> String {
    format!("graph/{split}.edges")
}

/// The name that the queries of a split have in a new project.
fn queries_name(split: Split) -> String {
    format!("queries/{split}.queries")
}

/// The file of a split's queries. It alternates between two names each time they are replaced, so that the
/// manifest alone decides which queries are valid.
pub(super) fn queries_file(manifest: &Manifest, split: Split) -> Option<&str> {
    let names = [queries_name(split), other_queries_name(split)];
    manifest.files.keys().map(String::as_str).find(|key| names.iter().any(|name| name == key))
}

fn other_queries_name(split: Split) -> String {
    format!("queries/{split}-b.queries")
}

fn counts(graph: &Graph) -> Counts {
    Counts {
        entities: graph.entities.len() as u64,
        relations: graph.relations.len() as u64,
        train: graph.edges(Split::Train).len() as u64,
        valid: graph.edges(Split::Valid).len() as u64,
        test: graph.edges(Split::Test).len() as u64,
    }
}

/// A hash of the checksums of names and training edges: all that a model depends on.
fn fingerprint(seals: &[(String, Seal)]) -> u64 {
    let wanted = [ENTITIES, RELATIONS, &edges_name(Split::Train)];
    let checksum =
        |name: &&str| seals.iter().find(|(other, _)| other == name).map_or(0, |(_, seal)| seal.checksum);
    let checksums: Vec<u64> = wanted.iter().map(checksum).collect();
    xxh3_64(bytemuck::cast_slice(&checksums))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::{Lists, QueryGroup};
    use crate::graph::{EntityId, GraphBuilder};
    use proptest::prelude::*;

    fn graph(raw: &[(u8, u8, u8)], labels: &[(u8, String)]) -> Graph {
        let mut builder = GraphBuilder::default();
        for &(h, r, t) in raw {
            let split = Split::ALL[usize::from(h ^ t) % 3];
            builder.add(split, &format!("http://x/{h}"), &format!("r{r}"), &format!("http://x/{t}"));
        }
        let entities = builder.entities();
        for (id, label) in labels.iter().filter(|(id, _)| usize::from(*id) < entities) {
            builder.label_entity(EntityId(u32::from(*id)), label);
        }
        if builder.relations() > 1 {
            builder.pair(RelationId(0), RelationId(1));
        }
        builder.prefixes.insert("x", "http://x/");
        builder.finish().0
    }

    fn queries(graph: &Graph) -> Queries {
        let entity = EntityId(graph.entities.len() as u32 - 1);
        let lists =
            |items: Vec<EntityId>| Lists { offsets: vec![0, items.len() as u64].into(), items: items.into() };
        let group = QueryGroup {
            shape: "1p".to_owned(),
            skeleton: "('e',('r',))".to_owned(),
            arity: 2,
            arguments: vec![0, 0].into(),
            easy: lists(vec![]),
            hard: lists(vec![entity]),
        };
        Queries { valid: None, test: Some(QuerySet { groups: vec![group] }) }
    }

    fn source() -> Source {
        Source {
            name: "x.tsv".to_owned(),
            format: "TSV".to_owned(),
            split: Some("train".to_owned()),
            triples: 3,
        }
    }

    fn create(dir: &Path, graph: &Graph, queries: &Queries) {
        Project::create(Staging::begin(dir).unwrap(), graph, queries, vec![source()]).unwrap();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_written_project_opens_as_it_was(
            raw in prop::collection::vec((0u8..30, 0u8..4, 0u8..30), 1..60),
            labels in prop::collection::vec((0u8..30, "[a-cA-C é]{1,6}"), 0..20),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let dir = dir.path().join("project");
            let graph = graph(&raw, &labels);
            let queries = queries(&graph);
            create(&dir, &graph, &queries);
            let project = Project::check(&dir, |_, _| {}).unwrap();
            prop_assert_eq!(project.graph(), &graph);
            prop_assert_eq!(project.queries(), &queries);
            prop_assert_eq!(&project.manifest().sources, &[source()]);
        }
    }

    #[test]
    fn the_same_graph_gives_the_same_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let graph = graph(&[(1, 0, 2), (2, 1, 3)], &[]);
        let bytes = ["a", "b"].map(|name| {
            let dir = dir.path().join(name);
            create(&dir, &graph, &Queries::default());
            let manifest = Manifest::read(&dir).unwrap();
            manifest
                .files
                .keys()
                .chain([&"relatum.json".to_owned()])
                .map(|file| fs::read(dir.join(file)).unwrap())
                .collect::<Vec<_>>()
        });
        assert_eq!(bytes[0], bytes[1]);
    }

    #[test]
    fn a_change_in_any_file_is_found_by_check() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("project");
        let graph = graph(&[(1, 0, 2), (2, 1, 3), (3, 0, 1)], &[(0, "one".to_owned())]);
        create(&dir, &graph, &queries(&graph));
        let files: Vec<String> = Manifest::read(&dir).unwrap().files.into_keys().collect();
        assert_eq!(files.len(), 7);
        for file in files.iter().map(String::as_str).chain(["relatum.json"]) {
            let path = dir.join(file);
            let whole = fs::read(&path).unwrap();
            let mut changed = whole.clone();
            let last = changed.len() - 3;
            changed[last] ^= 1;
            fs::write(&path, &changed).unwrap();
            assert!(Project::check(&dir, |_, _| {}).is_err(), "{file}");
            fs::remove_file(&path).unwrap();
            assert!(Project::open(&dir).is_err(), "{file} missing");
            fs::write(&path, whole).unwrap();
        }
        Project::check(&dir, |_, _| {}).unwrap();
    }

    #[test]
    fn replaced_queries_are_the_new_ones_and_the_rest_stays() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("project");
        let graph = graph(&[(1, 0, 2), (2, 1, 3), (3, 0, 1)], &[]);
        create(&dir, &graph, &queries(&graph));
        let fingerprint = Manifest::read(&dir).unwrap().fingerprint;
        for valid in [true, false, true] {
            let mut new = queries(&graph);
            new.test.as_mut().unwrap().groups[0].shape = format!("{valid}");
            if valid {
                new.valid = new.test.take();
            }
            let before = Project::open(&dir).unwrap().queries().clone();
            Project::replace_queries(&dir, &new).unwrap();
            let after = Project::check(&dir, |_, _| {}).unwrap();
            let expected = Queries { valid: new.valid.or(before.valid), test: new.test.or(before.test) };
            assert_eq!((after.queries(), after.graph()), (&expected, &graph));
            assert_eq!(after.manifest().fingerprint, fingerprint);
        }
        let mut files: Vec<_> =
            fs::read_dir(dir.join("queries")).unwrap().map(|it| it.unwrap().file_name()).collect();
        files.sort();
        assert_eq!(files, [".lock", "test-b.queries", "valid-b.queries"]);
    }

    #[test]
    fn a_folder_without_manifest_is_not_a_project() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(Project::open(dir.path()), Err(StoreError::NotAProject { .. })));
    }
}
