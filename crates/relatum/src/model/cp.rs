//! CP: every entity has one vector as a head and another as a tail.

use std::ops::Range;

use super::distmult::DistMult;
use super::predictor::LinkPredictor;

/// `s(h, r, t) = Σ u_h · r · v_t` (Hitchcock, 1927; Lacroix et al., 2018): `DistMult` between the
/// first half of the head's row and the second half of the tail's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cp {
    pub(super) rank: usize,
}

impl LinkPredictor for Cp {
    fn name(&self) -> &'static str {
        "cp"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn entity_width(&self) -> usize {
        2 * self.rank
    }

    fn head(&self) -> Range<usize> {
        0..self.rank
    }

    fn tail(&self) -> Range<usize> {
        self.rank..2 * self.rank
    }

    fn query(&self, head: &[f32], relation: &[f32], query: &mut [f32]) {
        DistMult { rank: self.rank }.query(&head[..self.rank], relation, query);
    }

    fn head_pull_back(&self, head: &[f32], relation: &[f32], gradient: &[f32], head_gradient: &mut [f32]) {
        let head_gradient = &mut head_gradient[..self.rank];
        DistMult { rank: self.rank }.head_pull_back(head, relation, gradient, head_gradient);
    }

    fn relation_pull_back(
        &self,
        head: &[f32],
        relation: &[f32],
        gradient: &[f32],
        relation_gradient: &mut [f32],
    ) {
        DistMult { rank: self.rank }.relation_pull_back(head, relation, gradient, relation_gradient);
    }
}
