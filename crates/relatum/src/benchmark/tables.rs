//! A report as tables, for a terminal and for a paper.

use super::report::{BenchmarkReport, MethodResult, TunedOn, TypeResult};
use super::{Lead, Part};
use crate::report::grouped;

/// A table of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportTable {
    /// What stands above it.
    pub title: String,
    /// The names of its columns; that of the first may be empty.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

impl ReportTable {
    /// Whether a column holds figures, which are aligned to the right.
    pub fn is_figures(&self, column: usize) -> bool {
        let words = ["chosen on", "known", "setting"];
        column > 0 && self.columns.get(column).is_none_or(|name| !words.contains(&name.as_str()))
    }

    fn to_markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = vec!["---".to_owned(); self.columns.len()];
        let rows = self.rows.iter().map(|row| line(row));
        line(&self.columns) + &line(&rule) + &rows.collect::<String>()
    }
}

const MEANS: &str = "the hard answers of a query, then queries, then types";
const MISSING: &str = "by the links of an answer that the training graph lacks";

impl BenchmarkReport {
    /// The heading of the report, line by line: what was measured, how, and what it is based on.
    pub fn heading(&self) -> Vec<String> {
        let how = format!("Hits@3, filtered; ties at their mean rank; means over {MEANS}");
        [self.title(), how].into_iter().chain(self.remarks()).collect()
    }

    /// The tables: Hits@3 of all methods by type, then each method in full.
    pub fn tables(&self) -> Vec<ReportTable> {
        let mut tables = vec![self.overview()];
        for row in &self.rows {
            tables.push(details(row));
            tables.extend(missing(row));
        }
        tables
    }

    /// The tables for a paper or a page.
    pub fn to_markdown(&self) -> String {
        let mut text =
            format!("{}, Hits@3 (filtered, ties at mean rank, means over {MEANS}):\n\n", self.title());
        text += &self.overview().to_markdown();
        text += "\n";
        for line in self.remarks() {
            text += &format!("- {line}\n");
        }
        for table in self.tables().iter().skip(1) {
            let mut title = table.title.clone();
            if title == MISSING {
                title.replace_range(..1, "B");
            }
            text += &format!("\n{title}:\n\n{}", table.to_markdown());
        }
        text
    }

    /// What the figures are based on, and which of them are not fair.
    fn remarks(&self) -> impl Iterator<Item = String> {
        let warnings = self.warnings.iter().map(|warning| format!("warning: {warning}"));
        self.notes.iter().cloned().chain(warnings)
    }

    fn title(&self) -> String {
        let dataset = self.dataset.as_ref().map_or(String::new(), |name| format!("{name}, "));
        format!("{dataset}{} queries, model {}", self.split, self.model_text())
    }

    fn overview(&self) -> ReportTable {
        let mut rows = Vec::new();
        for row in &self.rows {
            let of = |shape: &String| row.of_type(shape).map(|cell| cell.metrics.hits_at_3);
            rows.push(overview_row(row.method.clone(), self.types.iter().map(of), Some(row.mean.hits_at_3)));
        }
        for published in &self.published {
            let of = |shape: &String| published.hits_at_3.get(shape).copied();
            if let Some(mean) = self.mean_of_types(of) {
                rows.push(overview_row(published.title(), self.types.iter().map(of), Some(mean)));
            }
        }
        let columns = std::iter::once(String::new()).chain(self.types.iter().cloned());
        ReportTable { title: String::new(), columns: columns.chain(["mean".to_owned()]).collect(), rows }
    }

    /// The mean over the types of this report that have a value.
    pub(super) fn mean_of_types(&self, of: impl Fn(&String) -> Option<f64>) -> Option<f64> {
        let known: Vec<f64> = self.types.iter().filter_map(of).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }
}

fn overview_row(name: String, values: impl Iterator<Item = Option<f64>>, mean: Option<f64>) -> Vec<String> {
    let figures = values.chain([mean]).map(|value| value.map_or("–".to_owned(), digits));
    std::iter::once(name).chain(figures).collect()
}

