//! A picture of a training run.

use std::fmt::Write;

use super::EpochRecord;
use crate::svg::{Ticks, escaped};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 60.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 50.0;

/// The two curves: what they are called, their colours, and on which side their axes stand.
const LOSS: Curve = Curve { name: "loss", colour: "#1f5fa8", at: LEFT, anchor: "end", shift: -8.0 };
const MRR: Curve =
    Curve { name: "validation MRR", colour: "#b3541e", at: WIDTH - RIGHT, anchor: "start", shift: 8.0 };

/// Loss (left axis) and validation MRR (right axis) over the epochs, as SVG, with a mark at the epoch whose
/// model is kept, if validation chose one.
pub(super) fn chart(title: &str, epochs: &[EpochRecord], kept: Option<usize>) -> String {
    let losses: Vec<(f64, f64)> = epochs.iter().map(|e| (e.epoch as f64, e.loss)).collect();
    let mrrs: Vec<(f64, f64)> =
        epochs.iter().filter_map(|e| e.valid.map(|valid| (e.epoch as f64, valid.mrr))).collect();
    let last = losses.last().map_or(1.0, |point| point.0).max(2.0);
    let x = |epoch: f64| LEFT + (epoch - 1.0) / (last - 1.0) * (WIDTH - LEFT - RIGHT);
    let title = escaped(title);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\" role=\"img\">\n<title>{title}: loss and validation MRR by epoch</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{title}</text>\n"
    );
    if let Some(kept) = kept {
        let at = x(kept as f64);
        // The epoch is named beside the title: next to the line, the text would lie on one of the curves.
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{:.1}\" stroke=\"#777777\" stroke-dasharray=\"4 4\"/>\n\
             <line x1=\"{:.1}\" y1=\"10\" x2=\"{:.1}\" y2=\"24\" stroke=\"#777777\" stroke-dasharray=\"4 4\"/>\n\
             <text x=\"{:.1}\" y=\"22\" text-anchor=\"start\" fill=\"#555555\">kept: epoch {kept}</text>",
            HEIGHT - BOTTOM,
            WIDTH - RIGHT - 70.0,
            WIDTH - RIGHT - 70.0,
            WIDTH - RIGHT - 62.0
        );
    }
    LOSS.draw(&mut svg, &losses, x);
    MRR.draw(&mut svg, &mrrs, x);
    for epoch in epoch_ticks(last) {
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

/// The first epoch, and round numbers up to the last.
fn epoch_ticks(last: f64) -> Vec<f64> {
    let whole = |tick: &f64| *tick > 1.0 && *tick <= last && tick.fract() == 0.0;
    std::iter::once(1.0).chain(Ticks::around(0.0, last).values().filter(whole)).collect()
}

/// How a curve and its axis look.
struct Curve {
    name: &'static str,
    colour: &'static str,
    at: f64,
    anchor: &'static str,
    shift: f64,
}

impl Curve {
    /// A line for the axis, the name above it, round values beside it, and the curve.
    fn draw(&self, svg: &mut String, points: &[(f64, f64)], x: impl Fn(f64) -> f64) {
        let Self { name, colour, at, anchor, shift } = *self;
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
        let low = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
        // A single value gets an axis that begins at 0.
        let axis = if low < high { Ticks::around(low, high) } else { Ticks::around(0.0, high.max(0.0)) };
        let y = |value: f64| HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM);
        for tick in axis.values() {
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{}</text>",
                at + shift,
                y(tick) + 4.0,
                axis.label(tick)
            );
        }
        let line: Vec<String> =
            points.iter().map(|&(e, value)| format!("{:.1},{:.1}", x(e), y(value))).collect();
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
    fn axes_have_round_numbers_and_the_mrr_stays_within_0_and_1() {
        let epochs: Vec<EpochRecord> =
            (1..=43).map(|e| record(e, 9.7 - 0.15 * e as f64, 0.1234 + 0.004 * e as f64)).collect();
        let svg = chart("m", &epochs, None);
        assert_eq!(ticks(&svg, "middle"), ["1", "10", "20", "30", "40"]);
        assert_eq!(ticks(&svg, "#1f5fa8"), ["2", "4", "6", "8", "10"]);
        assert_eq!(ticks(&svg, "#b3541e"), ["0.10", "0.15", "0.20", "0.25", "0.30"]);
        for mrr in [0.0, 0.1, 0.9, 1.0] {
            let svg = chart("m", &[record(1, 7.0, mrr)], Some(1));
            let shown: Vec<f64> = ticks(&svg, "#b3541e").iter().map(|tick| tick.parse().unwrap()).collect();
            assert!(shown.iter().all(|tick| (0.0..=1.0).contains(tick)), "{mrr}: {shown:?}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn no_tick_is_written_twice() {
        let svg = chart("m", &[record(1, 7.000_1, 0.500_1), record(2, 7.000_2, 0.500_2)], None);
        assert_eq!(ticks(&svg, "middle"), ["1", "2"]);
        for colour in ["#1f5fa8", "#b3541e"] {
            let mut shown = ticks(&svg, colour);
            let all = shown.len();
            shown.dedup();
            assert_eq!(shown.len(), all, "{shown:?}");
        }
    }

    #[test]
    fn the_epoch_that_is_kept_is_marked_where_it_is() {
        let epochs = [record(1, 3.0, 0.1), record(2, 2.0, 0.4), record(3, 1.0, 0.3)];
        let svg = chart("m", &epochs, Some(2));
        assert!(svg.contains("<line x1=\"320.0\" y1=\"50\" x2=\"320.0\""), "{svg}");
        assert!(svg.contains(">kept: epoch 2</text>"), "{svg}");
        assert!(!chart("m", &epochs, None).contains("kept"));
    }
}
