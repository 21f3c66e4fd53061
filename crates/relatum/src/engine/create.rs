//! Making a project: which files are read, what they become, and what is left out of them.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Engine, Error, WorkflowError};
use crate::benchmark::QuerySet;
use crate::control::Control;
use crate::graph::{BuildReport, GraphBuilder, Shares, Split, SplitReport};
use crate::import::read::{
    Columns, FileReport, FolderReport, Header, LabelReport, ReadError, ReadOptions, Reader, TableColumn,
    folders,
};
use crate::project::{Project, Queries, Source};
use crate::store::{Staging, StoreError};

/// What a project is made of.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Files of triples with the split that each goes to; or one folder: a benchmark's, or one with files
    /// named `train.*`, `valid.*` and `test.*`. `-` is standard input.
    pub files: Vec<(Split, PathBuf)>,
    /// Files of display labels: two columns, name and label.
    pub labels: Vec<PathBuf>,
    /// Random shares of the triples to hold out for validation and testing.
    pub hold_out: Option<Shares>,
    /// The seed with which the random shares are drawn.
    pub seed: u64,
    /// How files of triples are read.
    pub reading: ReadOptions,
}

/// An event: how far the making of a project is. While files are read, listeners hear
/// [`BytesRead`](crate::import::read::BytesRead) too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Making {
    /// The files are known, with the sum of their bytes where that can be told.
    Begins {
        /// Bytes of all files, as they are on disk.
        bytes: Option<u64>,
    },
    /// A file is read.
    Reading(String),
    /// The triples are sorted.
    Sorting,
    /// The project is written.
    Writing,
}

/// What a caller should know about a project that was made: warnings and counts.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// About a benchmark folder.
    pub folder: Option<FolderReport>,
    /// About each file of triples.
    pub files: Vec<FileReport>,
    /// About each file of labels.
    pub labels: Vec<(PathBuf, LabelReport)>,
    /// About holding out random shares.
    pub split: Option<SplitReport>,
    /// How many triples there were, including repeated ones.
    pub triples: usize,
    /// About building the graph: repeated and leaked triples.
    pub built: BuildReport,
}

/// Why sources cannot become a project.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourcesError {
    /// Random shares and files for the splits exclude each other.
    #[error(
        "valid or test files are given already: give files for each split, or shares to hold out, not both"
    )]
    SplitTwice,
    /// Columns can be found by name only in a file with a header.
    #[error(
        "finding columns by name needs a header: say that the first line is one, or give positions as in 1,2,3"
    )]
    NoHeader,
    /// A folder must be the only source.
    #[error("{} is a folder: give one folder, or files, not both", .0.display())]
    FolderAmongFiles(PathBuf),
    /// A benchmark folder has a form of its own.
    #[error("{} is a {kind}, whose form is known: how to read files of triples cannot be chosen for it", dir.display())]
    FixedForm {
        /// The folder.
        dir: PathBuf,
        /// What it is.
        kind: folders::Kind,
    },
    /// The folder has no files that say what it is.
    #[error(
        "{} is a folder of no known kind: expected a Query2Box folder (train_ans_1c.pkl, …), a BetaE folder \
         (train.txt and *-queries.pkl), or files named train.*, valid.* and test.*; else name the files themselves",
        .0.display()
    )]
    UnknownFolder(PathBuf),
    /// There is no file of training triples.
    #[error("no file to read: name at least one file of triples for training, or - for standard input")]
    Nothing,
    /// Standard input was named twice, but can be read only once.
    #[error("standard input can be read only once")]
    StandardInputTwice,
}

impl Engine {
    /// Makes a project folder from files, the whole or nothing, and opens it.
    ///
    /// Listeners hear [`Making`].
    pub fn create(dir: &Path, sources: &Sources, control: &Control) -> Result<(Self, Made), Error> {
        let inputs = sources.inputs().map_err(WorkflowError::from)?;
        let staging = Staging::begin(dir)?;
        control.tell(&Making::Begins { bytes: inputs.bytes() });
        let gathered = gather(sources, inputs, control)?;
        Self::write(dir, staging, gathered, control)
    }

