//! What our pictures have in common: axes with round numbers, and texts escaped for XML.

use crate::graph::visible;

/// An axis from one round number to another, with a tick at every step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    pub(crate) low: f64,
    pub(crate) high: f64,
    step: f64,
}

impl Ticks {
    /// At most seven ticks, 1, 2 or 5 times a power of ten apart, with both numbers between the outer ones.
    pub(crate) fn around(low: f64, high: f64) -> Self {
        let span = if high > low { high - low } else { 1.0 };
        let power = 10f64.powf((span / 5.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| span / step <= 6.0);
        let step = step.unwrap_or(10.0 * power);
        let high = (low + span).max(low + step / 2.0);
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, step }
    }

    /// The share of the axis below a value.
    pub(crate) fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    /// The ticks, lowest first.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> {
        let (low, step) = (self.low, self.step);
        let count = ((self.high - low) / step).round() as usize;
        (0..=count).map(move |index| low + index as f64 * step)
    }

    /// A tick with as many digits as are needed to tell it from the next.
    pub(crate) fn label(&self, tick: f64) -> String {
        // A step of 0.02 has two digits; the logarithm of 0.01 is not exactly -2.
        let digits = (-(self.step.log10() + 1e-9).floor()).max(0.0) as usize;
        let tick = if tick.abs() < self.step / 2.0 { 0.0 } else { tick };
        format!("{tick:.digits$}")
    }
}

/// A text escaped for XML; control characters, which XML forbids, become visible escapes.
pub(crate) fn escaped(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        let ticks = Ticks::around(low, high);
        ticks.values().map(|tick| ticks.label(tick)).collect()
    }

    #[test]
    fn axes_have_round_numbers_that_hold_all_values() {
        for (low, high) in [(0.0, 0.512), (0.21, 0.34), (0.0, 0.0), (3.0, 1234.5), (0.2, 0.2)] {
            let ticks: Vec<f64> = Ticks::around(low, high).values().collect();
            assert!((2..=8).contains(&ticks.len()), "{low} {high} {ticks:?}");
            assert!(ticks[0] <= low && *ticks.last().unwrap() >= high, "{low} {high} {ticks:?}");
        }
        assert_eq!(labels(0.213, 0.337), ["0.20", "0.25", "0.30", "0.35"]);
        assert_eq!(labels(3.2, 9.6), ["2", "4", "6", "8", "10"]);
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(
            labels(7.000_11, 7.000_19),
            ["7.00010", "7.00012", "7.00014", "7.00016", "7.00018", "7.00020"]
        );
    }
}
