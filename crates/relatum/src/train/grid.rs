//! Every combination of a few settings.

use serde::{Deserialize, Serialize};

use super::given::without_needless_relation_loss;
use super::{GivenSettings, Settings};

/// The values to try of each setting; an empty list keeps the base's value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grid {
    /// Link predictors.
    pub predictors: Vec<String>,
    /// Ranks.
    pub ranks: Vec<usize>,
    /// Triples a step.
    pub batch_sizes: Vec<usize>,
    /// Weights of the regulariser.
    pub regularizer_weights: Vec<f32>,
    /// Learning rates.
    pub learning_rates: Vec<f32>,
    /// Weights of the relation loss.
    pub relation_losses: Vec<f32>,
}

impl Grid {
    /// All combinations, the last list running fastest.
    pub fn settings(&self, base: &Settings) -> Vec<Settings> {
        let mut all = vec![base.clone()];
        vary(&mut all, &self.predictors, |settings, value| settings.predictor.clone_from(value));
        vary(&mut all, &self.ranks, |settings, value| settings.rank = *value);
        vary(&mut all, &self.batch_sizes, |settings, value| settings.batch_size = *value);
        vary(&mut all, &self.regularizer_weights, |settings, value| settings.regularizer_weight = *value);
        vary(&mut all, &self.learning_rates, |settings, value| settings.learning_rate = *value);
        vary(&mut all, &self.relation_losses, |settings, value| settings.relation_loss = *value);
        all
    }

    /// All combinations, with the other settings as given or, where they are not, as chosen.
    pub fn resolve(&self, given: &GivenSettings, chosen: Settings) -> Vec<Settings> {
        let mut all = self.settings(&given.resolve(chosen));
        if self.relation_losses.is_empty() && given.relation_loss.is_none() {
            all.iter_mut().for_each(without_needless_relation_loss);
        }
        all
    }

    /// A name that no other combination has: the folder of its run.
    pub fn name(settings: &Settings) -> String {
        format!(
            "{}-rank{}-batch{}-{}{}-{}{}-relation{}-seed{}",
            settings.predictor,
            settings.rank,
            settings.batch_size,
            settings.regularizer.name(),
            settings.regularizer_weight,
            settings.optimizer.name(),
            settings.learning_rate,
            settings.relation_loss,
            settings.seed
        )
    }
}

fn vary<T>(all: &mut Vec<Settings>, values: &[T], set: impl Fn(&mut Settings, &T)) {
    if values.is_empty() {
        return;
    }
    let combinations = all.iter().flat_map(|settings| {
        values.iter().map(|value| {
            let mut settings = settings.clone();
            set(&mut settings, value);
            settings
        })
    });
    *all = combinations.collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_without_relation_prediction_joins_a_grid_whose_relation_loss_nobody_gave() {
        let chosen = Settings { relation_loss: 0.5, ..Settings::default() };
        let grid = Grid { predictors: vec!["complex".to_owned(), "transe".to_owned()], ..Grid::default() };
        let losses = |given: &GivenSettings| {
            grid.resolve(given, chosen.clone()).iter().map(|it| it.relation_loss).collect::<Vec<_>>()
        };
        assert_eq!(losses(&GivenSettings::default()), [0.5, 0.0]);
        let given = GivenSettings { relation_loss: Some(0.25), ..GivenSettings::default() };
        assert_eq!(losses(&given), [0.25, 0.25]);
    }

    #[test]
    fn a_grid_is_every_combination_under_its_own_name() {
        let grid = Grid { ranks: vec![1, 2], regularizer_weights: vec![0.1, 0.2, 0.3], ..Grid::default() };
        let all = grid.settings(&Settings::default());
        let mut names: Vec<String> = all.iter().map(Grid::name).collect();
        assert_eq!(names.len(), 6);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 6);
        assert!(all.iter().all(|settings| settings.batch_size == Settings::default().batch_size));
    }
}
