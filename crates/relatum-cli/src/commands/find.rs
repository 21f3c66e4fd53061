//! `relatum find`: names that contain a text.

use std::io::Write;
use std::path::PathBuf;

use relatum::graph::{Dictionary, Graph, Id, RelationId, Split, visible};
use relatum::project::Project;
use relatum::query::syntax::name_text;
use serde::Serialize;

use crate::output;

/// Find entities and relations whose name or label contains a text
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The text, in any case
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// How many of each to show; 0 for all
    #[arg(long, default_value_t = LIMIT)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Found {
    kind: &'static str,
    text: String,
    name: String,
    label: Option<String>,
    edges: usize,
}

/// How many of each kind are shown.
const LIMIT: usize = 20;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let project = Project::open(&args.dir)?;
    show(project.graph(), &args.text, args.limit, args.json, &mut output::out(args.json))
}

/// What the command prints with its defaults.
pub(super) fn text(graph: &Graph, text: &str) -> anyhow::Result<String> {
    let mut out = Vec::new();
    show(graph, text, LIMIT, false, &mut out)?;
    Ok(String::from_utf8(out)?)
}

fn show(graph: &Graph, text: &str, limit: usize, json: bool, out: &mut impl Write) -> anyhow::Result<()> {
    let degree = |id| {
        let edges = Split::ALL.map(|split| graph.edges(split));
        edges.iter().map(|edges| edges.outgoing.of(id).len() + edges.incoming.of(id).len()).sum()
    };
    let (entities, entities_total) =
        found(&graph.entities, text, limit, |id| graph.entities.readable(id, &graph.prefixes), degree);
    let counts = Split::ALL.map(|split| graph.edges(split).relation_counts(graph.relations.len()));
    let uses = |id: RelationId| counts.iter().map(|counts| counts[id.index()]).sum();
    let (relations, relations_total) =
        found(&graph.relations, text, limit, |id| graph.relations.readable(id, &graph.prefixes), uses);
    if json {
        let all: Vec<&Found> = entities.iter().chain(&relations).collect();
        serde_json::to_writer_pretty(&mut *out, &all)?;
        writeln!(out)?;
        return Ok(());
    }
    for (kind, rows, total) in
        [("entity", &entities, entities_total), ("relation", &relations, relations_total)]
    {
        if total == 0 {
            continue;
        }
        let shown = if rows.len() < total { format!(", the {} shortest", rows.len()) } else { String::new() };
        writeln!(out, "{} with '{}'{shown}:", output::counted(total as u64, kind), visible(text))?;
        // What to write is often the label or the name; saying it twice helps nobody.
        let labels = rows.iter().any(|row| row.label.as_ref().is_some_and(|label| *label != row.text));
        let names = rows.iter().any(|row| row.name != row.text);
        let shown = [true, true, labels, names];
        let pick = |cells: [String; 4]| {
            cells.into_iter().zip(shown).filter_map(|(cell, shown)| shown.then_some(cell))
        };
        let header: Vec<String> = pick(["edges", "write", "label", "name"].map(str::to_owned)).collect();
        let mut table = output::table(&header.iter().map(String::as_str).collect::<Vec<_>>(), &[0]);
        for row in rows {
            let label = visible(row.label.as_deref().unwrap_or_default()).into_owned();
            let name = visible(&row.name).into_owned();
            table.add_row(pick([output::grouped(row.edges), name_text(&row.text), label, name]));
        }
        writeln!(out, "{}", output::render(&table))?;
    }
    if entities_total + relations_total == 0 {
        writeln!(out, "no name or label contains '{}'", visible(text))?;
    }
    Ok(())
}

fn found<I: Id>(
    dictionary: &Dictionary<I>,
    wanted: &str,
    limit: usize,
    text: impl Fn(I) -> String,
    edges: impl Fn(I) -> usize,
) -> (Vec<Found>, usize) {
    let limit = if limit == 0 { usize::MAX } else { limit };
    let (ids, total) = dictionary.containing(wanted, limit);
    let row = |id: I| Found {
        kind: I::KIND,
        text: text(id),
        name: dictionary.name(id).to_owned(),
        label: dictionary.label(id).map(str::to_owned),
        edges: edges(id),
    };
    (ids.into_iter().map(row).collect(), total)
}
