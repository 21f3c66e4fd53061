//! Models on disk: a folder each, in the project's `models/`.
//!
//! ```text
//! models/default/model.safetensors        the best model, its card in the header; its calibrations
//! models/default/card.json                the same card, for people
//! models/default/checkpoint.safetensors   where training stands, the last model in it
//! models/default/training.jsonl           one line an epoch
//! models/default/training.svg             loss and validation MRR
//! models/default/search.json              what the search for its settings tried and chose
//! models/default/.lock                    held while a process writes any of these
//! models/.default                         the name of the default model
//! ```

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::Project;
use crate::model::{
    Affine, CARD_VERSION, Card, Fitted, Model, ModelError, Reciprocals, StoredModel, Table, predictor,
    predictor_names,
};
use crate::store::{
    CHECKSUM, Dtype, StoreError, Tensor, TensorFile, Values, write_atomically, write_tensors,
};

/// The matrix of the adaptive calibration: a and b of each relation. It is stored with the embeddings
/// that it was trained for, so that both are always replaced together.
pub(crate) const CALIBRATION: &str = "calibration";
/// The matrix of the fitted calibration: a, c and b of each relation, stored with the embeddings for the same reason.
pub(crate) const FITTED: &str = "fitted";
/// The scale of each entity, where numbers have 8 bits.
const SCALES: &str = "scales";

/// The header of a model's file, without its values.
#[derive(Clone, Debug)]
pub struct Glance {
    /// The card.
    pub card: Card,
    /// Whether the model has an adaptive calibration.
    pub calibrated: bool,
    /// Whether the model has a fitted calibration.
    pub fitted: bool,
    /// The checksum of all values, as it was written with them.
    pub checksum: Option<String>,
}

/// A model that is locked for one process. The system frees the lock when the process ends, however it ends; a
/// folder that was made for the lock alone is removed with it.
#[derive(Debug)]
#[must_use = "the model is free again when this is dropped"]
pub struct ModelLock {
    #[allow(dead_code, reason = "held open, never read")]
    file: File,
    dir: PathBuf,
}

impl Drop for ModelLock {
    fn drop(&mut self) {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        if entries.map(|entry| entry.file_name()).all(|name| name == LOCK) {
            // The lock file is removed before it is unlocked: a process that gets the lock later sees that the
            // file is gone.
            let _ = fs::remove_file(self.dir.join(LOCK));
            let _ = fs::remove_dir(&self.dir);
        }
    }
}

const LOCK: &str = ".lock";
/// The file in `models/` that names the default model.
pub(super) const CHOSEN: &str = ".default";

/// The folder of one model of a project.
#[derive(Clone, Debug)]
pub struct ModelFolder {
    dir: PathBuf,
    project: PathBuf,
    name: String,
    /// Whether this is a run within a grid.
    trial: bool,
}

impl ModelFolder {
    /// The name of the default model if none was [chosen](Self::choose).
    pub const DEFAULT: &'static str = "default";

    /// The name of the default model: the one chosen for the project, or else [`DEFAULT`](Self::DEFAULT).
    pub fn default_name(project: &Project) -> String {
        let chosen = fs::read_to_string(project.dir().join("models").join(CHOSEN));
        let chosen = chosen.map(|text| text.trim().to_owned()).ok();
        let chosen = chosen.filter(|name| Self::of(project, name).is_ok());
        chosen.unwrap_or_else(|| Self::DEFAULT.to_owned())
    }

    /// Makes this the default model.
    pub fn choose(&self) -> Result<(), ModelError> {
        self.require()?;
        let path = self.project.join("models").join(CHOSEN);
        Ok(write_atomically(&path, |file| writeln!(file, "{}", self.name))?)
    }

