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

    fn head_pull_back(&self, _head: &[f32], relation: &[f32], gradient: &[f32], head_gradient: &mut [f32]) {
        add_products(head_gradient, gradient, relation);
    }

    fn relation_pull_back(
        &self,
        head: &[f32],
        _relation: &[f32],
        gradient: &[f32],
        relation_gradient: &mut [f32],
    ) {
        add_products(relation_gradient, gradient, head);
    }
}

/// `out += a · b`, factor by factor.
fn add_products(out: &mut [f32], a: &[f32], b: &[f32]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out += a * b;
    }
}
