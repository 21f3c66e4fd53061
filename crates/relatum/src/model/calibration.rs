//! From raw scores to truth values.

use super::FittedRow;
use crate::kernels::{exp_row, exp_sum};

/// How a row of raw scores, one for each candidate tail of a (head, relation), becomes truth values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Calibration {
    /// `1 / (1 + e⁻ˢ)`
    Sigmoid,
    /// `(s − min) / (max − min)` of the row
    MinMax,
    /// `e^s / Σ e^s` of the row: a probability that is shared by all true tails
    Softmax,
    /// `softmax · max(1, known tails)`, at most [`Calibration::CEILING`]: a (head, relation) with
    /// many tails shares its probability among many, so each is worth more than it seems
    #[default]
    SoftmaxCount,
    /// `1 / (1 + e⁻⁽ᵃˢ⁺ᵇ⁾)` with a and b of the relation, trained by `relatum calibrate`: see
    /// [`Affine`](super::Affine)
    Adaptive,
    /// `σ(a · ln p + c · ln n + b)` with p the share of the softmax, n the known tails, at least 1, and a, c and b of
    /// the relation, fitted on validation edges, at most [`Calibration::CEILING`]: a probability. See
    /// [`Fitted`](super::Fitted)
    Fitted,
    /// The scores themselves, which are not truth values: for parity with published figures only
    Raw,
}

impl Calibration {
    /// All calibrations.
    pub const ALL: [Self; 7] = [
        Self::Sigmoid,
        Self::MinMax,
        Self::Softmax,
        Self::SoftmaxCount,
        Self::Adaptive,
        Self::Fitted,
        Self::Raw,
    ];

    /// The most that a prediction can be worth under [`Calibration::SoftmaxCount`] and [`Calibration::Fitted`]: less
    /// than a fact.
    pub const CEILING: f32 = 0.9999;

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sigmoid => "sigmoid",
            Self::MinMax => "minmax",
            Self::Softmax => "softmax",
            Self::SoftmaxCount => "softmax-count",
            Self::Adaptive => "adaptive",
            Self::Fitted => "fitted",
            Self::Raw => "raw",
        }
    }

    /// The calibration of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|calibration| calibration.name() == name)
    }

    /// Whether the values it gives are in [0, 1], as every t-norm needs them.
    pub fn is_truth(self) -> bool {
        self != Self::Raw
    }

    /// Whether scores are multiplied by a sharpness first.
    pub fn is_softmax(self) -> bool {
        matches!(self, Self::Softmax | Self::SoftmaxCount | Self::Fitted)
    }

    /// Turns a row of scores into truth values. `known_tails` is the number of tails that the
    /// (head, relation) of the row has in the graph. Under [`Calibration::Adaptive`] the scores are
    /// those that [`Affine::apply`](super::Affine::apply) has mapped; under [`Calibration::Fitted`] the curve is the
    /// one from which a fit starts.
    pub fn apply(self, row: &mut [f32], known_tails: usize) {
        match self {
            Self::Raw => {}
            Self::Sigmoid | Self::Adaptive => {
                for score in row {
                    *score = 1.0 / (1.0 + (-*score).exp());
                }
            }
            Self::MinMax => {
                let (low, high) =
                    row.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &score| {
                        (low.min(score), high.max(score))
                    });
                // Min-max is undefined on a row of equal scores.
                let width = if high > low { high - low } else { 1.0 };
                for score in row {
                    *score = (*score - low) / width;
                }
            }
            Self::Fitted => {
                let sum = exp_sum(row);
                FittedRow::unfitted(known_tails).apply(row, sum);
            }
            Self::Softmax | Self::SoftmaxCount => {
                let (_, sum) = exp_row(row, None);
                let (count, ceiling) = match self {
                    Self::SoftmaxCount => (known_tails.max(1) as f32, Self::CEILING),
                    _ => (1.0, 1.0),
                };
                let scale = count / sum;
                for value in row {
                    // Not `f32::min`, which would turn NaN into the ceiling.
                    let truth = *value * scale;
                    *value = if truth > ceiling { ceiling } else { truth };
                }
            }
        }
    }
}

impl std::fmt::Display for Calibration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn truth_values_are_in_the_unit_interval_and_keep_the_order(
            scores in prop::collection::vec(-30.0f32..30.0, 1..60), known in 0usize..40
        ) {
            for calibration in Calibration::ALL.into_iter().filter(|it| it.is_truth()) {
                let mut row = scores.clone();
                calibration.apply(&mut row, known);
                prop_assert!(row.iter().all(|value| (0.0..=1.0).contains(value)), "{calibration} {row:?}");
                for (a, b) in scores.iter().zip(&row) {
                    for (c, d) in scores.iter().zip(&row) {
                        prop_assert!(a > c || b <= d, "{calibration} turns the order of {a} and {c}");
                    }
                }
            }
        }
    }

    #[test]
    fn softmax_sums_to_one_and_counts_lift_it() {
        let mut row = vec![0.0, 0.0, 0.0, 0.0];
        Calibration::Softmax.apply(&mut row, 3);
        assert_eq!(row, [0.25; 4]);
        let mut row = vec![0.0, 0.0, 0.0, 0.0];
        Calibration::SoftmaxCount.apply(&mut row, 3);
        assert_eq!(row, [0.75; 4]);
        let mut row = vec![0.0, 0.0, 0.0, 0.0];
        Calibration::SoftmaxCount.apply(&mut row, 9);
        assert_eq!(row, [Calibration::CEILING; 4]);
    }

    #[test]
    fn nan_and_infinity_never_become_truth_values_unnoticed() {
        for calibration in Calibration::ALL {
            for wrong in [f32::NAN, f32::INFINITY] {
                let mut row = vec![0.5, wrong, 0.1];
                calibration.apply(&mut row, 2);
                let passes = wrong.is_infinite()
                    && matches!(calibration, Calibration::Sigmoid | Calibration::Adaptive | Calibration::Raw);
                assert!(
                    passes || row.iter().any(|value| value.is_nan()),
                    "{calibration} of {wrong}: {row:?}"
                );
            }
        }
    }

    #[test]
    fn names_are_found_again() {
        for calibration in Calibration::ALL {
            assert_eq!(Calibration::from_name(calibration.name()), Some(calibration));
        }
        assert_eq!(Calibration::from_name("tanh"), None);
    }
}
