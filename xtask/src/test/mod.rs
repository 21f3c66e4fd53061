//! `cargo xtask test`: everything that must hold before a change lands, one step after the other.

mod clients;
mod cluster;
mod licences;
mod page;
mod python;

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

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
    /// The lints alone; the tests in Rust are compiled with them anyway, so they are left out where no step is named
    Lints,
    /// The documentation of the engine
    Documentation,
    /// The lints and the tests in Rust
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

/// Everything in Rust: what is compiled in this way once serves the tests, the examples, the page and Python.
const EVERYTHING: [&str; 3] = ["--workspace", "--features", "xtask/engine"];
/// What property tests draw their cases by.
const SEED: &str = "PROPTEST_RNG_SEED";
/// In `crates/relatum/examples`.
const EXAMPLES: [&str; 5] = ["ask", "own_graph", "many_questions", "explain_as_graphviz", "benchmark"];

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let all = Step::value_variants().iter().copied().filter(|step| *step != Step::Lints);
    let steps = if args.steps.is_empty() { all.collect() } else { args.steps.clone() };
    install_components()?;
    let mut took: Vec<(String, Duration)> = Vec::new();
    for step in steps {
        let name = step.to_possible_value().map_or_else(String::new, |it| it.get_name().to_owned());
        println!("\n── {name}");
        let began = Instant::now();
        step.run(args).with_context(|| format!("the step '{name}' failed"))?;
        took.push((name, began.elapsed()));
    }
    println!("\n── all passed");
    let minutes = |duration: Duration| duration.as_secs_f64() / 60.0;
    for (name, duration) in &took {
        println!("{name:>14} {:5.1} min", minutes(*duration));
    }
    println!("{:>14} {:5.1} min", "together", minutes(took.iter().map(|(_, duration)| *duration).sum()));
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
            Self::Tests => {
                // Documentation is tested apart, because `--all-targets` leaves it out.
                shell::run(everything("test").arg("--all-targets"))?;
                shell::run(everything("test").arg("--doc"))
            }
            Self::Examples => {
                // `cargo test --all-targets` builds them as tests alone; `cargo run` would compile their dependencies
                // again.
                command()?;
                EXAMPLES.iter().try_for_each(|example| {
                    shell::run(&mut Command::new(target().join("debug/examples").join(example)))
                })
            }
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

/// Builds the real command, and the extension for Python, in the same way as the tests in Rust are built: alone, their
/// dependencies would be compiled again with other features, and without all targets so would the engine, because then
/// the features of what only tests depend on are left out.
fn command() -> anyhow::Result<PathBuf> {
    shell::run(everything("build").args(["--all-targets", "--quiet"]))?;
    Ok(target().join("debug/relatum"))
}

/// A command of cargo for everything in Rust, linted.
fn everything(command: &str) -> Command {
    let mut cargo = cargo(&[command]);
    cargo.args(EVERYTHING);
    linted(&mut cargo);
    // In CI a change is judged by what it changed, not by a new draw of cases; elsewhere each run draws anew.
    if std::env::var_os("CI").is_some() && std::env::var_os(SEED).is_none() {
        cargo.env(SEED, "2021");
    }
    cargo
}

/// Lets clippy compile the crates of the workspace; its findings are errors. `cargo clippy` would check them and all
/// their dependencies apart from the build that runs the tests. What only helps a later build is not written.
fn linted(cargo: &mut Command) {
    cargo.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    cargo.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    cargo.env("CARGO_INCREMENTAL", "0");
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
