//! The table of a run: one line a shape.

use std::fmt::Write;

use super::{PORT_MACHINE, Sample};

/// The samples of one shape.
pub(super) struct Line {
    name: &'static str,
    samples: Vec<Sample>,
    /// Milliseconds of the port, measured elsewhere.
    pub(super) port: Option<f64>,
    /// How many times faster than the port it should be; 0 if there is no requirement.
    pub(super) least: f64,
}

impl Line {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, samples: Vec::new(), port: None, least: 0.0 }
    }

    pub(super) fn add(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    pub(super) fn median(&self) -> f64 {
        self.quantile(0.5, |sample| sample.took.as_secs_f64() * 1e3)
    }

    pub(super) fn p95(&self) -> f64 {
        self.quantile(0.95, |sample| sample.took.as_secs_f64() * 1e3)
    }

    pub(super) fn rows(&self) -> usize {
        self.quantile(0.5, |sample| sample.rows as f64) as usize
    }

    fn quantile(&self, at: f64, of: impl Fn(&Sample) -> f64) -> f64 {
        let mut values: Vec<f64> = self.samples.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        let place = (values.len() as f64 * at) as usize;
        values.get(place.min(values.len().saturating_sub(1))).copied().unwrap_or(0.0)
    }

    fn text(&self) -> String {
        let floor = self.quantile(0.5, |sample| sample.floor.as_secs_f64() * 1e3);
        // Both times are over the same queries: those that scored any row.
        let scored: Vec<&Sample> = self.samples.iter().filter(|sample| sample.rows > 0).collect();
        let sum = |of: fn(&Sample) -> f64| scored.iter().map(|sample| of(sample)).sum::<f64>();
        let products = sum(|sample| sample.floor.as_secs_f64());
        // If nothing was scored, there is nothing to compare with.
        let ratio = if products > 0.0 {
            format!("{:.2}", sum(|sample| sample.took.as_secs_f64()) / products)
        } else {
            "–".to_owned()
        };
        let saved: Vec<f64> =
            self.samples.iter().map(|it| 1.0 - it.rows as f64 / it.unbounded.max(1) as f64).collect();
        let saved = 100.0 * saved.iter().sum::<f64>() / saved.len().max(1) as f64;
        let certain = self.samples.iter().filter(|sample| sample.exact).count();
        let against = self.port.map_or_else(String::new, |port| {
            let times = port / self.median();
            let met = if self.least == 0.0 {
                String::new()
            } else {
                format!(" (asked {}×: {})", self.least, if times >= self.least { "met" } else { "missed" })
            };
            format!("{port:>8} {times:>7.1}×{met}")
        });
        format!(
            "  {:>5} {:>9.2} {:>9.2} {:>9.2} {:>6} {:>6} {floor:>9.2} {ratio:>6} {saved:>6.1}% {:>9} {against}",
            self.name,
            self.median(),
            self.p95(),
            self.quantile(0.95, |sample| sample.shown.as_secs_f64() * 1e3),
            self.rows(),
            self.quantile(0.95, |sample| sample.rows as f64) as usize,
            format!("{certain}/{}", self.samples.len())
        )
    }
}

/// All shapes of one setting.
pub(super) struct Table {
    title: String,
    lines: Vec<Line>,
}

impl Table {
    pub(super) fn new(title: &str) -> Self {
        Self { title: title.to_owned(), lines: Vec::new() }
    }

    pub(super) fn add(&mut self, line: Line) {
        self.lines.push(line);
    }

    pub(super) fn print(&self) {
        print!("{}", self.text());
    }

    fn text(&self) -> String {
        let mut text = format!("\n{}\n", self.title);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {:>5} {:>9} {:>9} {:>9} {:>6} {:>6} {:>9} {:>6} {:>7} {:>9} {:>8} {:>8}",
            "shape",
            "median ms",
            "p95 ms",
            "p95 shown",
            "rows",
            "p95",
            "products",
            "ratio",
            "saved",
            "proven",
            "port ms",
            "faster"
        );
        for line in &self.lines {
            let _ = writeln!(text, "{}", line.text());
        }
        if self.lines.iter().any(|line| line.port.is_some()) {
            let _ = writeln!(
                text,
                "  port ms: measured on {PORT_MACHINE}; `faster` divides them by our median on this machine"
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_ratio_names_the_machine_on_which_the_port_was_measured() {
        let text = |port| {
            let took = Duration::from_millis(10);
            let mut line = Line::new("2p");
            line.port = port;
            line.add(Sample { took, shown: took, floor: took, rows: 1, unbounded: 2, exact: true });
            let mut table = Table::new("rank 1000");
            table.add(line);
            table.text()
        };
        let against = text(super::super::port(1000).map(|row| row[1]));
        assert!(against.contains("      49     4.9×\n  port ms: measured on 2 cores, Zen 4"), "{against}");
        assert!(!text(None).contains("Zen 4"));
    }
}
