//! `relatum describe`: one entity or relation with its edges.

use std::io::Write;
use std::path::PathBuf;

use relatum::Engine;
use relatum::engine::Look;

use crate::output;

/// How many neighbours of a relation are shown.
const LIMIT: usize = 10;

/// Show an entity's edges in both directions, or what a relation connects
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// Its name, IRI, prefixed name, label, or #id
    #[arg(allow_hyphen_values = true)]
    name: String,
    /// Describe a relation, even if an entity has the same name
    #[arg(long)]
    relation: bool,
    /// How many neighbours to show for each relation; 0 for all
    #[arg(long, default_value_t = LIMIT)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let limit = Some(args.limit).filter(|limit| *limit > 0);
    let look = Look { relation: args.relation, limit, ..Look::default() };
    let description = Engine::open(&args.dir)?.describe(&args.name, &look)?;
    let mut out = output::out(args.json);
    if args.json {
        serde_json::to_writer_pretty(&mut out, &description)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", description.to_text(REST))?;
    }
    Ok(())
}

const REST: &str = " (--limit 0 shows all)";

/// The output of the command for a name, with its defaults.
pub(super) fn text(engine: &Engine, name: &str) -> anyhow::Result<String> {
    let look = Look { limit: Some(LIMIT), ..Look::default() };
    Ok(engine.describe(name, &look)?.to_text(REST))
}
