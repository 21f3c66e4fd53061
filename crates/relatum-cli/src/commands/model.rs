//! The model that a command is about.

use std::path::Path;

use relatum::model::{Card, ModelError};
use relatum::project::Checkpoint;
use relatum::project::ModelFolder;
use relatum::project::Project;

use crate::output;

/// The model of a name, or the project's default one where none was given.
pub(super) fn folder(project: &Project, name: Option<&str>) -> Result<ModelFolder, ModelError> {
    match name {
        Some(name) => ModelFolder::of(project, name),
        None => ModelFolder::of(project, &ModelFolder::default_name(project)),
    }
}

/// How far the training of a model has come that is not finished; people are told, too.
pub(super) fn unfinished(dir: &Path, folder: &ModelFolder, card: &Card) -> Option<String> {
    let position = Checkpoint::unfinished(folder, card)?;
    output::say(&format!("warning: {}", warning(dir, folder.name(), card, &position)));
    Some(position)
}

/// What to know of a model whose training has come so far.
pub(super) fn warning(dir: &Path, name: &str, card: &Card, position: &str) -> String {
    let remedy = match card.unfinished {
        Some(_) => "finish it where it was trained, and bring it again".to_owned(),
        None => format!("`relatum train {} --name {name} --resume` goes on", output::typed(dir)),
    };
    format!("the model `{name}` is unfinished ({position}), and no result yet: {remedy}")
}
