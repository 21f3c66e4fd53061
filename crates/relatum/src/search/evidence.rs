//! What speaks for an edge: the predictor, rules, or both.

use std::sync::Arc;

use crate::graph::{EntityId, Id, RelationId};
use crate::kernels::scale_by;
use crate::model::rules::{RuleIndex, SparseRow};

/// Where the truth of an edge that is not stored comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evidence {
    /// The link predictor, calibrated.
    #[default]
    Model,
    /// Rules alone.
    Rules,
    /// Both, mixed: `(1 − w) φ + w ρ` with a weight w for each relation.
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

    /// The most that any edge of (h, r, ?) is worth of which the predictor says no more than this, without walking.
    pub(super) fn at_most(&self, head: EntityId, relation: RelationId, predicted: f32) -> f32 {
        let weight = self.weight(relation);
        if weight > 0.0 {
            (1.0 - weight) * predicted + weight * self.rules.at_most(head, relation)
        } else {
            predicted
        }
    }

    /// How much rules count for a relation of the model, beside a predictor that has the rest.
    pub(super) fn weight(&self, relation: RelationId) -> f32 {
        if self.alone { 1.0 } else { self.weights.get(relation.index()).copied().unwrap_or(0.0) }
    }

    /// Mixes what the rules say with a row of predictions.
    pub(super) fn mix(&self, head: EntityId, relation: RelationId, row: &mut [f32]) {
        if let Some((sparse, weight)) = self.row(head, relation) {
            mix_row(&sparse, weight, row);
        }
    }
}

/// Mixes what rules say with a whole row of predictions.
pub(crate) fn mix_row(said: &[(EntityId, f32)], weight: f32, row: &mut [f32]) {
    let (mut from, keep) = (0, 1.0 - weight);
    for &(tail, truth) in said {
        let at = tail.index();
        // A model may be of an older graph with fewer entities.
        let Some(&predicted) = row.get(at) else { break };
        scale_by(&mut row[from..at], keep);
        row[at] = mixed(predicted, truth, weight);
        from = at + 1;
    }
    scale_by(&mut row[from..], keep);
}

/// Two kinds of evidence, mixed: `(1 − w) φ + w ρ`. It is not above the larger of them, and does not fall where one
/// of them grows.
pub fn mixed(predicted: f32, by_rules: f32, weight: f32) -> f32 {
    ((1.0 - weight) * predicted + weight * by_rules).min(predicted.max(by_rules))
}