    /// Removes the model and everything that was made with it. It disappears in one step: a process
    /// that is killed meanwhile leaves no half-deleted model.
    pub fn delete(self) -> Result<(), ModelError> {
        if !self.dir.is_dir() {
            return Err(self.missing());
        }
        let lock = self.lock()?;
        let doomed = self.project.join("models").join(format!(".{}.deleted", self.name));
        if doomed.exists() {
            fs::remove_dir_all(&doomed).map_err(StoreError::io("remove", &doomed))?;
        }
        fs::rename(&self.dir, &doomed).map_err(StoreError::io("remove", &self.dir))?;
        fs::remove_dir_all(&doomed).map_err(StoreError::io("remove", &doomed))?;
        drop(lock);
        let chosen = self.project.join("models").join(CHOSEN);
        if fs::read_to_string(&chosen).is_ok_and(|name| name.trim() == self.name) {
            fs::remove_file(&chosen).map_err(StoreError::io("remove", &chosen))?;
        }
        Ok(())
    }

    fn missing(&self) -> ModelError {
        let there = models_in(&self.project);
        ModelError::Missing { name: self.name.clone(), dir: self.project.clone(), there }
    }

    /// Fails unless there is a model.
    pub(super) fn require(&self) -> Result<(), ModelError> {
        if self.model_file().exists() { Ok(()) } else { Err(self.missing()) }
    }

