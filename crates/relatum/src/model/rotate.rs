//! `RotatE`: a relation is a rotation of every complex factor.

use super::predictor::{Layout, LinkPredictor};

/// `s(h, r, t) = −|h · e^{iθ_r} − t|²`, so `q = 2 h · e^{iθ}`, `b = −|e|²`, `c = −|q|²/4` (after Sun
/// et al., 2019, with the squared distance). A relation's row holds its angles θ.
#[derive(Clone, Copy, Debug)]
pub(super) struct RotatE {
    pub(super) rank: usize,
}

impl LinkPredictor for RotatE {
    fn name(&self) -> &'static str {
        "rotate"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn entity_layout(&self) -> Layout {
        Layout::Complex
    }

    fn relation_layout(&self) -> Layout {
        Layout::Phase
    }

    fn is_distance(&self) -> bool {
        true
    }

    fn query(&self, head: &[f32], relation: &[f32], query: &mut [f32]) {
        let (h_re, h_im) = head.split_at(self.rank);
        let (q_re, q_im) = query.split_at_mut(self.rank);
        for i in 0..self.rank {
            let (sin, cos) = relation[i].sin_cos();
            q_re[i] = 2.0 * (h_re[i] * cos - h_im[i] * sin);
            q_im[i] = 2.0 * (h_re[i] * sin + h_im[i] * cos);
        }
    }

    fn head_pull_back(&self, _head: &[f32], relation: &[f32], gradient: &[f32], head_gradient: &mut [f32]) {
        let (g_re, g_im) = gradient.split_at(self.rank);
        let (h_re, h_im) = head_gradient.split_at_mut(self.rank);
        for i in 0..self.rank {
            let (sin, cos) = relation[i].sin_cos();
            h_re[i] += 2.0 * (g_re[i] * cos + g_im[i] * sin);
            h_im[i] += 2.0 * (g_im[i] * cos - g_re[i] * sin);
        }
    }

    fn relation_pull_back(
        &self,
        head: &[f32],
        relation: &[f32],
        gradient: &[f32],
        relation_gradient: &mut [f32],
    ) {
        // A turn by dθ moves q by i·q·dθ.
        let (h_re, h_im) = head.split_at(self.rank);
        let (g_re, g_im) = gradient.split_at(self.rank);
        for i in 0..self.rank {
            let (sin, cos) = relation[i].sin_cos();
            let q_re = 2.0 * (h_re[i] * cos - h_im[i] * sin);
            let q_im = 2.0 * (h_re[i] * sin + h_im[i] * cos);
            relation_gradient[i] += g_im[i] * q_re - g_re[i] * q_im;
        }
    }
}
