//! `cargo xtask bench`: one file for each question about speed.

mod scaling;
mod train;
mod world;

use anyhow::Context;
use clap::Subcommand;

/// Measure how fast and how good Relatum is on this machine
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    question: Question,
}

#[derive(Subcommand)]
enum Question {
    Train(train::Args),
    Scaling(scaling::Args),
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if cfg!(debug_assertions) {
        return in_release();
    }
    match &args.question {
        Question::Train(args) => train::run(args),
        Question::Scaling(args) => scaling::run(args),
    }
}

/// `cargo xtask` is a debug build; what is measured must not be.
fn in_release() -> anyhow::Result<()> {
    let arguments = std::env::args_os().skip(1);
    let status = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--release", "--quiet", "--package", "xtask", "--"])
        .args(arguments)
        .status()
        .context("cannot run cargo")?;
    anyhow::ensure!(status.success(), "the benchmark failed");
    Ok(())
}
