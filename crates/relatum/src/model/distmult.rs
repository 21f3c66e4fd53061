//! `DistMult`: real factors, every relation symmetric.

use super::predictor::LinkPredictor;

/// `s(h, r, t) = Σ h · r · t`, so `q = h · r` (Yang et al., 2015).
#[derive(Clone, Copy, Debug)]
pub(super) struct DistMult {
    pub(super) rank: usize,
}

impl LinkPredictor for DistMult {
    fn name(&self) -> &'static str {
        "distmult"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn query(&self, head: &[f32], relation: &[f32], query: &mut [f32]) {
        for ((q, h), r) in query.iter_mut().zip(head).zip(relation) {
            *q = h * r;
        }
    }

    fn pull_back(
        &self,
        head: &[f32],
        relation: &[f32],
        gradient: &[f32],
        head_gradient: &mut [f32],
        relation_gradient: &mut [f32],
    ) {
        for i in 0..gradient.len() {
            head_gradient[i] += gradient[i] * relation[i];
            relation_gradient[i] += gradient[i] * head[i];
        }
    }
}
