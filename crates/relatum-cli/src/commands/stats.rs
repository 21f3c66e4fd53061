//! `relatum stats`: the graph from afar.

use std::io::Write;
use std::path::PathBuf;

use relatum::graph::{Graph, Quantiles, Split, Stats};
use relatum::project::{Project, Queries};
use serde_json::{Value, json};

use crate::output;

/// How many relations are listed.
const RELATIONS: usize = 25;

/// Show sizes, degrees and a table of the relations
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// How many relations to list; 0 for all
    #[arg(long, default_value_t = RELATIONS)]
    relations: usize,
    /// Print JSON, with all relations
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let project = Project::open(&args.dir)?;
    let stats = project.graph().stats();
    let mut out = output::out(args.json);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &as_json(&project, &stats))?;
        writeln!(out)?;
        return Ok(());
    }
    write!(out, "{}", as_text(&project, &stats, args.relations))?;
    Ok(())
}

/// What the command prints with its defaults.
pub(super) fn text(project: &Project) -> String {
    as_text(project, &project.graph().stats(), RELATIONS)
}

fn as_text(project: &Project, stats: &Stats, limit: usize) -> String {
    let graph = project.graph();
    let mut sizes = output::table(&["", "count"], &[1]);
    sizes.add_row(["entities".to_owned(), output::grouped(stats.entities)]);
    sizes.add_row(["relations".to_owned(), output::grouped(stats.relations)]);
    for split in Split::ALL {
        sizes.add_row([format!("{split} edges"), output::grouped(stats.edges[split as usize])]);
    }
    sizes.add_row(["entities without a train edge".to_owned(), output::grouped(stats.isolated)]);

    let mut degrees = output::table(
        &["train edges", "mean", "min", "25%", "median", "75%", "90%", "99%", "max"],
        &[1, 2, 3, 4, 5, 6, 7, 8],
    );
    for (name, quantiles) in
        [("of an entity", &stats.degree), ("out of it", &stats.out_degree), ("into it", &stats.in_degree)]
    {
        let values = quantiles.values.map(output::grouped);
        degrees.add_row([name.to_owned(), format!("{:.1}", quantiles.mean)].into_iter().chain(values));
    }

    let mut text = format!("{}\n{}\n", output::render(&sizes), output::render(&degrees));
    if let Some(queries) = queries_text(project.queries()) {
        text += &format!("{queries}\n");
    }
    text += &relations_text(graph, stats, limit);
    text
}

fn relations_text(graph: &Graph, stats: &Stats, limit: usize) -> String {
    let paired = !graph.inverses.is_empty();
    let mut header = vec!["relation", "edges", "heads", "tails", "tails/head", "heads/tail", "kind"];
    if paired {
        header.push("inverse");
    }
    let mut table = output::table(&header, &[1, 2, 3, 4, 5]);
    let shown = if limit == 0 { stats.by_relation.len() } else { limit };
    for row in stats.by_relation.iter().take(shown) {
        let mut cells = vec![
            graph.relation_text(row.relation),
            output::grouped(row.edges),
            output::grouped(row.heads),
            output::grouped(row.tails),
            format!("{:.1}", row.tails_per_head()),
            format!("{:.1}", row.heads_per_tail()),
            row.cardinality().to_owned(),
        ];
        if paired {
            cells.push(row.inverse.map_or_else(String::new, |inverse| graph.relation_text(inverse)));
        }
        table.add_row(cells);
    }
    let mut text = output::render(&table);
    let left = stats.by_relation.len().saturating_sub(shown);
    if left > 0 {
        text += &format!("  … and {} more (--relations 0 lists all)\n", output::grouped(left));
    }
    text
}

fn queries_text(queries: &Queries) -> Option<String> {
    let sets: Vec<_> = [Split::Valid, Split::Test]
        .into_iter()
        .filter_map(|split| Some((split, queries.of(split)?)))
        .collect();
    let mut shapes: Vec<&str> = Vec::new();
    for group in sets.iter().flat_map(|(_, set)| &set.groups) {
        if !shapes.contains(&group.shape.as_str()) {
            shapes.push(&group.shape);
        }
    }
    if shapes.is_empty() {
        return None;
    }
    let header: Vec<&str> = std::iter::once("queries").chain(shapes.iter().copied()).collect();
    let mut table = output::table(&header, &(1..header.len()).collect::<Vec<_>>());
    for (split, set) in &sets {
        let count = |shape: &&str| {
            let group = set.groups.iter().find(|group| group.shape == *shape);
            output::grouped(group.map_or(0, relatum::benchmark::QueryGroup::len))
        };
        table.add_row(std::iter::once(split.to_string()).chain(shapes.iter().map(count)));
    }
    Some(output::render(&table))
}

fn as_json(project: &Project, stats: &Stats) -> Value {
    let graph = project.graph();
    let relation = |row: &relatum::graph::RelationStats| {
        json!({
            "name": graph.relations.name(row.relation),
            "label": graph.relations.label(row.relation),
            "edges": row.edges,
            "heads": row.heads,
            "tails": row.tails,
            "tails_per_head": row.tails_per_head(),
            "heads_per_tail": row.heads_per_tail(),
            "cardinality": row.cardinality(),
            "inverse": row.inverse.map(|inverse| graph.relations.name(inverse)),
        })
    };
    let queries = |split| {
        let groups = project.queries().of(split)?.groups.iter();
        Some(groups.map(|group| (group.shape.clone(), json!(group.len()))).collect::<serde_json::Map<_, _>>())
    };
    json!({
        "entities": stats.entities,
        "relations": stats.relations,
        "edges": { "train": stats.edges[0], "valid": stats.edges[1], "test": stats.edges[2] },
        "entities_without_train_edge": stats.isolated,
        "degree": quantiles(&stats.degree),
        "out_degree": quantiles(&stats.out_degree),
        "in_degree": quantiles(&stats.in_degree),
        "queries": { "valid": queries(Split::Valid), "test": queries(Split::Test) },
        "fingerprint": project.manifest().fingerprint,
        "sources": project.manifest().sources,
        "by_relation": stats.by_relation.iter().map(relation).collect::<Vec<_>>(),
    })
}

fn quantiles(quantiles: &Quantiles) -> Value {
    let [min, q25, median, q75, q90, q99, max] = quantiles.values;
    json!({ "mean": quantiles.mean, "min": min, "q25": q25, "median": median, "q75": q75, "q90": q90, "q99": q99, "max": max })
}
