//! A report as comma-separated values, with the same content as its JSON.

use super::report::{BenchmarkReport, MethodResult, MissingLinksResult, TypeResult};
use super::{PUBLISHED_TYPES, TunedOn};
use crate::report::Metrics;

impl BenchmarkReport {
    /// One line for each cell, each number of missing links in it, each mean, and each published figure.
    pub fn to_csv(&self) -> String {
        let mut text = COLUMNS.join(",") + "\n";
        for row in &self.rows {
            for cell in &row.types {
                text += &self.of_cell(row, cell).text();
                for part in &cell.by_missing_links {
                    text += &self.of_missing(row, cell, part).text();
                }
            }
            let mean = self.line("mean", &row.method).with("split", &self.split).with_metrics(&row.mean);
            text += &mean.without("queries").text();
        }
        for row in &self.published {
            let line = |shape: &str, hits: f64| {
                let line = self.line("published", &row.title()).with("split", &row.split);
                line.with("type", shape).with("hits@3", &hits).without("limit").text()
            };
            for shape in PUBLISHED_TYPES {
                text.extend(row.hits_at_3.get(shape).map(|hits| line(shape, *hits)));
            }
            text += &line("mean", row.mean);
        }
        text
    }

    fn of_cell(&self, row: &MethodResult, cell: &TypeResult) -> Line {
        let mut line =
            self.line("type", &row.method).with("split", &self.split).with("part", cell.part.name());
        line = line.with("type", &cell.shape).with("queries_there", &cell.queries_there);
        line = line.with_metrics(&cell.metrics).with("rows", &cell.rows);
        line = line.with("seconds", &cell.seconds).with("of_peak", &cell.of_peak);
        if let Some(TunedOn { queries: queries @ 1.., part, standard_error, lead, .. }) = &cell.tuned_on {
            line = line.with("tuned_on", queries).with("tuned_on_part", part.name());
            if let Some(error) = standard_error {
                line = line.with("tuned_on_error", error);
            }
            if let Some(lead) = lead {
                line = line.with("lead", &lead.difference).with("lead_error", &lead.standard_error);
            }
        }
        line = line.with("known", &cell.known).with("setting", &cell.setting);
        line.with("warning", cell.warning.as_deref().unwrap_or_default())
    }

    fn of_missing(&self, row: &MethodResult, cell: &TypeResult, part: &MissingLinksResult) -> Line {
        let line = self.of_cell(row, cell).with("kind", "missing-links").with("links", &part.links);
        let line = line.with("pairs", &part.pairs).with_metrics(&part.metrics);
        ["rows", "seconds", "of_peak"].into_iter().fold(line, Line::without)
    }

    fn line(&self, kind: &str, method: &str) -> Line {
        let line = Line(COLUMNS.map(|_| String::new())).with("kind", kind).with("method", method);
        match self.limit {
            Some(limit) => line.with("limit", &limit),
            None => line,
        }
    }
}

const COLUMNS: [&str; 25] = [
    "kind",
    "method",
    "split",
    "part",
    "limit",
    "type",
    "links",
    "pairs",
    "queries",
    "queries_there",
    "mrr",
    "hits@1",
    "hits@3",
    "hits@10",
    "rows",
    "seconds",
    "of_peak",
    "tuned_on",
    "tuned_on_part",
    "tuned_on_error",
    "lead",
    "lead_error",
    "known",
    "setting",
    "warning",
];

/// One line, by the names of its columns.
struct Line([String; COLUMNS.len()]);

impl Line {
    fn with(mut self, column: &str, value: &(impl ToString + ?Sized)) -> Self {
        if let Some(at) = COLUMNS.iter().position(|name| *name == column) {
            self.0[at] = value.to_string();
        }
        self
    }

    fn without(self, column: &str) -> Self {
        self.with(column, "")
    }

    fn with_metrics(self, m: &Metrics) -> Self {
        let line = self.with("queries", &m.count).with("mrr", &m.mrr).with("hits@1", &m.hits_at_1);
        line.with("hits@3", &m.hits_at_3).with("hits@10", &m.hits_at_10)
    }

    fn text(&self) -> String {
        let fields: Vec<String> = self.0.iter().map(|field| quoted(field)).collect();
        fields.join(",") + "\n"
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Dataset;
    use crate::graph::{GraphBuilder, Split};

    #[test]
    fn published_figures_are_named_by_their_type() {
        let mut builder = GraphBuilder::default();
        (0..14_505).for_each(|id| {
            builder.entity(&format!("e{id}"));
        });
        (0..474).for_each(|id| {
            builder.relation(&format!("r{id}"));
        });
        let (graph, _) = builder.finish();
        let report = BenchmarkReport {
            model: "m".to_owned(),
            predictor: "complex".to_owned(),
            rank: 8,
            split: Split::Valid,
            limit: Some(5),
            dataset: None,
            types: vec!["2p".to_owned()],
            notes: Vec::new(),
            warnings: Vec::new(),
            rows: Vec::new(),
            published: Vec::new(),
        };
        let report = report.beside(Dataset::of(&graph, None, None));
        let first = serde_json::to_value(&report.published[0]).unwrap();
        assert_eq!((first["system"].as_str(), first["split"].as_str()), (Some("GQE"), Some("test")));
        let of = |shape: &str| first["hits@3"][shape].as_f64();
        assert_eq!((of("1p"), of("2p")), (Some(0.405), Some(0.213)));
        let csv = report.to_csv();
        let line = "published,\"GQE, rank 800 (published, test)\",test,,,2p,,,,,,,0.213,,,,,,,,,,,,";
        assert!(csv.lines().any(|it| it == line), "{csv}");
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(quoted("2p"), "2p");
    }
}
