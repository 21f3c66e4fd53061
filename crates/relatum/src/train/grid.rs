//! Every combination of a few settings.

use super::Settings;

/// The values to try of each setting; an empty list keeps the base's value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// Link predictors.
    pub models: Vec<String>,
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
        vary(&mut all, &self.models, |settings, value| settings.model.clone_from(value));
        vary(&mut all, &self.ranks, |settings, value| settings.rank = *value);
        vary(&mut all, &self.batch_sizes, |settings, value| settings.batch_size = *value);
        vary(&mut all, &self.regularizer_weights, |settings, value| settings.regularizer_weight = *value);
        vary(&mut all, &self.learning_rates, |settings, value| settings.learning_rate = *value);
        vary(&mut all, &self.relation_losses, |settings, value| settings.relation_loss = *value);
        all
    }

    /// A name for a combination that no other has: the folder of its run.
    pub fn name(settings: &Settings) -> String {
        format!(
            "{}-rank{}-batch{}-{}{}-{}{}-relation{}-seed{}",
            settings.model,
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
