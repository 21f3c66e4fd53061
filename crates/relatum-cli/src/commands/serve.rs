//! `relatum serve`: the API, the SPARQL endpoint, the page and the assistant's tools, over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;

use relatum::Engine;
use relatum_server::{Server, Settings};

use crate::output;

/// Serve a project: an HTTP API, a SPARQL endpoint, a page, tools for assistants
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    /// The address to listen at; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    listen: SocketAddr,
    /// The model that answers where a request names none [default: the project's]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let engine = Engine::open(&args.dir)?;
    let settings = Settings { listen: args.listen, model: args.model.clone(), ..Settings::default() };
    let server = Server::bind(engine, settings)?;
    output::say(&format!("http://{}", server.address()));
    server.run()?;
    Ok(())
}
