//! Logistic regression with a Gaussian prior, by Newton's method.

use rayon::prelude::*;

use super::rows::Row;

/// a, c and b.
pub(super) type Curve = [f64; 3];

/// Independent normal distributions of a, c and b.
pub(super) struct Prior {
    pub(super) mean: Curve,
    pub(super) spread: [f64; 3],
}

/// The least slope: a curve must rise, and a relation whose scores say nothing has a flat one.
const LEAST_SLOPE: f64 = 0.05;
/// Newton's method takes about eight steps; more are taken only where rounding keeps it from standing still.
const STEPS: usize = 50;
/// Rows that are summed in one task. It is a part of the result: sums are added up block after block.
const BLOCK: usize = 128;
/// The factor is held near 1 where there are few edges, because weights above 1 ask for more than certainty; the shift
/// is what the weights are for.
const CORRECTION: Prior = Prior { mean: [1.0, 0.0, 0.0], spread: [0.1, 1.0, 10.0] };
/// No factor of log-odds is larger.
const LARGEST_FACTOR: f64 = 2.0;

/// The most probable curve of some rows.
pub(super) fn fit(rows: &[&Row], prior: &Prior) -> Curve {
    let curve = most_probable(rows, prior);
    if curve[0] >= LEAST_SLOPE {
        return curve;
    }
    // The loss is convex, so the best of the curves that rise enough is one with the least slope.
    let mean = [LEAST_SLOPE, prior.mean[1], prior.mean[2]];
    let held = Prior { mean, spread: [1e-6, prior.spread[1], prior.spread[2]] };
    let [_, c, b] = most_probable(rows, &held);
    [LEAST_SLOPE, c, b]
}

fn most_probable(rows: &[&Row], prior: &Prior) -> Curve {
    let mut curve = prior.mean;
    let mut now = Sums::of(rows, curve).with(prior, curve);
    for _ in 0..STEPS {
        let step = solve(now.curvature, now.slope);
        // Half the decrease that the quadratic promises.
        let promised: f64 = (0..3).map(|k| step[k] * now.slope[k]).sum();
        if promised.is_nan() || promised < 1e-9 {
            break;
        }
        let mut length = 1.0;
        let better = loop {
            let there = std::array::from_fn(|k| curve[k] - length * step[k]);
            let sums = Sums::of(rows, there).with(prior, there);
            if sums.loss < now.loss {
                break Some((there, sums));
            }
            length *= 0.5;
            if length < 1e-6 {
                break None;
            }
        };
        let Some((there, sums)) = better else { break };
        (curve, now) = (there, sums);
    }
    curve
}

/// α and β of the common correction `α · log-odds + β`, for a share π of all held-out edges that is there to be seen.
pub(super) fn correction(rows: &[Row], curves: &[Curve], seen: f64) -> [f64; 2] {
    if seen >= 1.0 {
        return [1.0, 0.0];
    }
    // The same regression, with the log-odds of a candidate in place of ln p.
    let of_row = |row: &Row| {
        let [a, c, b] = curves[row.relation];
        let offset = c * row.count + b;
        let shares = row.shares.iter().map(|share| (a * f64::from(*share) + offset) as f32).collect();
        let weight = if row.held_out > 1 { 1.0 / seen } else { 1.0 };
        Row { count: 0.0, weight, shares, ..row.clone() }
    };
    let rows: Vec<Row> = rows.par_iter().map(of_row).collect();
    let [slope, _, shift] = fit(&rows.iter().collect::<Vec<_>>(), &CORRECTION);
    [slope.clamp(1.0 / LARGEST_FACTOR, LARGEST_FACTOR), shift]
}

/// The loss, its gradient, and its second derivatives.
#[derive(Clone, Copy, Default)]
struct Sums {
    loss: f64,
    slope: [f64; 3],
    curvature: [[f64; 3]; 3],
}

impl Sums {
    /// Over all candidates of some rows, the blocks of rows in their order, so that threads change nothing.
    fn of(rows: &[&Row], curve: Curve) -> Self {
        let parts: Vec<Self> = rows.par_chunks(BLOCK).map(|rows| Self::of_block(rows, curve)).collect();
        let mut sums = Self::default();
        for part in &parts {
            sums.loss += part.loss;
            for k in 0..3 {
                sums.slope[k] += part.slope[k];
                for l in 0..3 {
                    sums.curvature[k][l] += part.curvature[k][l];
                }
            }
        }
        sums
    }

    fn of_block(rows: &[&Row], [a, c, b]: Curve) -> Self {
        let mut sums = Self::default();
        for row in rows {
            let offset = c * row.count + b;
            // Sums over the candidates of a row, in which ln n is the same for all.
            let (mut wrong, mut by_share) = (0.0, 0.0);
            let [mut flat, mut mixed, mut square] = [0.0; 3];
            for (at, &share) in row.shares.iter().enumerate() {
                let share = f64::from(share);
                let odds = a * share + offset;
                let truth = logistic(odds);
                let right = if at < row.right { row.weight } else { 0.0 };
                // ln(1 + eᶻ) without overflow.
                sums.loss += odds.max(0.0) + (-odds.abs()).exp().ln_1p() - right * odds;
                let (error, weight) = (truth - right, truth * (1.0 - truth));
                wrong += error;
                by_share += error * share;
                flat += weight;
                mixed += weight * share;
                square += weight * share * share;
            }
            let n = row.count;
            for (sum, part) in sums.slope.iter_mut().zip([by_share, n * wrong, wrong]) {
                *sum += part;
            }
            let parts =
                [[square, n * mixed, mixed], [n * mixed, n * n * flat, n * flat], [mixed, n * flat, flat]];
            for (sums, parts) in sums.curvature.iter_mut().zip(parts) {
                sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
            }
        }
        sums
    }

    /// With the logarithm of the prior.
    fn with(mut self, prior: &Prior, curve: Curve) -> Self {
        for (k, (value, (mean, spread))) in curve.iter().zip(prior.mean.iter().zip(prior.spread)).enumerate()
        {
            let (apart, weight) = (value - mean, spread.powi(-2));
            self.loss += 0.5 * weight * apart * apart;
            self.slope[k] += weight * apart;
            self.curvature[k][k] += weight;
        }
        self
    }
}

fn logistic(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// The solution of three equations whose matrix is positive definite, as the prior makes it.
fn solve(mut matrix: [[f64; 3]; 3], mut right: [f64; 3]) -> [f64; 3] {
    for i in 0..3 {
        for j in i + 1..3 {
            let factor = matrix[j][i] / matrix[i][i];
            let above = matrix[i];
            matrix[j].iter_mut().zip(above).for_each(|(value, above)| *value -= factor * above);
            right[j] -= factor * right[i];
        }
    }
    for i in (0..3).rev() {
        for k in i + 1..3 {
            right[i] -= matrix[i][k] * right[k];
        }
        right[i] /= matrix[i][i];
    }
    right
}
