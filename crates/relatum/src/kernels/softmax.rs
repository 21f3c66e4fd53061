//! Exponentials of whole rows: the inner loop of every softmax.

const LANES: usize = 32;

/// Replaces a row of scores s by `exp(s + bias − m)` with m the row's largest value, and returns
/// `(m, Σ exp)`; the log-sum-exp of the row is `m + ln Σ`.
///
/// An empty row gives (−∞, 0). A NaN or +∞ in the row makes the sum NaN.
pub fn exp_row(row: &mut [f32], bias: Option<&[f32]>) -> (f32, f32) {
    if let Some(bias) = bias {
        super::add(row, bias);
    }
    exponentials(row)
}

vectorised! {
    /// The sum of [`exp_row`], bit for bit, without writing the exponentials: `(m, Σ exp(s − m))`.
    pub fn exp_sum<'a>(row: &'a [f32]) -> (f32, f32) {
        let largest = largest(row);
        let mut lanes = [0.0f32; LANES];
        let (blocks, rest) = row.as_chunks::<LANES>();
        for block in blocks {
            for lane in 0..LANES {
                lanes[lane] += exp(block[lane] - largest);
            }
        }
        let mut sum = fold(&lanes);
        for value in rest {
            sum += exp(*value - largest);
        }
        (largest, sum)
    }
}

#[inline(always)]
fn largest(row: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (blocks, rest) = row.as_chunks::<LANES>();
    for block in blocks {
        for lane in 0..LANES {
            // Written as a comparison because `f32::max` costs a NaN test in every lane.
            lanes[lane] = if block[lane] > lanes[lane] { block[lane] } else { lanes[lane] };
        }
    }
    lanes.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)
}

vectorised! {
    /// [`exp_row`] without a bias.
    fn exponentials<'a>(row: &'a mut [f32]) -> (f32, f32) {
        let largest = largest(row);
        let mut lanes = [0.0f32; LANES];
        let (blocks, rest) = row.as_chunks_mut::<LANES>();
        for block in blocks {
            for lane in 0..LANES {
                let value = exp(block[lane] - largest);
                block[lane] = value;
                lanes[lane] += value;
            }
        }
        let mut sum = fold(&lanes);
        for value in rest {
            *value = exp(*value - largest);
            sum += *value;
        }
        (largest, sum)
    }
}

#[inline(always)]
fn fold(lanes: &[f32; LANES]) -> f32 {
    let mut sums = *lanes;
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            sums[lane] += sums[lane + half];
        }
        half /= 2;
    }
    sums[0]
}

/// eˣ for x ≤ 0 to three parts in 10⁷: 2ⁿ · p(f) with n = round(x / ln 2), f the remainder, and p the
/// Taylor polynomial of degree 6 on |f| ≤ ln 2 / 2. Below −87 the result is 0 for every purpose here.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Adding and subtracting 1.5·2²³ rounds to the nearest integer and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts, the first exact in few bits, so that n · ln 2 loses nothing.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let f = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, x));
    let p = f.mul_add(1.0 / 720.0, 1.0 / 120.0);
    let p = p.mul_add(f, 1.0 / 24.0);
    let p = p.mul_add(f, 1.0 / 6.0);
    let p = p.mul_add(f, 0.5);
    let p = p.mul_add(f, 1.0);
    let p = p.mul_add(f, 1.0);
    // The low bits of `shifted` hold n; shifted into the exponent they multiply by 2ⁿ.
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    p * scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_exponential_is_right_to_three_parts_in_ten_million() {
        for step in 0..200_000 {
            let x = -86.0 * step as f32 / 200_000.0;
            let exact = f64::from(x).exp();
            let relative = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(relative < 3e-7, "exp({x}) is off by {relative}");
        }
    }

    #[test]
    fn a_nan_or_infinite_score_makes_the_sum_nan() {
        for bad in [f32::NAN, f32::INFINITY] {
            for position in [0, 40, 70] {
                let mut row = vec![0.5; 71];
                row[position] = bad;
                let (_, sum) = exp_row(&mut row, None);
                assert!(sum.is_nan(), "{bad} at {position} gave {sum}");
            }
        }
    }

    proptest! {
        #[test]
        fn rows_of_any_length_sum_as_in_double_precision(
            scores in prop::collection::vec(-30.0f32..30.0, 1..200), with_bias in any::<bool>()
        ) {
            let bias: Vec<f32> = scores.iter().map(|s| (s * 7.0).sin()).collect();
            let bias = with_bias.then_some(bias);
            let mut row = scores.clone();
            let (largest, sum) = exp_row(&mut row, bias.as_deref());
            if bias.is_none() {
                prop_assert_eq!(exp_sum(&scores), (largest, sum));
            }
            let total: Vec<f64> = scores.iter().enumerate()
                .map(|(i, &s)| f64::from(s + bias.as_ref().map_or(0.0, |b| b[i]))).collect();
            let exact = total.iter().map(|s| s.exp()).sum::<f64>().ln();
            prop_assert!((f64::from(largest) + f64::from(sum).ln() - exact).abs() < 1e-5);
            for (got, s) in row.iter().zip(&total) {
                prop_assert!((f64::from(*got) - (s - f64::from(largest)).exp()).abs() < 1e-6);
            }
        }
    }
}
