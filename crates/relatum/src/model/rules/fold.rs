//! Evidence that adds up: noisy-or over clusters, of each cluster the strongest.

use crate::graph::{EntityId, Id};

/// The largest confidence that counts: nothing but a stored edge is certain.
pub(super) const MOST: f32 = 0.9999;

/// `−ln(1 − confidence)`: strengths of independent rules add up to that of their noisy-or.
pub(crate) fn strength(confidence: f32) -> f32 {
    -(1.0 - confidence.clamp(0.0, MOST)).ln()
}

/// Strengths become truth values: rules share out among their candidates what is true of (h, r, ?).
///
/// `ρ = n σ² / (¼ + Σ σ²)`, where n is the number of tails that the head has along the relation in training, at
/// least 1, as a softmax times that number has it. Squares leave little to the many candidates of which weak rules
/// speak; the quarter is the share of whatever no rule names, so that weak rules alone say little.
pub(super) fn share_out(strengths: &mut [(EntityId, f32)], known_tails: usize) {
    let all: f32 = UNNAMED + strengths.iter().map(|(_, strength)| strength * strength).sum::<f32>();
    for (_, strength) in strengths {
        *strength = shared(*strength, known_tails, all);
    }
}

/// No candidate of this strength or less has a larger share, whatever else rules say.
pub(super) fn largest_share(strength: f32, known_tails: usize) -> f32 {
    shared(strength, known_tails, UNNAMED + strength * strength)
}

/// The share of all that no rule names.
const UNNAMED: f32 = 0.25;

fn shared(strength: f32, known_tails: usize, all: f32) -> f32 {
    (known_tails.max(1) as f32 * strength * strength / all).clamp(0.0, MOST)
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
        let truths: Vec<f32> = row.iter().map(|&(_, strength)| 1.0 - (-strength).exp()).collect();
        assert_eq!(row.iter().map(|(x, _)| x.0).collect::<Vec<_>>(), [0, 1]);
        assert!((truths[0] - 0.3).abs() < 1e-6 && (truths[1] - (1.0 - 0.5 * 0.8)).abs() < 1e-6, "{truths:?}");
        assert!(fold.take().is_empty());
    }

    #[test]
    fn what_is_true_is_shared_out_by_the_squares_of_strengths() {
        let mut row = [(EntityId(0), 0.5), (EntityId(1), 1.0)];
        share_out(&mut row, 3);
        // 3 · 0.25 / 1.5 and 3 · 1 / 1.5, which is more than anything but a stored edge can be.
        assert!((row[0].1 - 0.5).abs() < 1e-6 && (row[1].1 - MOST).abs() < 1e-6, "{row:?}");
        let mut weak = [(EntityId(7), 0.05)];
        share_out(&mut weak, 0);
        assert!(weak[0].1 < 0.01, "a weak rule that is alone does not get everything: {weak:?}");
        assert!(largest_share(1.0, 2) >= row[0].1 && largest_share(0.0, 5) <= 0.0);
    }
}
