//! Results as tables for a terminal and for a paper.

use relatum::benchmark::{Dataset, Part, Published, Setting};
use relatum::graph::Split;
use relatum::model::LinkMetrics;
use relatum::project::Cell;

use super::fair::{Basis, basis_text, facts};
use crate::output;

/// One method with its cells.
pub(crate) struct Row {
    pub(crate) method: String,
    pub(crate) cells: Vec<Measured>,
}

/// A type of query with its cell, and how it was answered.
pub(crate) struct Measured {
    pub(crate) shape: String,
    pub(crate) setting: Setting,
    pub(crate) cell: Cell,
    /// Which queries were taken.
    pub(crate) part: Part,
    /// How many there are in this part; a limit may take fewer.
    pub(crate) of: usize,
    pub(crate) basis: Basis,
}

impl Row {
    fn metrics(&self, shape: &str) -> Option<&LinkMetrics> {
        self.cells.iter().find(|cell| cell.shape == shape).map(|cell| &cell.cell.metrics)
    }

    /// The mean over types, each counting the same.
    pub(crate) fn mean(&self) -> LinkMetrics {
        let each: Vec<LinkMetrics> = self.cells.iter().map(|cell| cell.cell.metrics).collect();
        LinkMetrics::mean(&each)
    }
}

/// Everything that is shown.
pub(crate) struct Report<'a> {
    pub(crate) model: String,
    pub(crate) split: Split,
    pub(crate) limit: Option<usize>,
    pub(crate) dataset: Option<&'static Dataset>,
    pub(crate) types: Vec<&'a str>,
    pub(crate) rows: Vec<Row>,
}

impl Report<'_> {
    pub(crate) fn text(&self) -> String {
        let mut text =
            format!("{}\nHits@3, filtered; ties at their mean rank; means over {}\n", self.title(), MEANS);
        for line in self.remarks() {
            text += &format!("{line}\n");
        }
        text += "\n";
        text += &output::render(&as_table(&self.overview_rows()));
        for row in &self.rows {
            text += &format!("\n{}\n\n", row.method);
            text += &output::render(&as_table(&detail_rows(row)));
            let missing = missing_rows(row);
            if missing.len() > 1 {
                text += "\nby the links of an answer that the training graph lacks\n\n";
                text += &output::render(&as_table(&missing));
            }
        }
        text
    }

    pub(crate) fn markdown(&self) -> String {
        let mut text =
            format!("{}, Hits@3 (filtered, ties at mean rank, means over {MEANS}):\n\n", self.title());
        text += &markdown(&self.overview_rows());
        text += "\n";
        for line in self.remarks() {
            text += &format!("- {line}\n");
        }
        for row in &self.rows {
            text += &format!("\n{}:\n\n{}", row.method, markdown(&detail_rows(row)));
            let missing = missing_rows(row);
            if missing.len() > 1 {
                text += "\nBy the links of an answer that the training graph lacks:\n\n";
                text += &markdown(&missing);
            }
        }
        text
    }

    /// What the figures rest on, and what is wrong with some.
    fn remarks(&self) -> Vec<String> {
        let warnings = self.warnings().into_iter().map(|warning| format!("warning: {warning}"));
        self.notes().into_iter().chain(warnings).collect()
    }

    fn title(&self) -> String {
        let dataset = self.dataset.map_or(String::new(), |dataset| format!("{}, ", dataset.name));
        format!("{dataset}{} queries, model {}", self.split, self.model)
    }

    pub(crate) fn published(&self) -> &'static [Published] {
        self.dataset.map_or(&[], |dataset| dataset.rows)
    }

    fn overview_rows(&self) -> Vec<Vec<String>> {
        let with_mean = |mut cells: Vec<String>, mean: f64| {
            cells.push(digits(mean));
            cells
        };
        let types = self.types.iter().map(|shape| (*shape).to_owned());
        let mut rows = vec![std::iter::once(String::new()).chain(types).chain(["mean".to_owned()]).collect()];
        for row in &self.rows {
            let mut cells = vec![row.method.clone()];
            cells.extend(
                self.types
                    .iter()
                    .map(|shape| row.metrics(shape).map_or("–".to_owned(), |m| digits(m.hits[1]))),
            );
            rows.push(with_mean(cells, row.mean().hits[1]));
        }
        for published in self.published() {
            let values: Vec<Option<f64>> = self.types.iter().map(|shape| published.of_type(shape)).collect();
            let known: Vec<f64> = values.iter().flatten().copied().collect();
            if known.is_empty() {
                continue;
            }
            let mut cells = vec![published_name(published)];
            cells.extend(values.into_iter().map(|value| value.map_or("–".to_owned(), digits)));
            rows.push(with_mean(cells, known.iter().sum::<f64>() / known.len() as f64));
        }
        rows
    }
}

