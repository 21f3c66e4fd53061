//! What to train and how.

use serde::{Deserialize, Serialize};

use super::{BaselineError, Kind};
use crate::graph::Graph;
use crate::model::rules::Steps;

/// Everything that decides what training a baseline computes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaselineSettings {
    /// Which baseline.
    pub kind: Kind,
    /// Values of a vector.
    pub dimension: usize,
    /// γ: the distance at which an entity is as likely an answer as not.
    pub margin: f32,
    /// Random entities that all queries of a batch are told from.
    pub negatives: usize,
    /// How much the hardest negatives count more, as the sharpness of a softmax over their scores; 0 for all alike.
    pub adversarial: f32,
    /// Queries a step.
    pub batch_size: usize,
    /// The length of Adam's first steps; it falls in a straight line to 0 over the run.
    pub learning_rate: f32,
    /// Passes over the pairs of head and relation that have training edges; as many queries of every other shape.
    pub epochs: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of epochs between two validations.
    pub eval_every: usize,
    /// Stop after this many validations without a better MRR; 0 for never.
    pub patience: usize,
}

/// The settings that somebody gave; each `None` is chosen, or is what a resumed run was begun with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GivenBaseline {
    /// Values of a vector.
    pub dimension: Option<usize>,
    /// The margin γ.
    pub margin: Option<f32>,
    /// Random entities that a batch is told from.
    pub negatives: Option<usize>,
    /// How much the hardest negatives count more.
    pub adversarial: Option<f32>,
    /// Queries a step.
    pub batch_size: Option<usize>,
    /// The length of the first steps.
    pub learning_rate: Option<f32>,
    /// Passes over the training pairs.
    pub epochs: Option<usize>,
    /// The seed.
    pub seed: Option<u64>,
    /// Epochs between two validations.
    pub eval_every: Option<usize>,
    /// Validations without a better MRR before it stops.
    pub patience: Option<usize>,
}

impl GivenBaseline {
    /// These settings, with the given ones in their place.
    pub fn over(&self, settings: &BaselineSettings) -> BaselineSettings {
        BaselineSettings {
            kind: settings.kind,
            dimension: self.dimension.unwrap_or(settings.dimension),
            margin: self.margin.unwrap_or(settings.margin),
            negatives: self.negatives.unwrap_or(settings.negatives),
            adversarial: self.adversarial.unwrap_or(settings.adversarial),
            batch_size: self.batch_size.unwrap_or(settings.batch_size),
            learning_rate: self.learning_rate.unwrap_or(settings.learning_rate),
            epochs: self.epochs.unwrap_or(settings.epochs),
            seed: self.seed.unwrap_or(settings.seed),
            eval_every: self.eval_every.unwrap_or(settings.eval_every),
            patience: self.patience.unwrap_or(settings.patience),
        }
    }
}

/// Epochs are chosen so that training stays within about this many operations: some two hours on two cores.
const OPERATIONS: f64 = 4e14;

/// Settings for a graph that nobody has tuned: the authors' dimensions and margin, batches and epochs by the size of
/// the graph.
pub fn recommend_baseline(graph: &Graph, kind: Kind) -> BaselineSettings {
    let pairs = Steps::with_loops(graph).groups().count();
    let mut settings = BaselineSettings {
        kind,
        dimension: if pairs < 5_000 { 64 } else { kind.published_dimension() },
        margin: 24.0,
        negatives: 512.min(graph.entities.len().max(1)),
        adversarial: 0.0,
        batch_size: (pairs / 50).clamp(32, 512),
        learning_rate: 1e-3,
        epochs: 1,
        seed: 0,
        eval_every: 1,
        // Most of what a falling rate gains comes at its end; the best model by validation is kept in any case.
        patience: 0,
    };
    let rounds = pairs.div_ceil(settings.batch_size).max(1);
    let epoch = settings.operations_a_query() * (5 * rounds * settings.batch_size) as f64;
    settings.epochs = ((OPERATIONS / epoch.max(1.0)) as usize).clamp(20, 200);
    settings.eval_every = (settings.epochs / 20).max(1);
    settings
}

