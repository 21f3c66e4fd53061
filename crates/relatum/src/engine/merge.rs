//! Merges several models into one.

use serde::Serialize;

use super::quantize::require_full;
use super::{Engine, Error, WorkflowError};
use crate::control::Control;
use crate::graph::Split;
use crate::model::{Card, Model, StoredModel, Ties};
use crate::project::{Checkpoint, ModelFolder};
use crate::train::evaluate;

/// What to merge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergeOptions {
    /// The models.
    pub models: Vec<String>,
    /// A weight for each; if empty, all weights are equal and sum to 1.
    pub weights: Vec<f32>,
    /// The name of the merged model; `None` is the default one.
    pub model: Option<String>,
    /// Whether a model of this name may be replaced.
    pub replace: bool,
}

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Merged {
    /// The name of the merged model.
    pub name: String,
    /// What it says of itself.
    pub card: Card,
    /// The models it was made of.
    pub parts: Vec<MergedPart>,
}

/// A model that became part of another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MergedPart {
    /// Its name.
    pub name: String,
    /// What it says of itself.
    pub card: Card,
    /// Its weight.
    pub weight: f32,
    /// How far its training has come, where that is not finished.
    pub unfinished: Option<String>,
}

/// With greater weights, scores would soon be infinite.
const GREATEST_WEIGHT: f32 = 1000.0;

impl Engine {
    /// Merges models into one whose score is the weighted sum of theirs, measures it on the validation edges, and
    /// fits its truth values to them.
    pub fn merge(&self, options: &MergeOptions) -> Result<Merged, Error> {
        let MergeOptions { models, replace, .. } = options;
        let weights = options.resolve()?;
        let project = self.project();
        let folder = self.folder(options.model.as_deref())?;
        let name = folder.name().to_owned();
        if models.contains(&name) {
            return Err(WorkflowError::IntoItself(name).into());
        }
        let mut stored = Vec::new();
        let mut parts = Vec::new();
        for (name, weight) in models.iter().zip(weights) {
            let folder = ModelFolder::of(project, name)?;
            let StoredModel { model, card } = folder.load(project)?;
            require_full(name, &card, "merged")?;
            let unfinished = Checkpoint::unfinished(&folder, &card);
            stored.push(model);
            parts.push(MergedPart { name: name.clone(), card, weight, unfinished });
        }
        let pairs: Vec<(&Model, f32)> =
            stored.iter().zip(&parts).map(|(model, part)| (model, part.weight)).collect();
        let model = Model::merge(&pairs).map_err(WorkflowError::from)?;
        let _lock = self.claim(&folder, *replace)?;
        let origin = format!("merged from {}", models.join(", "));
        let mut card = Card::new(&project.manifest().fingerprint, &model, &origin);
        if !project.graph().edges(Split::Valid).is_empty() {
            card.valid = Some(evaluate(&model, project.graph(), Split::Valid, Ties::Mean).overall);
        }
        let unfinished = parts.iter().filter_map(|part| Some((&part.name, part.unfinished.as_ref()?)));
        let unfinished: Vec<String> =
            unfinished.map(|(name, position)| format!("{name} {position}")).collect();
        card.unfinished = (!unfinished.is_empty()).then(|| unfinished.join(", "));
        folder.save(&model, &card)?;
        folder.forget_run()?;
        self.forget(&name);
        // The calibrations of the parts belong to their own scores.
        self.fit_new(&folder, &Control::default())?;
        Ok(Merged { name, card, parts })
    }
}

impl MergeOptions {
    /// A weight for each model, or what is wrong with the options.
    fn resolve(&self) -> Result<Vec<f32>, WorkflowError> {
        let (models, weights) = (self.models.len(), self.weights.len());
        let allowed = |weight: f32| weight > 0.0 && weight <= GREATEST_WEIGHT;
        if let Some(&weight) = self.weights.iter().find(|weight| !allowed(**weight)) {
            return Err(WorkflowError::Weight { weight, most: GREATEST_WEIGHT });
        }
        if weights > 0 && weights != models {
            return Err(WorkflowError::Weights { models, weights });
        }
        let mut before = self.models.iter().enumerate();
        if let Some((_, name)) = before.find(|(at, name)| self.models[..*at].contains(name)) {
            return Err(WorkflowError::Twice(name.clone()));
        }
        Ok(if weights == 0 { vec![1.0 / models as f32; models] } else { self.weights.clone() })
    }
}
