//! What to train and how.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Optimizer, Regularizer, TrainError};
use crate::model::{self, LinkPredictor};

/// Everything that decides what a training run computes. The defaults are the paper's recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The name of the link predictor; files call it the model.
    #[serde(rename = "model", alias = "predictor")]
    pub predictor: String,
    /// Factors of a row.
    pub rank: usize,
    /// Passes over the training edges.
    pub epochs: usize,
    /// Triples a step.
    pub batch_size: usize,
    /// The penalty on the factors.
    pub regularizer: Regularizer,
    /// Its weight.
    pub regularizer_weight: f32,
    /// The rule that turns gradients into steps.
    pub optimizer: Optimizer,
    /// The length of its steps.
    pub learning_rate: f32,
    /// Over so many of the last epochs the learning rate falls in a straight line to 0; 0 for never.
    /// Long steps wander around a minimum; short ones at the end go down into it.
    #[serde(default)]
    pub cool_down: usize,
    /// The weight of the auxiliary relation-prediction loss; 0 for none.
    pub relation_loss: f32,
    /// How many random entities stand for all in the softmax; `None` for all of them.
    pub candidates: Option<usize>,
    /// The standard deviation of the first parameters.
    pub init_scale: f32,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of epochs between two validations.
    pub eval_every: usize,
    /// Stop after this many validations without a better MRR; 0 for never.
    pub patience: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            predictor: "complex".to_owned(),
            rank: 100,
            epochs: 100,
            batch_size: 1000,
            regularizer: Regularizer::N3,
            regularizer_weight: 0.05,
            optimizer: Optimizer::Adagrad,
            learning_rate: 0.1,
            cool_down: 0,
            relation_loss: 0.0,
            candidates: None,
            init_scale: 1e-3,
            seed: 0,
            eval_every: 5,
            patience: 0,
        }
    }
}

impl std::fmt::Display for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = self.in_words().into_iter().map(|(name, value)| format!("{name} {value}"));
        f.write_str(&words.collect::<Vec<_>>().join(", "))
    }
}

impl Settings {
    /// The settings that people ask about most, by name, as text.
    pub fn in_words(&self) -> Vec<(&'static str, String)> {
        vec![
            ("predictor", self.predictor.clone()),
            ("rank", self.rank.to_string()),
            ("epochs", self.epochs.to_string()),
            ("batch size", self.batch_size.to_string()),
            ("regulariser", format!("{}, weight {}", self.regularizer.name(), self.regularizer_weight)),
            ("optimiser", format!("{}, rate {}", self.optimizer.name(), self.learning_rate)),
            (
                "cool-down",
                match self.cool_down {
                    0 => "none".to_owned(),
                    1 => "the last epoch".to_owned(),
                    epochs => format!("the last {epochs} epochs"),
                },
            ),
            ("relation loss", self.relation_loss.to_string()),
            ("candidates", self.candidates.map_or("all entities".to_owned(), |n| n.to_string())),
            ("validation", format!("every {} epochs, patience {}", self.eval_every, self.patience)),
            ("initial scale", self.init_scale.to_string()),
            ("seed", self.seed.to_string()),
        ]
    }

    /// Checks every value and gives the link predictor they name.
    pub fn predictor(&self) -> Result<Arc<dyn LinkPredictor>, TrainError> {
        let out = |setting, value: String, expected| Err(TrainError::Setting { setting, value, expected });
        if self.rank == 0 || self.rank > 65_536 {
            return out("the rank", self.rank.to_string(), "from 1 to 65536");
        }
        if self.batch_size == 0 {
            return out("the batch size", "0".to_owned(), "at least one triple");
        }
        if self.epochs == 0 {
            return out("the number of epochs", "0".to_owned(), "at least 1");
        }
        if self.eval_every == 0 {
            return out("the number of epochs between validations", "0".to_owned(), "at least 1");
        }
        if self.cool_down > self.epochs {
            let expected = "at most all epochs of the run";
            return out("the number of epochs to cool down", self.cool_down.to_string(), expected);
        }
        if self.candidates == Some(0) {
            return out("the number of candidates", "0".to_owned(), "at least 1");
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return out("the learning rate", self.learning_rate.to_string(), "above 0 and finite");
        }
        // If all parameters are 0, all gradients are 0, and training never leaves that point.
        if !(self.init_scale > 0.0 && self.init_scale.is_finite()) {
            return out("the initial scale", self.init_scale.to_string(), "above 0 and finite");
        }
        for (setting, value) in
            [("the regulariser's weight", self.regularizer_weight), ("the relation loss", self.relation_loss)]
        {
            if !(value >= 0.0 && value.is_finite()) {
                return out(setting, value.to_string(), "at least 0 and finite");
            }
        }
        // A distance that is not squared has no slope at 0: such models are imported, never trained.
        let predictor = model::predictor(&self.predictor, self.rank).filter(|predictor| !predictor.is_root());
        let predictor = predictor.ok_or_else(|| TrainError::UnknownPredictor {
            name: self.predictor.clone(),
            known: model::predictor_names().collect::<Vec<_>>().join(", "),
        })?;
        if self.relation_loss > 0.0 && !predictor.is_trilinear() {
            return Err(TrainError::RelationLoss(predictor.name()));
        }
        Ok(predictor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictors_that_are_for_imports_alone_are_not_trained() {
        for name in ["transe-norm", "rotate-norm"] {
            assert!(model::predictor(name, 2).is_some_and(|predictor| predictor.is_root()));
            let settings = Settings { predictor: name.to_owned(), ..Settings::default() };
            assert!(matches!(settings.predictor(), Err(TrainError::UnknownPredictor { .. })), "{name}");
        }
    }
}
