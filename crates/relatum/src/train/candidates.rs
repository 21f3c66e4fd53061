//! A sample of the entities in place of all of them.

use crate::graph::{EntityId, Id};
use crate::random::Rng;

/// The candidates of a sampled softmax: the batch's own entities and a random set of others that
/// the whole batch shares.
///
/// The sum over all entities is estimated by `Σ_own eˢ + (n − own)/sampled · Σ_sampled eˢ`: each
/// sampled candidate stands for as many others as were left out, which makes the estimate of the
/// sum unbiased. The factor enters as a bias `ln((n − own)/sampled)` on the score.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    /// Ascending.
    pub(super) entities: Vec<EntityId>,
    /// ln of how many entities each candidate stands for.
    pub(super) log_weights: Vec<f32>,
}

impl Candidates {
    pub(super) fn draw(mut own: Vec<EntityId>, entities: usize, sample: usize, rng: &mut Rng) -> Self {
        own.sort_unstable();
        own.dedup();
        let mut sampled: Vec<EntityId> =
            (0..sample).map(|_| EntityId::from_index(rng.below(entities))).collect();
        sampled.sort_unstable();
        sampled.dedup();
        sampled.retain(|entity| own.binary_search(entity).is_err());
        let stands_for = (entities - own.len()) as f64 / sampled.len() as f64;
        let weight = stands_for.ln() as f32;
        let mut both: Vec<(EntityId, f32)> = own.into_iter().map(|entity| (entity, 0.0)).collect();
        both.extend(sampled.into_iter().map(|entity| (entity, weight)));
        both.sort_unstable_by_key(|&(entity, _)| entity);
        let (entities, log_weights) = both.into_iter().unzip();
        Self { entities, log_weights }
    }

    pub(super) fn position(&self, entity: EntityId) -> Option<usize> {
        self.entities.binary_search(&entity).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sampled_sum_is_right_on_average() {
        let scores: Vec<f64> = (0..500).map(|i| f64::from(i % 17) / 5.0).collect();
        let exact: f64 = scores.iter().map(|s| s.exp()).sum();
        let mut rng = Rng::new(9);
        let own = vec![EntityId(3), EntityId(16), EntityId(3), EntityId(400)];
        let mut total = 0.0;
        for _ in 0..400 {
            let candidates = Candidates::draw(own.clone(), 500, 50, &mut rng);
            assert!(own.iter().all(|&entity| candidates.position(entity).is_some()));
            let drawn = candidates.entities.iter().zip(&candidates.log_weights);
            total += drawn.map(|(e, w)| (scores[e.index()] + f64::from(*w)).exp()).sum::<f64>();
        }
        let relative = (total / 400.0 - exact).abs() / exact;
        assert!(relative < 0.02, "off by {relative}");
    }
}