fn details(row: &MethodResult) -> ReportTable {
    let columns = [
        "type",
        "queries",
        "MRR",
        "H@1",
        "H@3",
        "H@10",
        "queries/s",
        "rows a query",
        "of peak",
        "chosen on",
        "known",
        "setting",
    ]
    .map(str::to_owned)
    .to_vec();
    let of_cell = |cell: &TypeResult| {
        let m = &cell.metrics;
        let count = m.count.max(1) as f64;
        let queries = match grouped(m.count) {
            some if m.count < cell.queries_there => format!("{some} of {}", grouped(cell.queries_there)),
            all => all,
        };
        let mut cells = vec![cell.shape.clone(), queries, digits(m.mrr)];
        cells.extend(m.hits().map(digits));
        cells.push(format!("{:.0}", count / cell.seconds.max(1e-9)));
        cells.push(format!("{:.0}", cell.rows as f64 / count));
        cells.push(format!("{:.0}%", 100.0 * cell.of_peak));
        cells.extend([chosen_on(cell.tuned_on), cell.known.clone(), cell.setting.to_string()]);
        cells
    };
    let mut rows: Vec<Vec<String>> = row.types.iter().map(of_cell).collect();
    let mut mean = vec!["mean".to_owned(), String::new(), digits(row.mean.mrr)];
    mean.extend(row.mean.hits().map(digits));
    mean.resize(columns.len(), String::new());
    rows.push(mean);
    ReportTable { title: row.method.clone(), columns, rows }
}

/// The figures by missing links, where they were asked for.
fn missing(row: &MethodResult) -> Option<ReportTable> {
    let columns =
        ["type", "links", "pairs", "share", "MRR", "H@1", "H@3", "H@10"].map(str::to_owned).to_vec();
    let mut rows = Vec::new();
    for TypeResult { shape, by_missing_links, .. } in &row.types {
        let all: usize = by_missing_links.iter().map(|part| part.pairs).sum();
        for part in by_missing_links {
            let share = 100.0 * part.pairs as f64 / all.max(1) as f64;
            let mut cells = vec![shape.clone(), part.links.to_string(), grouped(part.pairs)];
            cells.extend([format!("{share:.1}%"), digits(part.metrics.mrr)]);
            cells.extend(part.metrics.hits().map(digits));
            rows.push(cells);
        }
    }
    (!rows.is_empty()).then(|| ReportTable { title: MISSING.to_owned(), columns, rows })
}

/// What the setting of a type was chosen on.
fn chosen_on(tuned_on: Option<TunedOn>) -> String {
    match tuned_on {
        None => "given".to_owned(),
        Some(TunedOn { queries: 0, .. }) => "no choice".to_owned(),
        Some(TunedOn { queries, part, standard_error, lead, .. }) => {
            let mut text = format!("{} valid", grouped(queries));
            if part != Part::All {
                text += &format!(", {}", part.name());
            }
            if let Some(error) = standard_error {
                text += &format!(", H@3 ±{}", digits(error));
            }
            if let Some(Lead { difference, standard_error, .. }) = lead {
                let sign = if difference < 0.0 { "-" } else { "+" };
                text +=
                    &format!(", {sign}{} ±{} to the next", digits(difference.abs()), digits(standard_error));
            }
            text
        }
    }
}

/// Three digits without a leading 0, as the literature writes such figures.
fn digits(value: f64) -> String {
    format!("{value:.3}").trim_start_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_says_on_how_many_queries_and_how_surely_it_was_made() {
        let on = TunedOn::on(1600, Part::Even);
        assert_eq!(chosen_on(Some(on)), "1,600 valid, even half");
        let runner_up = crate::benchmark::Setting::default();
        let lead = Lead { runner_up, difference: -0.002, standard_error: 0.0031, queries: 200 };
        let sure = TunedOn { standard_error: Some(0.0121), lead: Some(lead), ..TunedOn::on(400, Part::All) };
        assert_eq!(chosen_on(Some(sure)), "400 valid, H@3 ±.012, -.002 ±.003 to the next");
        assert_eq!([chosen_on(None), chosen_on(Some(TunedOn::on(0, Part::All)))], ["given", "no choice"]);
    }

    #[test]
    fn figures_are_written_as_the_literature_does() {
        assert_eq!([0.4931, 1.0, 0.0].map(digits), [".493", "1.000", ".000"]);
    }
}
