//! The loss of one question, and its slopes.

use super::sample::Question;
use crate::graph::Id;

/// Buffers that questions share.
#[derive(Default)]
pub(super) struct Scratch {
    /// log f(x) of each entity; −∞ for the other true answers, which do not count.
    logs: Vec<f32>,
}

/// Slopes below this are treated as 0, which spares the work for most entities: they are far from being an answer.
const NOTHING: f32 = 1e-7;
/// A value of f nearer to 1 than this is treated as this near, so that log (1 − f) stays finite.
const NEAR: f32 = 1e-6;

/// The loss, and its slopes by a and b of each atom; `scores` has one row for each atom.
pub(super) fn differentiate(
    question: &Question,
    scores: &[f32],
    lines: &[(f32, f32)],
    binary: f32,
    scratch: &mut Scratch,
) -> (f64, Vec<(f32, f32)>) {
    let n = scores.len() / lines.len().max(1);
    let logs = &mut scratch.logs;
    logs.clear();
    logs.resize(n, 0.0);
    for (row, &(a, b)) in scores.chunks_exact(n).zip(lines) {
        for (log, &score) in logs.iter_mut().zip(row) {
            *log -= softplus(-(a * score + b));
        }
    }
    for other in &question.others {
        logs[other.index()] = f32::NEG_INFINITY;
    }
    let answer = question.answer.index();
    let largest = logs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logs.iter().map(|&log| f64::from((log - largest).exp())).sum();
    let log_sum = f64::from(largest) + sum.ln();
    let own = f64::from(logs[answer]);
    let mut loss = (log_sum - own) - f64::from(binary) * own;
    let mut slopes = vec![(0.0f32, 0.0f32); lines.len()];
    for (x, &log) in logs.iter().enumerate() {
        // ∂L/∂ log f(x)
        let mut slope = (f64::from(log) - log_sum).exp() as f32;
        if x == answer {
            slope -= 1.0 + binary;
        } else {
            let truth = log.exp().min(1.0 - NEAR);
            loss -= f64::from(binary) * f64::from(-truth).ln_1p();
            slope += binary * truth / (1.0 - truth);
        }
        if slope.abs() < NOTHING {
            continue;
        }
        for (i, &(a, b)) in lines.iter().enumerate() {
            let score = scores[i * n + x];
            // ∂ log σ(z) / ∂z = σ(−z)
            let by_line = slope / (1.0 + (a * score + b).exp());
            slopes[i].0 += by_line * score;
            slopes[i].1 += by_line;
        }
    }
    (loss, slopes)
}

/// log (1 + eˣ)
fn softplus(x: f32) -> f32 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
