//! The `relatum` command: raw flags → resolved settings → run, one file per subcommand.

mod commands;
mod exit;
mod output;
mod signals;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    exit::report(commands::Relatum::parse().run())
}
