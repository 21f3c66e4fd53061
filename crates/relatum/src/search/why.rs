//! Why an edge that is not stored is likely.

use super::truth::Scorer;
use crate::graph::{EntityId, Id, Split};
use crate::kernels::dot;
use crate::model::rules::Reason;
use crate::query::Hop;

/// How many rules and how many similar entities are named.
const NAMED: usize = 3;
/// Entities that have the edge and are compared.
const COMPARED: usize = 5_000;

/// What speaks for an edge, and how much.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// What the predictor adds to its truth: how true it says the edge is, times what it counts beside the rules.
    pub by_predictor: f32,
    /// What the rules add: how true they say it is, times what they count beside the predictor.
    pub by_rules: f32,
    /// The rules that speak for it, one for each cluster, strongest first; no more than a few. They may add nothing:
    /// validation edges can speak against all rules of a relation.
    pub reasons: Vec<Reason>,
    /// How many others there are.
    pub more: usize,
    /// Whether rules were asked at all.
    pub rules_asked: bool,
    /// Where the predictor alone adds something, the entities most similar to the one that the edge was read from, of
    /// those that have such an edge to the same entity.
    pub similar: Vec<EntityId>,
}

impl Why {
    /// Predictor and rules together.
    pub fn together(&self) -> f32 {
        self.by_predictor + self.by_rules
    }
}

impl Scorer<'_> {
    /// What speaks for an edge of some truth; `None` for raw scores, which are no truth that could be divided.
    pub(super) fn why_edge(&self, from: EntityId, hop: Hop, to: EntityId, truth: f32) -> Option<Why> {
        let predicted = if self.rules().is_some() { self.by_predictor(from, hop, to) } else { truth };
        self.why_given(from, hop, to, predicted)
    }

    /// The same, given how true the predictor alone says the edge is.
    pub(super) fn why_given(&self, from: EntityId, hop: Hop, to: EntityId, predicted: f32) -> Option<Why> {
        if !self.calibration.is_truth() {
            return None;
        }
        let Some(rules) = self.rules() else { return Some(self.why_alone(from, hop, to, predicted)) };
        let relation = self.model_relation(hop);
        let weight = rules.weight(relation);
        let row = rules.row(from, relation);
        let said = row.and_then(|(row, _)| {
            let at = row.binary_search_by_key(&to, |it| it.0).ok()?;
            Some(row[at].1)
        });
        let by_predictor = (1.0 - weight) * predicted;
        let by_rules = weight * said.unwrap_or(0.0) * self.kind_factor(hop, to);
        // Without a weight there is no row to look it up in, but rules may speak all the same.
        let speaks = weight <= 0.0 || said.is_some();
        let mut reasons = if speaks { rules.rules.reasons(from, relation, to) } else { Vec::new() };
        let more = reasons.len().saturating_sub(NAMED);
        reasons.truncate(NAMED);
        let by_similarity = by_rules <= 0.0 && by_predictor > 0.0;
        let similar = if by_similarity { self.similar(from, hop, to) } else { Vec::new() };
        Some(Why { by_predictor, by_rules, reasons, more, rules_asked: true, similar })
    }

    /// What speaks for an edge where no rule is asked: what the predictor knows of similar entities.
    fn why_alone(&self, from: EntityId, hop: Hop, to: EntityId, predicted: f32) -> Why {
        let similar = if predicted > 0.0 { self.similar(from, hop, to) } else { Vec::new() };
        let (by_rules, reasons, more) = (0.0, Vec::new(), 0);
        Why { by_predictor: predicted, by_rules, reasons, more, rules_asked: false, similar }
    }

    /// The entities with the largest cosine to one, of those from which the hop leads to another.
    fn similar(&self, from: EntityId, hop: Hop, to: EntityId) -> Vec<EntityId> {
        let vector = |entity: EntityId| {
            (entity.index() < self.model.entity_count()).then(|| self.model.entity(entity))
        };
        let Some(own) = vector(from) else { return Vec::new() };
        let others = self.facts.neighbours(Split::Train, to, hop.reversed()).filter(|other| *other != from);
        let cosine = |other: EntityId| {
            let other = vector(other)?;
            Some(dot(&own, &other) / dot(&other, &other).sqrt().max(f32::MIN_POSITIVE))
        };
        let mut ranked: Vec<(EntityId, f32)> =
            others.take(COMPARED).filter_map(|other| Some((other, cosine(other)?))).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked.into_iter().take(NAMED).map(|(other, _)| other).collect()
    }
}
