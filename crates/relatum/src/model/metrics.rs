//! How well ranks turned out.

use serde::{Deserialize, Serialize};

/// Filtered ranking metrics over a set of predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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

    /// The mean of several metrics, each counting the same.
    pub fn mean(each: &[Self]) -> Self {
        let count = each.len().max(1) as f64;
        let mean = |of: &dyn Fn(&Self) -> f64| each.iter().map(of).sum::<f64>() / count;
        let hits = [0, 1, 2].map(|cut| mean(&|metrics| metrics.hits[cut]));
        Self { count: each.len(), mrr: mean(&|metrics| metrics.mrr), hits }
    }
}
