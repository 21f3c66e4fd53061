//! The `relatum` command: raw flags → resolved settings → run, one file per subcommand.

mod commands;
mod exit;
mod output;
mod signals;

use std::process::ExitCode;

fn main() -> ExitCode {
    exit::report(commands::Relatum::of_command_line().run())
}
