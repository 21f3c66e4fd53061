//! What rules can say of (h, r, ?) at most, without walking.

use rustc_hash::FxHashMap;

use super::fold::largest_share;
use super::index::RuleIndex;
use crate::graph::{EntityId, RelationId};

/// Strengths that are added up in another order differ in their last digits.
const SLACK: f32 = 1.0001;

impl RuleIndex {
    /// No truth value of the row of (h, r, ?) is above this.
    ///
    /// A walk that cannot take its first step from the head predicts nothing, so the strongest walk of each cluster
    /// that can, the rules that name one tail, and those that name the head add up to a bound on the strength of any
    /// tail: `walks + the most of one tail + those naming h`; and no share is larger than that of a candidate of
    /// this strength whom nobody rivals. That is a few look-ups for each rule, where a row takes a walk.
    pub fn at_most(&self, head: EntityId, relation: RelationId) -> f32 {
        let walks = self.paths_of(relation).filter(|(_, path)| {
            path.steps().first().is_some_and(|first| !self.steps.along(head, *first).is_empty())
        });
        let mut all =
            self.strongest(walks.map(|(place, _)| place)) + self.strongest(self.naming(head, relation));
        let mut by_tail: FxHashMap<EntityId, Vec<u32>> = FxHashMap::default();
        self.forward(head, relation, |place, tail| by_tail.entry(tail).or_default().push(place));
        all += by_tail.into_values().map(|of_tail| self.strongest(of_tail.into_iter())).fold(0.0, f32::max);
        (largest_share(all * SLACK, self.steps.along(head, relation).len()) * SLACK).min(Self::ceiling())
    }

    /// The strengths of the strongest rule of each cluster, added up.
    fn strongest(&self, places: impl Iterator<Item = u32>) -> f32 {
        let mut clusters: FxHashMap<u32, f32> = FxHashMap::default();
        for place in places {
            let (cluster, strength) = self.weight(place);
            let most = clusters.entry(cluster).or_default();
            *most = most.max(strength);
        }
        clusters.into_values().sum()
    }
}
