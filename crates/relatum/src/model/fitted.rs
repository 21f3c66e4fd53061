//! One logistic curve for each relation: how often its predictions are right.

use crate::graph::{Id, RelationId};
use crate::kernels::logistic;

use super::Calibration;

/// `truth = σ(a_r · ln p + c_r · ln n + b_r)` for each relation r of a model, reciprocal ones included: p is the share
/// of a candidate in the softmax of its row, n the number of tails that the (head, relation) of the row has in
/// training, at least 1. Every a is above 0, so the order within a row never changes.
///
/// The numbers are fitted on validation edges, so that a truth value says how often such predictions are right. With
/// a = c = 1 and b = 0 small values are those of [`Calibration::SoftmaxCount`], from which a fit starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// a, c and b, relation after relation.
    values: Vec<f32>,
}

impl Fitted {
    /// The curves of all relations, `[a, c, b]` each; `None` if an a is not positive or a value is not finite.
    pub fn new(curves: &[[f32; 3]]) -> Option<Self> {
        let fits = |[a, c, b]: &[f32; 3]| a.is_finite() && *a > 0.0 && c.is_finite() && b.is_finite();
        curves.iter().all(fits).then(|| Self { values: curves.as_flattened().to_vec() })
    }

    /// The number of relations.
    pub fn len(&self) -> usize {
        self.values.len() / 3
    }

    /// Whether there is no relation.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// a, c and b of a relation.
    ///
    /// # Panics
    /// If there is no such relation.
    pub fn of(&self, relation: RelationId) -> [f32; 3] {
        let at = 3 * relation.index();
        [self.values[at], self.values[at + 1], self.values[at + 2]]
    }

    /// The curve of a row of a relation, whose head has so many tails in training.
    ///
    /// # Panics
    /// If there is no such relation.
    pub fn row(&self, relation: RelationId, known_tails: usize) -> FittedRow {
        let [a, c, b] = self.of(relation);
        FittedRow { slope: a, offset: c * log_count(known_tails) + b }
    }

    /// a, c and b, relation after relation.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

/// The curve of one row: `truth = σ(slope · ln p + offset)`, less than a fact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedRow {
    slope: f32,
    offset: f32,
}

impl FittedRow {
    /// The curve from which a fit starts: `p·n / (1 + p·n)`.
    pub fn unfitted(known_tails: usize) -> Self {
        Self { slope: 1.0, offset: log_count(known_tails) }
    }

    /// The truth of a candidate with this logarithm of its share.
    pub fn of_share(self, log_share: f64) -> f32 {
        let odds = f64::from(self.slope) * log_share + f64::from(self.offset);
        ((1.0 / (1.0 + (-odds).exp())) as f32).min(Calibration::CEILING)
    }

    /// Turns scores into truth values, given the largest score of their row and the sum of `exp(s − largest)` over it,
    /// as [`exp_sum`](crate::kernels) gives them. A smaller sum gives larger values.
    pub(crate) fn apply(self, row: &mut [f32], (largest, sum): (f32, f32)) {
        let offset = self.offset - self.slope * sum.ln();
        for score in &mut *row {
            // The difference comes first: large scores that are near each other lose no digits.
            *score = (*score - largest) * self.slope + offset;
        }
        logistic(row);
        for truth in row {
            // Not `f32::min`, which would turn NaN into the ceiling.
            *truth = if *truth > Calibration::CEILING { Calibration::CEILING } else { *truth };
        }
    }
}

fn log_count(known_tails: usize) -> f32 {
    (known_tails.max(1) as f32).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::exp_sum;

    #[test]
    fn what_is_no_curve_is_refused() {
        assert!(Fitted::new(&[[1.0, 1.0, 0.0], [0.1, -2.0, 3.0]]).is_some());
        for wrong in [[0.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [f32::NAN, 1.0, 0.0], [1.0, f32::INFINITY, 0.0]] {
            assert_eq!(Fitted::new(&[[1.0, 1.0, 0.0], wrong]), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_row_has_the_values_of_its_formula_whichever_way_they_are_computed() {
        let scores = [2.0f32, -1.0, 0.5, 9.0, -40.0];
        let total: f64 = scores.iter().map(|s| f64::from(*s).exp()).sum();
        let (a, c, b) = (1.5f64, 0.8f64, -0.4f64);
        let fitted = Fitted::new(&[[1.0, 1.0, 0.0], [1.5, 0.8, -0.4]]).unwrap();
        for known in [0, 1, 7] {
            let curve = fitted.row(RelationId(1), known);
            let mut row = scores;
            curve.apply(&mut row, exp_sum(&scores));
            for (score, truth) in scores.iter().zip(row) {
                let share = f64::from(*score).exp() / total;
                let odds = a * share.ln() + c * (known.max(1) as f64).ln() + b;
                let right = (1.0 / (1.0 + (-odds).exp())).min(f64::from(Calibration::CEILING));
                assert!((f64::from(truth) - right).abs() < 1e-5 * right, "{score}: {truth} {right}");
                assert!((curve.of_share(share.ln()) - truth).abs() < 1e-5 * truth, "{score}");
            }
        }
    }

    #[test]
    fn small_values_of_the_unfitted_curve_are_those_of_softmax_count() {
        let scores = [2.0f32, -3.0, -4.0];
        let (mut counted, mut curved) = (scores, scores);
        Calibration::SoftmaxCount.apply(&mut counted, 2);
        FittedRow::unfitted(2).apply(&mut curved, exp_sum(&scores));
        for (counted, curved) in counted.iter().zip(curved).skip(1) {
            assert!((counted / curved - 1.0 - counted).abs() < 1e-4, "{counted} {curved}");
        }
        assert!(curved[0] < 0.7, "twice a share near 1 is no certainty: {}", curved[0]);
    }

    #[test]
    fn a_part_of_the_sum_gives_an_upper_bound() {
        let scores = [2.0f32, -1.0, 0.5, 9.0, -40.0];
        let curve = FittedRow { slope: 1.3, offset: -0.2 };
        let (mut all, mut some) = (scores, [scores[0], scores[1]]);
        curve.apply(&mut all, exp_sum(&scores));
        let sum = exp_sum(&some);
        curve.apply(&mut some, sum);
        assert!(some.iter().zip(all).all(|(bound, truth)| *bound >= truth), "{some:?} {all:?}");
    }
}
