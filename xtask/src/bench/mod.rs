//! `cargo xtask bench …`: one file for each question a user would ask.

#[cfg(feature = "bench")]
mod child;
#[cfg(feature = "bench")]
mod ingest;

/// Measure against a floor taken in the same run
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    #[cfg_attr(not(feature = "bench"), expect(dead_code, reason = "the optimised build reads it"))]
    question: Question,
}

#[derive(clap::Subcommand)]
enum Question {
    /// How long does a graph take to come in, and how much memory?
    Ingest {
        /// Triples of the generated file
        #[arg(long, default_value_t = 10_000_000)]
        triples: usize,
        /// How often to measure; the best of each is compared
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
}

/// A benchmark must be built with optimisation, which this program usually is not; so it builds
/// itself again.
#[cfg(not(feature = "bench"))]
pub(crate) fn run(_: &Args) -> anyhow::Result<()> {
    use crate::shell;
    shell::run(&mut shell::cargo(&["build", "--release", "--package", "relatum-cli"]))?;
    let mut again = shell::cargo(&["run", "--release", "--package", "xtask", "--features", "bench", "--"]);
    shell::run(again.args(std::env::args_os().skip(1)))
}

#[cfg(feature = "bench")]
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    match args.question {
        Question::Ingest { triples, rounds } => ingest::run(triples, rounds),
    }
}
