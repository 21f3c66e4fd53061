//! What a developer or CI runs: `cargo xtask test`, `cargo xtask bench …`.

mod bench;
#[cfg(feature = "engine")]
mod demo_graph;
mod fuzz;
mod paper;
#[cfg(feature = "engine")]
mod parity;
mod python;
mod shell;
mod test;

use clap::Parser;

/// What a developer or CI runs
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Task {
    Test(test::Args),
    Bench(bench::Args),
    /// Make the embedded graph of films again (needs python3 with pip, and the network)
    DemoGraph {
        /// Change nothing; fail if the committed file is not what this command makes
        #[arg(long)]
        check: bool,
    },
    Fuzz(fuzz::Args),
    Paper(paper::Args),
    /// Compare answers with those of an independent program, where its data is beside the workspace
    Parity,
    /// Build the Python package: one wheel in target/wheels
    Wheel,
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Test(args) => test::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Paper(args) => paper::run(&args),
        Task::Wheel => python::wheel(),
        #[cfg(feature = "engine")]
        Task::DemoGraph { check } => demo_graph::run(check),
        #[cfg(feature = "engine")]
        Task::Parity => parity::run(),
        #[cfg(not(feature = "engine"))]
        Task::DemoGraph { .. } | Task::Parity => with_engine(),
    }
}

/// Runs the same command in a build of this program that has the engine in it, with optimisation.
#[cfg(not(feature = "engine"))]
fn with_engine() -> anyhow::Result<()> {
    let mut again = shell::cargo(&["run", "--release", "--package", "xtask", "--features", "engine", "--"]);
    shell::run(again.args(std::env::args_os().skip(1)))
}
