//! `cargo xtask test`: everything that must hold before a change lands, one step after the other.

mod clients;
mod cluster;
mod licences;
mod page;
mod python;

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use clap::ValueEnum;

use crate::python::target;
use crate::shell::{self, cargo, root};

/// Install what the tests need and run them all
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run these steps only
    #[arg(value_enum)]
    steps: Vec<Step>,
    /// Compare with other programs too: installs `PyKEEN` with its `PyTorch` (some gigabytes) and runs it
    #[arg(long)]
    peers: bool,
}

/// A step; those of other languages need more than Rust, and install it.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Step {
    /// The format of the code
    Format,
    /// The licences of all dependencies, and advisories if their database is available
    Licences,
    /// The lints
    Lints,
    /// The documentation of the engine
    Documentation,
    /// The tests in Rust
    Tests,
    /// The short programs that show the library
    Examples,
    /// Whether a registry would accept every crate
    Package,
    /// The server, by clients of SPARQL, MCP and OpenAPI that other people wrote, in Python
    Clients,
    /// The page in a browser, and whether its built files match its sources
    Page,
    /// The engine in Python: its tests, its examples, its types
    Python,
    /// The cluster: format, licences, lints, and its tests with real processes
    Cluster,
}

/// All tests in Rust, those of the benchmarks among them.
const TESTS: [&str; 4] = ["test", "--workspace", "--features", "xtask/engine"];
/// In `crates/relatum/examples`.
const EXAMPLES: [&str; 5] = ["ask", "own_graph", "many_questions", "explain_as_graphviz", "benchmark"];

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let steps = if args.steps.is_empty() { Step::value_variants() } else { &args.steps };
    install_components()?;
    for &step in steps {
        let name = step.to_possible_value().map_or_else(String::new, |it| it.get_name().to_owned());
        println!("\n── {name}");
        step.run(args).with_context(|| format!("the step '{name}' failed"))?;
    }
    Ok(())
}

impl Step {
    fn run(self, args: &Args) -> anyhow::Result<()> {
        let clippy = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
        match self {
            Self::Format => shell::run(&mut cargo(&["fmt", "--all", "--check"])),
            Self::Licences => licences::run(root()),
            Self::Lints => shell::run(&mut cargo(&clippy)),
            Self::Documentation => {
                let mut doc =
                    cargo(&["doc", "--package", "relatum", "--package", "relatum-server", "--no-deps"]);
                shell::run(doc.env("RUSTDOCFLAGS", "-D warnings"))
            }
            Self::Tests => shell::run(&mut cargo(&TESTS)),
            Self::Examples => EXAMPLES.iter().try_for_each(|example| {
                // `cargo test` has built them; `cargo run` would compile their dependencies again.
                shell::run(&mut Command::new(target().join("debug/examples").join(example)))
            }),
            Self::Package => {
                let package =
                    ["package", "--workspace", "--exclude", "xtask", "--no-verify", "--allow-dirty"];
                shell::run(&mut cargo(&package))
            }
            Self::Clients => clients::run(),
            Self::Page => page::run(),
            Self::Python => python::run(args.peers),
            Self::Cluster => cluster::run(),
        }
    }
}

/// Builds the real command in the same way as the tests in Rust do: built alone, its dependencies would be compiled
/// again with other features.
fn command() -> anyhow::Result<PathBuf> {
    shell::run(cargo(&TESTS).args(["--no-run", "--quiet"]))?;
    Ok(target().join("debug/relatum"))
}

/// `rustfmt` and `clippy` come with rustup, but a minimal toolchain leaves them out.
fn install_components() -> anyhow::Result<()> {
    for (component, tool) in [("rustfmt", "cargo-fmt"), ("clippy", "cargo-clippy")] {
        let there = Command::new(tool).arg("--version").current_dir(root()).output();
        if !there.is_ok_and(|output| output.status.success()) {
            shell::run(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}
