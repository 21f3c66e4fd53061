//! `relatum-cluster scheduler`.

use std::net::SocketAddr;

use relatum_cluster::process::Scheduler;

use super::runtime;

/// Run the scheduler, which hands out the shards of a round to executors
///
/// It trusts everybody who reaches it, so it listens on this machine alone unless told otherwise: open it to a
/// network of your own only. GET /healthz and /readyz are there for probes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:50050", value_name = "HOST:PORT")]
    listen: SocketAddr,
    /// The name under which executors reach it [default: the address that it listens at]
    #[arg(long, value_name = "HOST")]
    external_host: Option<String>,
    /// An executor that is silent for so long is taken for dead, and its shards are handed to others
    #[arg(long, default_value_t = 20, value_name = "SECONDS")]
    executor_timeout: u64,
    /// What to log: error, warn, info or debug
    #[arg(long, default_value = "warn", value_parser = crate::log::parse)]
    log: ::log::LevelFilter,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    crate::log::start(args.log);
    let external_host = args.external_host.unwrap_or_else(|| args.listen.ip().to_string());
    let scheduler = Scheduler { listen: args.listen, external_host, executor_timeout: args.executor_timeout };
    crate::exit::say(&format!("scheduler at {}", args.listen));
    Ok(runtime()?.block_on(scheduler.run())?)
}
