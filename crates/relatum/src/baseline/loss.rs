//! How wrong the distances of a batch are.
//!
//! With the score s = γ − D, answers s⁺, shared negatives s⁻ and a weight w for each query, the authors' loss is
//!
//! ```text
//! L = ½ · Σ ŵ · [ln(1 + e^−s⁺) + Σ aₖ · ln(1 + e^sₖ⁻)]      ŵ = w / Σ w      w = √(1 / (4 + number of answers))
//! ```
//!
//! where aₖ is the same for all negatives, or their softmax, which the gradient takes for given.

use rayon::prelude::*;

use crate::kernels::{exp_row, logistic, scale_by, weighted_logistic};

/// How a batch is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss<'a> {
    pub(super) margin: f32,
    pub(super) adversarial: f32,
    /// The weight of each query; they are divided by their sum.
    pub(super) weights: &'a [f32],
}

/// The weight of a query with so many answers.
pub(super) fn weight(answers: usize) -> f32 {
    (1.0 / (4.0 + answers as f32)).sqrt()
}

impl Loss<'_> {
    /// Replaces the distances of the answers, and those of the negatives of each query, by the slopes of the loss by
    /// them, and returns the loss.
    pub(super) fn slopes(self, answers: &mut [f32], negatives: &mut [f32]) -> f64 {
        let Self { margin, adversarial, weights } = self;
        let count = negatives.len() / answers.len().max(1);
        let total: f32 = weights.iter().sum();
        let losses: Vec<f64> = negatives
            .par_chunks_mut(count.max(1))
            .zip(answers.par_iter_mut())
            .zip(weights)
            .map(|((row, answer), weight)| {
                let half = 0.5 * weight / total;
                for distance in row.iter_mut() {
                    *distance = margin - *distance;
                }
                let of_negatives = if adversarial > 0.0 {
                    let mut shares: Vec<f32> = row.iter().map(|score| adversarial * score).collect();
                    let (_, sum) = exp_row(&mut shares, None);
                    scale_by(&mut shares, 1.0 / sum);
                    let loss = weighted_logistic(row, &shares);
                    scale_by(row, -half);
                    loss
                } else {
                    let loss = logistic(row) / count as f32;
                    scale_by(row, -half / count as f32);
                    loss
                };
                // σ(−s⁺) and ln(1 + e^−s⁺), with −s⁺ = D − γ.
                let mut score = [*answer - margin];
                let of_answer = logistic(&mut score);
                *answer = half * score[0];
                f64::from(half) * f64::from(of_answer + of_negatives)
            })
            .collect();
        // Summed in the order of the queries, whatever thread made each.
        losses.iter().sum()
    }
}
