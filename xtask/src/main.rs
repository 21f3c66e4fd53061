//! What a developer or CI runs.

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
    DemoGraph(demo_graph::Args),
}

fn main() -> anyhow::Result<()> {
    match Xtask::parse().command {
        Command::DemoGraph(args) => demo_graph::run(&args),
    }
}
