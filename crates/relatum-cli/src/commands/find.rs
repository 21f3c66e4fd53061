//! `relatum find`: names that contain a text.

use std::io::Write;
use std::path::PathBuf;

use relatum::Engine;
use relatum::graph::visible;
use relatum::report::{Found, FoundName};

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

/// How many of each kind are shown.
const LIMIT: usize = 20;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let limit = Some(args.limit).filter(|limit| *limit > 0);
    let found = Engine::open(&args.dir)?.find(&args.text, limit);
    let mut out = output::out(args.json);
    if args.json {
        let all: Vec<&FoundName> = found.entities.iter().chain(&found.relations).collect();
        serde_json::to_writer_pretty(&mut out, &all)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", as_text(&found))?;
    }
    Ok(())
}

/// The output of the command with its defaults.
pub(super) fn text(engine: &Engine, text: &str) -> String {
    as_text(&engine.find(text, Some(LIMIT)))
}

fn as_text(found: &Found) -> String {
    let wanted = visible(&found.text);
    let mut text = String::new();
    for (kind, rows, total) in [
        ("entity", &found.entities, found.entities_total),
        ("relation", &found.relations, found.relations_total),
    ] {
        if total == 0 {
            continue;
        }
        let shown = if rows.len() < total { format!(", the {} shortest", rows.len()) } else { String::new() };
        text +=
            &format!("{} with '{wanted}'{shown}:\n{}\n", output::counted(total as u64, kind), table(rows));
    }
    if text.is_empty() {
        text = format!("no name or label contains '{wanted}'\n");
    }
    text
}

fn table(rows: &[FoundName]) -> String {
    // The text to write is often the label or the name itself, which is not shown twice.
    let labels = rows.iter().any(|row| row.label.as_ref().is_some_and(|label| *label != row.text));
    let names = rows.iter().any(|row| row.name != row.text);
    let shown = [true, true, labels, names];
    let pick =
        |cells: [String; 4]| cells.into_iter().zip(shown).filter_map(|(cell, shown)| shown.then_some(cell));
    let header: Vec<String> = pick(["edges", "write", "label", "name"].map(str::to_owned)).collect();
    let mut table = output::table(&header.iter().map(String::as_str).collect::<Vec<_>>(), &[0]);
    for row in rows {
        let label = visible(row.label.as_deref().unwrap_or_default()).into_owned();
        let name = visible(&row.name).into_owned();
        table.add_row(pick([output::grouped(row.edges), row.write.clone(), label, name]));
    }
    output::render(&table)
}
