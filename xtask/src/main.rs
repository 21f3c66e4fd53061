//! What a developer or CI runs.

mod bench;
mod demo_graph;

use clap::{Parser, Subcommand};

/// What a developer or CI runs: `cargo xtask COMMAND`.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Xtask {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Args),
    DemoGraph(demo_graph::Args),
}

fn main() -> anyhow::Result<()> {
    match Xtask::parse().command {
        Command::Bench(args) => bench::run(&args),
        Command::DemoGraph(args) => demo_graph::run(&args),
    }
}
