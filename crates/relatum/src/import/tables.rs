//! The parameters of a model, wherever they come from.

use std::path::Path;

use super::adopt::Names;
use super::{ImportError, npy, torch};
use crate::model::Card;
use crate::project::{CALIBRATION, FITTED};
use crate::store::TensorFile;

/// Rows × columns of values, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// How many rows.
    pub rows: usize,
    /// Values of a row.
    pub columns: usize,
    /// The values.
    pub values: Vec<f32>,
}

/// The parameters of a model and the description in its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables {
    /// One row for each entity.
    pub entities: Matrix,
    /// One row for each relation.
    pub relations: Matrix,
    /// The adaptive calibration, a and b of each relation, where the model has learned one.
    pub calibration: Option<Matrix>,
    /// The fitted calibration, a, c and b of each relation, where the model has one.
    pub fitted: Option<Matrix>,
    /// The link predictor, if the file names it.
    pub model: Option<String>,
    /// The most likely link predictor: the file does not name it, but the programs that write such files
    /// have few.
    pub likely: Option<&'static str>,
    /// The card, where the file was written by Relatum.
    pub card: Option<Card>,
    /// What the rows are called, where lists of names came with them.
    pub names: Names,
}

impl Tables {
    /// Tables without a card.
    pub fn bare(entities: Matrix, relations: Matrix) -> Self {
        let (calibration, fitted, model, likely, card) = (None, None, None, None, None);
        Self { entities, relations, calibration, fitted, model, likely, card, names: Names::default() }
    }

    fn with_card(self, card: Option<Card>) -> Self {
        Self { model: card.as_ref().map(|card| card.predictor.clone()), card, ..self }
    }
}

/// Reads one checkpoint (`.pt`, `.pth`, `.safetensors`), a folder that `relatum export` wrote, or two
/// `.npy` files, entities first. A `card.json` beside the arrays describes them.
pub fn read_tables(files: &[impl AsRef<Path>]) -> Result<Tables, ImportError> {
    let paths: Vec<&Path> = files.iter().map(AsRef::as_ref).collect();
    let ending =
        |path: &Path| path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    if let Some(path) = paths.iter().find(|path| !path.exists()) {
        return Err(ImportError::NotFound((*path).to_owned()));
    }
    match paths[..] {
        [path] if path.is_dir() => folder(path),
        [path] if matches!(ending(path).as_str(), "pt" | "pth" | "ckpt" | "bin") => torch::read(path),
        [path] if ending(path) == "safetensors" => safetensors(path),
        [entities, relations] if ending(entities) == "npy" && ending(relations) == "npy" => {
            let beside = entities.parent().filter(|dir| relations.parent() == Some(dir));
            let card = beside.map(|dir| read_json(&dir.join(CARD))).transpose()?.flatten();
            Ok(Tables::bare(npy::read(entities)?, npy::read(relations)?).with_card(card))
        }
        [path, ..] => Err(ImportError::UnknownFormat(path.to_owned())),
        [] => Err(ImportError::UnknownFormat(Path::new("(no file)").to_owned())),
    }
}

/// The names of the files that `relatum export` writes into a folder.
pub const CARD: &str = "card.json";
/// See [`CARD`].
pub const ENTITIES: &str = "entities.npy";
/// See [`CARD`].
pub const RELATIONS: &str = "relations.npy";
/// See [`CARD`]; only where the model is calibrated.
pub const CALIBRATIONS: &str = "calibration.npy";
/// See [`CARD`]; only where the model has a fitted calibration.
pub const FITTED_CALIBRATIONS: &str = "fitted.npy";
/// See [`CARD`].
pub const ENTITY_NAMES: &str = "entities.json";
/// See [`CARD`].
pub const RELATION_NAMES: &str = "relations.json";

/// Reads a folder that `relatum export` wrote.
fn folder(dir: &Path) -> Result<Tables, ImportError> {
    let [entities, relations] = [ENTITIES, RELATIONS].map(|name| dir.join(name));
    if !entities.exists() || !relations.exists() {
        let expected = format!("a folder with {ENTITIES} and {RELATIONS}, as an export of Relatum writes it");
        return Err(ImportError::unexpected(dir, expected, "another folder"));
    }
    let card = read_json(&dir.join(CARD))?;
    let optional = |name: &str| {
        let path = dir.join(name);
        path.exists().then(|| npy::read(&path)).transpose()
    };
    let (calibration, fitted) = (optional(CALIBRATIONS)?, optional(FITTED_CALIBRATIONS)?);
    let names = Names {
        entities: read_json(&dir.join(ENTITY_NAMES))?,
        relations: read_json(&dir.join(RELATION_NAMES))?,
    };
    let tables = Tables::bare(npy::read(&entities)?, npy::read(&relations)?);
    Ok(Tables { calibration, fitted, names, ..tables.with_card(card) })
}

/// The content of a JSON file, if it is there.
fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, ImportError> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(ImportError::io("read", path))?,
    };
    let content = serde_json::from_str(&text);
    let expected = "the JSON that an export of Relatum writes";
    content.map(Some).map_err(|error| ImportError::unexpected(path, expected, error.to_string()))
}

fn safetensors(path: &Path) -> Result<Tables, ImportError> {
    let file = TensorFile::open(path)?;
    let names: Vec<&str> = file.shapes().map(|(name, _)| name).collect();
    let known = [["entities", "relations"], ["embeddings.0.weight", "embeddings.1.weight"]];
    let Some([entities, relations]) =
        known.into_iter().find(|pair| pair.iter().all(|name| names.contains(name)))
    else {
        let expected =
            "matrices `entities` and `relations`, or `embeddings.0.weight` and `embeddings.1.weight`";
        return Err(ImportError::unexpected(path, expected, names.join(", ")));
    };
    let matrix = |name: &str| -> Result<Matrix, ImportError> {
        let ([rows, columns], values) = file.matrix::<f32>(name)?;
        Ok(Matrix { rows, columns, values: values.to_vec() })
    };
    let card = file.text("card").map(|text| {
        let unreadable = |error: serde_json::Error| {
            ImportError::unexpected(path, "a card of a model in the header", error.to_string())
        };
        serde_json::from_str::<Card>(text).map_err(unreadable)
    });
    let card = card.transpose()?;
    let optional = |name: &str| names.contains(&name).then(|| matrix(name)).transpose();
    let (calibration, fitted) = (optional(CALIBRATION)?, optional(FITTED)?);
    Ok(Tables { calibration, fitted, ..Tables::bare(matrix(entities)?, matrix(relations)?).with_card(card) })
}
