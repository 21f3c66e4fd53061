//! `relatum-cluster executor`.

use std::path::PathBuf;

use anyhow::Context;
use relatum_cluster::process::Executor;

use super::runtime;

/// Run an executor, which scores shards
///
/// It reads the shards that the scheduler names, so it must reach their place under the same name as the client does.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scheduler
    #[arg(long, default_value = "127.0.0.1:50050", value_name = "HOST:PORT")]
    scheduler: String,
    /// The address to listen at
    #[arg(long, default_value = "127.0.0.1", value_name = "HOST")]
    bind_host: String,
    /// The name under which scheduler, client and other executors reach it [default: the address it listens at]
    #[arg(long, value_name = "HOST")]
    external_host: Option<String>,
    /// The port at which results are fetched
    #[arg(long, default_value_t = 50051)]
    port: u16,
    /// The port at which the scheduler hands out tasks
    #[arg(long, default_value_t = 50052)]
    grpc_port: u16,
    /// How many shards to score at a time; 0: one for each core
    #[arg(long, default_value_t = 0)]
    cores: usize,
    /// Where results lie until they are fetched; a folder in memory helps [default: a temporary folder]
    #[arg(long, value_name = "FOLDER")]
    work_dir: Option<PathBuf>,
    /// Seconds between two signs of life; fewer than the scheduler's --executor-timeout
    #[arg(long, default_value_t = 5, value_name = "SECONDS")]
    heartbeat: u64,
    /// Wait so long for the scheduler at the beginning
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    wait: u16,
    /// What to log: error, warn, info or debug
    #[arg(long, default_value = "warn", value_parser = crate::log::parse)]
    log: ::log::LevelFilter,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    crate::log::start(args.log);
    if let Some(folder) = &args.work_dir {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let external_host = args.external_host.unwrap_or_else(|| args.bind_host.clone());
    let executor = Executor {
        scheduler: args.scheduler,
        bind_host: args.bind_host,
        external_host,
        port: args.port,
        grpc_port: args.grpc_port,
        cores: args.cores,
        work_dir: args.work_dir,
        heartbeat: args.heartbeat,
        patience: args.wait,
    };
    Ok(runtime()?.block_on(executor.run())?)
}
