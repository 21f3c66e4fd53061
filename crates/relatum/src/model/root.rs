//! Distances themselves, where other programs do not square them.

use std::ops::Range;
use std::sync::Arc;

use super::predictor::{Layout, LinkPredictor};

/// `s(h, r, t) = −|q/2 − e_t|`: minus the root of the squared distance that a predictor of this crate measures. Models of
/// other programs score so; they are imported, never trained here. The order of candidates is that of the square.
#[derive(Clone, Debug)]
pub(super) struct Root {
    pub(super) name: &'static str,
    pub(super) squared: Arc<dyn LinkPredictor>,
}

impl LinkPredictor for Root {
    fn name(&self) -> &'static str {
        self.name
    }

    fn rank(&self) -> usize {
        self.squared.rank()
    }

    fn entity_layout(&self) -> Layout {
        self.squared.entity_layout()
    }

    fn relation_layout(&self) -> Layout {
        self.squared.relation_layout()
    }

    fn head(&self) -> Range<usize> {
        self.squared.head()
    }

    fn tail(&self) -> Range<usize> {
        self.squared.tail()
    }

    fn is_distance(&self) -> bool {
        true
    }

    fn is_root(&self) -> bool {
        true
    }

    fn query(&self, head: &[f32], relation: &[f32], query: &mut [f32]) {
        self.squared.query(head, relation, query);
    }

    fn head_pull_back(&self, head: &[f32], relation: &[f32], gradient: &[f32], head_gradient: &mut [f32]) {
        self.squared.head_pull_back(head, relation, gradient, head_gradient);
    }

    fn relation_pull_back(
        &self,
        head: &[f32],
        relation: &[f32],
        gradient: &[f32],
        relation_gradient: &mut [f32],
    ) {
        self.squared.relation_pull_back(head, relation, gradient, relation_gradient);
    }
}