    /// Makes a project folder from triples that a program has collected, the whole or nothing, and opens it.
    /// Random shares of the training triples are held out where `hold_out` says so; `source` is recorded in the
    /// project as their origin.
    ///
    /// Listeners hear [`Making::Sorting`] and [`Making::Writing`].
    pub fn create_of(
        dir: &Path,
        mut builder: GraphBuilder,
        hold_out: Option<(Shares, u64)>,
        source: &str,
        control: &Control,
    ) -> Result<(Self, Made), Error> {
        let staging = Staging::begin(dir)?;
        let mut made = Made { triples: builder.len(), ..Made::default() };
        if let Some((shares, seed)) = hold_out {
            made.split = Some(builder.split(shares, seed).map_err(ReadError::from)?);
        }
        let sources = vec![Source {
            name: source.to_owned(),
            format: "memory".to_owned(),
            split: None,
            triples: made.triples as u64,
        }];
        Self::write(dir, staging, Gathered { builder, valid: None, test: None, sources, made }, control)
    }

    /// Copies the project with all its models to a new folder, the whole or nothing, and opens the copy.
    pub fn copy_to(&self, dir: &Path, control: &Control) -> Result<Self, Error> {
        let staging = Staging::begin(dir)?;
        if !copy_files(self.project().dir(), staging.path(), control)? {
            return Err(WorkflowError::Stopped.into());
        }
        staging.finish()?;
        Self::open(dir)
    }

    fn write(
        dir: &Path,
        staging: Staging,
        gathered: Gathered,
        control: &Control,
    ) -> Result<(Self, Made), Error> {
        let mut made = gathered.made;
        control.tell(&Making::Sorting);
        let (graph, built) = gathered.builder.finish();
        made.built = built;
        if control.is_late() {
            return Err(ReadError::Stopped.into());
        }
        control.tell(&Making::Writing);
        let queries = Queries { valid: gathered.valid, test: gathered.test };
        Project::create(staging, &graph, &queries, gathered.sources)?;
        drop(graph);
        Ok((Self::open(dir)?, made))
    }
}

/// Copies the files of a folder into another one that is there and empty; `false` if a stop was asked for.
fn copy_files(from: &Path, to: &Path, control: &Control) -> Result<bool, StoreError> {
    let entries = fs::read_dir(from).map_err(StoreError::io("read", from))?;
    for entry in entries {
        let source = entry.map_err(StoreError::io("read", from))?.path();
        let Some(name) = source.file_name() else { continue };
        let target = to.join(name);
        if control.is_late() {
            return Ok(false);
        }
        if source.is_dir() {
            fs::create_dir(&target).map_err(StoreError::io("create", &target))?;
            if !copy_files(&source, &target, control)? {
                return Ok(false);
            }
        } else {
            fs::copy(&source, &target).map_err(StoreError::io("copy", &source))?;
        }
    }
    Ok(true)
}

/// What is to be read, in order.
enum Inputs {
    Folder(folders::Kind, PathBuf),
    Files(Vec<(Split, PathBuf)>),
}

impl Inputs {
    fn bytes(&self) -> Option<u64> {
        let Self::Files(files) = self else { return None };
        files.iter().map(|(_, path)| std::fs::metadata(path).ok().map(|data| data.len())).sum()
    }
}

