//! The logistic loss of whole rows of scores.

use super::softmax::exp;

const LANES: usize = 16;

vectorised! {
    /// Replaces every score s of a row by `σ(s) = 1 / (1 + e⁻ˢ)`, and returns `Σ ln(1 + eˢ)`, the loss of scores that
    /// should be low: its slope by s is σ(s).
    pub fn logistic<'a>(row: &'a mut [f32]) -> f32 {
        let mut lanes = [0.0f32; LANES];
        let (blocks, rest) = row.as_chunks_mut::<LANES>();
        for block in blocks {
            for lane in 0..LANES {
                let (share, loss) = both(block[lane]);
                block[lane] = share;
                lanes[lane] += loss;
            }
        }
        let mut sum = lanes.iter().sum::<f32>();
        for score in rest {
            let (share, loss) = both(*score);
            *score = share;
            sum += loss;
        }
        sum
    }
}

vectorised! {
    /// The same with a weight w for each score: replaces s by `w · σ(s)`, and returns `Σ w · ln(1 + eˢ)`.
    pub fn weighted_logistic<'a>(row: &'a mut [f32], weights: &'a [f32]) -> f32 {
        let mut lanes = [0.0f32; LANES];
        let (blocks, rest) = row.as_chunks_mut::<LANES>();
        let (heavy, heavy_rest) = weights.as_chunks::<LANES>();
        for (block, weights) in blocks.iter_mut().zip(heavy) {
            for lane in 0..LANES {
                let (share, loss) = both(block[lane]);
                block[lane] = weights[lane] * share;
                lanes[lane] = weights[lane].mul_add(loss, lanes[lane]);
            }
        }
        let mut sum = lanes.iter().sum::<f32>();
        for (score, weight) in rest.iter_mut().zip(heavy_rest) {
            let (share, loss) = both(*score);
            *score = weight * share;
            sum += weight * loss;
        }
        sum
    }
}

/// σ(s) and ln(1 + eˢ) of one score, by y = e^−|s|: `ln(1 + y) = 2·artanh(y / (2 + y))`, whose series in at most 1/3 is
/// right to a few parts in 10⁸ after six terms.
#[inline(always)]
fn both(score: f32) -> (f32, f32) {
    let y = exp(-score.abs());
    let share = if score > 0.0 { 1.0 } else { y } / (1.0 + y);
    let z = y / (2.0 + y);
    let z2 = z * z;
    let series = z2.mul_add(1.0 / 11.0, 1.0 / 9.0);
    let series = z2.mul_add(series, 1.0 / 7.0);
    let series = z2.mul_add(series, 1.0 / 5.0);
    let series = z2.mul_add(series, 1.0 / 3.0);
    let series = z2.mul_add(series, 1.0);
    let above = if score > 0.0 { score } else { 0.0 };
    (share, (2.0 * z).mul_add(series, above))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_losses_are_those_of_double_precision() {
        let scores: Vec<f32> = (-4000..4000).map(|step| step as f32 / 100.0).collect();
        for &score in &scores {
            let mut row = [score];
            let loss = f64::from(logistic(&mut row));
            let s = f64::from(score);
            let (share, right) = (1.0 / (1.0 + (-s).exp()), s.max(0.0) + (-s.abs()).exp().ln_1p());
            assert!((f64::from(row[0]) - share).abs() < 1e-6, "σ({s}) = {}", row[0]);
            assert!((loss - right).abs() < 1e-6 * (1.0 + right), "the loss of {s} is {loss}, not {right}");
        }
        let mut row = scores.clone();
        let sum: f64 =
            scores.iter().map(|&s| f64::from(s.max(0.0)) + f64::from(-s.abs()).exp().ln_1p()).sum();
        assert!((f64::from(logistic(&mut row)) / sum - 1.0).abs() < 1e-5);
    }

    #[test]
    fn weights_multiply_shares_and_losses() {
        let scores: Vec<f32> = (0..37).map(|step| step as f32 / 4.0 - 4.0).collect();
        let weights: Vec<f32> = (0..37).map(|step| step as f32 / 37.0).collect();
        let (mut plain, mut weighted) = (scores.clone(), scores.clone());
        logistic(&mut plain);
        let loss = weighted_logistic(&mut weighted, &weights);
        let mut sum = 0.0;
        for at in 0..37 {
            assert!((weighted[at] - weights[at] * plain[at]).abs() < 1e-7);
            sum += weights[at] * logistic(&mut [scores[at]]);
        }
        assert!((loss - sum).abs() < 1e-4, "{loss} {sum}");
    }

    #[test]
    fn a_score_that_is_no_number_makes_the_loss_none() {
        assert!(logistic(&mut [1.0, f32::NAN]).is_nan());
    }
}
