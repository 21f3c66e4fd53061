//! Reliability diagrams: how often predictions of a truth value are right.

use super::super::reliability::Reliability;
use super::{BOTTOM, HEIGHT, LEFT, RIGHT, Series, Svg, TOP, WIDTH, short, y_of};
use crate::svg::Ticks;

/// The share of predictions that are right against their truth value, one line for each calibration, the expected
/// calibration error beside its name. On the diagonal truth values are probabilities; below it they are too high.
pub fn reliability_svg(title: &str, measured: &[(&str, &Reliability)]) -> String {
    let axis = Ticks::around(0.0, 1.0);
    let names: Vec<String> = measured
        .iter()
        .map(|(name, it)| format!("{name}, expected calibration error {:.3}", it.error))
        .collect();
    let mut svg = Svg::new(title, "right", names.iter().map(String::as_str));
    svg.y_axis(&axis);
    let x_of = |truth: f64| LEFT + axis.share(truth) * (WIDTH - LEFT - RIGHT);
    for tick in axis.values() {
        svg.text(x_of(tick), HEIGHT - BOTTOM + 18.0, "middle", &axis.label(tick));
    }
    svg.text(WIDTH / 2.0, HEIGHT - 8.0, "middle", "truth value");
    svg.add(format_args!(
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{TOP}\" stroke=\"#888888\" stroke-dasharray=\"4 4\"/>",
        x_of(0.0),
        HEIGHT - BOTTOM,
        x_of(1.0)
    ));
    let series = measured.iter().map(|(name, it)| Series {
        name: (*name).to_owned(),
        values: it.bins.iter().map(|bin| (x_of(bin.truth), y_of(&axis, bin.confirmed))).collect(),
    });
    for (index, (series, (_, measured))) in series.zip(measured).enumerate() {
        svg.line(index, &series.values);
        for (&at, bin) in series.values.iter().zip(&measured.bins) {
            let said = format!(
                "{}: {} predictions of truth {} on average, {} of them right",
                series.name,
                bin.predictions,
                short(bin.truth),
                short(bin.confirmed)
            );
            svg.marker(index, at, &said);
        }
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::ReliabilityBin;

    #[test]
    fn every_bin_is_a_point_and_the_errors_stand_in_the_legend() {
        let bin = |truth, confirmed| ReliabilityBin { predictions: 10, truth, confirmed };
        let before = Reliability {
            bins: vec![bin(0.5, 0.25), bin(1.0, 0.375)],
            error: 0.4375,
            ..Reliability::default()
        };
        let after = Reliability { bins: vec![bin(0.25, 0.25)], error: 0.0, ..Reliability::default() };
        let svg = reliability_svg("a & b", &[("before", &before), ("after", &after)]);
        assert_eq!((svg.matches("<polyline").count(), svg.matches("<path").count()), (2, 3));
        assert!(svg.contains("before, expected calibration error 0.438"), "{svg}");
        assert!(svg.contains("10 predictions of truth 0.5 on average, 0.25 of them right"), "{svg}");
        // A truth of 1 stands at the right end.
        assert!(svg.contains(&format!("{:.1},", WIDTH - RIGHT)), "{svg}");
        for svg in [svg, reliability_svg("t", &[("none", &Reliability::default())])] {
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