const MEANS: &str = "the hard answers of a query, then queries, then types";

/// The first row is the header; all columns but the first and those in words are figures.
fn as_table(rows: &[Vec<String>]) -> comfy_table::Table {
    let header: Vec<&str> = rows[0].iter().map(String::as_str).collect();
    let words = ["chosen on", "facts", "setting"];
    let right: Vec<usize> = (1..header.len()).filter(|&column| !words.contains(&header[column])).collect();
    let mut table = output::table(&header, &right);
    for row in &rows[1..] {
        table.add_row(row);
    }
    table
}

fn missing_rows(row: &Row) -> Vec<Vec<String>> {
    let header = ["type", "links", "pairs", "share", "MRR", "H@1", "H@3", "H@10"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for Measured { shape, cell, .. } in &row.cells {
        let all: usize = cell.by_missing.iter().map(|part| part.pairs).sum();
        for part in &cell.by_missing {
            let share = 100.0 * part.pairs as f64 / all.max(1) as f64;
            let mut cells = vec![shape.clone(), part.links.to_string(), output::grouped(part.pairs)];
            cells.extend([format!("{share:.1}%"), digits(part.metrics.mrr)]);
            cells.extend(part.metrics.hits.map(digits));
            rows.push(cells);
        }
    }
    rows
}

fn detail_rows(row: &Row) -> Vec<Vec<String>> {
    let header = [
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
        "facts",
        "setting",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for Measured { shape, setting, cell, of, basis, .. } in &row.cells {
        let m = &cell.metrics;
        let count = m.count.max(1) as f64;
        let queries = match output::grouped(m.count) {
            some if m.count < *of => format!("{some} of {}", output::grouped(*of)),
            all => all,
        };
        let mut cells = vec![shape.clone(), queries, digits(m.mrr)];
        cells.extend(m.hits.map(digits));
        cells.push(format!("{:.0}", count / cell.seconds.max(1e-9)));
        cells.push(format!("{:.0}", cell.rows as f64 / count));
        cells.push(format!("{:.0}%", 100.0 * cell.of_peak));
        cells.push(basis_text(*basis));
        cells.push(facts(setting).to_owned());
        cells.push(setting.to_string());
        rows.push(cells);
    }
    let mean = row.mean();
    let mut cells = vec!["mean".to_owned(), String::new(), digits(mean.mrr)];
    cells.extend(mean.hits.map(digits));
    cells.extend(std::iter::repeat_n(String::new(), header.len() - cells.len()));
    rows.push(cells);
    rows
}

fn markdown(rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = vec!["---".to_owned(); rows[0].len()];
    rows.iter()
        .enumerate()
        .map(|(index, row)| if index == 0 { line(row) + &line(&rule) } else { line(row) })
        .collect()
}

pub(crate) fn published_name(row: &Published) -> String {
    let rank = row.rank.map_or(String::new(), |rank| format!(", rank {rank}"));
    format!("{}{rank} (published, test)", row.system)
}

fn digits(value: f64) -> String {
    format!("{value:.3}").trim_start_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_as_the_literature_does() {
        assert_eq!([0.4931, 1.0, 0.0].map(digits), [".493", "1.000", ".000"]);
    }
}
