//! Ranks of answers, and the metrics over them: MRR and Hits@k.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::{EntityId, Id};
use crate::kernels::count_above;

/// Which rank an answer gets whose score others share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ties {
    /// The mean of the ranks that the tied candidates take together.
    #[default]
    Mean,
    /// The worst of these ranks, as in programs that count every candidate with at least the same score.
    Pessimistic,
}

/// Filtered ranking metrics over a set of predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkMetrics {
    /// Predictions, each a known head and relation and a tail to be found.
    pub count: usize,
    /// Mean of 1 / rank.
    pub mrr: f64,
    /// The share with rank at most 1, 3 and 10.
    pub hits: [f64; 3],
}

impl LinkMetrics {
    /// The cut-offs of [`hits`](Self::hits).
    pub const CUTS: [u32; 3] = [1, 3, 10];

    /// The metrics of ranks, the best of which is 1.
    pub fn of(ranks: impl Iterator<Item = f64>) -> Self {
        let mut metrics = Self::default();
        for rank in ranks {
            metrics.count += 1;
            metrics.mrr += 1.0 / rank;
            for (hits, cut) in metrics.hits.iter_mut().zip(Self::CUTS) {
                *hits += f64::from(u8::from(rank <= f64::from(cut)));
            }
        }
        let count = metrics.count.max(1) as f64;
        metrics.mrr /= count;
        metrics.hits = metrics.hits.map(|hits| hits / count);
        metrics
    }

    /// The mean of several metrics, all with the same weight.
    pub fn mean(each: &[Self]) -> Self {
        let count = each.len().max(1) as f64;
        let mean = |of: &dyn Fn(&Self) -> f64| each.iter().map(of).sum::<f64>() / count;
        let hits = [0, 1, 2].map(|cut| mean(&|metrics| metrics.hits[cut]));
        Self { count: each.len(), mrr: mean(&|metrics| metrics.mrr), hits }
    }
}

/// The place of an answer among all candidates that are not answers themselves: `answers` are all
/// true ones, this one among them. A score that is NaN ranks last.
#[allow(clippy::float_cmp, reason = "a tie is the very same number")]
pub(crate) fn filtered_rank(scores: &[f32], answer: EntityId, answers: &[EntityId], ties: Ties) -> f64 {
    let score = scores[answer.index()];
    if score.is_nan() {
        return scores.len() as f64;
    }
    let (mut above, mut equal) = count_above(scores, score);
    for entity in answers {
        above -= usize::from(scores[entity.index()] > score);
        equal -= usize::from(scores[entity.index()] == score);
    }
    match ties {
        Ties::Mean => 1.0 + above as f64 + equal as f64 / 2.0,
        Ties::Pessimistic => 1.0 + (above + equal) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rank by its definition, from all places that the answer could take among those tied with it.
    fn plain_rank(scores: &[f32], answer: usize, answers: &[usize], ties: Ties) -> f64 {
        let rivals: Vec<f32> =
            (0..scores.len()).filter(|x| !answers.contains(x)).map(|x| scores[x]).collect();
        let better = rivals.iter().filter(|score| **score > scores[answer]).count() as f64;
        let tied = rivals.iter().filter(|score| score.total_cmp(&scores[answer]).is_eq()).count();
        let places: Vec<f64> = (0..=tied).map(|place| 1.0 + better + place as f64).collect();
        match ties {
            Ties::Mean => places.iter().sum::<f64>() / places.len() as f64,
            Ties::Pessimistic => places[places.len() - 1],
        }
    }

    proptest! {
        #[test]
        fn ranks_are_those_of_a_plain_implementation(
            scores in prop::collection::vec(0u8..6, 1..80),
            answers in prop::collection::btree_set(0usize..80, 1..12),
        ) {
            let scores: Vec<f32> = scores.into_iter().map(f32::from).collect();
            let answers: Vec<usize> = answers.into_iter().filter(|x| *x < scores.len()).collect();
            let ids: Vec<EntityId> = answers.iter().map(|&x| EntityId::from_index(x)).collect();
            for (&answer, &id) in answers.iter().zip(&ids) {
                for ties in [Ties::Mean, Ties::Pessimistic] {
                    let plain = plain_rank(&scores, answer, &answers, ties);
                    prop_assert!((filtered_rank(&scores, id, &ids, ties) - plain).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn ties_take_their_mean_rank_or_the_worst() {
        let row = [0.5, 0.9, 0.5, 0.5, 0.1];
        let rank = |ties| filtered_rank(&row, EntityId(0), &[EntityId(0)], ties);
        assert!((rank(Ties::Mean) - 3.0).abs() < 1e-12, "places 2, 3 and 4 are shared");
        assert!((rank(Ties::Pessimistic) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn known_answers_do_not_push_a_tail_down() {
        let row = [0.5, 0.9, 0.8, 0.5];
        let known = [EntityId(0), EntityId(1), EntityId(3)];
        assert!((filtered_rank(&row, EntityId(0), &known, Ties::Pessimistic) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_nan_score_ranks_last() {
        let row = [f32::NAN, 0.9, 0.8];
        assert!((filtered_rank(&row, EntityId(0), &[EntityId(0)], Ties::Mean) - 3.0).abs() < 1e-12);
    }
}
