//! Stores a model in fewer bits.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Engine, Error, WorkflowError};
use crate::graph::Split;
use crate::model::{Card, ModelError, Precision, StoredModel, Ties};
use crate::project::{Checkpoint, load_weights, save_weights};
use crate::train::evaluate;

/// What to store in fewer bits.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizeOptions {
    /// The model; `None` is the default one.
    pub model: Option<String>,
    /// The precision of the new model.
    pub to: Precision,
    /// The name of the new model; `None` is that of the model with the precision behind it, as in `default-int8`.
    pub name: Option<String>,
    /// Whether a model of this name may be replaced.
    pub replace: bool,
}

/// The result of quantising a model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Quantized {
    /// The name of the new model.
    pub name: String,
    /// What it says of itself.
    pub card: Card,
    /// The name of the model that it was made from.
    pub from: String,
    /// What that says of itself.
    pub from_card: Card,
    /// Bytes of the files of both: before, after.
    pub bytes: [u64; 2],
    /// How far the training of the model it was made from had come, if it was not finished.
    pub unfinished: Option<String>,
}

impl Engine {
    /// Stores a model with its entities in fewer bits, as a model of its own beside it, and measures both on the
    /// validation edges. Relations and calibration stay as they are, and so does what was learned about rules
    /// beside the model; tuned settings belong to a model's own scores and are not taken over.
    pub fn quantize(&self, options: &QuantizeOptions) -> Result<Quantized, Error> {
        let project = self.project();
        let from = self.folder(options.model.as_deref())?;
        let StoredModel { model, card: from_card } = from.load(project)?;
        if options.to.is_full() {
            return Err(WorkflowError::NotSmaller.into());
        }
        require_full(from.name(), &from_card, "quantized")?;
        let name = options.name.clone().unwrap_or_else(|| format!("{}-{}", from.name(), options.to.name()));
        if name == from.name() {
            return Err(WorkflowError::OntoItself(name).into());
        }
        let folder = self.folder(Some(&name))?;
        let small = model.rounded(options.to).ok_or_else(|| ModelError::Unusable {
            path: from.model_file(),
            what: match options.to {
                Precision::F16 => {
                    "it holds values that are too large for f16; int8 takes any that are finite"
                }
                _ => "it holds values that are not finite",
            }
            .to_owned(),
        })?;
        let _lock = self.claim(&folder, options.replace)?;
        let origin = format!("{} of {}", options.to.name(), from.name());
        let mut card = Card::new(&project.manifest().fingerprint, &small, &origin);
        if !project.graph().edges(Split::Valid).is_empty() {
            card.valid = Some(evaluate(&small, project.graph(), Split::Valid, Ties::Mean).overall);
        }
        (card.training, card.epoch, card.curve) =
            (from_card.training.clone(), from_card.epoch, from_card.curve.clone());
        let unfinished = Checkpoint::unfinished(&from, &from_card);
        card.unfinished.clone_from(&unfinished);
        folder.save(&small, &card)?;
        folder.forget_run()?;
        for rules in self.rule_names() {
            let which = (rules.as_str(), self.rules(Some(&rules))?.checksum);
            if let Some(weights) = load_weights(&from, &from_card, which) {
                save_weights(&folder, &card, which, &weights)?;
            }
        }
        self.forget(&name);
        let bytes =
            [&from, &folder].map(|folder| folder.model_file().metadata().map_or(0, |file| file.len()));
        Ok(Quantized { name, card, from: from.name().to_owned(), from_card, bytes, unfinished })
    }
}

/// Refuses what needs the numbers that were trained, if a model holds fewer bits of them.
pub(super) fn require_full(name: &str, card: &Card, action: &'static str) -> Result<(), WorkflowError> {
    if card.precision.is_full() {
        return Ok(());
    }
    let (name, origin) = (name.to_owned(), card.origin.clone());
    Err(WorkflowError::Rounded { name, precision: card.precision.name(), origin, action })
}
