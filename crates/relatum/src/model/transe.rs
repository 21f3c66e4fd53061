//! `TransE`: a relation is a translation.

use super::predictor::LinkPredictor;
use crate::kernels::axpy;

/// `s(h, r, t) = −|h + r − t|²`, so `q = 2(h + r)`, `b = −|e|²`, `c = −|q|²/4` (after Bordes et
/// al., 2013, with the squared distance).
#[derive(Clone, Copy, Debug)]
pub(super) struct TransE {
    pub(super) rank: usize,
}

impl LinkPredictor for TransE {
    fn name(&self) -> &'static str {
        "transe"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn is_distance(&self) -> bool {
        true
    }

    fn query(&self, head: &[f32], relation: &[f32], query: &mut [f32]) {
        for ((q, h), r) in query.iter_mut().zip(head).zip(relation) {
            *q = 2.0 * (h + r);
        }
    }

    fn head_pull_back(&self, _: &[f32], _: &[f32], gradient: &[f32], head_gradient: &mut [f32]) {
        axpy(head_gradient, 2.0, gradient);
    }

    fn relation_pull_back(&self, _: &[f32], _: &[f32], gradient: &[f32], relation_gradient: &mut [f32]) {
        axpy(relation_gradient, 2.0, gradient);
    }
}
