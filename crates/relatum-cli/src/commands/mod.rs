//! The subcommands.

mod plan;

use clap::{Parser, Subcommand};

/// Answers logical questions over incomplete knowledge graphs, and explains every answer.
#[derive(Parser)]
#[command(name = "relatum", version, propagate_version = true)]
pub(crate) struct Relatum {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Plan(plan::Args),
}

impl Relatum {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Plan(args) => plan::run(args),
        }
    }
}
