//! What speaks for an edge: the predictor, rules, or both.

use std::sync::Arc;

use crate::graph::{EntityId, Id, RelationId};
use crate::model::Calibration;
use crate::model::rules::{RuleIndex, SparseRow};

/// Where the truth of an edge that is not stored comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evidence {
    /// The link predictor, calibrated.
    #[default]
    Model,
    /// Rules alone.
    Rules,
    /// Both, taken for independent: `1 − (1 − φ)(1 − w ρ)` with a weight w for each relation.
    Both,
}

impl Evidence {
    /// Every choice.
    pub const ALL: [Self; 3] = [Self::Model, Self::Rules, Self::Both];

    /// The name: `model`, `rules` or `both`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Rules => "rules",
            Self::Both => "both",
        }
    }

    /// What a name says.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|evidence| evidence.name() == name)
    }
}

/// Rules that whoever asks shares with others.
#[derive(Clone, Debug)]
pub struct SharedRules {
    /// The rules.
    pub rules: Arc<RuleIndex>,
    /// How much they count, by relation of the model.
    pub weights: Arc<[f32]>,
    /// Whether the predictor is silent.
    pub alone: bool,
}

impl SharedRules {
    /// The rules as a scorer takes them.
    pub fn evidence(&self) -> RuleEvidence<'_> {
        RuleEvidence { rules: &self.rules, weights: &self.weights, alone: self.alone }
    }
}

/// Rules as evidence beside a predictor, or in its place.
#[derive(Clone, Copy, Debug)]
pub struct RuleEvidence<'a> {
    /// The rules.
    pub rules: &'a RuleIndex,
    /// How much they count, by relation of the model; relations without a weight have none. Not used where rules
    /// are alone.
    pub weights: &'a [f32],
    /// Whether the predictor is silent.
    pub alone: bool,
}

impl RuleEvidence<'_> {
    /// What the rules say of (h, r, ?), and how much that counts.
    pub(super) fn row(&self, head: EntityId, relation: RelationId) -> Option<(SparseRow, f32)> {
        let weight = self.weight(relation);
        (weight > 0.0).then(|| (self.rules.row(head, relation), weight))
    }

    /// The most that the rules add to any edge of (h, r, ?), without walking.
    pub(super) fn at_most(&self, head: EntityId, relation: RelationId) -> f32 {
        let weight = self.weight(relation);
        if weight > 0.0 { weight * self.rules.at_most(head, relation) } else { 0.0 }
    }

    fn weight(&self, relation: RelationId) -> f32 {
        if self.alone { 1.0 } else { self.weights.get(relation.index()).copied().unwrap_or(0.0) }
    }

    /// Joins what the rules say with a row of predictions.
    pub(super) fn join(&self, head: EntityId, relation: RelationId, row: &mut [f32]) {
        let Some((sparse, weight)) = self.row(head, relation) else { return };
        for &(tail, truth) in sparse.iter() {
            if let Some(value) = row.get_mut(tail.index()) {
                *value = joined(*value, weight * truth);
            }
        }
    }
}

/// Two kinds of evidence that are taken for independent: `1 − (1 − x)(1 − y)`. Together they stay just below 1, as a
/// prediction does, unless one of them is above that already. It does not fall where one of them grows.
pub fn joined(predicted: f32, by_rules: f32) -> f32 {
    // In single precision the sum could fall by its last digit where a prediction of nearly 0 grows.
    let (x, y) = (f64::from(predicted), f64::from(by_rules));
    let both = (x + y * (1.0 - x)) as f32;
    predicted.max(both.min(Calibration::CEILING))
}
