//! The projects below the work folder, one for each dataset.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use relatum::Engine;
use relatum::control::Control;
use relatum::engine::Sources;
use relatum::graph::Split;
use relatum::project::{BaselineCheckpoint, BaselineFolder, Checkpoint, ModelFolder};

use super::args::Name;
use super::recipes;
use super::work::{Row, Subject};

/// Display names of the entities of `FB15k` and FB15k-237, below the data folder.
const NAMES: &str = "names/FB15k-237_entity2text.txt";

/// The work folder, and the data that its projects are made of.
pub(super) struct Home {
    data: PathBuf,
    work: PathBuf,
    open: BTreeMap<Name, Engine>,
}

/// How far a training has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// So many of its epochs are done.
    Begun {
        done: usize,
        of: usize,
    },
    Done,
}

impl State {
    const NEW: Self = Self::Begun { done: 0, of: 1 };
}

impl Home {
    pub(super) fn new(data: &Path, work: &Path) -> Self {
        Self { data: data.to_owned(), work: work.to_owned(), open: BTreeMap::new() }
    }

    /// The project of a dataset, if it was made.
    pub(super) fn existing(&mut self, dataset: Name) -> anyhow::Result<Option<Engine>> {
        if let Some(engine) = self.open.get(&dataset) {
            return Ok(Some(engine.clone()));
        }
        let dir = self.work.join(dataset.folder());
        if !dir.exists() {
            return Ok(None);
        }
        let engine = Engine::open(&dir)?;
        self.open.insert(dataset, engine.clone());
        Ok(Some(engine))
    }

    /// The project of a dataset; it is made now if it was not.
    pub(super) fn project(&mut self, dataset: Name) -> anyhow::Result<Engine> {
        if let Some(engine) = self.existing(dataset)? {
            return Ok(engine);
        }
        self.check_data(dataset)?;
        println!("{}: reading {}", dataset.title(), self.source(dataset).display());
        let names = Some(self.data.join(NAMES)).filter(|file| dataset != Name::Nell995 && file.is_file());
        let sources = Sources {
            files: vec![(Split::Train, self.source(dataset))],
            labels: names.into_iter().collect(),
            ..Sources::default()
        };
        std::fs::create_dir_all(&self.work)
            .with_context(|| format!("cannot make {}", self.work.display()))?;
        let dir = self.work.join(dataset.folder());
        let (engine, _) = Engine::create(&dir, &sources, &Control::default())?;
        self.open.insert(dataset, engine.clone());
        Ok(engine)
    }

    /// Fails, with what is expected where, if a project would have to be made of data that is not there.
    pub(super) fn check_data(&self, dataset: Name) -> anyhow::Result<()> {
        let source = self.source(dataset);
        ensure!(
            self.work.join(dataset.folder()).exists() || source.is_dir(),
            "{} is not there: expected the Query2Box folder of {} (train_ans_1c.pkl, valid_ans_2c.pkl, …); \
             --data names the folder that holds fb15k, fb15k-237 and nell995, and --dataset leaves some of them out",
            source.display(),
            dataset.title()
        );
        Ok(())
    }

    /// How far the training of a model has come.
    pub(super) fn state(&mut self, dataset: Name, subject: Subject) -> anyhow::Result<State> {
        let Some(engine) = self.existing(dataset)? else { return Ok(State::NEW) };
        let project = engine.project();
        Ok(match subject {
            Subject::Baseline(kind) => {
                let folder = BaselineFolder::of(project, kind.name())?;
                match BaselineCheckpoint::read(project, &folder)? {
                    Some(begun) if !begun.finished => {
                        State::Begun { done: begun.epochs.len(), of: begun.settings.epochs }
                    }
                    _ if folder.model_file().exists() => State::Done,
                    _ => State::NEW,
                }
            }
            Subject::Predictor { .. } => {
                let folder = ModelFolder::of(project, &subject.name())?;
                match Checkpoint::read(project, &folder)? {
                    Some(begun) if !begun.finished => {
                        State::Begun { done: begun.epochs.len(), of: begun.settings.epochs }
                    }
                    _ if folder.model_file().exists() => State::Done,
                    _ => State::NEW,
                }
            }
        })
    }

    /// What a row is trained with, in words; unknown for a baseline of a project that is not there yet, because its
    /// settings follow from the size of the graph.
    pub(super) fn recipe(&mut self, row: Row, max_epochs: Option<usize>) -> anyhow::Result<Option<String>> {
        let settings = match row.subject {
            Subject::Baseline(kind) => self
                .existing(row.dataset)?
                .map(|engine| recipes::baseline(engine.graph(), kind, max_epochs).to_string()),
            Subject::Predictor { .. } => {
                recipes::resolved(row.dataset, row.subject, max_epochs).map(|it| it.to_string())
            }
        };
        Ok(settings.map(|settings| recipes::in_words(row, &settings)))
    }

    fn source(&self, dataset: Name) -> PathBuf {
        self.data.join(dataset.folder())
    }
}
