//! The subcommands, one file each.

mod export;
mod grid;
mod import;
mod link_eval;
mod settings;
mod train;

use clap::{Parser, Subcommand};

/// Answers logical questions over incomplete knowledge graphs, and explains every answer.
#[derive(Parser)]
#[command(name = "relatum", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Relatum {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Train(Box<train::Args>),
    Grid(Box<grid::Args>),
    LinkEval(link_eval::Args),
    Import(import::Args),
    Export(export::Args),
}

impl Relatum {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Train(args) => train::run(&args),
            Command::Grid(args) => grid::run(&args),
            Command::LinkEval(args) => link_eval::run(&args),
            Command::Import(args) => import::run(&args),
            Command::Export(args) => export::run(&args),
        }
    }
}
