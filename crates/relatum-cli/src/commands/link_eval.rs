//! `relatum link-eval`: how well the model predicts edges it has not seen.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use relatum::graph::{Graph, Split};
use relatum::model::{LinkMetrics, Ties};
use relatum::project::Project;
use relatum::train::{LinkReport, evaluate};
use serde_json::{Value, json};

use super::model;
use super::train::use_threads;
use crate::exit::Misuse;
use crate::output;

/// Measure filtered MRR and Hits@1/3/10 of a model, in both directions and by relation
///
/// Every edge of the split is predicted from both its ends among all entities, other true answers
/// left out. Candidates with the same score share the mean of their ranks.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The name of the model [default: default, or what `relatum models --default` chose]
    #[arg(long)]
    name: Option<String>,
    /// The edges to predict [default: test, or valid where there are no test edges]
    #[arg(long)]
    split: Option<SplitName>,
    /// The rank of an answer among candidates with the same score
    #[arg(long, default_value = "mean")]
    ties: TiesName,
    /// How many relations to list; 0 for all
    #[arg(long, default_value_t = 25)]
    relations: usize,
    /// Threads to use [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print JSON, with all relations
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum SplitName {
    Train,
    Valid,
    Test,
}

#[derive(Clone, Copy, ValueEnum)]
enum TiesName {
    /// The mean of the ranks they take together
    Mean,
    /// The worst of them, as code does that counts every candidate with at least the same score
    Pessimistic,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    use_threads(args.threads)?;
    let project = Project::open(&args.dir)?;
    let folder = model::folder(&project, args.name.as_deref())?;
    let stored = folder.load(&project)?;
    let unfinished = model::unfinished(&args.dir, &folder, &stored.card);
    let graph = project.graph();
    let split = match args.split {
        Some(SplitName::Train) => Split::Train,
        Some(SplitName::Valid) => Split::Valid,
        None if graph.edges(Split::Test).is_empty() => Split::Valid,
        Some(SplitName::Test) | None => Split::Test,
    };
    if graph.edges(split).is_empty() {
        return Err(Misuse(format!(
            "{} has no {split} edges to predict: choose another --split",
            args.dir.display()
        ))
        .into());
    }
    let ties = match args.ties {
        TiesName::Mean => Ties::Mean,
        TiesName::Pessimistic => Ties::Pessimistic,
    };
    let report = evaluate(&stored.model, graph, split, ties);
    if report.overflowed > 0 {
        anyhow::bail!(
            "the scores of the model `{}` are infinite or no numbers in {} of the rows, so that ranks by them mean \
             nothing: its values are too large (merged with great weights, or imported from a training that diverged)",
            folder.name(),
            output::grouped(report.overflowed),
        );
    }
    let mut out = output::out(args.json);
    if args.json {
        let mut json = as_json(graph, folder.name(), split, ties, &report);
        json["unfinished"] = json!(unfinished);
        serde_json::to_writer_pretty(&mut out, &json)?;
        writeln!(out)?;
        return Ok(());
    }
    let how = match ties {
        Ties::Pessimistic => "ties take their worst rank",
        Ties::Mean => "ties take their mean rank",
    };
    let card = &stored.card;
    writeln!(out, "{} ({}, rank {}) on {split}: filtered, {how}", folder.name(), card.model, card.rank)?;
    write!(out, "{}", as_text(graph, &report, args.relations))?;
    Ok(())
}

const HEADER: [&str; 6] = ["", "predictions", "MRR", "H@1", "H@3", "H@10"];

fn as_text(graph: &Graph, report: &LinkReport, limit: usize) -> String {
    let mut table = output::table(&HEADER, &[1, 2, 3, 4, 5]);
    table.add_row(cells("all".to_owned(), &report.overall));
    if report.heads.count > 0 {
        table.add_row(cells("tails".to_owned(), &report.tails));
        table.add_row(cells("heads".to_owned(), &report.heads));
    }
    table.add_row(cells("mean of queries".to_owned(), &report.queries));
    let mut text = output::render(&table);
    text.push('\n');
    let mut table = output::table(&HEADER, &[1, 2, 3, 4, 5]);
    let mut relations: Vec<_> = report.relations.iter().collect();
    relations.sort_by_key(|row| std::cmp::Reverse(row.metrics.count));
    let shown = if limit == 0 { relations.len() } else { limit };
    for row in relations.iter().take(shown) {
        let name = graph.relation_text(row.relation);
        let name = if row.backwards { format!("{name} (heads)") } else { name };
        table.add_row(cells(name, &row.metrics));
    }
    text += &output::render(&table);
    if relations.len() > shown {
        let left = output::grouped(relations.len() - shown);
        text += "  … and ";
        text += &left;
        text += " more (--relations 0 lists all)\n";
    }
    text
}

fn cells(name: String, metrics: &LinkMetrics) -> Vec<String> {
    let mut cells = vec![name, output::grouped(metrics.count), format!("{:.4}", metrics.mrr)];
    cells.extend(metrics.hits.map(|hits| format!("{hits:.4}")));
    cells
}

fn as_json(graph: &Graph, name: &str, split: Split, ties: Ties, report: &LinkReport) -> Value {
    let metrics = |m: &LinkMetrics| json!({"count": m.count, "mrr": m.mrr, "hits@1": m.hits[0], "hits@3": m.hits[1], "hits@10": m.hits[2]});
    let relations: Vec<Value> = report
        .relations
        .iter()
        .map(|row| {
            json!({
                "relation": graph.relations.name(row.relation),
                "predicts": if row.backwards { "heads" } else { "tails" },
                "metrics": metrics(&row.metrics),
            })
        })
        .collect();
    json!({
        "model": name,
        "split": split.name(),
        "ties": if ties == Ties::Pessimistic { "pessimistic" } else { "mean" },
        "overall": metrics(&report.overall),
        "tails": metrics(&report.tails),
        "heads": metrics(&report.heads),
        "queries": metrics(&report.queries),
        "relations": relations,
    })
}
