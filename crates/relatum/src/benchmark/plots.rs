//! Pictures of results, as SVG.

use std::fmt::Write;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 46.0;
/// Told apart by people who see few colours, and in grey by their order.
const COLOURS: [&str; 8] =
    ["#0b4f8a", "#d4692a", "#4d9f6b", "#8a6bb1", "#c9a227", "#7f7f7f", "#5ab4d6", "#b0476b"];

/// Something that is drawn in one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Series<T> {
    /// What the legend calls it.
    pub name: String,
    /// What is drawn.
    pub values: Vec<T>,
}

/// One group of bars for each category, one bar in it for each series; what is unknown is left out.
pub fn bars(title: &str, unit: &str, categories: &[String], series: &[Series<Option<f64>>]) -> String {
    let all = series.iter().flat_map(|series| series.values.iter().flatten().copied());
    let axis = Axis::linear(0.0, all.fold(0.0, f64::max));
    let mut svg = Svg::new(title, unit, series.iter().map(|series| series.name.as_str()));
    svg.y_axis(&axis);
    let group = (WIDTH - LEFT - RIGHT) / categories.len().max(1) as f64;
    let bar = group * 0.84 / series.len().max(1) as f64;
    for (place, category) in categories.iter().enumerate() {
        let start = LEFT + place as f64 * group + group * 0.08;
        for (index, series) in series.iter().enumerate() {
            let Some(value) = series.values.get(place).copied().flatten() else { continue };
            let top = axis.y(value);
            svg.add(format_args!(
                "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{}, {}: {}</title></rect>",
                start + index as f64 * bar,
                (bar - 1.0).max(0.5),
                (HEIGHT - BOTTOM - top).max(0.0),
                colour(index),
                escaped(&series.name),
                escaped(category),
                short(value),
            ));
        }
        svg.text(start + group * 0.42, HEIGHT - BOTTOM + 18.0, "middle", category);
    }
    svg.finish()
}

/// One line for each series through its points, x on a scale of powers.
pub fn lines(title: &str, unit: &str, x_name: &str, series: &[Series<(f64, f64)>]) -> String {
    let points = || series.iter().flat_map(|series| series.values.iter().copied());
    let low = points().map(|(_, y)| y).fold(f64::INFINITY, f64::min);
    let high = points().map(|(_, y)| y).fold(f64::NEG_INFINITY, f64::max);
    let axis = if low < high { Axis::linear(low, high) } else { Axis::linear(0.0, high.max(0.0)) };
    let mut xs: Vec<f64> = points().map(|(x, _)| x).collect();
    xs.sort_unstable_by(f64::total_cmp);
    xs.dedup();
    let (first, last) = (xs.first().copied().unwrap_or(1.0), xs.last().copied().unwrap_or(2.0));
    let span = (last / first).ln();
    let place = |x: f64| {
        let share = if span > 0.0 { (x / first).ln() / span } else { 0.5 };
        LEFT + 30.0 + share * (WIDTH - LEFT - RIGHT - 60.0)
    };
    let mut svg = Svg::new(title, unit, series.iter().map(|series| series.name.as_str()));
    svg.y_axis(&axis);
    for &x in &xs {
        svg.text(place(x), HEIGHT - BOTTOM + 18.0, "middle", &short(x));
    }
    svg.text(WIDTH / 2.0, HEIGHT - 8.0, "middle", x_name);
    for (index, series) in series.iter().enumerate() {
        let at: Vec<(f64, f64)> = series.values.iter().map(|&(x, y)| (place(x), axis.y(y))).collect();
        let path: Vec<String> = at.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        svg.add(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
            path.join(" "),
            colour(index)
        ));
        for ((x, y), (_, value)) in at.iter().zip(&series.values) {
            svg.add(format_args!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{}\"><title>{}: {}</title></circle>",
                colour(index),
                escaped(&series.name),
                short(*value)
            ));
        }
    }
    svg.finish()
}

/// A vertical axis with round numbers on it.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    fn linear(low: f64, high: f64) -> Self {
        let span = if high > low { high - low } else { 1.0 };
        let power = 10f64.powf((span / 5.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| span / step <= 6.0);
        let step = step.unwrap_or(10.0 * power);
        Self { low: (low / step).floor() * step, high: (low + span).max(low + step / 2.0), step }.rounded()
    }

    fn rounded(self) -> Self {
        Self { high: (self.high / self.step).ceil() * self.step, ..self }
    }

    /// Where a value stands in the picture.
    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (value - self.low) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let count = ((self.high - self.low) / self.step).round() as usize;
        (0..=count).map(|index| self.low + index as f64 * self.step)
    }
}

struct Svg(String);

impl Svg {
    fn new<'a>(title: &str, unit: &str, names: impl Iterator<Item = &'a str>) -> Self {
        let mut svg = Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>{title}</title>\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{title}</text>\n",
            title = escaped(title)
        ));
        let (mut x, mut y) = (LEFT, 36.0);
        for (index, name) in names.enumerate() {
            // About seven units a letter; a legend that is too long goes on in the next line.
            let width = 24.0 + 7.0 * name.chars().count() as f64;
            if x + width > WIDTH - RIGHT && x > LEFT {
                (x, y) = (LEFT, y + 16.0);
            }
            svg.add(format_args!(
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"10\" height=\"10\" fill=\"{}\"/>",
                colour(index)
            ));
            svg.text(x + 14.0, y + 9.0, "start", name);
            x += width;
        }
        svg.text(LEFT - 8.0, TOP - 10.0, "end", unit);
        svg
    }

    fn y_axis(&mut self, axis: &Axis) {
        for tick in axis.ticks() {
            let y = axis.y(tick);
            self.add(format_args!(
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>",
                WIDTH - RIGHT
            ));
            self.text(LEFT - 8.0, y + 4.0, "end", &short(tick));
        }
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let text = escaped(text);
        self.add(format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"));
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.0, "{element}");
    }

    fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

/// A number with as many digits as say something.
fn short(value: f64) -> String {
    let digits = if value.abs() >= 100.0 { 0 } else { 4 };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rects(svg: &str) -> usize {
        svg.matches("</rect>").count()
    }

    #[test]
    fn every_known_value_is_a_bar_and_every_unknown_none() {
        let series = [
            Series { name: "ours".to_owned(), values: vec![Some(0.5), None] },
            Series { name: "<theirs>".to_owned(), values: vec![Some(0.25), Some(0.125)] },
        ];
        let svg = bars("a & b", "H@3", &["1p".to_owned(), "2p".to_owned()], &series);
        assert_eq!(rects(&svg), 3);
        assert!(svg.contains("a &amp; b") && svg.contains("&lt;theirs&gt;, 2p: 0.125"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn axes_have_round_numbers_that_hold_all_values() {
        for (low, high) in [(0.0, 0.512), (0.21, 0.34), (0.0, 0.0), (3.0, 1234.5), (0.2, 0.2)] {
            let axis = Axis::linear(low, high);
            let ticks: Vec<f64> = axis.ticks().collect();
            assert!((2..=8).contains(&ticks.len()), "{low} {high} {ticks:?}");
            assert!(ticks[0] <= low && *ticks.last().unwrap() >= high, "{low} {high} {ticks:?}");
        }
    }

    #[test]
    fn a_picture_of_nothing_is_still_a_picture() {
        for svg in [bars("t", "u", &[], &[]), lines("t", "u", "x", &[])] {
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        let one = [Series { name: "a".to_owned(), values: vec![(64.0, 0.3)] }];
        assert!(!lines("t", "u", "k", &one).contains("NaN"));
    }
}
