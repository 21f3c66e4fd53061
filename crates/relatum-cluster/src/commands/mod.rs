//! The subcommands.

mod ask;
mod check;
mod executor;
mod measure;
mod questions;
mod scheduler;
mod shard;

use std::path::Path;

use anyhow::Context;
use relatum::Engine;
use relatum_cluster::manifest::{Manifest, ModelIdentity};
use relatum_cluster::place::Place;
use tokio::runtime::Runtime;

/// Answer questions over graphs whose vectors are spread over machines
///
/// The vectors of a model are written as shards; a scheduler hands them out to executors; `ask` answers questions
/// with their help. Scheduler and executors are those of Apache Ballista.
#[derive(clap::Parser)]
#[command(version, name = "relatum-cluster")]
pub(crate) struct Cluster {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Shard(shard::Args),
    Check(check::Args),
    Scheduler(scheduler::Args),
    Executor(executor::Args),
    Ask(ask::Args),
    Measure(measure::Args),
}

impl Cluster {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Shard(args) => shard::run(&args),
            Command::Check(args) => check::run(&args),
            Command::Scheduler(args) => scheduler::run(args),
            Command::Executor(args) => executor::run(args),
            Command::Ask(args) => ask::run(&args),
            Command::Measure(args) => measure::run(&args),
        }
    }
}

/// Plans are trees that are walked recursively, which takes more than the usual 2 MB of stack.
fn runtime() -> anyhow::Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().thread_stack_size(32 << 20).build().context("cannot start threads")
}

/// The place of the shards of a model, with the list of them: the given place, or the one that `shard` noted.
async fn shards_of(
    engine: &Engine,
    model: Option<&str>,
    given: Option<&str>,
) -> anyhow::Result<(Place, Manifest)> {
    let expected = ModelIdentity::of(engine, model)?;
    let noted = || shard::noted(engine.project().dir(), &expected.name);
    let name = given.map(str::to_owned).or_else(noted).ok_or_else(|| {
        crate::exit::Misuse(format!(
            "it is not noted where the shards of the model `{}` are: make them with `relatum-cluster shard`, or name \
             their place with --shards",
            expected.name
        ))
    })?;
    let place = Place::open(&name)?;
    let manifest = Manifest::open(&place).await?;
    manifest.is_of(&place, &expected)?;
    Ok((place, manifest))
}

/// Opens a project.
fn opened(dir: &Path) -> anyhow::Result<Engine> {
    Ok(Engine::open(dir)?)
}
