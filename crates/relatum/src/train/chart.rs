//! A picture of a training run.

use std::fmt::Write;
use std::ops::Range;

use super::run::EpochRecord;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 60.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 50.0;

/// Loss (left axis) and validation MRR (right axis) over the epochs, as SVG.
pub(super) fn chart(title: &str, epochs: &[EpochRecord]) -> String {
    let losses: Vec<(f64, f64)> = epochs.iter().map(|e| (e.epoch as f64, e.loss)).collect();
    let mrrs: Vec<(f64, f64)> =
        epochs.iter().filter_map(|e| e.valid.map(|valid| (e.epoch as f64, valid.mrr))).collect();
    let last = losses.last().map_or(1.0, |point| point.0).max(2.0);
    let x = |epoch: f64| LEFT + (epoch - 1.0) / (last - 1.0) * (WIDTH - LEFT - RIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\" role=\"img\">\n<title>{title}: loss and validation MRR by epoch</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{title}</text>\n"
    );
    let any = f64::NEG_INFINITY..f64::INFINITY;
    axis(&mut svg, "loss", "#1f5fa8", LEFT, "end", -8.0, &losses, &any, x);
    axis(&mut svg, "validation MRR", "#b3541e", WIDTH - RIGHT, "start", 8.0, &mrrs, &(0.0..1.0), x);
    let mut ticks = vec![1.0, f64::midpoint(1.0, last).round(), last];
    ticks.dedup();
    for epoch in ticks {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{epoch}</text>",
            x(epoch),
            HEIGHT - BOTTOM + 18.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">epoch</text>\n</svg>",
        WIDTH / 2.0,
        HEIGHT - 12.0
    );
    svg
}

/// One curve with its axis: a line at `at`, the name above it, three values beside it.
#[allow(clippy::too_many_arguments, reason = "what a curve looks like, said once for each of two curves")]
fn axis(
    svg: &mut String,
    name: &str,
    colour: &str,
    at: f64,
    anchor: &str,
    shift: f64,
    points: &[(f64, f64)],
    possible: &Range<f64>,
    x: impl Fn(f64) -> f64,
) {
    let low = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = if low < high {
        (low, high)
    } else {
        // A single value needs some room around it, but not more than there can be.
        ((low - 0.5).max(possible.start), (low + 0.5).min(possible.end))
    };
    let y = |value: f64| HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM);
    let _ = writeln!(
        svg,
        "<line x1=\"{at}\" y1=\"{TOP}\" x2=\"{at}\" y2=\"{:.1}\" stroke=\"{colour}\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{name}</text>",
        HEIGHT - BOTTOM,
        if anchor == "end" { at + 40.0 } else { at - 40.0 },
        TOP - 10.0
    );
    if points.is_empty() {
        return;
    }
    let mut ticks =
        [low, f64::midpoint(low, high), high].map(|value| (value, format!("{value:.3}"))).to_vec();
    ticks.dedup_by(|a, b| a.1 == b.1);
    for (value, label) in ticks {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{label}</text>",
            at + shift,
            y(value) + 4.0
        );
    }
    let line: Vec<String> = points.iter().map(|&(e, value)| format!("{:.1},{:.1}", x(e), y(value))).collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
        line.join(" ")
    );
    for point in line {
        let (cx, cy) = point.split_once(',').unwrap_or_default();
        let _ = writeln!(svg, "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"2\" fill=\"{colour}\"/>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::LinkMetrics;

    fn record(epoch: usize, loss: f64, mrr: f64) -> EpochRecord {
        let valid = Some(LinkMetrics { mrr, ..LinkMetrics::default() });
        EpochRecord { epoch, loss, seconds: 1.0, valid }
    }

    /// The texts of one colour, or of none: the ticks of an axis.
    fn ticks<'a>(svg: &'a str, colour: &str) -> Vec<&'a str> {
        let texts = svg.lines().filter(|line| line.starts_with("<text") && line.contains(colour));
        let texts = texts.filter_map(|line| line.split_once('>')?.1.split_once('<').map(|text| text.0));
        texts.filter(|text| text.parse::<f64>().is_ok()).collect()
    }

    #[test]
    fn one_validation_leaves_the_axis_of_the_mrr_within_0_and_1() {
        for (mrr, expected) in [(0.1, ["0.000", "0.300", "0.600"]), (0.9, ["0.400", "0.700", "1.000"])] {
            let svg = chart("m", &[record(1, 7.0, mrr)]);
            let mut shown = ticks(&svg, "#b3541e");
            shown.sort_unstable();
            assert_eq!(shown, expected);
        }
    }

    #[test]
    fn no_tick_is_written_twice() {
        let svg = chart("m", &[record(1, 7.000_1, 0.500_1), record(2, 7.000_2, 0.500_2)]);
        assert_eq!(ticks(&svg, "middle"), ["1", "2"]);
        assert_eq!(ticks(&svg, "#1f5fa8"), ["7.000"]);
        assert_eq!(ticks(&svg, "#b3541e"), ["0.500"]);
    }
}
