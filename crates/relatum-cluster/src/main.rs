//! The `relatum-cluster` command: one file per subcommand.

mod commands;
mod exit;
mod log;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    exit::report(commands::Cluster::parse().run())
}
