//! How a score is written.

/// A score with four decimals; a score so small that these would show little of it, with two digits
/// and its power of ten.
///
/// ```
/// use relatum::answer::score_text;
///
/// assert_eq!([0.75, 0.0012, 0.000_001_23, 0.0].map(score_text), ["0.7500", "0.0012", "1.2e-6", "0.0000"]);
/// ```
pub fn score_text(score: f32) -> String {
    // Below it four decimals leave a single digit, or none.
    const SMALL: f32 = 1e-3;
    if score == 0.0 || score.abs() >= SMALL || score.is_nan() {
        format!("{score:.4}")
    } else {
        format!("{score:.1e}")
    }
}
