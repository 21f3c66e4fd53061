//! `relatum mcp`: tools for an assistant, on standard input and output.

use std::path::PathBuf;

use relatum::Engine;
use relatum_server::{Settings, serve_stdio};

/// Give an assistant the tools to ask a project (Model Context Protocol on standard input and output)
///
/// The tools are ask, explain, find, describe, relations and plan. Name this command in the configuration of the
/// assistant, which starts and ends it.
#[derive(clap::Args)]
#[command(after_help = "Example, as many assistants are configured:
  { \"mcpServers\": { \"movies\": { \"command\": \"relatum\", \"args\": [\"mcp\", \"/path/to/movies\"] } } }")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The model that answers if a question names none [default: the project's]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let engine = Engine::open(&args.dir)?;
    serve_stdio(engine, &Settings { model: args.model.clone(), ..Settings::default() })?;
    Ok(())
}