impl Sources {
    fn inputs(&self) -> Result<Inputs, SourcesError> {
        let Self { files, reading, .. } = self;
        if self.hold_out.is_some() && files.iter().any(|(split, _)| *split != Split::Train) {
            return Err(SourcesError::SplitTwice);
        }
        let by_name =
            |columns: &Columns| columns.0.iter().any(|column| matches!(column, TableColumn::Named(_)));
        if reading.header == Header::Absent && reading.columns.as_ref().is_some_and(by_name) {
            return Err(SourcesError::NoHeader);
        }
        if let Some((_, dir)) = files.iter().find(|(_, path)| path.is_dir()) {
            if files.len() > 1 {
                return Err(SourcesError::FolderAmongFiles(dir.clone()));
            }
            return self.in_folder(dir);
        }
        if !files.iter().any(|(split, _)| *split == Split::Train) {
            return Err(SourcesError::Nothing);
        }
        if files.iter().filter(|(_, path)| path == Path::new("-")).count() > 1 {
            return Err(SourcesError::StandardInputTwice);
        }
        Ok(Inputs::Files(files.clone()))
    }

    fn in_folder(&self, dir: &Path) -> Result<Inputs, SourcesError> {
        let Some(kind) = folders::recognise(dir) else {
            let files = folders::split_files(dir);
            return files.map(Inputs::Files).ok_or_else(|| SourcesError::UnknownFolder(dir.to_owned()));
        };
        let ReadOptions { format, columns, header, literals, graph, skip_bad_lines } = &self.reading;
        let of_tables = columns.is_some() || format.is_some() || *header != Header::Auto;
        if of_tables || *literals || *skip_bad_lines || graph.is_some() {
            return Err(SourcesError::FixedForm { dir: dir.to_owned(), kind });
        }
        Ok(Inputs::Folder(kind, dir.to_owned()))
    }
}

/// Everything that came from the inputs.
struct Gathered {
    builder: GraphBuilder,
    valid: Option<QuerySet>,
    test: Option<QuerySet>,
    sources: Vec<Source>,
    made: Made,
}

