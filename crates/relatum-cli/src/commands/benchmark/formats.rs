//! Results for programs: JSON and comma-separated values, which say the same.

use relatum::benchmark::{ByMissing, PUBLISHED_TYPES, Part, Published};
use relatum::model::LinkMetrics;
use serde_json::{Map, Value, json};

use super::fair::{Basis, doubt, facts};
use super::table::{Measured, Report, Row, published_name};

impl Report<'_> {
    pub(crate) fn json(&self) -> Value {
        let missing = |part: &ByMissing| json!({ "links": part.links, "pairs": part.pairs, "metrics": metrics(&part.metrics) });
        let cell = |measured: &Measured| {
            let Measured { shape, setting, cell, part, of, basis } = measured;
            json!({
                "type": shape, "part": part.name(), "queries_there": of, "setting": setting,
                "facts": facts(setting), "tuned_on": tuned_on(*basis), "metrics": metrics(&cell.metrics),
                "rows": cell.rows, "seconds": cell.seconds, "of_peak": cell.of_peak,
                "by_missing_links": cell.by_missing.iter().map(missing).collect::<Vec<_>>(),
                "warning": doubt(self.split, measured),
            })
        };
        let row = |row: &Row| {
            json!({
                "method": row.method, "mean": metrics(&row.mean()),
                "types": row.cells.iter().map(cell).collect::<Vec<_>>(),
            })
        };
        let published = |row: &Published| {
            let types = PUBLISHED_TYPES.iter().zip(row.hits_at_3);
            let types: Map<String, Value> =
                types.map(|(shape, hits)| ((*shape).to_owned(), json!(hits))).collect();
            json!({ "system": row.system, "rank": row.rank, "split": "test", "hits@3": types, "mean": row.mean() })
        };
        json!({
            "model": self.model, "split": self.split.name(), "limit": self.limit,
            "dataset": self.dataset.map(|dataset| dataset.name),
            "notes": self.notes(), "warnings": self.warnings(),
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "published": self.published().iter().map(published).collect::<Vec<_>>(),
        })
    }

    /// One line for each cell, each number of missing links in it, each mean, and each published figure.
    pub(crate) fn csv(&self) -> String {
        let mut text = COLUMNS.join(",") + "\n";
        for row in &self.rows {
            for measured in &row.cells {
                text += &self.of_cell(row, measured).text();
                for part in &measured.cell.by_missing {
                    text += &self.of_missing(row, measured, part).text();
                }
            }
            let mean = self.line("mean", &row.method).with("split", &self.split).with_metrics(&row.mean());
            text += &mean.without("queries").text();
        }
        for row in self.published() {
            let line = |shape: &str, hits: f64| {
                let line = self.line("published", &published_name(row)).with("split", "test");
                line.with("type", shape).with("hits@3", &hits).without("limit").text()
            };
            text.extend(PUBLISHED_TYPES.iter().zip(row.hits_at_3).map(|(shape, hits)| line(shape, hits)));
            text += &line("mean", row.mean());
        }
        text
    }

    fn of_cell(&self, row: &Row, measured: &Measured) -> Line {
        let Measured { shape, setting, cell, part, of, basis } = measured;
        let mut line = self.line("type", &row.method).with("split", &self.split).with("part", part.name());
        line = line.with("type", shape).with("queries_there", of).with_metrics(&cell.metrics);
        line = line.with("rows", &cell.rows).with("seconds", &cell.seconds).with("of_peak", &cell.of_peak);
        if let Basis::Queries(queries, part) = basis {
            line = line.with("tuned_on", queries).with("tuned_on_part", part.name());
        }
        line = line.with("facts", facts(setting)).with("setting", setting);
        line.with("warning", doubt(self.split, measured).unwrap_or_default())
    }

    fn of_missing(&self, row: &Row, measured: &Measured, part: &ByMissing) -> Line {
        let line = self.of_cell(row, measured).with("kind", "missing-links").with("links", &part.links);
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

const COLUMNS: [&str; 22] = [
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
    "facts",
    "setting",
    "warning",
];

/// One line of comma-separated values, by the names of its columns.
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

    fn with_metrics(self, m: &LinkMetrics) -> Self {
        let line = self.with("queries", &m.count).with("mrr", &m.mrr);
        line.with("hits@1", &m.hits[0]).with("hits@3", &m.hits[1]).with("hits@10", &m.hits[2])
    }

    fn text(&self) -> String {
        let fields: Vec<String> = self.0.iter().map(|field| quoted(field)).collect();
        fields.join(",") + "\n"
    }
}

fn tuned_on(basis: Basis) -> Value {
    match basis {
        Basis::Given => Value::Null,
        Basis::NoChoice => json!({ "split": "valid", "queries": 0, "part": Part::All.name() }),
        Basis::Queries(queries, part) => json!({ "split": "valid", "queries": queries, "part": part.name() }),
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn metrics(m: &LinkMetrics) -> Value {
    json!({ "count": m.count, "mrr": m.mrr, "hits@1": m.hits[0], "hits@3": m.hits[1], "hits@10": m.hits[2] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use relatum::benchmark::Dataset;
    use relatum::graph::{GraphBuilder, Split};

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
        let dataset = Dataset::of(&graph);
        let model = "m".to_owned();
        let report = Report {
            model,
            split: Split::Valid,
            limit: Some(5),
            dataset,
            types: vec!["2p"],
            rows: Vec::new(),
        };
        let first = &report.json()["published"][0];
        assert_eq!((&first["system"], &first["split"]), (&json!("GQE"), &json!("test")));
        assert_eq!((&first["hits@3"]["1p"], &first["hits@3"]["2p"]), (&json!(0.405), &json!(0.213)));
        let csv = report.csv();
        let line = "published,\"GQE, rank 800 (published, test)\",test,,,2p,,,,,,,0.213,,,,,,,,,";
        assert!(csv.lines().any(|it| it == line), "{csv}");
    }

    #[test]
    fn csv_fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(quoted("2p"), "2p");
    }
}
