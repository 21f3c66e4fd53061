//! `relatum stats`: the sizes of the graph.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use relatum::Engine;
use relatum::graph::visible;
use relatum::query::Shape;
use relatum::report::{GraphStats, QueryCounts, RelationStats};

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
    let stats = Engine::open(&args.dir)?.stats();
    let mut out = output::out(args.json);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &stats)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", as_text(&stats, args.relations))?;
    }
    Ok(())
}

/// The output of the command with its defaults.
pub(super) fn text(engine: &Engine) -> String {
    as_text(&engine.stats(), RELATIONS)
}

fn as_text(stats: &GraphStats, limit: usize) -> String {
    let mut sizes = output::table(&["", "count"], &[1]);
    for (name, count) in [
        ("entities", stats.entities),
        ("relations", stats.relations),
        ("train edges", stats.edges.train),
        ("valid edges", stats.edges.valid),
        ("test edges", stats.edges.test),
        ("entities without a train edge", stats.entities_without_train_edge),
    ] {
        sizes.add_row([name.to_owned(), output::grouped(count)]);
    }

    let mut degrees = output::table(
        &["train edges", "mean", "min", "25%", "median", "75%", "90%", "99%", "max"],
        &[1, 2, 3, 4, 5, 6, 7, 8],
    );
    for (name, spread) in
        [("of an entity", &stats.degree), ("out of it", &stats.out_degree), ("into it", &stats.in_degree)]
    {
        let values = spread.values().map(output::grouped);
        degrees.add_row([name.to_owned(), format!("{:.1}", spread.mean)].into_iter().chain(values));
    }

    let mut text = format!("{}\n{}\n", output::render(&sizes), output::render(&degrees));
    if let Some(queries) = queries_text(&stats.queries) {
        text += &format!("{queries}\n");
    }
    text += &relations_text(&stats.by_relation, limit);
    text
}

fn relations_text(relations: &[RelationStats], limit: usize) -> String {
    let paired = relations.iter().any(|row| row.inverse.is_some());
    let mut header = vec!["relation", "edges", "heads", "tails", "tails/head", "heads/tail", "kind"];
    if paired {
        header.push("inverse");
    }
    let mut table = output::table(&header, &[1, 2, 3, 4, 5]);
    let shown = if limit == 0 { relations.len() } else { limit };
    for row in relations.iter().take(shown) {
        let mut cells = vec![
            visible(&row.text).into_owned(),
            output::grouped(row.edges),
            output::grouped(row.heads),
            output::grouped(row.tails),
            format!("{:.1}", row.tails_per_head),
            format!("{:.1}", row.heads_per_tail),
            row.cardinality.clone(),
        ];
        if paired {
            cells.push(visible(row.inverse_text.as_deref().unwrap_or_default()).into_owned());
        }
        table.add_row(cells);
    }
    let mut text = output::render(&table);
    let left = relations.len().saturating_sub(shown);
    if left > 0 {
        text += &format!("  … and {} more (--relations 0 lists all)\n", output::grouped(left));
    }
    text
}

fn queries_text(queries: &QueryCounts) -> Option<String> {
    let sets: Vec<(&str, &BTreeMap<String, usize>)> = [("valid", &queries.valid), ("test", &queries.test)]
        .into_iter()
        .filter_map(|(split, set)| Some((split, set.as_ref()?)))
        .collect();
    let mut shapes: Vec<&str> = sets.iter().flat_map(|(_, set)| set.keys().map(String::as_str)).collect();
    // In the order of the literature's tables, then other types by name.
    shapes.sort_by_key(|name| {
        (Shape::ALL.iter().position(|shape| shape.name() == *name).unwrap_or(Shape::ALL.len()), *name)
    });
    shapes.dedup();
    if shapes.is_empty() {
        return None;
    }
    let header: Vec<&str> = std::iter::once("queries").chain(shapes.iter().copied()).collect();
    let mut table = output::table(&header, &(1..header.len()).collect::<Vec<_>>());
    for (split, set) in &sets {
        let count = |shape: &&str| output::grouped(set.get(*shape).copied().unwrap_or(0));
        table.add_row(std::iter::once((*split).to_owned()).chain(shapes.iter().map(count)));
    }
    Some(output::render(&table))
}
