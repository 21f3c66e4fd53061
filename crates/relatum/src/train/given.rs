//! Settings of which some are given and the others are chosen.

use serde::{Deserialize, Serialize};

use super::{Optimizer, Regularizer, Settings, cool_down};
use crate::model;

/// The settings that somebody gave. Each `None` is chosen by the size of the graph or, when a run is resumed,
/// keeps the value that the run was begun with.
///
/// ```
/// use relatum::train::{GivenSettings, Settings};
///
/// let given = GivenSettings { rank: Some(32), epochs: Some(50), ..GivenSettings::default() };
/// let settings = given.resolve(Settings::default());
/// assert_eq!((settings.rank, settings.epochs, settings.cool_down), (32, 50, 5));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GivenSettings {
    /// The name of the link predictor.
    pub predictor: Option<String>,
    /// Factors of a row.
    pub rank: Option<usize>,
    /// Passes over the training edges.
    pub epochs: Option<usize>,
    /// Triples a step.
    pub batch_size: Option<usize>,
    /// The penalty on the factors.
    pub regularizer: Option<Regularizer>,
    /// Its weight.
    pub regularizer_weight: Option<f32>,
    /// The rule that turns gradients into steps.
    pub optimizer: Option<Optimizer>,
    /// The length of its steps.
    pub learning_rate: Option<f32>,
    /// The number of last epochs in which the learning rate falls to 0; a tenth of all epochs if not given.
    pub cool_down: Option<usize>,
    /// The weight of the auxiliary relation-prediction loss; 0 for none.
    pub relation_loss: Option<f32>,
    /// The entities that the softmax is taken over.
    pub candidates: Option<Candidates>,
    /// The standard deviation of the first parameters.
    pub init_scale: Option<f32>,
    /// The seed of all random numbers.
    pub seed: Option<u64>,
    /// The number of epochs between two validations.
    pub eval_every: Option<usize>,
    /// Stop after this many validations without a better MRR; 0 for never.
    pub patience: Option<usize>,
}

/// The entities that the softmax is taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Candidates {
    /// All entities.
    All,
    /// So many random entities, which stand for all.
    Sample(usize),
}

impl GivenSettings {
    /// The settings of a new run: what is given, and for the rest what was chosen.
    pub fn resolve(&self, chosen: Settings) -> Settings {
        self.cooled(self.over(chosen))
    }

    /// These settings, with the given ones in their place.
    pub fn over(&self, mut settings: Settings) -> Settings {
        set(&mut settings.predictor, self.predictor.as_ref());
        set(&mut settings.rank, self.rank.as_ref());
        set(&mut settings.epochs, self.epochs.as_ref());
        set(&mut settings.batch_size, self.batch_size.as_ref());
        set(&mut settings.regularizer, self.regularizer.as_ref());
        set(&mut settings.regularizer_weight, self.regularizer_weight.as_ref());
        set(&mut settings.optimizer, self.optimizer.as_ref());
        set(&mut settings.learning_rate, self.learning_rate.as_ref());
        set(&mut settings.cool_down, self.cool_down.as_ref());
        set(&mut settings.relation_loss, self.relation_loss.as_ref());
        set(&mut settings.init_scale, self.init_scale.as_ref());
        set(&mut settings.seed, self.seed.as_ref());
        set(&mut settings.eval_every, self.eval_every.as_ref());
        set(&mut settings.patience, self.patience.as_ref());
        if let Some(candidates) = self.candidates {
            settings.candidates = match candidates {
                Candidates::All => None,
                Candidates::Sample(count) => Some(count),
            };
        }
        if self.relation_loss.is_none() {
            without_needless_relation_loss(&mut settings);
        }
        settings
    }

    /// The settings with a tenth of their epochs to cool down, unless another number is given. This is set last,
    /// because the number of epochs may have changed.
    pub fn cooled(&self, mut settings: Settings) -> Settings {
        if self.cool_down.is_none() {
            settings.cool_down = cool_down(settings.epochs);
        }
        settings
    }
}

/// Drops the relation loss of a model that cannot predict relations, so that the model is not refused because of
/// a loss that nobody asked for.
pub(super) fn without_needless_relation_loss(settings: &mut Settings) {
    if model::predictor(&settings.predictor, 1).is_some_and(|predictor| !predictor.is_trilinear()) {
        settings.relation_loss = 0.0;
    }
}

fn set<T: Clone>(place: &mut T, value: Option<&T>) {
    if let Some(value) = value {
        place.clone_from(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_wins_and_the_rest_stays_as_chosen() {
        let chosen = Settings { rank: 64, candidates: Some(8192), ..Settings::default() };
        assert_eq!(GivenSettings::default().over(chosen.clone()), chosen);
        let given = GivenSettings {
            epochs: Some(7),
            candidates: Some(Candidates::All),
            cool_down: Some(3),
            ..GivenSettings::default()
        };
        let settings = given.resolve(chosen.clone());
        assert_eq!(settings, Settings { epochs: 7, candidates: None, cool_down: 3, ..chosen });
    }

    #[test]
    fn a_relation_loss_is_dropped_only_where_nobody_gave_it() {
        let chosen = Settings { relation_loss: 0.5, ..Settings::default() };
        let transe = GivenSettings { predictor: Some("transe".to_owned()), ..GivenSettings::default() };
        assert!(transe.over(chosen.clone()).predictor().is_ok());
        let insisted = GivenSettings { relation_loss: Some(0.5), ..transe };
        assert!(insisted.over(chosen).predictor().is_err());
    }

    #[test]
    fn settings_that_nobody_knows_are_refused() {
        assert!(serde_json::from_str::<GivenSettings>(r#"{"rank": 5}"#).is_ok());
        assert!(serde_json::from_str::<GivenSettings>(r#"{"rang": 5}"#).is_err());
    }
}
