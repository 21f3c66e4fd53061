//! Evidence that adds up: noisy-or over clusters, of each cluster the strongest.

use crate::graph::{EntityId, Id};

/// The largest confidence that counts: nothing but a stored edge is certain.
const MOST: f32 = 0.9999;

/// `−ln(1 − confidence)`: strengths of independent rules add up to that of their noisy-or.
pub(crate) fn strength(confidence: f32) -> f32 {
    -(1.0 - confidence.clamp(0.0, MOST)).ln()
}

/// `1 − e^(−strength)`, and never more than just below 1.
pub(crate) fn truth(strength: f32) -> f32 {
    (-(-strength).exp_m1()).clamp(0.0, MOST)
}

/// Strengths of candidates in the making. Rules come cluster by cluster, in each the strongest first.
#[derive(Debug)]
pub(super) struct Fold {
    strengths: Vec<f32>,
    /// The cluster that spoke last of each candidate.
    last: Vec<u32>,
    touched: Vec<EntityId>,
}

const NONE: u32 = u32::MAX;

impl Fold {
    pub(super) fn new(entities: usize) -> Self {
        Self { strengths: vec![0.0; entities], last: vec![NONE; entities], touched: Vec::new() }
    }

    /// A rule of a cluster predicts a candidate.
    pub(super) fn add(&mut self, candidate: EntityId, cluster: u32, strength: f32) {
        let at = candidate.index();
        if self.last[at] == cluster {
            return;
        }
        if self.last[at] == NONE {
            self.touched.push(candidate);
        }
        self.last[at] = cluster;
        self.strengths[at] += strength;
    }

    /// Every candidate with its strength, by id; the fold is empty afterwards.
    pub(super) fn take(&mut self) -> Vec<(EntityId, f32)> {
        self.touched.sort_unstable();
        let mut row = Vec::with_capacity(self.touched.len());
        for &candidate in &self.touched {
            let at = candidate.index();
            row.push((candidate, self.strengths[at]));
            self.strengths[at] = 0.0;
            self.last[at] = NONE;
        }
        self.touched.clear();
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_one_cluster_count_once_and_clusters_add_up() {
        let mut fold = Fold::new(3);
        for (cluster, confidence) in [(0, 0.5), (0, 0.4), (7, 0.2)] {
            fold.add(EntityId(1), cluster, strength(confidence));
        }
        fold.add(EntityId(0), 7, strength(0.3));
        let row = fold.take();
        let truths: Vec<f32> = row.iter().map(|&(_, strength)| truth(strength)).collect();
        assert_eq!(row.iter().map(|(x, _)| x.0).collect::<Vec<_>>(), [0, 1]);
        assert!((truths[0] - 0.3).abs() < 1e-6 && (truths[1] - (1.0 - 0.5 * 0.8)).abs() < 1e-6, "{truths:?}");
        assert!(fold.take().is_empty());
    }
}
