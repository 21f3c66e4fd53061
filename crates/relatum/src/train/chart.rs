//! A picture of a training run.

use std::fmt::Write;

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
    axis(&mut svg, "loss", "#1f5fa8", LEFT, "end", -8.0, &losses, x);
    axis(&mut svg, "validation MRR", "#b3541e", WIDTH - RIGHT, "start", 8.0, &mrrs, x);
    for epoch in [1.0, f64::midpoint(1.0, last).round(), last] {
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
    x: impl Fn(f64) -> f64,
) {
    let low = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = if low < high { (low, high) } else { (low - 0.5, low + 0.5) };
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
    for value in [low, f64::midpoint(low, high), high] {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{value:.3}</text>",
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
