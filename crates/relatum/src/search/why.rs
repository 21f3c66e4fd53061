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
    /// What speaks for an edge; `None` where rules are not asked.
    pub(super) fn why_edge(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Why> {
        self.rules()?;
        self.why_given(from, hop, to, self.by_predictor(from, hop, to))
    }

    /// The same, given how true the predictor alone says the edge is.
    pub(super) fn why_given(&self, from: EntityId, hop: Hop, to: EntityId, predicted: f32) -> Option<Why> {
        let rules = self.rules()?;
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
        Some(Why { by_predictor, by_rules, reasons, more, similar })
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
