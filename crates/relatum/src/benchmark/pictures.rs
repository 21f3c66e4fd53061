//! The pictures of a report, as SVG.

use super::plots::{Series, bars, lines};
use super::report::{BenchmarkReport, MethodResult, PublishedResult, TypeResult};
use crate::graph::Split;

impl BenchmarkReport {
    /// Hits@3 of every method by type of query, beside what was published.
    pub fn accuracy_svg(&self) -> String {
        let mut series: Vec<Series<Option<f64>>> = Vec::new();
        for row in &self.rows {
            let values = self.values(row, |cell| cell.metrics.hits_at_3);
            let values = values.chain([Some(row.mean.hits_at_3)]).collect();
            series.push(Series { name: row.method.clone(), values });
        }
        // Of each published system only its largest rank, so that the picture stays legible.
        for row in &self.published {
            let larger = |other: &PublishedResult| other.system == row.system && other.rank > row.rank;
            if self.published.iter().any(larger) {
                continue;
            }
            let of = |shape: &String| row.hits_at_3.get(shape).copied();
            let values = self.types.iter().map(of).chain([self.mean_of_types(of)]).collect();
            series.push(Series { name: row.title(), values });
        }
        let cells = self.rows.iter().flat_map(|row| &row.types);
        let counts: Vec<usize> = cells.map(|cell| cell.metrics.count).collect();
        let queries = queries_text(self.split, &counts);
        let title = format!("Hits@3 by type of query, {queries}, model {}", self.model_text());
        let categories: Vec<String> = self.types.iter().cloned().chain(["mean".to_owned()]).collect();
        bars(&title, "H@3", &categories, &series)
    }

    /// Milliseconds a query of every method by type.
    pub fn time_svg(&self) -> String {
        let of_row = |row: &MethodResult| {
            let milliseconds = |cell: &TypeResult| 1000.0 * cell.seconds / cell.metrics.count.max(1) as f64;
            Series { name: row.method.clone(), values: self.values(row, milliseconds).collect() }
        };
        let series: Vec<Series<Option<f64>>> = self.rows.iter().map(of_row).collect();
        bars("Milliseconds a query, many side by side, every entity ranked", "ms", &self.types, &series)
    }

    fn values(
        &self,
        row: &MethodResult,
        of: impl Fn(&TypeResult) -> f64,
    ) -> impl Iterator<Item = Option<f64>> {
        self.types.iter().map(move |shape| row.of_type(shape).map(&of))
    }
}

/// Accuracy against something, one line for each series.
pub(crate) fn accuracy_by(
    what: &str,
    axis: &str,
    split: Split,
    counts: &[usize],
    of: &str,
    series: &[Series<(f64, f64)>],
) -> String {
    lines(&format!("{what}, {}, {of}", queries_text(split, counts)), "H@3", axis, series)
}

/// How many queries a picture is based on.
fn queries_text(split: Split, counts: &[usize]) -> String {
    match (counts.iter().min(), counts.iter().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most} {split} queries a type"),
        (Some(1), _) => format!("1 {split} query a type"),
        (Some(count), _) => format!("{count} {split} queries a type"),
        _ => format!("no {split} queries"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_say_the_true_number_of_queries() {
        let said = |counts: &[usize]| queries_text(Split::Test, counts);
        assert_eq!(said(&[6, 6]), "6 test queries a type");
        assert_eq!(said(&[300, 17]), "17 to 300 test queries a type");
        assert_eq!(said(&[1]), "1 test query a type");
        assert_eq!(said(&[]), "no test queries");
    }
}
