//! `relatum serve`: the API, the SPARQL endpoint, the page and the assistant's tools, over HTTP.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use relatum::Engine;
use relatum_server::{Limits, Log, Server, ServerError, Settings};

use super::ask::{parse_positive, parse_seconds};
use crate::exit::Misuse;
use crate::output;

/// Serve a project: an HTTP API, a SPARQL endpoint, a page, tools for assistants
///
/// The page is at /, the API under /api/v1 with its reference at /docs, SPARQL at /sparql, the Model Context
/// Protocol at /mcp; /healthz, /readyz and /metrics are for monitoring. Ctrl-C and `kill` end it once running
/// requests have finished, with exit code 0; SIGHUP reads models and tokens again.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relatum serve movies/
  relatum serve movies/ --listen 0.0.0.0:7878 --token-file tokens.txt --log json
  curl -s localhost:7878/api/v1/ask --json '{\"question\": \"?F : directed_by(F, \\\"Stanley Kubrick\\\")\"}'")]
pub(crate) struct Args {
    /// The project folder
    dir: PathBuf,
    #[command(flatten)]
    flags: Flags,
}

/// How to serve; `demo --serve` has the same defaults.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// The address to listen at, such as 127.0.0.1:7878 or localhost:7878; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878", value_parser = address)]
    listen: SocketAddr,
    /// The model that answers if a request names none [default: the project's]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// A file of bearer tokens, one a line, of which every request needs one; read again on SIGHUP
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Listen at an address that other machines can reach, although requests need no token
    #[arg(long)]
    insecure: bool,
    /// Let pages of this origin use the API, as in `https://example.org`; can be given several times
    #[arg(long, value_name = "ORIGIN")]
    cors: Vec<String>,
    /// How the log is written, on standard error
    #[arg(long, default_value = "text")]
    log: LogFormat,
    /// After Ctrl-C or `kill`, let running requests go on for so long
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_seconds)]
    grace: Duration,
    /// How many replies to keep for questions that are asked again
    #[arg(long, value_name = "REPLIES", default_value_t = Settings::default().cache)]
    cache: usize,
    /// How many questions are answered at the same time
    #[arg(long, value_name = "SEARCHES", default_value_t = Limits::default().searches, value_parser = parse_positive)]
    searches: usize,
    /// How many more questions may wait; beyond that the reply is 503
    #[arg(long, value_name = "QUESTIONS", default_value_t = Limits::default().queue)]
    queue: usize,
    /// How long a search may take
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    max_seconds: Duration,
    /// How many rows a search may score
    #[arg(long, value_name = "ROWS", default_value_t = Limits::default().rows, value_parser = parse_positive)]
    max_rows: usize,
    /// How many assignments a beam may keep
    #[arg(long, value_name = "K", default_value_t = Limits::default().k, value_parser = parse_positive)]
    max_k: usize,
    /// How many answers a question may ask for
    #[arg(long, value_name = "ANSWERS", default_value_t = Limits::default().top, value_parser = parse_positive)]
    max_top: usize,
    /// How many alternatives the normal form of a question may have
    #[arg(long, value_name = "BRANCHES", default_value_t = Limits::default().branches, value_parser = parse_positive)]
    max_branches: usize,
    /// How long a question may be
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().question_bytes, value_parser = parse_positive)]
    max_question: usize,
    /// How large a request may be; a batch may be 16 times as large
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().body_bytes, value_parser = parse_positive)]
    max_body: usize,
}

/// An address with its port, or the name of a host with one; of several addresses of a host, the first of version 4,
/// where most clients look first.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let expected = "expected an address or a host with a port, as in 127.0.0.1:7878 or localhost:7878";
    let found: Vec<SocketAddr> =
        text.to_socket_addrs().map_err(|error| format!("{expected} ({error})"))?.collect();
    let first = found.iter().find(|address| address.is_ipv4()).or(found.first());
    first.copied().ok_or_else(|| format!("{expected}; this host has no address"))
}

#[derive(Clone, Copy, ValueEnum)]
enum LogFormat {
    /// Lines for people
    Text,
    /// A JSON object a line
    Json,
    /// No log
    Off,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    serve(&args.dir, Engine::open(&args.dir)?, &args.flags)
}

/// Serves until a signal ends it.
fn serve(dir: &Path, engine: Engine, flags: &Flags) -> anyhow::Result<()> {
    let log = match flags.log {
        LogFormat::Text => Log::Text,
        LogFormat::Json => Log::Json,
        LogFormat::Off => Log::Off,
    };
    log.start();
    listen(dir, engine, flags.settings())
}

/// Listens and prints the address; an error in the flags is misuse.
pub(super) fn listen(dir: &Path, engine: Engine, settings: Settings) -> anyhow::Result<()> {
    if engine.models().models.is_empty() {
        let dir = output::typed(dir);
        output::say(&format!(
            "warning: there is no model yet, so no question can be answered; `relatum train {dir}` makes one"
        ));
    }
    let server = Server::bind(engine, settings).map_err(explained)?;
    output::say(&format!("{} is served at http://{}", output::typed(dir), server.address()));
    server.run().map_err(explained)
}

fn explained(error: ServerError) -> anyhow::Error {
    match error {
        ServerError::Engine(error) => error.into(),
        ServerError::Open { .. } => Misuse(format!("{error} (--token-file, --listen, --insecure)")).into(),
        ServerError::Listen { .. } => Misuse(format!("{error} (--listen)")).into(),
        ServerError::Tokens(_) => Misuse(format!("{error} (--token-file)")).into(),
        ServerError::Origin(_) => Misuse(format!("{error} (--cors)")).into(),
        other => other.into(),
    }
}

impl Flags {
    fn settings(&self) -> Settings {
        Settings {
            listen: self.listen,
            model: self.model.clone(),
            token_file: self.token_file.clone(),
            insecure: self.insecure,
            cors: self.cors.clone(),
            grace: self.grace,
            cache: self.cache,
            limits: Limits {
                body_bytes: self.max_body,
                batch_bytes: self.max_body.saturating_mul(16),
                question_bytes: self.max_question,
                branches: self.max_branches,
                k: self.max_k,
                top: self.max_top,
                rows: self.max_rows,
                seconds: self.max_seconds.as_secs_f64(),
                searches: self.searches,
                queue: self.queue,
                ..Limits::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_may_be_named_and_a_port_must_be() {
        assert_eq!(address("localhost:7878"), Ok(SocketAddr::from(([127, 0, 0, 1], 7878))));
        assert_eq!(address("[::1]:80").map(|it| it.is_ipv6()), Ok(true));
        for wrong in ["localhost", "127.0.0.1", "7878", "", "localhost:x"] {
            assert!(address(wrong).is_err_and(|it| it.starts_with("expected an address")), "{wrong}");
        }
    }
}
