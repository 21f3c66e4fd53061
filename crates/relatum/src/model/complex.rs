//! `ComplEx`: complex factors, the tail conjugated.

use super::predictor::{Layout, LinkPredictor};

/// `s(h, r, t) = Re Σ h · r · t̄`, so `q = h · r` as complex numbers (Trouillon et al., 2016).
#[derive(Clone, Copy, Debug)]
pub(super) struct ComplEx {
    pub(super) rank: usize,
}

impl LinkPredictor for ComplEx {
    fn name(&self) -> &'static str {
        "complex"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn entity_layout(&self) -> Layout {
        Layout::Complex
    }

    fn relation_layout(&self) -> Layout {
        Layout::Complex
    }

    fn query(&self, head: &[f32], relation: &[f32], query: &mut [f32]) {
        let (h_re, h_im) = head.split_at(self.rank);
        let (r_re, r_im) = relation.split_at(self.rank);
        let (q_re, q_im) = query.split_at_mut(self.rank);
        for i in 0..self.rank {
            q_re[i] = h_re[i] * r_re[i] - h_im[i] * r_im[i];
            q_im[i] = h_re[i] * r_im[i] + h_im[i] * r_re[i];
        }
    }

    fn head_pull_back(&self, _head: &[f32], relation: &[f32], gradient: &[f32], head_gradient: &mut [f32]) {
        times_conjugate(self.rank, gradient, relation, head_gradient);
    }

    fn relation_pull_back(
        &self,
        head: &[f32],
        _relation: &[f32],
        gradient: &[f32],
        relation_gradient: &mut [f32],
    ) {
        times_conjugate(self.rank, gradient, head, relation_gradient);
    }
}

/// `out += a · b̄`: what multiplication by b becomes on the way back.
fn times_conjugate(rank: usize, a: &[f32], b: &[f32], out: &mut [f32]) {
    let (a_re, a_im) = a.split_at(rank);
    let (b_re, b_im) = b.split_at(rank);
    let (o_re, o_im) = out.split_at_mut(rank);
    for i in 0..rank {
        o_re[i] += a_re[i] * b_re[i] + a_im[i] * b_im[i];
        o_im[i] += a_im[i] * b_re[i] - a_re[i] * b_im[i];
    }
}
