//! One affine map for each relation: how its scores become comparable to those of other relations.

use crate::graph::{Id, RelationId};
use crate::kernels::scale_by;

/// `s ↦ a_r · s + b_r` for each relation r of a model, reciprocal ones included, with every a above
/// 0, so that the order of scores never changes. The adaptive calibration is the sigmoid of it:
/// scores of one relation are worth more than equal scores of another, and this is how much.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    /// a and b, relation after relation.
    values: Vec<f32>,
}

impl Affine {
    /// The maps of all relations, `[a, b]` each; `None` if a slope is not positive or a value is NaN.
    pub fn new(maps: &[[f32; 2]]) -> Option<Self> {
        let fits = |[a, b]: &[f32; 2]| a.is_finite() && *a > 0.0 && b.is_finite();
        maps.iter().all(fits).then(|| Self { values: maps.as_flattened().to_vec() })
    }

    /// The number of relations.
    pub fn len(&self) -> usize {
        self.values.len() / 2
    }

    /// Whether there is no relation.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// a and b of a relation.
    ///
    /// # Panics
    /// If there is no such relation.
    pub fn of(&self, relation: RelationId) -> (f32, f32) {
        let at = 2 * relation.index();
        (self.values[at], self.values[at + 1])
    }

    /// Maps a row of scores of a relation.
    ///
    /// # Panics
    /// If there is no such relation.
    pub fn apply(&self, relation: RelationId, row: &mut [f32]) {
        let (a, b) = self.of(relation);
        scale_by(row, a);
        for score in row {
            *score += b;
        }
    }

    /// a and b, relation after relation.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}
