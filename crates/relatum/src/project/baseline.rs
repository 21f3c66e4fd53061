//! Baselines on disk: a folder each, in the project's `baselines/`.
//!
//! ```text
//! baselines/gqe/model.safetensors        the best model, its card in the header
//! baselines/gqe/card.json                the same card, for people
//! baselines/gqe/checkpoint.safetensors   where training stands
//! baselines/gqe/training.jsonl, .svg     the curve
//! baselines/gqe/benchmark.json           finished figures
//! ```

mod run;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

pub use run::{BaselineCheckpoint, BaselineRun, VALIDATED};

use super::{ModelFolder, ModelLock, Project};
use crate::baseline::{Baseline, BaselineError, BaselineSettings, Kind};
use crate::model::{CurvePoint, LinkMetrics, ModelError, Reciprocals};
use crate::store::{StoreError, TensorFile, Values, write_atomically, write_tensors};

/// What a baseline says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaselineCard {
    /// Always `relatum baseline`.
    pub format: String,
    /// The version of the card.
    pub version: u32,
    /// The Relatum that wrote it.
    pub made_by: String,
    /// Entities of the graph.
    pub entities: usize,
    /// Relations of the model, reciprocal ones included.
    pub relations: usize,
    /// Which graph it belongs to: the fingerprint of the project.
    pub fingerprint: String,
    /// What it was trained with.
    pub training: BaselineSettings,
    /// The epoch it is from.
    pub epoch: usize,
    /// How well it answers validation queries: the mean over their types; `None` where there were none.
    pub valid: Option<LinkMetrics>,
    /// The training curve.
    pub curve: Vec<CurvePoint>,
}

const FORMAT: &str = "relatum baseline";
const VERSION: u32 = 1;

/// The folder of one baseline of a project.
#[derive(Clone, Debug)]
pub struct BaselineFolder {
    place: ModelFolder,
}

impl BaselineFolder {
    /// The folder of a baseline, whether it exists or not.
    pub fn of(project: &Project, name: &str) -> Result<Self, BaselineError> {
        let place = ModelFolder::of(project, name).map_err(|_| BaselineError::Name(name.to_owned()))?;
        Ok(Self { place: place.in_folder("baselines") })
    }

    /// Every baseline of a project, finished or not, in order.
    pub fn all(project: &Project) -> Vec<Self> {
        let entries = fs::read_dir(project.dir().join("baselines")).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        let folders = names.iter().filter_map(|name| Self::of(project, name).ok());
        folders.filter(|it| it.model_file().exists() || it.checkpoint_file().exists()).collect()
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.place.name()
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        self.place.dir()
    }

    /// The file of the model.
    pub fn model_file(&self) -> PathBuf {
        self.place.model_file()
    }

    /// The file of the checkpoint.
    pub fn checkpoint_file(&self) -> PathBuf {
        self.dir().join("checkpoint.safetensors")
    }

    /// Locks the baseline for this process until the lock is dropped.
    pub fn lock(&self) -> Result<ModelLock, BaselineError> {
        self.place.lock().map_err(|error| match error {
            ModelError::Store(error) => error.into(),
            _ => BaselineError::Busy(self.name().to_owned()),
        })
    }

    /// Removes the baseline and everything that was made with it.
    pub fn delete(&self, project: &Project) -> Result<(), BaselineError> {
        if !self.dir().is_dir() {
            return Err(self.missing(project));
        }
        let _lock = self.lock()?;
        let doomed = self.dir().with_file_name(format!(".{}.deleted", self.name()));
        if doomed.exists() {
            fs::remove_dir_all(&doomed).map_err(StoreError::io("remove", &doomed))?;
        }
        fs::rename(self.dir(), &doomed).map_err(StoreError::io("remove", self.dir()))?;
        Ok(fs::remove_dir_all(&doomed).map_err(StoreError::io("remove", &doomed))?)
    }

    fn missing(&self, project: &Project) -> BaselineError {
        let there = Self::all(project).iter().map(|folder| folder.name().to_owned()).collect();
        BaselineError::Missing { name: self.name().to_owned(), dir: project.dir().to_owned(), there }
    }

