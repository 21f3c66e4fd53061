//! Why an edge that is not stored is likely.

use super::evidence::joined;
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
    /// How true the predictor alone says it is.
    pub by_predictor: f32,
    /// How true the rules alone say it is, times what they count beside the predictor.
    pub by_rules: f32,
    /// The rules that speak for it, one for each cluster, strongest first; no more than a few.
    pub reasons: Vec<Reason>,
    /// How many others there are.
    pub more: usize,
    /// Where no rule speaks, the entities most similar to the one that the edge was read from, of those that have
    /// such an edge to the same entity.
    pub similar: Vec<EntityId>,
}

impl Why {
    /// Predictor and rules together.
    pub fn together(&self) -> f32 {
        joined(self.by_predictor, self.by_rules)
    }
}

impl Scorer<'_> {
    /// What speaks for an edge; `None` where rules are not asked.
    pub(super) fn why_edge(&self, from: EntityId, hop: Hop, to: EntityId) -> Option<Why> {
        self.rules()?;
        self.why_given(from, hop, to, self.by_predictor(from, hop, to))
    }

    /// The same, given how true the predictor alone says the edge is.
    pub(super) fn why_given(&self, from: EntityId, hop: Hop, to: EntityId, by_predictor: f32) -> Option<Why> {
        let rules = self.rules()?;
        let relation = self.model_relation(hop);
        let row = rules.row(from, relation);
        let by_rules = row.and_then(|(row, weight)| {
            let at = row.binary_search_by_key(&to, |it| it.0).ok()?;
            Some(weight * row[at].1)
        });
        let by_rules = by_rules.unwrap_or(0.0);
        let mut reasons = if by_rules > 0.0 { rules.rules.reasons(from, relation, to) } else { Vec::new() };
        let more = reasons.len().saturating_sub(NAMED);
        reasons.truncate(NAMED);
        let similar = if reasons.is_empty() { self.similar(from, hop, to) } else { Vec::new() };
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
