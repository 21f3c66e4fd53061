//! The `relatum` command: raw flags → resolved settings → run, one file per subcommand.

mod arguments;
mod commands;
mod exit;
mod output;
mod remedy;
mod renamed;
mod signals;

use std::process::ExitCode;

fn main() -> ExitCode {
    exit::report(arguments::parse().run())
}
