//! `relatum find`: names that contain a text.

use std::io::Write;
use std::path::PathBuf;

use relatum::graph::{Dictionary, Id, Split};
use relatum::store::Project;
use serde::Serialize;

use crate::output;

/// Find entities and relations whose name or label contains a text
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The text, in any case
    text: String,
    /// How many of each to show
    #[arg(long, default_value_t = 20)]
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
    edges: usize,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let project = Project::open(&args.dir)?;
    let graph = project.graph();
    let train = graph.edges(Split::Train);
    let (entities, entities_total) = found(
        &graph.entities,
        args,
        |id| graph.entity_text(id),
        |id| train.outgoing.of(id).len() + train.incoming.of(id).len(),
    );
    let counts = train.relation_counts(graph.relations.len());
    let (relations, relations_total) =
        found(&graph.relations, args, |id| graph.relation_text(id), |id| counts[id.index()]);
    let mut out = std::io::stdout().lock();
    if args.json {
        let all: Vec<&Found> = entities.iter().chain(&relations).collect();
        serde_json::to_writer_pretty(&mut out, &all)?;
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
        writeln!(out, "{} with '{}'{shown}:", output::counted(total as u64, kind), args.text)?;
        // Without labels the readable text is the name; saying it twice helps nobody.
        let labelled = rows.iter().any(|row| row.name != row.text);
        let header: &[&str] = if labelled { &["edges", "write", "name"] } else { &["edges", "write"] };
        let mut table = output::table(header, &[0]);
        for row in rows {
            let cells = [output::grouped(row.edges), row.text.clone(), row.name.clone()];
            table.add_row(cells.into_iter().take(header.len()));
        }
        writeln!(out, "{}", output::render(&table))?;
    }
    if entities_total + relations_total == 0 {
        writeln!(out, "no name or label contains '{}'", args.text)?;
    }
    Ok(())
}

fn found<I: Id>(
    dictionary: &Dictionary<I>,
    args: &Args,
    text: impl Fn(I) -> String,
    edges: impl Fn(I) -> usize,
) -> (Vec<Found>, usize) {
    let (ids, total) = dictionary.containing(&args.text, args.limit);
    let row = |id: I| Found {
        kind: I::KIND,
        text: text(id),
        name: dictionary.name(id).to_owned(),
        edges: edges(id),
    };
    (ids.into_iter().map(row).collect(), total)
}
