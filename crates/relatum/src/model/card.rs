//! What a model says of itself, and why one cannot be used.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LinkMetrics, Model, Precision};
use crate::store::StoreError;

/// What a model says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Card {
    /// Always `relatum model`.
    pub format: String,
    /// The version of the card.
    pub version: u32,
    /// The Relatum that wrote it.
    pub made_by: String,
    /// The name of the link predictor; files call it the model.
    #[serde(rename = "model", alias = "predictor")]
    pub predictor: String,
    /// Factors of a row.
    pub rank: usize,
    /// How the numbers of entities are stored.
    #[serde(skip_serializing_if = "Precision::is_full", default)]
    pub precision: Precision,
    /// Entities of the graph.
    pub entities: usize,
    /// Relations of the model, reciprocal ones included.
    pub relations: usize,
    /// Which graph the model belongs to: the fingerprint of the project.
    pub fingerprint: String,
    /// How the model came to be: `trained`, or the file it was imported from.
    pub origin: String,
    /// The settings of the training, if it was trained here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub training: Option<serde_json::Value>,
    /// The epoch it is from.
    pub epoch: usize,
    /// How well it does on the validation split.
    pub valid: Option<LinkMetrics>,
    /// The training curve.
    pub curve: Vec<CurvePoint>,
    /// How far its training had come, if it is a copy of a model whose training was not finished.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unfinished: Option<String>,
}

/// One epoch of a training curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// The epoch, from 1.
    pub epoch: usize,
    /// The mean loss of a triple.
    pub loss: f64,
    /// The validation after it, if there was one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub valid: Option<LinkMetrics>,
}

pub(crate) const FORMAT: &str = "relatum model";
/// Version 2 has a precision; models in full precision have nothing that version 1 had not.
pub(crate) const VERSION: u32 = 2;

impl Card {
    /// The card of a model of the graph with this fingerprint.
    pub fn new(fingerprint: &str, model: &Model, origin: &str) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: if model.precision().is_full() { 1 } else { VERSION },
            made_by: format!("relatum {}", env!("CARGO_PKG_VERSION")),
            predictor: model.predictor().name().to_owned(),
            rank: model.predictor().rank(),
            precision: model.precision(),
            entities: model.entity_count(),
            relations: model.relation_count(),
            fingerprint: fingerprint.to_owned(),
            origin: origin.to_owned(),
            training: None,
            epoch: 0,
            valid: None,
            curve: Vec::new(),
            unfinished: None,
        }
    }
}

/// A model with its card.
#[derive(Clone, Debug)]
pub struct StoredModel {
    /// The model.
    pub model: Model,
    /// Its card.
    pub card: Card,
}

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The disk or a file on it is at fault; the message says what to do.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no such model yet: train or import it.
    #[error("there is no model `{name}` in {}{}: train or import it first, or name another", dir.display(), others(there))]
    Missing {
        /// The model's name.
        name: String,
        /// The project.
        dir: PathBuf,
        /// The models that there are.
        there: Vec<String>,
    },
    /// Another process trains or imports this model: wait for it, or choose another name.
    #[error(
        "the model `{0}` is busy: another process is training or importing it; wait until it has finished, or choose another name"
    )]
    Busy(String),
    /// A name must be usable as the name of a folder: letters, digits, `-`, `_` and dots within.
    #[error("`{0}` cannot be the name of a model: use letters, digits, `-` and `_`")]
    Name(String),
    /// Model and graph do not belong together: train a model on this graph.
    #[error(
        "the model does not fit the graph: the model has {model}, the graph {graph}; train or import a model for this graph"
    )]
    Misfit {
        /// What the model has.
        model: String,
        /// What the graph has.
        graph: String,
    },
    /// The tables hold values that no training leaves there: train or import the model again.
    #[error("{} cannot be used: {what}; train or import the model again", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        what: String,
    },
    /// The card names a predictor this Relatum does not know: update Relatum.
    #[error("the model is a `{name}`; this Relatum knows {known}")]
    UnknownPredictor {
        /// What the card names.
        name: String,
        /// What there is.
        known: String,
    },
}

fn others(there: &[String]) -> String {
    if there.is_empty() { String::new() } else { format!(" (there is {})", there.join(", ")) }
}