    /// The folder of a model, whether the model exists or not.
    pub fn of(project: &Project, name: &str) -> Result<Self, ModelError> {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            return Err(ModelError::Name(name.to_owned()));
        }
        let dir = project.dir().join("models").join(name);
        Ok(Self { dir, project: project.dir().to_owned(), name: name.to_owned(), trial: false })
    }

    /// A folder within this model's folder, for a run of a grid.
    #[must_use]
    pub fn within(&self, name: &str) -> Self {
        let dir = self.dir.join("grid").join(name);
        Self { dir, project: self.project.clone(), name: name.to_owned(), trial: true }
    }

    /// The folder of the same name in another folder of the project than `models/`.
    pub(super) fn in_folder(self, folder: &str) -> Self {
        Self { dir: self.project.join(folder).join(&self.name), ..self }
    }

    /// Whether this is the folder of a run of a grid, which is not a model that can be named.
    pub fn is_trial(&self) -> bool {
        self.trial
    }

    /// The names of the models a project has, in order.
    pub fn list(project: &Project) -> Vec<String> {
        models_in(project.dir())
    }

    /// Every model folder of a project, those of grids too, in order, whether a model is in it or
    /// only the beginning of one.
    pub fn all(project: &Project) -> Vec<Self> {
        let folders = |dir: &Path| {
            let entries = fs::read_dir(dir).into_iter().flatten().flatten();
            let folders = entries.filter(|entry| entry.path().is_dir());
            let mut names: Vec<String> =
                folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
            names.sort_unstable();
            names
        };
        let mut all = Vec::new();
        for name in folders(&project.dir().join("models")) {
            // Hidden folders are not models: for example the remains of a deleted one.
            let Ok(folder) = Self::of(project, &name) else { continue };
            let runs = folders(&folder.dir.join("grid"));
            let runs: Vec<Self> = runs.iter().map(|run| folder.within(run)).collect();
            all.push(folder);
            all.extend(runs);
        }
        all
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The model's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file of the model.
    pub fn model_file(&self) -> PathBuf {
        self.dir.join("model.safetensors")
    }

    /// Locks the model for this process until the lock is dropped: two runs that write to one folder
    /// would leave a mixture of both.
    pub fn lock(&self) -> Result<ModelLock, ModelError> {
        let path = self.dir.join(LOCK);
        fs::create_dir_all(&self.dir).map_err(StoreError::io("create", &self.dir))?;
        let file = File::create(&path).map_err(StoreError::io("create", &path))?;
        match file.try_lock() {
            // The file may have been removed, with its lock, between opening and locking it.
            Ok(()) if !path.exists() => Err(ModelError::Busy(self.name.clone())),
            Ok(()) => Ok(ModelLock { file, dir: self.dir.clone() }),
            Err(TryLockError::WouldBlock) => Err(ModelError::Busy(self.name.clone())),
            Err(TryLockError::Error(error)) => Err(StoreError::io("lock", &path)(error).into()),
        }
    }

    /// Removes the files that a training run left beside the model: its checkpoint, its curve and its search.
    pub fn forget_run(&self) -> Result<(), ModelError> {
        for name in ["checkpoint.safetensors", "training.jsonl", "training.svg", "search.json"] {
            let path = self.dir.join(name);
            if path.exists() {
                fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Writes a model and its card.
    pub fn save(&self, model: &Model, card: &Card) -> Result<(), ModelError> {
        fs::create_dir_all(&self.dir).map_err(StoreError::io("create", &self.dir))?;
        write_model(&self.model_file(), model, card)?;
        let text = card_text(card);
        write_atomically(&self.dir.join("card.json"), |file| writeln!(file, "{text}"))?;
        Ok(())
    }

    /// Opens the model and makes sure that it belongs to the project's graph.
    pub fn load(&self, project: &Project) -> Result<StoredModel, ModelError> {
        self.require()?;
        let path = self.model_file();
        // A model in reduced precision is one that may be too large to read: it is mapped, and its values are read
        // when they are needed. `check` verifies them.
        let file = TensorFile::glance(&path)?;
        let card = read_card(&file, &path)?;
        if card.precision.is_full() {
            file.verify()?;
        }
        let model = read_model(&file, &path, &card.predictor, card.rank)?;
        let model = with_calibrations(model, &file, &path)?;
        if card.fingerprint != project.manifest().fingerprint {
            return Err(ModelError::Misfit {
                model: format!("fingerprint {} (its names, ids and training edges)", card.fingerprint),
                graph: format!("fingerprint {}", project.manifest().fingerprint),
            });
        }
        fits(&model, project)?;
        Ok(StoredModel { model, card })
    }
}

impl ModelFolder {
    /// The header of the model's file; its values are not read.
    pub fn glance(&self) -> Result<Glance, ModelError> {
        self.require()?;
        let path = self.model_file();
        let file = TensorFile::glance(&path)?;
        let card = read_card(&file, &path)?;
        let [calibrated, fitted] = [CALIBRATION, FITTED].map(|it| file.shapes().any(|(name, _)| name == it));
        let checksum = file.text(CHECKSUM).map(str::to_owned);
        Ok(Glance { card, calibrated, fitted, checksum })
    }
}

/// Writes a model with its card and its calibrations as one safetensors file, whole or not at all.
pub fn write_model(path: &Path, model: &Model, card: &Card) -> Result<(), StoreError> {
    let texts = BTreeMap::from([("card".to_owned(), card_text(card))]);
    let mut tensors = tables(model);
    if let Some(affine) = model.affine() {
        tensors.push((CALIBRATION, [affine.len(), 2], Values::F32(affine.values())));
    }
    if let Some(fitted) = model.fitted() {
        tensors.push((FITTED, [fitted.len(), 3], Values::F32(fitted.values())));
    }
    write_tensors(path, &texts, &tensors)
}

fn card_text(card: &Card) -> String {
    serde_json::to_string_pretty(card).unwrap_or_default()
}

/// Whether model and graph have the same number of entities and relations.
pub(crate) fn fits(model: &Model, project: &Project) -> Result<(), ModelError> {
    let graph = project.graph();
    let relations = Reciprocals::of(graph).len();
    if model.entity_count() == graph.entities.len() && model.relation_count() == relations {
        return Ok(());
    }
    let added = relations - graph.relations.len();
    Err(ModelError::Misfit {
        model: format!("{} entities and {} relations", model.entity_count(), model.relation_count()),
        graph: format!(
            "{} entities and {relations} relations ({added} of them reciprocal, added for training)",
            graph.entities.len()
        ),
    })
}

/// The matrices of a model. Those of wider numbers come first, so that all lie aligned in the file.
pub(crate) fn tables(model: &Model) -> Vec<Tensor<'_>> {
    let predictor = model.predictor();
    let relations = [model.relation_count(), predictor.relation_width()];
    let relations = ("relations", relations, Values::F32(model.relations()));
    let shape = [model.entity_count(), predictor.entity_width()];
    match model.table() {
        Table::F32(values) => vec![("entities", shape, Values::F32(values)), relations],
        Table::F16(values) => vec![relations, ("entities", shape, Values::F16(values))],
        Table::Int8 { values, scales } => vec![
            relations,
            (SCALES, [scales.len(), 1], Values::F32(scales)),
            ("entities", shape, Values::I8(values)),
        ],
    }
}

fn read_card(file: &TensorFile, path: &Path) -> Result<Card, ModelError> {
    let text = file.text("card").ok_or_else(|| StoreError::damaged(path, "it has no card"))?;
    let card: Card = serde_json::from_str(text)
        .map_err(|error| StoreError::damaged(path, format!("its card cannot be read ({error})")))?;
    if card.version > CARD_VERSION {
        return Err(
            StoreError::Newer { path: path.to_owned(), found: card.version, known: CARD_VERSION }.into()
        );
    }
    Ok(card)
}

/// The model in a file of ours, of the given shape.
pub(crate) fn read_model(
    file: &TensorFile,
    path: &Path,
    name: &str,
    rank: usize,
) -> Result<Model, ModelError> {
    let predictor = predictor(name, rank).ok_or_else(|| ModelError::UnknownPredictor {
        name: name.to_owned(),
        known: predictor_names().collect::<Vec<_>>().join(", "),
    })?;
    let (entity_shape, entities) = match file.element("entities") {
        Some(Dtype::I8) => {
            let (shape, values) = file.matrix("entities")?;
            (shape, Table::Int8 { values, scales: file.matrix(SCALES)?.1 })
        }
        Some(Dtype::F16) => file.matrix("entities").map(|(shape, values)| (shape, Table::F16(values)))?,
        _ => file.matrix("entities").map(|(shape, values)| (shape, Table::F32(values)))?,
    };
    let (relation_shape, relations) = file.matrix("relations")?;
    let widths = [predictor.entity_width(), predictor.relation_width()];
    if [entity_shape[1], relation_shape[1]] != widths {
        let what = format!(
            "a {name} of rank {rank} has rows of {widths:?} values for entities and relations, here they have {:?}",
            [entity_shape[1], relation_shape[1]]
        );
        return Err(StoreError::damaged(path, what).into());
    }
    Model::of_tables(predictor, entities, relations)
        .ok_or_else(|| StoreError::damaged(path, "its rows are not whole").into())
}

/// The model with the calibrations that its file holds; files of earlier versions hold none, or fewer.
fn with_calibrations(mut model: Model, file: &TensorFile, path: &Path) -> Result<Model, ModelError> {
    let damaged = |what| ModelError::from(StoreError::damaged(path, what));
    let has = |wanted: &str| file.shapes().any(|(name, _)| name == wanted);
    if has(CALIBRATION) {
        let (_, values) = file.matrix::<f32>(CALIBRATION)?;
        let affine = Affine::new(values.as_chunks::<2>().0);
        model = affine
            .and_then(|affine| model.with_affine(affine))
            .ok_or_else(|| damaged("its calibration does not have an a above 0 and a b for each relation"))?;
    }
    if has(FITTED) {
        let (_, values) = file.matrix::<f32>(FITTED)?;
        let fitted = Fitted::new(values.as_chunks::<3>().0);
        model = fitted.and_then(|fitted| model.with_fitted(fitted)).ok_or_else(|| {
            damaged("its fitted calibration does not have an a above 0, a c and a b for each relation")
        })?;
    }
    Ok(model)
}

fn models_in(project: &Path) -> Vec<String> {
    let entries = fs::read_dir(project.join("models")).into_iter().flatten().flatten();
    let with_model = entries.filter(|entry| entry.path().join("model.safetensors").exists());
    let names = with_model.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort_unstable();
    names
}
