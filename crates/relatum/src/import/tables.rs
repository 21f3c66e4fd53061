//! The parameters of a model, wherever they come from.

use std::path::Path;

use super::{ImportError, npy, torch};
use crate::model::Card;
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

/// The parameters of a model and what its file says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables {
    /// One row for each entity.
    pub entities: Matrix,
    /// One row for each relation.
    pub relations: Matrix,
    /// The link predictor, where the file says so.
    pub model: Option<String>,
    /// The card, where the file was written by Relatum.
    pub card: Option<Card>,
}

/// Reads one checkpoint (`.pt`, `.pth`, `.safetensors`) or two `.npy` files, entities first.
pub fn read_tables(files: &[impl AsRef<Path>]) -> Result<Tables, ImportError> {
    let paths: Vec<&Path> = files.iter().map(AsRef::as_ref).collect();
    let ending =
        |path: &Path| path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match paths[..] {
        [path] if matches!(ending(path).as_str(), "pt" | "pth" | "ckpt" | "bin") => torch::read(path),
        [path] if ending(path) == "safetensors" => safetensors(path),
        [entities, relations] if ending(entities) == "npy" && ending(relations) == "npy" => {
            let (entities, relations) = (npy::read(entities)?, npy::read(relations)?);
            Ok(Tables { entities, relations, model: None, card: None })
        }
        [path, ..] => Err(ImportError::UnknownFormat(path.to_owned())),
        [] => Err(ImportError::UnknownFormat(Path::new("(no file)").to_owned())),
    }
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
    let matrix = |name| -> Result<Matrix, ImportError> {
        let ([rows, columns], values) = file.matrix(name)?;
        Ok(Matrix { rows, columns, values: values.to_vec() })
    };
    let card: Option<Card> = file.text("card").and_then(|text| serde_json::from_str(text).ok());
    let model = card.as_ref().map(|card| card.model.clone());
    Ok(Tables { entities: matrix(entities)?, relations: matrix(relations)?, model, card })
}