impl BaselineSettings {
    /// Operations of distances, slopes and networks for one query, in the mean over the five shapes of training.
    ///
    /// For each value of a pair of query and negative, a distance takes 3 (point) or 5 (box) operations, and its slopes
    /// 5 or 10. A network of an intersection of k parts takes 2·d² for each part, layer and product; training has three
    /// products a layer.
    pub fn operations_a_query(&self) -> f64 {
        let (d, negatives) = (self.dimension as f64, self.negatives as f64);
        let (a_value, parts) = match self.kind {
            Kind::Gqe => (8.0, 2.0 * 5.0),
            // The second layer of the network of half-widths sees the mean of all parts.
            Kind::Query2Box => (15.0, 3.0 * 5.0 + 2.0),
        };
        a_value * negatives * d + parts / 5.0 * 6.0 * d * d
    }

    /// Checks every value.
    pub fn check(&self) -> Result<(), BaselineError> {
        let out = |setting, value: String, expected| Err(BaselineError::Setting { setting, value, expected });
        for (setting, value, most, expected) in [
            ("the dimension", self.dimension, 8192, "from 1 to 8192"),
            ("the number of negatives", self.negatives, 1 << 20, "from 1 to 1048576"),
            ("the batch size", self.batch_size, 1 << 20, "from 1 to 1048576"),
            ("the number of epochs", self.epochs, 1_000_000, "from 1 to 1000000"),
            ("the number of epochs between validations", self.eval_every, 1_000_000, "from 1 to 1000000"),
        ] {
            if !(1..=most).contains(&value) {
                return out(setting, value.to_string(), expected);
            }
        }
        for (setting, value) in [("the margin", self.margin), ("the learning rate", self.learning_rate)] {
            if !(value > 0.0 && value.is_finite()) {
                return out(setting, value.to_string(), "above 0 and finite");
            }
        }
        if !(0.0..=100.0).contains(&self.adversarial) {
            return out("the weight of hard negatives", self.adversarial.to_string(), "from 0 to 100");
        }
        Ok(())
    }

    /// The settings by name, as text.
    pub fn in_words(&self) -> Vec<(&'static str, String)> {
        vec![
            ("baseline", self.kind.name().to_owned()),
            ("dimension", self.dimension.to_string()),
            ("margin", self.margin.to_string()),
            ("negatives", format!("{}, shared by a batch", self.negatives)),
            ("hard negatives", self.adversarial.to_string()),
            ("batch size", self.batch_size.to_string()),
            ("learning rate", format!("{}, falling to 0", self.learning_rate)),
            ("epochs", self.epochs.to_string()),
            ("validation", format!("every {} epochs, patience {}", self.eval_every, self.patience)),
            ("seed", self.seed.to_string()),
        ]
    }
}

impl std::fmt::Display for BaselineSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = self.in_words().into_iter().map(|(name, value)| format!("{name} {value}"));
        f.write_str(&words.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::films;

    #[test]
    fn what_is_given_wins_and_bad_values_are_refused_by_name() {
        let chosen = recommend_baseline(&films().finish().0, Kind::Query2Box);
        assert!(chosen.check().is_ok() && (100..512).contains(&chosen.batch_size), "{chosen}");
        assert_eq!(GivenBaseline::default().over(&chosen), chosen);
        let bad = [
            GivenBaseline { dimension: Some(0), ..GivenBaseline::default() },
            GivenBaseline { margin: Some(f32::NAN), ..GivenBaseline::default() },
            GivenBaseline { learning_rate: Some(0.0), ..GivenBaseline::default() },
            GivenBaseline { adversarial: Some(-1.0), ..GivenBaseline::default() },
        ];
        let refused: Vec<String> =
            bad.iter().map(|bad| bad.over(&chosen).check().unwrap_err().to_string()).collect();
        insta::assert_snapshot!(refused.join("\n"), @r"
        the dimension is 0, but must be from 1 to 8192
        the margin is NaN, but must be above 0 and finite
        the learning rate is 0, but must be above 0 and finite
        the weight of hard negatives is -1, but must be from 0 to 100
        ");
    }
}
