//! Models from other programs, and for them.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::quantize::require_full;
use super::{Engine, Error, WorkflowError};
use crate::control::Control;
use crate::export::write_arrays;
use crate::import::{Names, Tables, adopt, read_names, read_tables};
use crate::model::{Card, StoredModel};
use crate::project::{Checkpoint, ModelFolder, write_model};
use crate::store::Staging;

/// What to import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// A checkpoint, a safetensors file, an exported folder, or two `.npy` files: entities, then relations.
    pub files: Vec<PathBuf>,
    /// The name of the model; `None` is the default one.
    pub model: Option<String>,
    /// The kind of link predictor, where the file does not say it.
    pub predictor: Option<String>,
    /// A file with the names of the entity rows, in order; `None` where they are in the order of the ids.
    pub entity_names: Option<PathBuf>,
    /// The same for the relation rows.
    pub relation_names: Option<PathBuf>,
    /// Whether a model of this name may be replaced.
    pub replace: bool,
}

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Imported {
    /// The name of the model.
    pub name: String,
    /// The files it came from.
    pub origin: String,
    /// What the model says of itself.
    pub card: Card,
    /// How many entities it has.
    pub entities: usize,
    /// How many relations it has.
    pub relations: usize,
    /// The kind that it was taken for, where neither the file nor the caller said it.
    pub guessed: Option<&'static str>,
}

/// The result of an export.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exported {
    /// The name of the model.
    pub name: String,
    /// How far its training has come, where that is not finished.
    pub unfinished: Option<String>,
    /// Rows and columns of the arrays of entities and relations, where a folder was written.
    pub arrays: Option<[[usize; 2]; 2]>,
}

impl Engine {
    /// Imports a model that was trained elsewhere. Nothing in a checkpoint is ever executed.
    pub fn import(&self, options: &ImportOptions) -> Result<Imported, Error> {
        let folder = self.folder(options.model.as_deref())?;
        let _lock = self.claim(&folder, options.replace)?;
        let read = |path: &Option<PathBuf>| path.as_deref().map(read_names).transpose();
        let names =
            Names { entities: read(&options.entity_names)?, relations: read(&options.relation_names)? };
        let tables = read_tables(&options.files)?;
        let files = options.files.iter().map(|file| file.display().to_string());
        let origin = files.collect::<Vec<_>>().join(", ");
        self.install(&folder, tables, &names, options.predictor.as_deref(), origin)
    }

    /// Imports parameters that a program holds in memory: those of another library, or its own. Files and lists of
    /// names in `options` are not read; `origin` is recorded in the card of the model.
    pub fn import_tables(
        &self,
        tables: Tables,
        options: &ImportOptions,
        origin: &str,
    ) -> Result<Imported, Error> {
        let folder = self.folder(options.model.as_deref())?;
        let _lock = self.claim(&folder, options.replace)?;
        self.install(&folder, tables, &Names::default(), options.predictor.as_deref(), origin.to_owned())
    }

    fn install(
        &self,
        folder: &ModelFolder,
        tables: Tables,
        names: &Names,
        predictor: Option<&str>,
        origin: String,
    ) -> Result<Imported, Error> {
        let project = self.project();
        let earlier = tables.card.clone();
        let guessed = tables.likely.filter(|_| predictor.is_none());
        let model = adopt(project, tables, names, predictor)?;
        let mut card = Card::new(&project.manifest().fingerprint, &model, &format!("imported from {origin}"));
        if let Some(earlier) = earlier {
            (card.training, card.epoch, card.valid, card.curve) =
                (earlier.training, earlier.epoch, earlier.valid, earlier.curve);
            card.unfinished = earlier.unfinished;
        }
        folder.save(&model, &card)?;
        // Files that an earlier run left do not belong to this model.
        folder.forget_run()?;
        self.forget(folder.name());
        let (entities, relations) = (model.entity_count(), model.relation_count());
        Ok(Imported { name: folder.name().to_owned(), origin, card, entities, relations, guessed })
    }

    /// Exports a model as one `.safetensors` file or, where the name has no ending, as a folder of `.npy`
    /// arrays with lists of names. The whole is written or nothing.
    pub fn export(&self, name: Option<&str>, to: &Path, control: &Control) -> Result<Exported, Error> {
        let project = self.project();
        let folder = self.folder(name)?;
        let StoredModel { model, mut card } = folder.load(project)?;
        require_full(folder.name(), &card, "exported")?;
        if to.exists() {
            return Err(WorkflowError::TargetExists(to.to_owned()).into());
        }
        card.unfinished = Checkpoint::unfinished(&folder, &card);
        let mut exported =
            Exported { name: folder.name().to_owned(), unfinished: card.unfinished.clone(), arrays: None };
        match to.extension() {
            Some(ending) if ending == "safetensors" => write_model(to, &model, &card)?,
            Some(ending) => return Err(WorkflowError::Ending(ending.to_string_lossy().into_owned()).into()),
            None => {
                let staging = Staging::begin(to)?;
                if !write_arrays(staging.path(), project.graph(), &model, &card, control)? {
                    return Err(WorkflowError::Stopped.into());
                }
                staging.finish()?;
                let predictor = model.predictor();
                exported.arrays = Some([
                    [model.entity_count(), predictor.entity_width()],
                    [model.relation_count(), predictor.relation_width()],
                ]);
            }
        }
        Ok(exported)
    }
}