    /// Writes a baseline and its card.
    pub(super) fn save(&self, model: &Baseline, card: &BaselineCard) -> Result<(), BaselineError> {
        fs::create_dir_all(self.dir()).map_err(StoreError::io("create", self.dir()))?;
        let text = serde_json::to_string_pretty(card).unwrap_or_default();
        let texts = BTreeMap::from([("card".to_owned(), text.clone())]);
        let width = model.dimension();
        let tensors: Vec<_> = model
            .tables()
            .map(|(name, values)| (name, [values.len() / width, width], Values::F32(values)))
            .collect();
        write_tensors(&self.model_file(), &texts, &tensors)?;
        Ok(write_atomically(&self.dir().join("card.json"), |file| writeln!(file, "{text}"))?)
    }

    /// The card of the baseline; its values are not read.
    pub fn card(&self, project: &Project) -> Result<BaselineCard, BaselineError> {
        if !self.model_file().exists() {
            return Err(self.missing(project));
        }
        self.card_of(&TensorFile::glance(&self.model_file())?)
    }

    fn card_of(&self, file: &TensorFile) -> Result<BaselineCard, BaselineError> {
        let path = self.model_file();
        let text = file.text("card").ok_or_else(|| StoreError::damaged(&path, "it has no card"))?;
        let card: BaselineCard = serde_json::from_str(text)
            .map_err(|error| StoreError::damaged(&path, format!("its card cannot be read ({error})")))?;
        if card.version > VERSION {
            return Err(StoreError::Newer { path, found: card.version, known: VERSION }.into());
        }
        Ok(card)
    }

    /// Opens the baseline and makes sure that it belongs to the project's graph.
    pub fn load(&self, project: &Project) -> Result<(Baseline, BaselineCard), BaselineError> {
        let path = self.model_file();
        if !path.exists() {
            return Err(self.missing(project));
        }
        let file = TensorFile::open(&path)?;
        let card = self.card_of(&file)?;
        let unusable = |what: &str| BaselineError::Unusable { path: path.clone(), what: what.to_owned() };
        let own = &project.manifest().fingerprint;
        if card.fingerprint != *own {
            let what = format!(
                "it was trained on a graph with fingerprint {}, this one has {own}",
                card.fingerprint
            );
            return Err(unusable(&what));
        }
        card.training.check()?;
        let BaselineSettings { kind, dimension, margin, .. } = card.training;
        let mut tables = Vec::new();
        for name in Baseline::table_names(kind) {
            tables.push(file.matrix::<f32>(name)?.1.to_vec());
        }
        let model = Baseline::of_tables(kind, dimension, margin, tables);
        let counts = (project.graph().entities.len(), Reciprocals::of(project.graph()).len());
        let fits = |model: &Baseline| {
            (model.entity_count(), model.relation_count()) == counts
                && (card.entities, card.relations) == counts
        };
        let model = model.filter(fits);
        Ok((model.ok_or_else(|| unusable("its tables do not fit its card and the graph"))?, card))
    }

    /// Loads the baseline and verifies what loading does not: that every value is finite, and that `card.json` is its
    /// card. Returns whether there is one; a run that was stopped early has only a checkpoint.
    pub fn check(&self, project: &Project) -> Result<bool, BaselineError> {
        if !self.model_file().exists() {
            return Ok(false);
        }
        let (model, card) = self.load(project)?;
        for (name, values) in model.tables() {
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                let what = format!("value {at} of its {name} is {}", values[at]);
                return Err(BaselineError::Unusable { path: self.model_file(), what });
            }
        }
        let path = self.dir().join("card.json");
        let text = fs::read_to_string(&path).map_err(StoreError::io("read", &path))?;
        let copy = serde_json::from_str::<BaselineCard>(&text);
        if copy.is_ok_and(|copy| copy == card) {
            return Ok(true);
        }
        Err(StoreError::damaged(&path, "it is not the card of the model beside it").into())
    }
}

impl BaselineCard {
    fn new(project: &Project, model: &Baseline, training: BaselineSettings) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            made_by: format!("relatum {}", env!("CARGO_PKG_VERSION")),
            entities: model.entity_count(),
            relations: model.relation_count(),
            fingerprint: project.manifest().fingerprint.clone(),
            training,
            epoch: 0,
            valid: None,
            curve: Vec::new(),
        }
    }

    /// Which baseline.
    pub fn kind(&self) -> Kind {
        self.training.kind
    }
}

/// Identifies the values of a baseline, because figures of another one must not be taken for its own.
pub fn baseline_print(model: &Baseline) -> String {
    let mut hash = Xxh3::new();
    for (name, values) in model.tables() {
        hash.update(name.as_bytes());
        hash.update(bytemuck::cast_slice(values));
    }
    format!("{:016x}", hash.digest())
}