fn gather(wanted: &Sources, inputs: Inputs, control: &Control) -> Result<Gathered, Error> {
    let mut made = Made::default();
    let options = wanted.reading.clone();
    let (mut reader, valid, test, sources) = match inputs {
        Inputs::Folder(kind, dir) => {
            let reading = |file: &str| control.tell(&Making::Reading(file.to_owned()));
            let folder = folders::read(kind, &dir, &reading)?;
            made.folder = Some(folder.report);
            let source = Source {
                name: dir.display().to_string(),
                format: kind.to_string(),
                split: None,
                triples: folder.builder.len() as u64,
            };
            (Reader::new(folder.builder, options, control), folder.valid, folder.test, vec![source])
        }
        Inputs::Files(files) => {
            let mut reader = Reader::new(GraphBuilder::default(), options, control);
            let mut sources = Vec::new();
            for (split, path) in files {
                control.tell(&Making::Reading(path.display().to_string()));
                let report = reader.read(&path, split)?;
                sources.push(Source {
                    name: report.file.clone(),
                    format: report.format.clone(),
                    split: Some(split.to_string()),
                    triples: report.triples,
                });
                made.files.push(report);
            }
            (reader, None, None, sources)
        }
    };
    for path in &wanted.labels {
        let report = reader.read_labels(path).map_err(|error| match error {
            ReadError::Stopped => error,
            _ => ReadError::Labels(Box::new(error)),
        })?;
        made.labels.push((path.clone(), report));
    }
    let mut builder = reader.into_builder();
    made.triples = builder.len();
    if let Some(shares) = wanted.hold_out {
        made.split = Some(builder.split(shares, wanted.seed).map_err(ReadError::from)?);
        made.triples = builder.len();
    }
    Ok(Gathered { builder, valid, test, sources, made })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::engine::Fault;

    fn files(files: &[(Split, &Path)]) -> Sources {
        let files = files.iter().map(|(split, path)| (*split, path.to_path_buf())).collect();
        Sources { files, ..Sources::default() }
    }

    #[test]
    fn a_project_is_made_of_files_and_labels_and_listeners_hear_how_far_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let [train, valid, labels, target] =
            ["a.tsv", "b.tsv", "labels.tsv", "kg"].map(|name| dir.path().join(name));
        fs::write(&train, "a\tr\tb\nb\tr\tc\na\tr\tb\n").unwrap();
        fs::write(&valid, "a\tr\tc\n").unwrap();
        fs::write(&labels, "a\tAlpha\n").unwrap();
        let steps = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&steps);
        let control = Control::default().on(move |step: &Making| heard.lock().unwrap().push(step.clone()));
        let mut sources = files(&[(Split::Train, &train), (Split::Valid, &valid)]);
        sources.labels.push(labels);
        let (engine, made) = Engine::create(&target, &sources, &control).unwrap();
        assert!(engine.graph().entity("Alpha").is_ok());
        assert_eq!((made.files.len(), made.labels[0].1.used, made.built.repeated), (2, 1, 1));
        let [train, valid] = [train, valid].map(|path| Making::Reading(path.display().to_string()));
        let begins = Making::Begins { bytes: Some(24) };
        assert_eq!(*steps.lock().unwrap(), [begins, train, valid, Making::Sorting, Making::Writing]);
    }

    #[test]
    fn what_cannot_become_a_project_is_refused_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let [file, empty, target] = ["a.tsv", "empty", "kg"].map(|name| dir.path().join(name));
        fs::write(&file, "a\tr\tb\n").unwrap();
        fs::create_dir(&empty).unwrap();
        let minus = Path::new("-");
        let mut split = files(&[(Split::Train, &file), (Split::Test, &file)]);
        split.hold_out = Some("0.8/0.1/0.1".parse().unwrap());
        let mut by_name = files(&[(Split::Train, &file)]);
        by_name.reading = ReadOptions {
            header: Header::Absent,
            columns: Some("a,b,c".parse().unwrap()),
            ..ReadOptions::default()
        };
        for (sources, expected) in [
            (files(&[]), "no file to read"),
            (files(&[(Split::Test, &file)]), "no file to read"),
            (files(&[(Split::Train, &file), (Split::Train, &empty)]), "one folder, or files"),
            (files(&[(Split::Train, &empty)]), "no known kind"),
            (files(&[(Split::Train, minus), (Split::Test, minus)]), "only once"),
            (split, "not both"),
            (by_name, "needs a header"),
        ] {
            let error = Engine::create(&target, &sources, &Control::default()).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert_eq!(error.fault(), Fault::Caller);
        }
        let cancelled = Control::default();
        cancelled.cancel_token().cancel();
        let stopped = Engine::create(&target, &files(&[(Split::Train, &file)]), &cancelled).unwrap_err();
        assert!(matches!(stopped, Error::Read(ReadError::Stopped)), "{stopped}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_project_is_made_of_collected_triples_and_copied_whole() {
        let dir = tempfile::tempdir().unwrap();
        let collected = || {
            let mut builder = GraphBuilder::default();
            for number in 0..20 {
                builder.add(Split::Train, &format!("e{number}"), "next", &format!("e{}", (number + 1) % 20));
                builder.add(Split::Train, &format!("e{number}"), "skip", &format!("e{}", (number + 2) % 20));
            }
            builder
        };
        let (first, second) = (dir.path().join("first"), dir.path().join("second"));
        let hold_out = Some(("0.8/0.1/0.1".parse().unwrap(), 3));
        let (engine, made) =
            Engine::create_of(&first, collected(), hold_out, "a list", &Control::default()).unwrap();
        assert_eq!((made.triples, engine.graph().edges(Split::Valid).len()), (40, 4));
        assert_eq!(engine.stats().sources[0].name, "a list");
        let copy = engine.copy_to(&second, &Control::default()).unwrap();
        assert_eq!(copy.graph(), engine.graph());
        assert_eq!(copy.project().manifest().fingerprint, engine.project().manifest().fingerprint);
        assert!(Engine::create_of(&first, collected(), None, "a list", &Control::default()).is_err());
        assert!(engine.copy_to(&second, &Control::default()).is_err(), "what is there is never overwritten");
        let cancelled = Control::default();
        cancelled.cancel_token().cancel();
        assert!(engine.copy_to(&dir.path().join("third"), &cancelled).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing half-written");
    }
}
