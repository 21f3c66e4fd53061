//! Pictures of results, as SVG.

mod reliability;

use std::fmt::Write;

pub use reliability::reliability_svg;

use crate::svg::{Ticks, escaped};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 46.0;
/// Distinct for colour-blind readers; in a grey print, series are told apart by their order.
const COLOURS: [&str; 8] =
    ["#0b4f8a", "#d4692a", "#4d9f6b", "#8a6bb1", "#c9a227", "#7f7f7f", "#5ab4d6", "#b0476b"];

/// The height of the lowest bar, so that it can be seen.
const LEAST: f64 = 2.0;

/// Something that is drawn in one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Series<T> {
    /// What the legend calls it.
    pub name: String,
    /// What is drawn.
    pub values: Vec<T>,
}

/// One group of bars for each category, one bar in it for each series. Unknown values are left out; a bar of
/// 0 is a line on the axis with a 0 above it, so that it is not taken for unknown.
pub fn bars(title: &str, unit: &str, categories: &[String], series: &[Series<Option<f64>>]) -> String {
    let all = series.iter().flat_map(|series| series.values.iter().flatten().copied());
    let axis = Ticks::around(0.0, all.fold(0.0, f64::max));
    let mut svg = Svg::new(title, unit, series.iter().map(|series| series.name.as_str()));
    svg.y_axis(&axis);
    let group = (WIDTH - LEFT - RIGHT) / categories.len().max(1) as f64;
    let bar = group * 0.84 / series.len().max(1) as f64;
    for (place, category) in categories.iter().enumerate() {
        let start = LEFT + place as f64 * group + group * 0.08;
        for (index, series) in series.iter().enumerate() {
            let Some(value) = series.values.get(place).copied().flatten() else { continue };
            let top = y_of(&axis, value).min(HEIGHT - BOTTOM - LEAST);
            if value <= 0.0 {
                let middle = start + (index as f64 + 0.5) * bar;
                svg.add(format_args!(
                    "<text x=\"{middle:.1}\" y=\"{:.1}\" font-size=\"9\" text-anchor=\"middle\" fill=\"{}\">0</text>",
                    top - 2.0,
                    colour(index)
                ));
            }
            svg.add(format_args!(
                "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{}, {}: {}</title></rect>",
                start + index as f64 * bar,
                (bar - 1.0).max(0.5),
                HEIGHT - BOTTOM - top,
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

/// One line for each series through its points, x on a logarithmic scale with a tick at every x that
/// there is. Lines that lie on one another can be told apart by width, dashes and markers, and by the
/// names at their ends.
pub fn lines(title: &str, unit: &str, x_name: &str, series: &[Series<(f64, f64)>]) -> String {
    let points = || series.iter().flat_map(|series| series.values.iter().copied());
    let low = points().map(|(_, y)| y).fold(f64::INFINITY, f64::min);
    let high = points().map(|(_, y)| y).fold(f64::NEG_INFINITY, f64::max);
    let axis = if low < high { Ticks::around(low, high) } else { Ticks::around(0.0, high.max(0.0)) };
    let mut xs: Vec<f64> = points().map(|(x, _)| x).collect();
    xs.sort_unstable_by(f64::total_cmp);
    xs.dedup();
    let (first, last) = (xs.first().copied().unwrap_or(1.0), xs.last().copied().unwrap_or(2.0));
    let span = (last / first).ln();
    let longest = series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0);
    // Room for the names at the ends, about seven units a letter.
    let room = 20.0 + 7.0 * longest as f64;
    let place = |x: f64| {
        let share = if span > 0.0 { (x / first).ln() / span } else { 0.5 };
        LEFT + 30.0 + share * (WIDTH - LEFT - RIGHT - 30.0 - room)
    };
    let mut svg = Svg::new(title, unit, std::iter::empty());
    svg.y_axis(&axis);
    for &x in &xs {
        let (x, y, name) = (place(x), HEIGHT - BOTTOM, short(x));
        svg.add(format_args!(
            "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"#888888\"/>",
            y + 5.0
        ));
        svg.text(x, y + 18.0, "middle", &name);
    }
    svg.text(WIDTH / 2.0, HEIGHT - 8.0, "middle", x_name);
    for (index, series) in series.iter().enumerate() {
        let at: Vec<(f64, f64)> = series.values.iter().map(|&(x, y)| (place(x), y_of(&axis, y))).collect();
        svg.line(index, &at);
        for (&at, (_, value)) in at.iter().zip(&series.values) {
            svg.marker(index, at, &format!("{}: {}", series.name, short(*value)));
        }
    }
    let ends = series.iter().map(|series| series.values.last().map(|&(x, y)| (place(x), y_of(&axis, y))));
    for (index, (x, y, end)) in apart(&ends.collect::<Vec<_>>()) {
        let (right, colour) = (x + 16.0, colour(index));
        svg.add(format_args!(
            "<line x1=\"{:.1}\" y1=\"{end:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{colour}\" stroke-width=\"0.7\"/>",
            x + 6.0,
            right - 3.0,
        ));
        svg.add(format_args!(
            "<text x=\"{right:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
            y + 4.0,
            escaped(&series[index].name)
        ));
    }
    svg.finish()
}

/// Where the names at the ends of lines stand: each as near to its end as the others leave room. For each
/// line its number, x of its end, y of its name and y of its end.
fn apart(ends: &[Option<(f64, f64)>]) -> Vec<(usize, (f64, f64, f64))> {
    const LINE: f64 = 14.0;
    let there = ends.iter().enumerate().filter_map(|(index, end)| Some((index, (*end)?)));
    let mut names: Vec<(usize, (f64, f64, f64))> = there.map(|(index, (x, y))| (index, (x, y, y))).collect();
    names.sort_by(|(i, a), (j, b)| a.2.total_cmp(&b.2).then(i.cmp(j)));
    let mut next = f64::NEG_INFINITY;
    for (_, (_, y, _)) in &mut names {
        *y = y.max(next);
        next = *y + LINE;
    }
    // Names that were pushed out at the bottom are moved up again.
    let mut next = HEIGHT - BOTTOM + 4.0;
    for (_, (_, y, _)) in names.iter_mut().rev() {
        *y = y.min(next);
        next = *y - LINE;
    }
    names
}

/// Where a value stands in the picture.
fn y_of(axis: &Ticks, value: f64) -> f64 {
    HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM)
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

    fn y_axis(&mut self, axis: &Ticks) {
        for tick in axis.values() {
            let y = y_of(axis, tick);
            self.add(format_args!(
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>",
                WIDTH - RIGHT
            ));
            self.text(LEFT - 8.0, y + 4.0, "end", &axis.label(tick));
        }
    }

    /// A line whose style depends on its number: the first are wide, so that later ones do not cover them.
    fn line(&mut self, index: usize, at: &[(f64, f64)]) {
        // Only the first line is solid: it is drawn below the others and hides none of them.
        const DASHES: [&str; 4] = ["9 5", "3 4", "12 4 3 4", "6 8"];
        let dashes = index.checked_sub(1).map_or("none", |index| DASHES[index % DASHES.len()]);
        let path: Vec<String> = at.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.add(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1}\" stroke-dasharray=\"{}\"/>",
            path.join(" "),
            colour(index),
            (4.5 - 0.5 * index as f64).max(1.5),
            dashes
        ));
    }

    /// A hollow marker in the shape of its number, through which those below it are seen.
    fn marker(&mut self, index: usize, (x, y): (f64, f64), title: &str) {
        let r = 5.0;
        let shape = match index % 8 {
            0 => format!("M{:.1},{y:.1} a{r},{r} 0 1,0 {d},0 a{r},{r} 0 1,0 -{d},0 Z", x - r, d = 2.0 * r),
            1 => format!("M{:.1},{:.1} h{d} v{d} h-{d} Z", x - r, y - r, d = 2.0 * r),
            2 => format!("M{x:.1},{:.1} l{r},{d} h-{d} Z", y - r, d = 2.0 * r),
            3 => format!("M{x:.1},{:.1} l{d},{d} l-{d},{d} l-{d},-{d} Z", y - 1.4 * r, d = 1.4 * r),
            4 => format!("M{:.1},{:.1} l{d},{d} m0,-{d} l-{d},{d}", x - r, y - r, d = 2.0 * r),
            5 => format!("M{:.1},{y:.1} h{d} M{x:.1},{:.1} v{d}", x - 1.4 * r, y - 1.4 * r, d = 2.8 * r),
            6 => format!("M{x:.1},{:.1} l{r},-{d} h-{d} Z", y + r, d = 2.0 * r),
            _ => format!("M{:.1},{:.1} h{d} l-{r},{r} Z m0,{d} h{d} l-{r},-{r} Z", x - r, y - r, d = 2.0 * r),
        };
        self.add(format_args!(
            "<path d=\"{shape}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"><title>{}</title></path>",
            colour(index),
            escaped(title)
        ));
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

/// A number with as many digits as are useful.
fn short(value: f64) -> String {
    let digits = if value.abs() >= 100.0 { 0 } else { 4 };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
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
    fn a_bar_of_zero_is_seen_and_a_missing_one_is_not() {
        let values = vec![Some(0.0), None, Some(0.5)];
        let categories = ["1p", "2p", "3p"].map(str::to_owned);
        let svg = bars("t", "H@3", &categories, &[Series { name: "ours".to_owned(), values }]);
        assert!(svg.contains("height=\"2.0\" fill=\"#0b4f8a\"><title>ours, 1p: 0</title>"), "{svg}");
        assert_eq!(svg.matches(">0</text>").count(), 1, "{svg}");
        assert!(!svg.contains("ours, 2p"), "{svg}");
    }

    #[test]
    fn a_picture_of_nothing_is_still_a_picture() {
        for svg in [bars("t", "u", &[], &[]), lines("t", "u", "x", &[])] {
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        let one = [Series { name: "a".to_owned(), values: vec![(64.0, 0.3)] }];
        assert!(!lines("t", "u", "k", &one).contains("NaN"));
    }

    #[test]
    fn lines_that_coincide_are_told_apart() {
        let values = vec![(1.0, 0.25), (4.0, 0.5), (1024.0, 0.5)];
        let series = ["2p", "ip", "pi"].map(|name| Series { name: name.to_owned(), values: values.clone() });
        let svg = lines("t", "H@3", "k", &series);
        let distinct = |from: &str, to: &str| {
            let found =
                svg.match_indices(from).map(|(at, _)| svg[at + from.len()..].split(to).next().unwrap());
            found.collect::<std::collections::BTreeSet<&str>>()
        };
        assert_eq!(distinct("stroke-dasharray=\"", "\"").len(), 3, "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 3);
        // One marker a point, of as many shapes as series; one name a series, each in its own place.
        assert_eq!(distinct("<path d=\"", "\"").len(), 9);
        for name in ["2p", "ip", "pi"] {
            assert!(svg.contains(&format!(">{name}</text>")), "{svg}");
        }
        for tick in ["1", "4", "1024"] {
            assert!(svg.contains(&format!("text-anchor=\"middle\">{tick}</text>")), "{svg}");
        }
    }

    #[test]
    fn names_at_the_ends_of_lines_do_not_overlap_and_stay_inside() {
        let bottom = HEIGHT - BOTTOM;
        let ends =
            [Some((9.0, bottom)), None, Some((9.0, bottom)), Some((9.0, 100.0)), Some((9.0, bottom - 3.0))];
        let names = apart(&ends);
        assert_eq!(names.len(), 4);
        assert!(names.windows(2).all(|two| two[1].1.1 - two[0].1.1 >= 14.0 - 1e-9), "{names:?}");
        assert!(names.iter().all(|(_, (_, y, _))| *y <= bottom + 4.0 + 1e-9));
        let (_, (_, alone, end)) = names.iter().find(|(index, _)| *index == 3).unwrap();
        assert!((alone - end).abs() < 1e-9);
    }
}
