//! What a developer or CI runs: `cargo xtask test`, `cargo xtask bench …`.

mod bench;
mod demo_graph;
mod fuzz;
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
    DemoGraph(demo_graph::Args),
    Fuzz(fuzz::Args),
    /// Compare answers with those of an independent program, where its data is beside the workspace
    Parity,
    /// Build the Python package: one wheel in target/wheels
    Wheel,
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Test(args) => test::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::DemoGraph(args) => demo_graph::run(&args),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Parity => parity::run(),
        Task::Wheel => python::wheel(),
    }
}
